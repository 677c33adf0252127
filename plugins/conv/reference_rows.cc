// One source for every width: the compilers' vectors of 64 bytes, which they make of what a processor has. A
// library that is built for all of them would otherwise be held to the narrowest.
#include "conv/reference_rows.h"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cudnn_ci {
namespace {

using Vector = Element __attribute__((vector_size(64)));
using Half = Element __attribute__((vector_size(32)));
using Quarter = Element __attribute__((vector_size(16)));
constexpr std::int64_t kLanes = sizeof(Vector) / sizeof(Element);

// Bodies are made part of the function that names the processor, so that they are compiled for it.
#define CUDNN_CI_BODY [[gnu::always_inline]] inline void

template <bool kAdd>
CUDNN_CI_BODY SumRows(const Element* source, const std::vector<std::int64_t>& rows, Element* sums,
                      std::int64_t count) {
  for (std::size_t r = 0; r < rows.size(); r += kRowsAtOnce) {
    const Element* a = source + rows[r];
    const Element* b = source + rows[r + 1];
    const Element* c = source + rows[r + 2];
    const Element* d = source + rows[r + 3];
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      Vector va, vb, vc, vd, sum;
      std::memcpy(&va, a + i, sizeof va);
      std::memcpy(&vb, b + i, sizeof vb);
      std::memcpy(&vc, c + i, sizeof vc);
      std::memcpy(&vd, d + i, sizeof vd);
      std::memcpy(&sum, sums + i, sizeof sum);
      va = (va + vb) + (vc + vd);
      sum = kAdd ? sum + va : sum - va;
      std::memcpy(sums + i, &sum, sizeof sum);
    }
    for (; i < count; ++i) {
      const auto four = static_cast<Element>(a[i] + b[i] + c[i] + d[i]);
      sums[i] = static_cast<Element>(kAdd ? sums[i] + four : sums[i] - four);
    }
  }
}

// As many elements from `begin` on as fill vectors of one width; returns where they end.
template <class Wide>
[[gnu::always_inline]] inline std::int64_t SumScaledBy(Element factor, const Element* row, Element* sums,
                                                       std::int64_t begin, std::int64_t count) {
  constexpr std::int64_t kWidth = sizeof(Wide) / sizeof(Element);
  std::int64_t i = begin;
  for (; i + kWidth <= count; i += kWidth) {
    Wide v, sum;
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
  void (*add)(const Element*, const Rows&, Element*, std::int64_t);
  void (*subtract)(const Element*, const Rows&, Element*, std::int64_t);
  void (*scaled)(Element, const Element*, Element*, std::int64_t);
};

// The three for one target.
#define CUDNN_CI_FUNCTIONS(name, target)                                                                   \
  target void name##Add(const Element* source, const Rows& rows, Element* sums, std::int64_t count) {      \
    SumRows<true>(source, rows, sums, count);                                                              \
  }                                                                                                        \
  target void name##Subtract(const Element* source, const Rows& rows, Element* sums, std::int64_t count) { \
    SumRows<false>(source, rows, sums, count);                                                             \
  }                                                                                                        \
  target void name##Scaled(Element factor, const Element* row, Element* sums, std::int64_t count) {        \
    SumScaled(factor, row, sums, count);                                                                   \
  }                                                                                                        \
  constexpr Functions k##name = {name##Add, name##Subtract, name##Scaled};

CUDNN_CI_FUNCTIONS(Plain, )
#if defined(__x86_64__)
CUDNN_CI_FUNCTIONS(Avx2, __attribute__((target("avx2"))))
CUDNN_CI_FUNCTIONS(Avx512, __attribute__((target("avx512f,avx512bw"))))
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

void AddRows(const Element* source, const Rows& rows, Element* sums, std::int64_t count) {
  Best().add(source, rows, sums, count);
}

void SubtractRows(const Element* source, const Rows& rows, Element* sums, std::int64_t count) {
  Best().subtract(source, rows, sums, count);
}

void AddScaled(Element factor, const Element* row, Element* sums, std::int64_t count) {
  Best().scaled(factor, row, sums, count);
}

}  // namespace cudnn_ci
