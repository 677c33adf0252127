#include "model/record/case_ref.h"

namespace cudnn_ci {

namespace {

constexpr char kFirstDevice[] = "gpu0";

}  // namespace

std::string DisplayId(const CaseRef& ref) {
  return ref.device.empty() || ref.device == kFirstDevice ? ref.id : IdWithDevice(ref);
}

CaseRef ParseDisplayId(const std::string& text) {
  const size_t at = text.rfind('@');
  // What stands in brackets are parameters.
  const bool has_device =
      at != std::string::npos && at + 1 < text.size() && text.find(']', at) == std::string::npos;
  return has_device ? CaseRef{text.substr(0, at), text.substr(at + 1)} : CaseRef{text, ""};
}

std::string IdWithDevice(const CaseRef& ref) { return ref.id + "@" + ref.device; }

bool Means(const CaseRef& named, const CaseRef& ref) {
  return named == ref || (named.id == ref.id && named.device.empty() && ref.device == kFirstDevice);
}

}  // namespace cudnn_ci
