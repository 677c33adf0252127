// What a process printed, in bounded memory: the beginning and the end.
#ifndef CUDNN_CI_EXEC_SYSTEM_OUTPUT_TAIL_H_
#define CUDNN_CI_EXEC_SYSTEM_OUTPUT_TAIL_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/cut_mark.h"

namespace cudnn_ci {

class OutputTail {
 public:
  static constexpr size_t kHead = 8 * 1024, kTail = 56 * 1024;

  void Append(std::string_view bytes) {
    total_ += static_cast<int64_t>(bytes.size());
    if (head_.size() < kHead) {
      const size_t n = std::min(kHead - head_.size(), bytes.size());
      head_.append(bytes.substr(0, n));
      bytes.remove_prefix(n);
    }
    if (bytes.size() > kTail) bytes.remove_prefix(bytes.size() - kTail);
    tail_.append(bytes);
    if (tail_.size() > 2 * kTail) tail_.erase(0, tail_.size() - kTail);
  }
  int64_t total() const { return total_; }
  // Head, a line saying how much was left out, tail.
  std::string Text() const {
    const size_t kept = std::min(tail_.size(), kTail);
    const int64_t left_out = total_ - static_cast<int64_t>(head_.size() + kept);
    if (left_out <= 0) return head_ + tail_.substr(tail_.size() - kept);
    return head_ + "\n[" + CutMark(static_cast<uint64_t>(left_out)) + "]\n" +
           tail_.substr(tail_.size() - kept);
  }
  void Clear() { *this = OutputTail(); }

 private:
  std::string head_, tail_;
  int64_t total_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_OUTPUT_TAIL_H_
