#include "model/old_words.h"

namespace cudnn_ci {

Resource MemoryInWords(const std::string& need, const std::string& seen) {
  const std::string words = need + "\n" + seen;
  const auto says = [&](const char* memory) { return words.find(memory) != std::string::npos; };
  return says("host memory") && !says("device memory") ? Resource::kHostMemory : Resource::kDeviceMemory;
}

void CompleteOld(Skipped* skipped) {
  if (skipped->kind == SkipKind::kMemory && skipped->resource == Resource::kNone)
    skipped->resource = MemoryInWords(skipped->need, skipped->seen);
}

// "subject NAME: /opt/cudnn: no such folder"
void CompleteOld(Finding* finding) {
  constexpr std::string_view kHead = "subject ";
  if (finding->slug != "subject-missing" || !finding->subject.empty()) return;
  const size_t colon = finding->detail.find(": ");
  if (colon != std::string::npos && finding->detail.starts_with(kHead))
    finding->subject = finding->detail.substr(kHead.size(), colon - kHead.size());
}

}  // namespace cudnn_ci
