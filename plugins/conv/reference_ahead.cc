// The thread of one reference.
#include "conv/reference_ahead.h"

#include <exception>
#include <system_error>

namespace cudnn_ci {
namespace {

// A quarter of what this process remembers: host memory is asked for only when the case knows what it needs.
constexpr double kMostBytes = 128 << 20;

}  // namespace

ReferenceAhead::ReferenceAhead(const Problem& problem, const Recipe& recipe, double most_bytes) {
  if (ReferenceBytes(problem, recipe) > kMostBytes || MakingBytes(problem, recipe) > most_bytes) return;
  try {
    thread_ = std::thread([problem, recipe] {
      try {
        ReferenceOf(problem, recipe);
      } catch (const std::exception&) {
        // Whoever asks for it meets the same, and can say so.
      }
    });
  } catch (const std::system_error&) {
    return;  // a limit on threads: it is made when it is asked for
  }
}

ReferenceAhead::~ReferenceAhead() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace cudnn_ci
