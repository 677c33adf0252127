#include "cli/impediment.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/elf_interpreter.h"
#include "cli/process_setup.h"

namespace cudnn_ci {
namespace {

// Where C libraries have their loaders, by the processors and systems that images of CUDA are mistaken for.
constexpr const char* kOfMusl[] = {"/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"};
constexpr const char* kOfGlibc[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
                                    "/lib/ld-linux-armhf.so.3", "/lib64/ld64.so.2"};

template <size_t N>
std::string FirstThatExists(const char* const (&paths)[N]) {
  const auto* found =
      std::find_if(paths, paths + N, [](const char* path) { return access(path, F_OK) == 0; });
  return found == paths + N ? "" : *found;
}

// An image that has a loader of another processor is sound, and cudnn-ci is the wrong one for it.
Finding MissingLoader(const std::string& loader) {
  Finding finding = HarnessFinding("loader-missing", "the image has no dynamic loader " + loader);
  if (const std::string other = FirstThatExists(kOfGlibc); !other.empty()) {
    finding.detail += "; it has " + other + ", which is another processor's: this cudnn-ci is for " +
                      "a processor that the image is not made for";
    finding.blame = Blame::kHarness;
  } else if (const std::string musl = FirstThatExists(kOfMusl); !musl.empty()) {
    finding.detail += "; it has musl's, " + musl + ", as Alpine has";
  } else {
    finding.detail += ", and none of another C library: it is empty, or made for static programs alone";
  }
  return finding;
}

}  // namespace

std::optional<Finding> FindImpediment(const std::string& worker) {
  if (const std::string low = LowLimit(); !low.empty()) return HarnessFinding("worker-not-started", low);
  if (const std::string loader = MissingInterpreter(worker); !loader.empty()) return MissingLoader(loader);
  return std::nullopt;
}

std::string InWords(const Finding& impediment) {
  // What to do about a limit stands in the detail.
  return impediment.slug == "loader-missing" ? impediment.detail + ". " + impediment.remedy
                                             : impediment.detail;
}

}  // namespace cudnn_ci
