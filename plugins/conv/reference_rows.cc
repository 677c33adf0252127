// One source for every width: the compilers' vectors of 64 bytes, which they make of what a processor has. A
// library that is built for all of them would otherwise be held to the narrowest.
#include "conv/reference_rows.h"

#include <algorithm>
#include <cstring>

#include "common/numeric/integers.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cudnn_ci {
namespace {

using Vector = Element __attribute__((vector_size(64)));
using Half = Element __attribute__((vector_size(32)));
using Quarter = Element __attribute__((vector_size(16)));

// Registers of so many bytes: a processor's own width, since the compilers keep nothing wider in one.
#define CUDNN_CI_REGISTERS(width)                                        \
  struct Registers##width {                                              \
    static constexpr int kWidth = width;                                 \
    using Bytes = std::uint8_t __attribute__((vector_size(width)));      \
    using SignedBytes = std::int8_t __attribute__((vector_size(width))); \
    using Wide = std::int16_t __attribute__((vector_size(2 * (width)))); \
    using Sums = Element __attribute__((vector_size(2 * (width))));      \
  };
CUDNN_CI_REGISTERS(16)
CUDNN_CI_REGISTERS(32)
CUDNN_CI_REGISTERS(64)
#undef CUDNN_CI_REGISTERS

// So many rows have sums that a byte holds.
constexpr std::size_t kRowsOfBytes = INT8_MAX / kMaxValue;

// Bodies are made part of the function that names the processor, so that they are compiled for it.
#define CUDNN_CI_BODY [[gnu::always_inline]] inline void

// `rows` of them, at most kRowsOfBytes, for kChunks registers of places.
template <bool kAdd, class Of, int kChunks>
CUDNN_CI_BODY SumChunks(const std::int8_t* source, const std::int64_t* row, std::size_t rows, Element* sums) {
  constexpr int kWidth = Of::kWidth;
  typename Of::Bytes bytes[kChunks] = {};
  for (std::size_t r = 0; r < rows; ++r)
    for (int k = 0; k < kChunks; ++k) {
      typename Of::Bytes more;
      std::memcpy(&more, source + row[r] + k * kWidth, sizeof more);
      bytes[k] += more;
    }
  for (int k = 0; k < kChunks; ++k) {
    typename Of::SignedBytes narrow;
    std::memcpy(&narrow, &bytes[k], sizeof narrow);
    const auto wide = __builtin_convertvector(narrow, typename Of::Wide);
    typename Of::Sums more, sum;
    std::memcpy(&more, &wide, sizeof more);
    std::memcpy(&sum, sums + k * kWidth, sizeof sum);
    sum = kAdd ? sum + more : sum - more;
    std::memcpy(sums + k * kWidth, &sum, sizeof sum);
  }
}

template <bool kAdd, class Of>
CUDNN_CI_BODY SumGroups(const std::int8_t* source, const std::vector<std::int64_t>& rows, Element* sums,
                        std::int64_t count) {
  constexpr int kChunks = 4, kWidth = Of::kWidth;
  for (std::size_t first = 0; first < rows.size(); first += kRowsOfBytes) {
    const std::size_t group = std::min(kRowsOfBytes, rows.size() - first);
    std::int64_t i = 0;
    for (; i + kChunks * kWidth <= count; i += kChunks * kWidth)
      SumChunks<kAdd, Of, kChunks>(source + i, rows.data() + first, group, sums + i);
    for (; i < count; i += kWidth) SumChunks<kAdd, Of, 1>(source + i, rows.data() + first, group, sums + i);
  }
}

template <class Of>
CUDNN_CI_BODY SumBytes(const std::int8_t* source, const std::vector<std::int64_t>& add,
                       const std::vector<std::int64_t>& subtract, Element* sums, std::int64_t count) {
  static_assert(kLanes % Of::kWidth == 0);
  std::fill_n(sums, (count + kLanes - 1) / kLanes * kLanes, Element{0});
  SumGroups<true, Of>(source, add, sums, count);
  SumGroups<false, Of>(source, subtract, sums, count);
}

// As many elements from `begin` on as fill vectors of one width; returns where they end.
template <class Of>
[[gnu::always_inline]] inline std::int64_t SumScaledBy(Element factor, const Element* row, Element* sums,
                                                       std::int64_t begin, std::int64_t count) {
  constexpr std::int64_t kWidth = sizeof(Of) / sizeof(Element);
  std::int64_t i = begin;
  for (; i + kWidth <= count; i += kWidth) {
    Of v, sum;
    std::memcpy(&v, row + i, sizeof v);
    std::memcpy(&sum, sums + i, sizeof sum);
    sum += v * factor;
    std::memcpy(sums + i, &sum, sizeof sum);
  }
  return i;
}

// Runs are short, so that their ends count.
CUDNN_CI_BODY SumScaled(Element factor, const Element* row, Element* sums, std::int64_t count) {
  std::int64_t i = SumScaledBy<Vector>(factor, row, sums, 0, count);
  i = SumScaledBy<Half>(factor, row, sums, i, count);
  i = SumScaledBy<Quarter>(factor, row, sums, i, count);
  // A product of two 16-bit numbers might not fit int.
  for (; i < count; ++i) sums[i] = static_cast<Element>(sums[i] + unsigned{factor} * row[i]);
}

#undef CUDNN_CI_BODY

using Rows = std::vector<std::int64_t>;

struct Functions {
  void (*rows)(const std::int8_t*, const Rows&, const Rows&, Element*, std::int64_t);
  void (*scaled)(Element, const Element*, Element*, std::int64_t);
};

// Both for one target.
#define CUDNN_CI_FUNCTIONS(name, width, target)                                                           \
  target void name##Rows(const std::int8_t* source, const Rows& add, const Rows& subtract, Element* sums, \
                         std::int64_t count) {                                                            \
    SumBytes<Registers##width>(source, add, subtract, sums, count);                                       \
  }                                                                                                       \
  target void name##Scaled(Element factor, const Element* row, Element* sums, std::int64_t count) {       \
    SumScaled(factor, row, sums, count);                                                                  \
  }                                                                                                       \
  constexpr Functions k##name = {name##Rows, name##Scaled};

CUDNN_CI_FUNCTIONS(Plain, 16, )
#if defined(__x86_64__)
CUDNN_CI_FUNCTIONS(Avx2, 32, __attribute__((target("avx2"))))
CUDNN_CI_FUNCTIONS(Avx512, 64, __attribute__((target("avx512f,avx512bw"))))
#endif

#undef CUDNN_CI_FUNCTIONS

#if defined(__x86_64__)
// The registers that the kernel keeps for a thread: the low word of XCR0 (Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 1, 13.3), 0 where it cannot be read.
unsigned KeptRegisters() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

const Functions& FindBest() {
  constexpr unsigned kAvxKept = 0x6, kAvx512Kept = 0xe6;
  constexpr unsigned kHasAvx2 = 1u << 5, kHasAvx512 = 1u << 16 | 1u << 30;  // F and BW
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return kPlain;
  const unsigned kept = KeptRegisters();
  if ((kept & kAvx512Kept) == kAvx512Kept && (b & kHasAvx512) == kHasAvx512) return kAvx512;
  return (kept & kAvxKept) == kAvxKept && (b & kHasAvx2) ? kAvx2 : kPlain;
}
#else
const Functions& FindBest() { return kPlain; }
#endif

// What this processor runs.
const Functions& Best() {
  static const Functions& best = FindBest();
  return best;
}

}  // namespace

void SumRows(const std::int8_t* source, const Rows& add, const Rows& subtract, Element* sums,
             std::int64_t count) {
  Best().rows(source, add, subtract, sums, count);
}

void AddScaled(Element factor, const Element* row, Element* sums, std::int64_t count) {
  Best().scaled(factor, row, sums, count);
}

}  // namespace cudnn_ci
