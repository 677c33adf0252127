// The binding of the CUDA runtime.
#include "common/cudart_api.h"

#include <algorithm>
#include <string_view>

#include "base/path.h"
#include "common/loader_path.h"
#include "common/promised_library.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

// CUDA 11's runtime kept one soname for the whole major, with a minor in it.
const Sonames kSonames = {{13, "libcudart.so.13"}, {12, "libcudart.so.12"}, {11, "libcudart.so.11.0"}};

// cudaErrorInsufficientDriver: CUDA 11's runtime asks the driver before it tells its own version.
constexpr int kInsufficientDriver = 35;

// "11.8" of "11.8.89"; empty: it is of another major, or has fewer numbers, as a soname has.
std::string ReleaseIn(const std::string& text, int major) {
  const std::size_t first = text.find('.'), second = text.find('.', first + 1);
  const bool numbers = text.find_first_not_of("0123456789.") == std::string::npos;
  if (first == std::string::npos || second == std::string::npos || !numbers) return "";
  return text.substr(0, first) == std::to_string(major) ? text.substr(0, second) : "";
}

// What the name of the file says, "libcudart.so.11.8.89", or the record of the wheel that brought it,
// "nvidia_cuda_runtime_cu11-11.8.89.dist-info".
std::string VersionOnRecord(const std::string& path, int major) {
  constexpr std::string_view kName = "libcudart.so.", kWheel = "nvidia-cuda-runtime",
                             kFolder = "/nvidia/cuda_runtime/lib";
  const std::string file = RealPath(path), folder = DirectoryOf(file);
  if (const std::string name = file.substr(file.rfind('/') + 1); name.starts_with(kName))
    if (std::string release = ReleaseIn(name.substr(kName.size()), major); !release.empty()) return release;
  if (!folder.ends_with(kFolder)) return "";
  for (const Package& package : PythonPackagesIn(folder.substr(0, folder.size() - kFolder.size())))
    if (package.name.starts_with(kWheel))
      if (std::string release = ReleaseIn(package.version, major); !release.empty()) return release;
  return "";
}

}  // namespace

std::string CudaVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::vector<CudartLibrary> FindCudart(const std::vector<std::string>& subject_folders) {
  std::vector<CudartLibrary> found;
  for (const auto& [major, soname] : kSonames) {
    LateLibrary library;
    CudartLibrary entry;
    entry.major = major;
    entry.soname = soname;
    if (!LoadChecked(soname, &library, &entry.error)) {
      if (IsNotFound(soname, entry.error)) continue;
      entry.path = ResolveLibrary(soname);
      found.push_back(entry);
      continue;
    }
    entry.path = library.Path();
    LateFunction<int(int*)> get_version;
    get_version.Bind(library, "cudaRuntimeGetVersion");
    int version = 0;
    const int status = get_version ? get_version(&version) : 0;
    if (!get_version)
      entry.error = entry.path + " has no symbol cudaRuntimeGetVersion";
    else if (status == 0)
      entry.version = CudaVersionText(version);
    else if (status == kInsufficientDriver)
      entry.version = VersionOnRecord(entry.path, major);
    if (get_version && entry.version.empty())
      entry.error = "cudaRuntimeGetVersion of " + entry.path + " returned " + std::to_string(status);
    found.push_back(entry);
  }
  for (CudartLibrary& cudart : found) cudart.own = LiesInAny(cudart.path, subject_folders);
  return found;
}

const CudartLibrary* JudgedCudart(const std::vector<CudartLibrary>& found, const Promise& promise) {
  const bool own = std::any_of(found.begin(), found.end(), [](const CudartLibrary& c) { return c.own; });
  const auto first = [&](const auto& wanted) -> const CudartLibrary* {
    const auto at =
        std::find_if(found.begin(), found.end(), [&](const auto& c) { return c.own == own && wanted(c); });
    return at == found.end() ? nullptr : &*at;
  };
  const auto speaks = [](const CudartLibrary& c) { return !c.version.empty(); };
  if (const auto* kept = first([&](const auto& c) { return speaks(c) && promise.Kept(c.version); }))
    return kept;
  if (const auto* broken = first([&](const auto& c) { return !speaks(c) && promise.OfMajor(c.major); }))
    return broken;
  if (const auto* other = first(speaks)) return other;
  return first([](const CudartLibrary&) { return true; });
}

std::string CudartSonames() { return JoinedSonames(kSonames); }

std::vector<std::string> PromisedCudartSonames(const Promise& promise) {
  return PromisedSonames(kSonames, promise);
}

}  // namespace cudnn_ci
