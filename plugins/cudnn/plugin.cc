// The cuDNN plugin: its name, and the facts about the image's cuDNN. Facts come from files: a call into an
// incomplete cuDNN 9 aborts the process.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include "base/variables.h"
#include "common/cudnn_api.h"
#include "common/loader_path.h"
#include "cudnn/install.h"
#include "image/contents/cudnn_copies.h"
#include "image/contents/cudnn_files.h"

namespace cudnn_ci {
namespace {

// More copies than any image has; facts of one plugin are bounded.
constexpr size_t kMostCopies = 32;

void ReportCopies(FactSink& facts) {
  const CudnnCopies found = FindCudnnCopies(OwnVariables());
  for (size_t i = 0; i < found.copies.size() && i < kMostCopies; ++i) {
    const CudnnCopy& copy = found.copies[i];
    const std::string key = CCI_FACT_CUDNN_COPY + std::to_string(i);
    facts.Report(key + CCI_FACT_CUDNN_COPY_PATH, copy.directory + "/" + CudnnSoname(copy.major));
    facts.Report(key + CCI_FACT_CUDNN_COPY_ORIGIN, copy.origin);
    if (!copy.version.empty()) facts.Report(key + CCI_FACT_CUDNN_COPY_VERSION, copy.version);
  }
  if (!found.complete || found.copies.size() > kMostCopies)
    facts.Report("cudnn.copies", "incomplete: the search reached its limit");
}

// What changes which libraries a process gets, and how the loader and the allocator work.
void ReportLoaderVariables(FactSink& facts) {
  for (const char* name : {"LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "CUDNN_LIB_CONFIG"})
    if (const std::string value = Environment(name); !value.empty())
      facts.Report(std::string("env.") + name, value);
}

void Facts(FactSink& facts) {
  ReportCopies(facts);
  ReportLoaderVariables(facts);
  const CudnnInstall install =
      InspectCudnn(CudnnMajors(PromiseOf(facts, "image.cudnn"), facts.SubjectFolders()));
  if (!install.found()) return;
  facts.Report(CCI_FACT_CUDNN_PATH, install.main.path);
  const std::string version = install.Version(), cuda = CudaMajorOfRunPath(install);
  if (!version.empty()) facts.Report(CCI_FACT_CUDNN_VERSION, version);
  if (!cuda.empty()) facts.Report(CCI_FACT_CUDNN_CUDART, cuda);
  if (install.jit_only()) facts.Report(CCI_FACT_CUDNN_LIBRARIES, "jit");
}

CCI_FACTS(Facts, true)

}  // namespace
}  // namespace cudnn_ci

CCI_PLUGIN("cudnn", "0.1.0", "the image's cuDNN: complete, consistent, of the promised version, usable")
