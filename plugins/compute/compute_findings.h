// The findings under which a plugin reports what a compute case sees. The plugin declares them.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_COMPUTE_FINDINGS_H_
#define CUDNN_CI_PLUGINS_COMPUTE_COMPUTE_FINDINGS_H_

namespace cudnn_ci {

struct ComputeFindings {
  const char *failed,        // the library could not run what it does not call unsupported
      *mixed,                // libraries of two installs were loaded
      *wrong, *unexplained,  // wrong numbers where another candidate is right; where none is
      *imprecise,            // on random data the error is larger than type and math explain
      *unwritten,            // elements of an output were left as they were
      *out_of_bounds,        // something was written outside of the buffers
      *input_modified,
      *workspace_understated,  // a proposal came with less workspace than it asks for
      *proposal_refused,       // what the library proposed it then called unsupported
      *not_repeatable;         // what is noted deterministic gave other bits
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_COMPUTE_FINDINGS_H_
