#include "common/promised_library.h"

#include <cstdlib>

#include <utility>

#include "common/loader_path.h"

namespace cudnn_ci {

std::string JoinedSonames(const Sonames& sonames) {
  std::string all;
  for (const auto& [major, soname] : sonames) all += (all.empty() ? "" : ", ") + std::string(soname);
  return all;
}

Promise PromisedOrServed(const Promise& promise, const std::string& served) {
  const int major = std::atoi(served.c_str());
  if (!promise.range.empty() || major == 0) return promise;
  return {promise.satisfies, "<" + std::to_string(major + 1)};
}

std::vector<std::string> PromisedSonames(const Sonames& sonames, const Promise& promise) {
  std::vector<std::string> promised;
  for (const auto& [major, soname] : sonames)
    if (promise.OfMajor(major)) promised.emplace_back(soname);
  return promised;
}

PromisedLoad LoadPromised(const Sonames& sonames, const Promise& promise,
                          const std::vector<std::string>& subject_folders, LateLibrary* library) {
  std::vector<int> majors;
  for (const auto& [major, soname] : sonames) majors.push_back(major);
  majors = OwnFirst(PromisedFirst(promise, std::move(majors)), subject_folders,
                    [&sonames](int major) { return sonames.at(major); });
  PromisedLoad load;
  for (const int major : majors) {
    const char* soname = sonames.at(major);
    std::string error;
    const bool loaded = LoadChecked(soname, library, &error);
    load.major = major;
    load.missing = !loaded && IsNotFound(soname, error);
    // That the first is absent says as much as that all are.
    if (load.error.empty() || !load.missing) load.error = loaded ? "" : error;
    if (!load.missing) break;
  }
  return load;
}

}  // namespace cudnn_ci
