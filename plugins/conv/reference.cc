// What all references share: the proof that 16 bits are enough, and their memory. The arithmetic is in
// reference_forward.cc and reference_backward.cc.
#include "conv/reference.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "common/numeric/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{512} << 20;

constexpr std::int64_t kGrain = 1 << 18;  // elements looked at by one thread

template <class Integer>
int LargestOf(const std::vector<Integer>& values) {
  std::mutex mutex;
  int largest = 0;
  ParallelFor(static_cast<std::int64_t>(values.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
    int part = 0;
    for (std::int64_t i = begin; i < end; ++i)
      part = std::max(part, std::abs(int{values[static_cast<std::size_t>(i)]}));
    const std::lock_guard<std::mutex> lock(mutex);
    largest = std::max(largest, part);
  });
  return largest;
}

// The sum of |values| over what goes into one result, the heaviest of them all: each filter of w in the
// forward pass, each input channel of w in the backward data pass, each channel of dy in the backward filter
// pass.
std::int64_t HeaviestSum(const Problem& problem, const std::vector<std::int8_t>& values) {
  const ConvShape& s = problem.shape;
  const std::int64_t cg = s.ChannelsPerGroup();
  // Elements that lie together and belong to one result.
  std::int64_t run = s.Reduction();
  if (problem.operation == Operation::kBackwardData) run = Product(s.kernel);
  if (problem.operation == Operation::kBackwardFilter) run = Product(s.out);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(std::max(s.k, s.c)), 0);
  const auto runs = static_cast<std::int64_t>(values.size()) / run;
  std::mutex mutex;
  ParallelFor(runs, std::max<std::int64_t>(1, kGrain / run), [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> part(sums.size(), 0);
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t result = i % s.k;  // a filter of w or a channel of dy
      if (problem.operation == Operation::kBackwardData) result = i / cg / s.FiltersPerGroup() * cg + i % cg;
      std::int64_t& sum = part[static_cast<std::size_t>(result)];
      for (std::int64_t j = i * run; j < (i + 1) * run; ++j)
        sum += std::abs(int{values[static_cast<std::size_t>(j)]});
    }
    const std::lock_guard<std::mutex> lock(mutex);
    std::transform(part.begin(), part.end(), sums.begin(), sums.begin(), std::plus<>());
  });
  return *std::max_element(sums.begin(), sums.end());
}

// Whether every result fits 16 bits whatever the other operand's signs: the proof that arithmetic modulo 2^16
// is exact.
void RequireInRange(const Reference& r) {
  const Inputs& in = r.inputs;
  std::int64_t heaviest = HeaviestSum(r.problem, in.b);
  int largest = std::max(LargestOf(in.a), LargestOf(in.a_high));
  if (r.problem.operation == Operation::kBackwardFilter) {
    heaviest = std::max(HeaviestSum(r.problem, in.a), HeaviestSum(r.problem, in.a_high));
    largest = LargestOf(in.b);
  }
  if (heaviest * largest > kMaxOutput) throw std::logic_error("data too heavy for an exact reference");
}

std::vector<std::int16_t> Result(const Problem& problem, const std::vector<std::int8_t>& a,
                                 const std::vector<std::int8_t>& b) {
  switch (problem.operation) {
    case Operation::kBackwardData:
      return ConvolveBackwardData(problem.shape, a, b);
    case Operation::kBackwardFilter:
      return ConvolveBackwardFilter(problem.shape, a, b);
    case Operation::kForward:
      break;
  }
  return ConvolveForward(problem.shape, a, b);
}

// Of one channel of one image: `low` and, of two scales, `high`.
void FinishPlane(const Epilogue& epilogue, int bias, int shift, std::int64_t pixels, std::int16_t* low,
                 std::int16_t* high) {
  for (std::int64_t i = 0; i < pixels; ++i) {
    low[i] = static_cast<std::int16_t>(low[i] + bias);
    if (!epilogue.relu) continue;
    const double value = TwoScale<std::int16_t>{low, high, shift}.At(i);
    if (value >= 0) continue;
    low[i] = 0;
    if (high) high[i] = 0;
  }
}

void Finish(Reference* r) {
  const Epilogue& epilogue = r->problem.epilogue;
  if (!epilogue.any()) return;
  if (LargestOf(r->y) + LargestOf(r->inputs.bias) > kMaxOutput)
    throw std::logic_error("a bias too heavy for an exact reference");
  const Tensor t = r->problem.Y();
  const std::int64_t pixels = Product(t.sizes);
  ParallelFor(t.outer * t.channels, std::max<std::int64_t>(1, kGrain / pixels),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t plane = begin; plane < end; ++plane) {
                  const auto channel = static_cast<std::size_t>(plane % t.channels);
                  FinishPlane(epilogue, epilogue.bias ? r->inputs.bias[channel] : 0, r->recipe.shift, pixels,
                              r->y.data() + plane * pixels,
                              r->y_high.empty() ? nullptr : r->y_high.data() + plane * pixels);
                }
              });
}

std::string KeyOf(const Problem& problem, const Recipe& recipe) {
  return problem.Text() + "; " + recipe.Text();
}

ReferenceCache& Cache() {
  static ReferenceCache cache(kCacheBytes);
  return cache;
}

}  // namespace

std::size_t Reference::Bytes() const {
  return inputs.a.size() + inputs.a_high.size() + inputs.b.size() + 2 * (y.size() + y_high.size());
}

double ReferenceBytes(const Problem& problem, const Recipe& recipe) {
  const double scales = recipe.shift == 0 ? 1 : 2;
  return scales *
             (static_cast<double>(problem.A().Count()) + 2.0 * static_cast<double>(problem.Y().Count())) +
         static_cast<double>(problem.B().Count());
}

double MakingBytes(const Problem& problem, const Recipe& recipe) {
  const double kept = ReferenceBytes(problem, recipe);
  switch (problem.operation) {
    case Operation::kBackwardData:
      return kept + BackwardDataWorkBytes(problem.shape);
    case Operation::kBackwardFilter:
      return kept + BackwardFilterWorkBytes(problem.shape);
    case Operation::kForward:
      break;
  }
  return kept + ForwardWorkBytes(problem.shape);
}

void ComputeReference(Reference* reference) {
  RequireInRange(*reference);
  const Inputs& in = reference->inputs;
  reference->y = Result(reference->problem, in.a, in.b);
  if (!in.a_high.empty()) reference->y_high = Result(reference->problem, in.a_high, in.b);
  Finish(reference);
  reference->max_abs = LargestOf(reference->y);
}

std::list<ReferenceCache::Entry>::iterator ReferenceCache::Find(const Problem& problem,
                                                                const Recipe& recipe) {
  const std::string key = KeyOf(problem, recipe);
  return std::find_if(entries_.begin(), entries_.end(), [&key](const Entry& e) { return e.key == key; });
}

std::size_t ReferenceCache::Stay(const Problem& problem, const Recipe& recipe) const {
  double room = static_cast<double>(capacity_) - ReferenceBytes(problem, recipe);
  std::size_t stay = 0;
  for (const Entry& e : entries_) {
    room -= static_cast<double>(e.reference->Bytes());
    if (room < 0) break;
    ++stay;
  }
  return stay;
}

double ReferenceCache::Growth(const Problem& problem, const Recipe& recipe) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (Find(problem, recipe) != entries_.end()) return 0;
  double growth = MakingBytes(problem, recipe);
  std::size_t stay = Stay(problem, recipe);
  for (const Entry& e : entries_)
    if (stay == 0)
      growth -= static_cast<double>(e.reference->Bytes());
    else
      --stay;
  return growth;
}

void ReferenceCache::ForgetOthers(const Problem& problem, const Recipe& recipe) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string key = KeyOf(problem, recipe);
  entries_.remove_if([&key](const Entry& e) { return e.key != key; });
}

std::shared_ptr<const Reference> ReferenceCache::Get(const Problem& problem, const Recipe& recipe) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = Find(problem, recipe); found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().reference;
  }
  // Room first: the new reference and those to go should not stand side by side.
  entries_.resize(Stay(problem, recipe));
  auto made = std::make_shared<Reference>();
  made->problem = problem;
  made->problem.output.reset();  // it serves results of every type
  made->recipe = recipe;
  made->inputs = MakeInputs(problem, recipe);
  ComputeReference(made.get());
  entries_.push_front({KeyOf(problem, recipe), made});
  return made;
}

std::shared_ptr<const Reference> ReferenceOf(const Problem& problem, const Recipe& recipe) {
  return Cache().Get(problem, recipe);
}

std::function<void()> MakingOfReference(const Problem& problem, const Recipe& recipe, double most_bytes) {
  // A quarter of what this process remembers: host memory is asked for only when the case knows what it
  // needs.
  constexpr double kMostBytes = 128 << 20;
  if (ReferenceBytes(problem, recipe) > kMostBytes || MakingBytes(problem, recipe) > most_bytes) return {};
  return [problem, recipe] { ReferenceOf(problem, recipe); };
}

double ReferenceGrowth(const Problem& problem, const Recipe& recipe) {
  return Cache().Growth(problem, recipe);
}

void ForgetOtherReferences(const Problem& problem, const Recipe& recipe) {
  Cache().ForgetOthers(problem, recipe);
}

}  // namespace cudnn_ci
