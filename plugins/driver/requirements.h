// NVIDIA_REQUIRE_*: what an image says it needs of its host, in the words of NVIDIA's container runtime. A
// runtime that enforces them starts no container where they do not hold; most ways to start one do not look.
// https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html
// Pure. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_DRIVER_REQUIREMENTS_H_
#define CUDNN_CI_PLUGINS_DRIVER_REQUIREMENTS_H_

#include <functional>
#include <string>

namespace cudnn_ci {

// What a requirement may speak of; empty: unknown here.
struct HostProperties {
  std::string cuda;    // that the driver supports, "12.8"
  std::string driver;  // "570.26"
  std::string arch;    // compute capability of the first GPU, "9.0"
  std::string brand;   // of the first GPU, "tesla"
};

enum class Kept { kYes, kNo, kUnknown };

// Whether a version lies in a range such as ">=12.8"; false for either malformed.
using InRange = std::function<bool(const std::string& version, const std::string& range)>;

// Evaluates "cuda>=12.8 brand=tesla,driver>=470,driver<471": alternatives between blanks, conditions that
// hold together between commas. What is no condition of the four properties is unknown, and so is an empty
// text.
Kept Evaluate(const std::string& requirement, const HostProperties& host, const InRange& in_range);

// The lowest CUDA that the first condition on it asks for, "12.8" of "cuda>=12.8"; empty: there is none.
std::string LowestCuda(const std::string& requirement);

// Whether the text is made of conditions on the four properties and of nothing else, so that it can be told:
// what else such a variable holds is nobody's business.
bool HasConditionsAlone(const std::string& requirement);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_REQUIREMENTS_H_
