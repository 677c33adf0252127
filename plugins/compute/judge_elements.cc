#include "compute/judge_elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "common/numeric/fill.h"
#include "common/numeric/parallel.h"
#include "compute/describe_result.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kElementsAtOnce = 1 << 14;
constexpr double kWorstOfAll = std::numeric_limits<double>::infinity();

bool IsRight(DataType type, const ElementRule& rule, double got) {
  if (std::isnan(rule.expected)) return std::isnan(got);
  if (std::isnan(got)) return false;
  if (std::isinf(rule.expected)) return got == rule.expected;
  if (rule.allowed == kAnyNumber) return true;
  return got >= RoundTo(type, rule.expected - rule.allowed) &&
         got <= RoundTo(type, rule.expected + rule.allowed);
}

// How wrong it is, to find the worst; what is exact counts in steps of 1.
double Severity(const ElementRule& rule, double got) {
  const double error = std::fabs(got - rule.expected);
  if (rule.padding || std::isnan(error)) return kWorstOfAll;
  return rule.allowed > 0 ? error / rule.allowed : error;
}

// One thread's part, and the whole.
class Part {
 public:
  void Wrong(std::int64_t index, const ElementRule& rule, double got, std::uint64_t bits) {
    if (judged_.wrong++ == 0) {
      judged_.first_wrong = index;
      judged_.first_expected = rule.expected, judged_.first_got = got, judged_.first_bits = bits;
      judged_.first_allowed = rule.allowed;
    }
    const double severity = Severity(rule, got);
    if (judged_.worst >= 0 && severity <= severity_) return;
    severity_ = severity;
    judged_.worst = index;
    judged_.worst_expected = rule.expected, judged_.worst_got = got, judged_.worst_allowed = rule.allowed;
  }
  void Unwritten(std::int64_t index) {
    if (judged_.unwritten++ == 0) judged_.first_unwritten = index;
  }
  void Error(double error) {
    if (error > judged_.worst_error) judged_.worst_error = error;  // false for NaN
  }
  void Count(std::int64_t elements) { judged_.elements += elements; }

  void Add(const Part& part) {
    const ElementJudgement& other = part.judged_;
    const auto earlier = [](std::int64_t a, std::int64_t b) { return a >= 0 && (b < 0 || a < b); };
    if (earlier(other.first_wrong, judged_.first_wrong)) {
      judged_.first_wrong = other.first_wrong;
      judged_.first_expected = other.first_expected, judged_.first_got = other.first_got;
      judged_.first_bits = other.first_bits, judged_.first_allowed = other.first_allowed;
    }
    if (earlier(other.first_unwritten, judged_.first_unwritten))
      judged_.first_unwritten = other.first_unwritten;
    const bool worse = other.worst >= 0 && (judged_.worst < 0 || part.severity_ > severity_ ||
                                            (part.severity_ == severity_ && other.worst < judged_.worst));
    if (worse) {
      severity_ = part.severity_;
      judged_.worst = other.worst;
      judged_.worst_expected = other.worst_expected, judged_.worst_got = other.worst_got;
      judged_.worst_allowed = other.worst_allowed;
    }
    judged_.wrong += other.wrong, judged_.unwritten += other.unwritten, judged_.elements += other.elements;
    Error(other.worst_error);
  }
  const ElementJudgement& judged() const { return judged_; }

 private:
  ElementJudgement judged_;
  double severity_ = 0;
};

void JudgeOne(DataType type, std::int64_t index, const ElementRule& rule, const unsigned char* at,
              Part* part) {
  if (rule.ignored) return;
  const std::uint32_t fill[2] = {UnwrittenWord(type), UnwrittenWord(type)};
  const bool unwritten = std::memcmp(at, fill, SizeOf(type)) == 0;
  if (unwritten && rule.padding) return;
  if (unwritten) return part->Unwritten(index);
  const double got = Load(type, at);
  const bool exact = rule.allowed == 0;
  if (!rule.padding) part->Error(std::fabs(got - (exact ? RoundTo(type, rule.expected) : rule.expected)));
  if (!rule.padding && IsRight(type, rule, got)) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, SizeOf(type));  // little-endian, as all that have GPUs
  part->Wrong(index, rule, got, bits);
}

}  // namespace

std::string ElementJudgement::WorstText(const std::string& place) const {
  return "worst at " + place + ": got " + Short(worst_got) + ", expected " + Short(worst_expected) +
         ", allowed " + Short(worst_allowed);
}

ElementJudgement JudgeElements(DataType type, std::int64_t count,
                               const std::function<ElementRule(std::int64_t)>& rule_of,
                               const unsigned char* got) {
  Part whole;
  std::mutex mutex;
  const std::size_t bytes = SizeOf(type);
  ParallelFor(count, kElementsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    Part part;
    part.Count(end - begin);
    for (std::int64_t i = begin; i < end; ++i)
      JudgeOne(type, i, rule_of(i), got + static_cast<std::size_t>(i) * bytes, &part);
    const std::lock_guard<std::mutex> lock(mutex);
    whole.Add(part);
  });
  return whole.judged();
}

}  // namespace cudnn_ci
