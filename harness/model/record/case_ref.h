// The name of a case: the key of every record, plan and comparison, and the texts that people read and type.
#ifndef CUDNN_CI_MODEL_RECORD_CASE_REF_H_
#define CUDNN_CI_MODEL_RECORD_CASE_REF_H_

#include <compare>
#include <string>

namespace cudnn_ci {

// A case is (id, device): `id` never holds the device. Where it may name no case, `id` is then empty.
struct CaseRef {
  std::string id = {};      // "conv.forward[dtype=float16,...]"
  std::string device = {};  // "gpu0", or "" for cases that use no single device
  bool empty() const { return id.empty(); }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0 in a defaulted comparison
  auto operator<=>(const CaseRef&) const = default;
};

// "id" or "id@gpu1" from the second device on: how reports name a case.
std::string DisplayId(const CaseRef& ref);

// The case of such a text, of a record or of --case. People may name the first device too, "id@gpu0". Without
// one, `device` is empty: the text does not tell a case of the first device from one that uses none.
CaseRef ParseDisplayId(const std::string& text);

// "id@gpu0", and "id@" without a device: patterns of filters and waivers may name it so.
std::string IdWithDevice(const CaseRef& ref);

// Whether `named`, whose device may be empty as ParseDisplayId leaves it, means the case.
bool Means(const CaseRef& named, const CaseRef& ref);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_CASE_REF_H_
