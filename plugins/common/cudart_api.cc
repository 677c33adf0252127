// The binding of the CUDA runtime.
#include "common/cudart_api.h"

#include <algorithm>

#include "base/path.h"
#include "common/loader_path.h"
#include "common/promised_library.h"

namespace cudnn_ci {
namespace {

// CUDA 11's runtime kept one soname for the whole major, with a minor in it.
const Sonames kSonames = {{13, "libcudart.so.13"}, {12, "libcudart.so.12"}, {11, "libcudart.so.11.0"}};

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
    if (!get_version) {
      entry.error = entry.path + " has no symbol cudaRuntimeGetVersion";
    } else if (const int status = get_version(&version); status != 0) {
      entry.error = "cudaRuntimeGetVersion of " + entry.path + " returned " + std::to_string(status);
    } else {
      entry.version = CudaVersionText(version);
    }
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
