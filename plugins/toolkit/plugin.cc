// The toolkit plugin: its name, and the facts about the image's toolkit. Facts judge
// nothing and compile nothing.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include "base/path.h"
#include "common/cudart_api.h"
#include "common/nvrtc_api.h"

namespace cudnn_ci {
namespace {

void Facts(FactSink& facts) {
  const Promise promise = PromiseOf(facts, "image.toolkit");
  const std::vector<CudartLibrary> found = FindCudart(facts.SubjectFolders());
  const CudartLibrary* judged = JudgedCudart(found, promise);
  std::string version = judged ? judged->version : "", all, versions;
  if (judged && !version.empty()) facts.Report("toolkit.runtime.path", RealPath(judged->path));
  for (const CudartLibrary& cudart : found) {
    if (cudart.version.empty()) continue;
    all += (all.empty() ? "" : ", ") + cudart.version + " " + RealPath(cudart.path);
    versions += (versions.empty() ? "" : " ") + cudart.version;
  }
  if (!all.empty()) {
    facts.Report("toolkit.runtime.all", all);
    facts.Report("toolkit.runtime.versions", versions);
  }
  NvrtcApi nvrtc;
  if (nvrtc.Load(promise, facts.SubjectFolders())) {
    const std::string nvrtc_version = nvrtc.Version();
    if (version.empty()) version = nvrtc_version;
    if (!nvrtc_version.empty()) facts.Report("toolkit.nvrtc.version", nvrtc_version);
    facts.Report("toolkit.nvrtc.path", RealPath(nvrtc.path()));
  }
  if (!version.empty()) facts.Report(CCI_FACT_TOOLKIT_VERSION, version);
}

CCI_FACTS(Facts, true)

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("toolkit", "0.1.0", "the image's CUDA runtime, run-time compiler and cuBLAS")
