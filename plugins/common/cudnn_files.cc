#include "common/cudnn_files.h"

#include "common/cudnn_api.h"

namespace cudnn_ci {

std::vector<std::string> CudnnPartNames(int major) {
  if (major >= 9)
    return {"graph", "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled"};
  return {"ops_infer", "cnn_infer", "adv_infer", "ops_train", "cnn_train", "adv_train"};
}

// The 4-byte object in .dynsym: major << 16 | minor << 8 | patch. The names kept "infer" in cuDNN 9.
std::string CudnnVersionOf(const ElfFile& file) {
  for (const char* symbol : {"cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_cnn_infer_version",
                             "cudnn_adv_infer_version", "cudnn_ops_train_version", "cudnn_cnn_train_version",
                             "cudnn_adv_train_version"}) {
    if (const auto value = file.ReadObject(symbol)) {
      return std::to_string(*value >> 16) + "." + std::to_string(*value >> 8 & 0xff) + "." +
             std::to_string(*value & 0xff);
    }
  }
  return {};
}

std::string VersionOfFiles(const std::string& directory, int major) {
  for (const std::string& part : CudnnPartNames(major))
    if (std::string version = CudnnVersionOf(ElfFile(directory + "/" + CudnnSoname(major, part)));
        !version.empty())
      return version;
  return {};
}

}  // namespace cudnn_ci
