// Exact data for a shape, and the memory of references. The arithmetic is in convolve.cc.
#include "conv/reference.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "conv/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kSmallReduction = 16, kMediumReduction = 64;
constexpr std::int64_t kFillGrain = 1 << 18;  // elements; a multiple of 8, the values of one random word
constexpr std::size_t kCacheBytes = std::size_t{512} << 20;

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t Fnv1a(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char ch : text) h = (h ^ static_cast<unsigned char>(ch)) * 0x100000001b3u;
  return h;
}

// SplitMix64's output function (Steele, Lea, Flood 2014): random words by their number, so that any
// range of the data can be made by any thread.
std::uint64_t RandomWord(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// What a random byte stands for.
using ByteValues = std::array<std::int8_t, 256>;

template <class Function>
ByteValues MakeByteValues(Function value_of) {
  ByteValues values{};
  for (int b = 0; b < 256; ++b) values[static_cast<std::size_t>(b)] = static_cast<std::int8_t>(value_of(b));
  return values;
}

ByteValues InputValues(std::int64_t reduction) {
  if (reduction <= kSmallReduction) return MakeByteValues([](int b) { return b * 7 / 256 - 3; });
  return MakeByteValues([](int b) { return b * 3 / 256 - 1; });
}

ByteValues FilterValues(std::int64_t reduction) {
  if (reduction <= kSmallReduction)
    return MakeByteValues([](int b) { return b * 6 / 256 < 3 ? b * 6 / 256 - 3 : b * 6 / 256 - 2; });
  if (reduction <= kMediumReduction) return MakeByteValues([](int b) { return b < 128 ? -1 : 1; });
  // Longer than the output's range: fewer than half of kMaxOutput non-zero weights, on average.
  if (reduction > kMaxReduction)
    throw std::invalid_argument("a reduction over " + std::to_string(reduction) + " products is too long");
  const int signs = reduction <= kMaxOutput ? 85 : static_cast<int>(kMaxReduction / reduction);
  return MakeByteValues([signs](int b) {
    if (b < signs) return -1;
    return b < 2 * signs ? 1 : 0;
  });
}

void Fill(std::vector<std::int8_t>* data, const ByteValues& values, std::uint64_t seed) {
  const auto count = static_cast<std::int64_t>(data->size());
  ParallelFor(count, kFillGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += 8) {
      std::uint64_t word = RandomWord(seed, static_cast<std::uint64_t>(i / 8));
      const std::int64_t stop = std::min(i + 8, end);
      for (std::int64_t j = i; j < stop; ++j, word >>= 8)
        (*data)[static_cast<std::size_t>(j)] = values[word & 255];
    }
  });
}

}  // namespace

double ReferenceBytes(const ConvShape& shape) {
  return static_cast<double>(shape.InputCount()) + static_cast<double>(shape.FilterCount()) +
         2.0 * static_cast<double>(shape.OutputCount());
}

void FillExactData(Reference* reference) {
  const ConvShape& s = reference->shape;
  const std::uint64_t seed = Fnv1a(s.Text());
  reference->x.resize(static_cast<std::size_t>(s.InputCount()));
  reference->w.resize(static_cast<std::size_t>(s.FilterCount()));
  Fill(&reference->x, InputValues(s.Reduction()), RandomWord(seed, 0));
  Fill(&reference->w, FilterValues(s.Reduction()), RandomWord(seed, 1));
}

std::shared_ptr<const Reference> ReferenceCache::Get(const ConvShape& shape) {
  const std::string key = shape.Text();
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&key](const Entry& e) { return e.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().reference;
  }
  // Room first: the new reference and those to go should not stand side by side.
  const double room = static_cast<double>(capacity_) - ReferenceBytes(shape);
  while (!entries_.empty() && Bytes() > room) entries_.pop_back();
  auto made = std::make_shared<Reference>();
  made->shape = shape;
  FillExactData(made.get());
  Convolve(made.get());
  entries_.push_front({key, made});
  return made;
}

double ReferenceCache::Bytes() const {
  double sum = 0;
  for (const Entry& e : entries_) sum += static_cast<double>(e.reference->Bytes());
  return sum;
}

std::shared_ptr<const Reference> ReferenceOf(const ConvShape& shape) {
  static ReferenceCache cache(kCacheBytes);
  return cache.Get(shape);
}

}  // namespace cudnn_ci
