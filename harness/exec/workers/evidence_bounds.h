// How much one attempt may report. A check can say millions of things; what goes beyond these bounds is
// counted instead of kept, and the report says so.
#ifndef CUDNN_CI_EXEC_WORKERS_EVIDENCE_BOUNDS_H_
#define CUDNN_CI_EXEC_WORKERS_EVIDENCE_BOUNDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cudnn_ci {

class EvidenceBounds {
 public:
  enum Kind { kFinding, kExpectation, kMeasurement, kAttachment, kStep, kKinds };
  static constexpr std::array<int64_t, kKinds> kMost = {200, 200, 1000, 100, 4096};
  static constexpr size_t kBytes = 1 << 20;  // of all texts together

  // Whether one more of the kind, with texts of so many bytes, is kept; counts it as dropped if not.
  bool Keep(Kind kind, size_t bytes) {
    if (kept_[kind] >= kMost[kind] || bytes_ + bytes > kBytes) {
      ++dropped_[kind];
      return false;
    }
    ++kept_[kind];
    bytes_ += bytes;
    return true;
  }
  // "2800 measurements, 3 findings"; empty: nothing was dropped.
  std::string Dropped() const {
    constexpr const char* kNames[] = {"findings", "failed expectations", "measurements", "attachments",
                                      "steps"};
    std::string text;
    for (size_t kind = 0; kind < kKinds; ++kind)
      if (dropped_[kind] > 0)
        text += (text.empty() ? "" : ", ") + std::to_string(dropped_[kind]) + " " + kNames[kind];
    return text;
  }

 private:
  std::array<int64_t, kKinds> kept_{}, dropped_{};
  size_t bytes_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_EVIDENCE_BOUNDS_H_
