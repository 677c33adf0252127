#include "image/device_code/device_code_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/numeric/parallel.h"
#include "image/elf/elf_file.h"

namespace cudnn_ci {
namespace {

bool NeedsCuda(const std::string& path) {
  constexpr std::array<std::string_view, 4> kLibraries = {"libcudart.so", "libcuda.so", "libnvrtc.so",
                                                          "libnvJitLink.so"};
  const std::vector<std::string> needed = ElfFile(path).Needed();
  return std::any_of(needed.begin(), needed.end(), [&](const std::string& name) {
    return std::any_of(kLibraries.begin(), kLibraries.end(), [&](std::string_view library) {
      return std::string_view(name).substr(0, library.size()) == library;
    });
  });
}

CodeFile Read(const std::string& path) {
  CodeFile file;
  file.path = path;
  file.code = ReadDeviceCode(path);
  if (file.code.kind == DeviceCode::Kind::kLibrary) file.needs_cuda = NeedsCuda(path);
  return file;
}

}  // namespace

std::vector<CodeFile> ReadCodeFiles(const ImageFiles& image) {
  std::vector<CodeFile> all(image.files.size());
  const std::string tag = PythonTagOf(image.folders);
  // Headers lie scattered over gigabytes: a thread waits for the disk more than it computes.
  const int threads = std::clamp(UsableCpus(), 4, 8);
  ParallelFor(
      static_cast<std::int64_t>(all.size()), 1,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::string& path = image.files[static_cast<std::size_t>(i)].path;
          if (!IsOfAnotherPython(path.substr(path.rfind('/') + 1), tag))
            all[static_cast<std::size_t>(i)] = Read(path);
        }
      },
      threads);
  all.erase(std::remove_if(all.begin(), all.end(), [](const CodeFile& file) { return !file.OfInterest(); }),
            all.end());
  for (CodeFile& file : all) file.package = image.BroughtBy(file.path);
  return all;
}

}  // namespace cudnn_ci
