// How a case is named: by people, in events, in reports.
#ifndef CUDNN_CI_MODEL_RECORD_CASE_REF_H_
#define CUDNN_CI_MODEL_RECORD_CASE_REF_H_

#include <compare>
#include <string>

namespace cudnn_ci {

// A case is (id, device): `id` never holds the device.
struct CaseRef {
  std::string id;      // "conv.forward[dtype=float16,...]"
  std::string device;  // "gpu0", or "" for cases that use no single device
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0 in a defaulted comparison
  auto operator<=>(const CaseRef&) const = default;
};

// "id" or "id@gpu1" from the second device on: how people and --case name a case.
std::string DisplayId(const CaseRef& ref);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_CASE_REF_H_
