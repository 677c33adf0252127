#include "nccl/collective_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/numeric/fill.h"
#include "common/numeric/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kGrain = std::int64_t{1} << 16;  // elements of one range of ParallelFor

// Of splitmix64: each bit of the result depends on each of the place's.
std::uint64_t Mixed(std::uint64_t place) {
  place += 0x9e3779b97f4a7c15u;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9u;
  place = (place ^ (place >> 27)) * 0x94d049bb133111ebu;
  return place ^ (place >> 31);
}

std::uint64_t Mixed(std::int64_t place, int salt) {
  return Mixed(static_cast<std::uint64_t>(place) ^ Mixed(static_cast<std::uint64_t>(salt)));
}

constexpr int kPatternSalt = -1;

bool IsPowerOfTwo(int number) { return (number & (number - 1)) == 0; }

void Copy(const unsigned char* from, std::size_t size, unsigned char* to) {
  switch (size) {
    case 1:
      *to = *from;
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    default:
      std::memcpy(to, from, 8);
  }
}

}  // namespace

Operands OperandsOf(const CollectiveSpec& spec, int rank) {
  const RankLayout layout = spec.Of(rank);
  Operands operands;
  Operand input = {"the input", spec.type->memory, {1, 1, layout.sends + spec.shift}};
  input.seed = Mixed(spec.count, rank);  // what comes again from an earlier call is of other data then
  operands.inputs.push_back(std::move(input));
  Operand output = {"the output", spec.type->memory, {1, 1, layout.output + spec.shift}};
  output.padding = [shift = spec.shift](std::int64_t index) { return index < shift; };
  operands.outputs.push_back(std::move(output));
  return operands;
}

std::string InexactBecause(const CollectiveSpec& spec) {
  if (!spec.Reduces()) return "";
  if (spec.reduction == Reduction::kAverage && !IsPowerOfTwo(spec.ranks))
    return "an average of " + std::to_string(spec.ranks) + " ranks, which rounds";
  if (spec.reduction == Reduction::kAverage && spec.type->Most() < spec.ranks)
    return "an average of " + std::to_string(spec.ranks) + " numbers of " + spec.type->name;
  return "";
}

ReductionPatterns::ReductionPatterns(const CollectiveSpec& spec)
    : reduction_(spec.reduction), ranks_(static_cast<std::size_t>(spec.ranks)) {
  if (reduction_ == Reduction::kMin || reduction_ == Reduction::kMax)
    AddExtremes(spec);
  else if (reduction_ == Reduction::kProduct && spec.ranks > 1)
    AddProducts(spec);
  else
    AddSums(spec);
}

// Rank r sends 2^r, times a number of the pattern's, so that the sum is a mask of who took part and its
// factor tells the place. Where the type has too few bits for that, or a mean of whole numbers has to be one,
// each sends a number of its own.
void ReductionPatterns::AddSums(const CollectiveSpec& spec) {
  constexpr double kMostFactors = 24;
  const bool whole_mean = reduction_ == Reduction::kAverage && spec.type->is_integer && spec.ranks > 1;
  const double factors = std::floor(spec.type->Most() / (std::ldexp(1, spec.ranks) - 1));
  if (whole_mean || factors < (spec.type->is_signed ? 1 : 2)) return AddNumbers(spec, whole_mean);
  for (int factor = 1; factor <= std::min(factors, kMostFactors); ++factor)
    for (const double sign : {1.0, -1.0}) {
      if (sign < 0 && !spec.type->is_signed) continue;
      std::vector<double>& sent = sent_.emplace_back();
      for (int rank = 0; rank < spec.ranks; ++rank) sent.push_back(sign * factor * std::ldexp(1, rank));
    }
}

// None is 0, and the magnitudes of all together have an element. With more ranks than that allows one rank of
// each pattern sends a 1, and all others nothing. `whole_mean`: the sum is a multiple of the ranks, and the
// parts are not.
void ReductionPatterns::AddNumbers(const CollectiveSpec& spec, bool whole_mean) {
  constexpr int kNumbers = 64, kMostMagnitude = 40;
  const double spare = whole_mean ? spec.ranks : 0;
  const int most = static_cast<int>(
      std::min<double>(std::floor((spec.type->Most() - spare) / spec.ranks), kMostMagnitude));
  for (int pattern = 0; pattern < kNumbers; ++pattern) {
    std::vector<double>& sent = sent_.emplace_back(ranks_, 0.0);
    const auto hot = static_cast<std::size_t>(pattern % spec.ranks);
    double sum = 0;
    for (int rank = 0; rank < spec.ranks && most > 0; ++rank) {
      const std::uint64_t drawn = Mixed(pattern, rank);
      const bool negative = spec.type->is_signed && (drawn & 1) != 0;
      const auto magnitude = static_cast<double>(1 + (drawn >> 1) % static_cast<std::uint64_t>(most));
      sum += sent[static_cast<std::size_t>(rank)] = negative ? -magnitude : magnitude;
    }
    if (most == 0) sent[hot] = whole_mean ? spec.ranks : 1;
    // To a multiple; a number that is 0 then shows nothing, and is another one.
    const double rest = std::fmod(sum, spec.ranks);
    if (most > 0 && whole_mean) sent[hot] += spec.type->is_signed || rest == 0 ? -rest : spec.ranks - rest;
    if (most > 0 && sent[hot] == 0) sent[hot] = spec.ranks;
  }
}

// Two ranks of each pattern send a 2, or one of them a 4, and all others -1; without signs as many send a 2
// as the type has room for.
void ReductionPatterns::AddProducts(const CollectiveSpec& spec) {
  const int room = static_cast<int>(std::floor(std::log2(spec.type->Most())));
  for (int a = 0; a < spec.ranks; ++a)
    for (int b = 0; b < spec.ranks; ++b) {
      std::vector<double>& sent = sent_.emplace_back(ranks_, spec.type->is_signed ? -1.0 : 1.0);
      sent[static_cast<std::size_t>(a)] *= 2;
      sent[static_cast<std::size_t>(b)] *= 2;
      for (int next = 1; next < spec.ranks && next < room - 2 && !spec.type->is_signed; ++next)
        if (const auto rank = static_cast<std::size_t>((a + next) % spec.ranks); sent[rank] == 1)
          sent[rank] = 2;
    }
}

void ReductionPatterns::AddExtremes(const CollectiveSpec& spec) {
  constexpr int kValues = 16;  // -8 to 7, which every signed type has, or 0 to 15
  const int lowest = spec.type->is_signed ? -kValues / 2 : 0;
  for (int first = 0; first < kValues; ++first)
    for (const int step : {1, 5, 11}) {
      std::vector<double>& sent = sent_.emplace_back(ranks_, 0.0);
      for (int rank = 0; rank < spec.ranks; ++rank)
        sent[static_cast<std::size_t>(rank)] = lowest + (first + rank * step) % kValues;
    }
}

double ReductionPatterns::Result(std::size_t pattern, const std::vector<int>& weights) const {
  const std::vector<double>& sent = sent_[pattern];
  double result = reduction_ == Reduction::kProduct ? 1 : 0;
  bool any = false;
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    for (int i = 0; i < weights[rank]; ++i) {
      const double value = sent[rank];
      if (reduction_ == Reduction::kProduct)
        result *= value;
      else if (reduction_ == Reduction::kMin)
        result = any ? std::min(result, value) : value;
      else if (reduction_ == Reduction::kMax)
        result = any ? std::max(result, value) : value;
      else
        result += value;
      any = true;
    }
  return reduction_ == Reduction::kAverage ? result / static_cast<double>(ranks_) : result;
}

CollectiveData::CollectiveData(const CollectiveSpec& spec, int rank)
    : spec_(spec),
      rank_(rank),
      layout_(spec.Of(rank)),
      patterns_(spec.Reduces() ? std::make_unique<const ReductionPatterns>(spec) : nullptr),
      owner_(std::make_shared<const int>(rank)) {}

// An element for each pattern, one behind the other.
std::vector<unsigned char> CollectiveData::Encoded(const std::function<double(std::size_t)>& value) const {
  std::vector<unsigned char> encoded(patterns_->size() * spec_.type->size);
  for (std::size_t pattern = 0; pattern < patterns_->size(); ++pattern)
    spec_.type->Store(value(pattern), encoded.data() + pattern * spec_.type->size);
  return encoded;
}

CollectiveData::Fill CollectiveData::OfPatterns(std::vector<unsigned char> encoded,
                                                std::int64_t begin) const {
  return [this, encoded = std::move(encoded), begin, size = spec_.type->size](std::int64_t element,
                                                                              unsigned char* to) {
    const std::uint64_t pattern = Mixed(begin + element, kPatternSalt) % patterns_->size();
    Copy(encoded.data() + pattern * size, size, to);
  };
}

std::int64_t CollectiveData::ReducedBegin(int rank) const {
  return spec_.collective == Collective::kReduceScatter ? spec_.count * rank : 0;
}

CollectiveData::Fill CollectiveData::Sends(int rank) const {
  if (patterns_) return OfPatterns(Encoded([&](std::size_t p) { return patterns_->Sent(p, rank); }), 0);
  return [rank, size = spec_.type->size](std::int64_t element, unsigned char* to) {
    const std::uint64_t bytes = Mixed(element, rank);
    Copy(reinterpret_cast<const unsigned char*>(&bytes), size, to);
  };
}

CollectiveData::Fill CollectiveData::Receives() const {
  if (patterns_)
    return OfPatterns(Encoded([this](std::size_t p) { return patterns_->Result(p); }), ReducedBegin(rank_));
  std::vector<Fill> sends;
  for (int rank = 0; rank < spec_.ranks; ++rank) sends.push_back(Sends(rank));
  const std::int64_t own = spec_.count * rank_;
  switch (spec_.collective) {
    case Collective::kBroadcast:
      return sends[static_cast<std::size_t>(spec_.root)];
    case Collective::kScatter:
      return [send = sends[static_cast<std::size_t>(spec_.root)], own](std::int64_t e, unsigned char* to) {
        send(own + e, to);
      };
    default: {
      const bool scattered =
          spec_.collective == Collective::kAllToAll || spec_.collective == Collective::kSendReceive;
      return [sends, begin = scattered ? own : 0, count = spec_.count](std::int64_t e, unsigned char* to) {
        sends[static_cast<std::size_t>(e / count)](begin + e % count, to);
      };
    }
  }
}

void CollectiveData::Held::operator()(std::int64_t e, unsigned char* to) const {
  if (!layout.in_place || (e >= layout.receive_begin && e < layout.receive_begin + layout.receives))
    received(e - layout.receive_begin, to);
  else
    sent(e - layout.send_begin, to);
}

// What lies before the shift may be read and not be used: the NaN of the type's memory.
void CollectiveData::Encode(std::size_t, unsigned char* to) const {
  const std::size_t size = spec_.type->size;
  const Fill sends = Sends(rank_);
  std::memset(to, kNanByte, static_cast<std::size_t>(spec_.shift) * size);
  to += static_cast<std::size_t>(spec_.shift) * size;
  ParallelFor(layout_.sends, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t e = begin; e < end; ++e) sends(e, to + static_cast<std::size_t>(e) * size);
  });
}

Judgement CollectiveData::Judge(std::size_t, double, const unsigned char* got) const {
  const NcclType& type = *spec_.type;
  const std::uint32_t words[2] = {UnwrittenWord(type.memory), UnwrittenWord(type.memory)};
  const Held holds = {layout_, Receives(), Sends(rank_)};
  Judgement all;
  all.elements = layout_.output + spec_.shift;
  std::vector<Judgement> parts(static_cast<std::size_t>((all.elements + kGrain - 1) / kGrain));
  ParallelFor(all.elements, kGrain, [&](std::int64_t begin, std::int64_t end) {
    Judgement& part = parts[static_cast<std::size_t>(begin / kGrain)];
    unsigned char right[8];
    for (std::int64_t i = begin; i < end; ++i) {
      const unsigned char* const element = got + static_cast<std::size_t>(i) * type.size;
      if (i < spec_.shift)
        std::memcpy(right, words, type.size);
      else
        holds(i - spec_.shift, right);
      if (std::memcmp(element, right, type.size) == 0) continue;
      if (std::memcmp(element, words, type.size) == 0) {
        if (part.unwritten++ == 0) part.first_unwritten = i;
        continue;
      }
      const double is = type.Load(element), expected = type.Load(right);
      if (std::abs(is - expected) > part.worst_error) part.worst_error = std::abs(is - expected);
      if (part.wrong++ > 0) continue;
      part.first_wrong = i, part.first_got = is, part.first_expected = expected;
      std::memcpy(&part.first_bits, element, type.size);
    }
  });
  for (const Judgement& part : parts) {
    if (all.first_unwritten < 0) all.first_unwritten = part.first_unwritten;
    if (all.first_wrong < 0 && part.wrong > 0) {
      all.first_wrong = part.first_wrong, all.first_bits = part.first_bits;
      all.first_got = part.first_got, all.first_expected = part.first_expected;
    }
    all.wrong += part.wrong, all.unwritten += part.unwritten;
    all.worst_error = std::max(all.worst_error, part.worst_error);
  }
  return all;
}  // NOLINT: what std::function owns it gives back

std::string CollectiveData::Place(std::int64_t index) const {
  const std::int64_t element = index - spec_.shift;
  if (element < 0) return "(before the output)";
  if (spec_.ranks == 1 || layout_.output <= spec_.count) return "(element " + std::to_string(element) + ")";
  return "(element " + std::to_string(element % spec_.count) + " of the chunk of rank " +
         std::to_string(element / spec_.count) + ")";
}

bool CollectiveData::IsHeld(const Fill& fill, const unsigned char* got, std::int64_t begin,
                            std::int64_t end) const {
  const std::size_t size = spec_.type->size;
  const Fill receives = Receives();
  got += static_cast<std::size_t>(spec_.shift + layout_.receive_begin) * size;
  unsigned char right[8], other[8];
  for (std::int64_t e = begin; e < end; ++e) {
    const unsigned char* const element = got + static_cast<std::size_t>(e) * size;
    receives(e, right);
    if (std::memcmp(element, right, size) == 0) continue;
    fill(e, other);
    if (std::memcmp(element, other, size) != 0) return false;
  }
  return true;
}

std::string CollectiveData::Explain(const unsigned char* got) const {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
  const Judgement judged = Judge(0, 0, got);
  const std::int64_t first = judged.first_wrong - spec_.shift - layout_.receive_begin;
  if (judged.wrong == 0 || first < 0 || first >= layout_.receives) return "";
  // Of one chunk, in which one cause is likely.
  const std::int64_t chunk = first / spec_.count * spec_.count;
  const std::int64_t end = std::min({chunk + spec_.count, layout_.receives, first + kMostElements});
  const auto fits = [&](const Fill& fill) { return IsHeld(fill, got, first, end); };
  for (const auto& explain : {&CollectiveData::ExplainTaken, &CollectiveData::ExplainSent})
    for (int rank = 0; rank < spec_.ranks; ++rank)
      if (std::string why = (this->*explain)(rank, chunk, fits); !why.empty()) return why;
  const Fill right = Receives();
  for (const std::int64_t step : {1, -1})
    if (fits([&](std::int64_t e, unsigned char* to) {
          const bool inside = e + step >= 0 && e + step < layout_.receives;
          right(inside ? e + step : e, to);
        }))
      return "it is moved by one element";
  return "";
}

// That a rank took part in a reduction too seldom or too often.
std::string CollectiveData::ExplainTaken(int rank, std::int64_t, const Fits& fits) const {
  if (!patterns_ || spec_.ranks == 1) return "";
  for (const int weight : {0, 2}) {
    std::vector<int> weights(static_cast<std::size_t>(spec_.ranks), 1);
    weights[static_cast<std::size_t>(rank)] = weight;
    const auto result = [&](std::size_t p) { return patterns_->Result(p, weights); };
    if (fits(OfPatterns(Encoded(result), ReducedBegin(rank_))))
      return "rank " + std::to_string(rank) + (weight == 0 ? " is missing" : " is counted twice");
  }
  return "";
}

// That something else of a rank lies there.
std::string CollectiveData::ExplainSent(int rank, std::int64_t chunk, const Fits& fits) const {
  const std::string name = "rank " + std::to_string(rank);
  if (patterns_) {
    if (spec_.ranks == 1) return "";
    const auto all = [this](std::size_t p) { return patterns_->Result(p); };
    const auto sent = [&](std::size_t p) { return patterns_->Sent(p, rank); };
    if (rank != rank_ && fits(OfPatterns(Encoded(all), ReducedBegin(rank))))
      return "it is the chunk of " + name;
    return fits(OfPatterns(Encoded(sent), ReducedBegin(rank_))) ? "it is what " + name + " sent" : "";
  }
  const Fill sends = Sends(rank);
  for (const std::int64_t from : {-chunk, spec_.count * rank_ - chunk})
    if (fits([&](std::int64_t e, unsigned char* to) { sends(from + e, to); }))
      return "it is what " + name + " sent";
  for (const int source : {spec_.root, static_cast<int>(chunk / std::max<std::int64_t>(spec_.count, 1))}) {
    const Fill of_source = Sends(source);
    if (fits([&](std::int64_t e, unsigned char* to) { of_source(spec_.count * rank - chunk + e, to); }))
      return "it is the chunk of " + name;
  }
  return "";
}

}  // namespace cudnn_ci
