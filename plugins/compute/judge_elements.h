// Judges an output element by element, each by a value and a bound of its own: for results that are no
// integers, or whose memory has padding. Knows no operation and no CUDA.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_JUDGE_ELEMENTS_H_
#define CUDNN_CI_PLUGINS_COMPUTE_JUDGE_ELEMENTS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "common/numeric/compare.h"
#include "common/numeric/data_type.h"

namespace cudnn_ci {

// What one element is held to. A result is rounded once, to its type, so with an error of at most `allowed`
// before that it lies between Round(expected - allowed) and Round(expected + allowed); with 0 it is
// Round(expected), and a zero may have either sign. A bound of kAnyNumber takes every number, infinity too.
// Where NaN or an infinity is expected only NaN, or that infinity, is right; where a number is expected NaN
// never is.
struct ElementRule {
  double expected = 0, allowed = 0;
  bool padding = false;  // belongs to no row: must hold what it was filled with (UnwrittenWord)
  bool ignored = false;  // may hold anything
};

// The judgement of all elements, with the worst of the wrong ones: the one whose error is the largest share
// of its bound. A NaN is worse than every number, as is a padding that was written to.
struct ElementJudgement : Judgement {
  std::int64_t worst = -1;  // -1: none is wrong
  double worst_expected = 0, worst_got = 0, worst_allowed = 0;

  // "worst at (row 3, column 4): got 2.5, expected 2, allowed 0.125".
  std::string WorstText(const std::string& place) const;
};

// `got` holds `count` elements of `type`. `rule_of` may be called by several threads at once.
ElementJudgement JudgeElements(DataType type, std::int64_t count,
                               const std::function<ElementRule(std::int64_t)>& rule_of,
                               const unsigned char* got);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_JUDGE_ELEMENTS_H_
