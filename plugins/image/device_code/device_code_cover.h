// Whether the device code of a file runs on a card. Pure functions. By NVIDIA's rules of compatibility:
// https://docs.nvidia.com/cuda/cuda-programming-guide/02-basics/nvcc.html (binary and PTX compatibility,
// architecture- and family-specific features).
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_COVER_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_COVER_H_

#include <compare>
#include <optional>
#include <string>

#include "image/device_code/device_code.h"

namespace cudnn_ci {

// A compute capability: 8.9.
struct Card {
  int major = 0, minor = 0;
  auto operator<=>(const Card&) const = default;  // NOLINT(modernize-use-nullptr): of clang-tidy 14
  std::string Text() const { return std::to_string(major) + "." + std::to_string(minor); }
};
// Of "8.9"; nothing: it is none.
std::optional<Card> ParseCard(const std::string& text);
// Of "9.4"; nothing: it is none.
std::optional<PtxVersion> ParsePtxVersion(const std::string& text);

// True if machine code for `target` runs on the card: of a generic target the same major and no later minor;
// of "a" this very card; of "f" the same family. Code for Tegra runs on its own minor alone.
bool SassRunsOn(const CodeTarget& target, const Card& card);
// True if the driver can compile PTX for `target` to the card: of a generic target every later card.
bool PtxServes(const CodeTarget& target, const Card& card);

enum class Cover {
  kRuns,            // machine code
  kCompiled,        // PTX that the driver compiles
  kPartlyCompiled,  // PTX, a part of which is newer than the driver
  kDriverUnknown,   // PTX; which the driver compiles is not known
  kLinked,          // intermediate code: what comes of it is decided at run time
  kPtxTooNew,       // PTX alone, all of it newer than the driver
  kMissing          // neither machine code nor PTX
};

// Of all code of a file together. `newest`: the newest PTX that the driver compiles; nothing: not known.
Cover CoverOf(const CodeTargets& code, const Card& card, const std::optional<PtxVersion>& newest);

// True if all of the code is for single architectures or families: kernels that whoever loads the file
// chooses by the card.
bool IsSpecialised(const CodeTargets& code);

// "SASS 80 90a, PTX 90 (8.7)"; "no code" where there is none that could run.
std::string Describe(const CodeTargets& code);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_COVER_H_
