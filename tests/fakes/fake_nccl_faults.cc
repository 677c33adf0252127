// Collectives by their definition, and what can go wrong in them. Of what one rank receives:
//   "nothing", "half", "tail", "odd", "first"   nothing is written; the second half, the last 8 elements, the
//                 last one of an odd count, or the first one is not
//   "average_tail"  an average leaves what is behind the last multiple of 16 elements
//   "element", "bit", "last"   an element in the middle is the next one's; a bit of it, or of the last one,
//   is
//                 another
//   "moved", "block", "swapped", "reversed"   all elements are moved by one; a block of 16 is that of another
//                 place; two blocks of 16 are exchanged; the order of all is reversed
//   "stale", "zeros"   it is what the call before wrote, or zeros
//   "nan"         NaNs get the form that arithmetic gives them
//   "behind", "before", "input"   an element behind or before the output, or of the input, is written
//   "races"       each third call has a bit of another value
//   "in_place", "shifted"   a call in place, or of an odd address, loses its first element
//   "error_after"   the call returns an error when all is done
// Of several ranks, for which "lost" is the rank of FAKE_NCCL_LOST:
//   "missing", "twice", "own"   it does not take part, or twice; nobody takes part but the rank itself
//   "lost_tail", "lost_element"   the last 8 elements, or one, are without it
//   "order", "rotated"   the chunks of two ranks are exchanged; each is that of the next rank
//   "root"        what is received is that of the root behind the right one
//   "chunk"       one chunk is another's
//   "other_op"    the maximum in the place of the minimum, the sum in that of any other
//   "average_early", "average_never", "average_twice"   each part is divided, by whole numbers, before the
//   sum;
//                 nothing is divided; it is divided twice
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "fake_nccl.h"

namespace fake_nccl {
namespace {

enum Op { kSum, kProd, kMax, kMin, kAvg };

constexpr std::size_t kBlock = 16;

std::string g_fault;

double Combined(int op, double a, double b) {
  switch (op) {
    case kProd:
      return a * b;
    case kMax:
      return std::max(a, b);
    case kMin:
      return std::min(a, b);
    default:
      return a + b;
  }
}

// One element, of the parts of all ranks that take part.
double Reduced(const Collective& c, const std::vector<Bytes>& sent, std::size_t element, bool errs) {
  int op = c.op;
  if (errs && IsFault("other_op")) op = op == kMin ? kMax : op == kSum ? kMax : kSum;
  const bool lost_here = (IsFault("lost_tail") && element + 8 >= c.Receives()) ||
                         (IsFault("lost_element") && element == c.Receives() / 2);
  double result = 0;
  bool any = false;
  const auto add = [&](int rank) {
    const std::size_t begin =
        c.kind == Collective::kReduceScatter ? c.count * static_cast<std::size_t>(c.rank) : 0;
    double value = c.type->Load(sent[static_cast<std::size_t>(rank)].data() + (begin + element) * c.size());
    if (errs && IsFault("average_early") && op == kAvg) value = std::trunc(value / c.ranks);
    result = any ? Combined(op, result, value) : value;
    any = true;
  };
  for (int rank = 0; rank < c.ranks; ++rank) {
    if (errs && (IsFault("missing") || lost_here) && rank == c.lost) continue;
    if (errs && IsFault("own") && rank != c.rank) continue;
    add(rank);
    if (errs && IsFault("twice") && rank == c.lost) add(rank);
  }
  if (op != kAvg || (errs && (IsFault("average_never") || IsFault("average_early")))) return result;
  return result / c.ranks / (errs && IsFault("average_twice") ? c.ranks : 1);
}

// Which chunk of which rank lies in the chunk `chunk` of the output.
struct Origin {
  int rank;
  std::size_t chunk;
};

Origin OriginOf(const Collective& c, std::size_t chunk, bool errs) {
  const auto ranks = static_cast<std::size_t>(c.ranks);
  int root = c.root;
  if (errs) {
    if (IsFault("root")) root = (root + 1) % c.ranks;
    if (IsFault("rotated")) chunk = (chunk + 1) % ranks;
    const auto lost = static_cast<std::size_t>(c.lost);
    if (IsFault("order") && (chunk == 0 || chunk == lost)) chunk = lost - chunk;
    if (IsFault("chunk") && chunk == lost) chunk = 0;
  }
  switch (c.kind) {
    case Collective::kBroadcast:
      return {root, 0};
    case Collective::kScatter:
      return {root, static_cast<std::size_t>(c.rank)};
    case Collective::kAllToAll:
      return {static_cast<int>(chunk), static_cast<std::size_t>(c.rank)};
    default:
      return {static_cast<int>(chunk), 0};
  }
}

Bytes Right(const Collective& c, const std::vector<Bytes>& sent, bool errs) {
  Bytes out(c.Receives() * c.size());
  if (c.kind <= Collective::kReduceScatter) {
    // One part needs no arithmetic, which would give NaNs another form.
    if (c.ranks == 1) return sent[0];
    for (std::size_t e = 0; e < c.Receives(); ++e)
      c.type->Store(Reduced(c, sent, e, errs), out.data() + e * c.size());
    return out;
  }
  const std::size_t bytes = c.count * c.size();
  for (std::size_t chunk = 0; bytes > 0 && chunk * bytes < out.size(); ++chunk) {
    const Origin origin = OriginOf(c, chunk, errs);
    const Bytes& from = sent[static_cast<std::size_t>(origin.rank)];
    if (from.size() >= (origin.chunk + 1) * bytes)
      std::memcpy(out.data() + chunk * bytes, from.data() + origin.chunk * bytes, bytes);
  }
  return out;
}

// In what is received. The elements from `begin` to `end` are then written.
void Spoil(const Collective& c, Bytes* out, std::size_t* begin, std::size_t* end) {
  const std::size_t size = c.size(), n = c.Receives();
  static Bytes before;
  static std::size_t count = 0;
  static int calls = 0;
  calls = std::exchange(count, n) == n ? calls + 1 : 1;
  const Bytes right = *out;
  unsigned char* const data = out->data();
  const auto block = [&](std::size_t i) { return data + i * kBlock * size; };
  if (IsFault("nothing")) *end = 0;
  if (IsFault("half")) *end = n / 2;
  if (IsFault("tail")) *end = n - std::min<std::size_t>(8, n);
  if (IsFault("odd")) *end = n - n % 2;
  if (IsFault("average_tail") && c.op == kAvg) *end = n - n % kBlock;
  if (IsFault("first")) *begin = 1;
  if (IsFault("element") && n > 1) std::memcpy(data + n / 2 * size, right.data() + (n / 2 - 1) * size, size);
  if (IsFault("bit")) data[n / 2 * size] ^= 1;
  if (IsFault("last")) data[out->size() - 1] ^= 2;
  if (IsFault("moved")) std::memmove(data + size, right.data(), (n - 1) * size);
  if (IsFault("block") && n >= 4 * kBlock) std::memcpy(block(2), right.data(), kBlock * size);
  if (IsFault("swapped") && n >= 4 * kBlock) std::swap_ranges(block(1), block(2), block(3));
  if (IsFault("reversed"))
    for (std::size_t e = 0; e < n; ++e) std::memcpy(data + e * size, right.data() + (n - 1 - e) * size, size);
  if (IsFault("stale") && before.size() == out->size()) *out = before;
  if (IsFault("zeros")) std::fill(out->begin(), out->end(), 0);
  if (IsFault("nan"))
    for (std::size_t e = 0; e < n; ++e)
      if (std::isnan(c.type->Load(data + e * size))) c.type->Store(NAN, data + e * size);
  if (IsFault("races") && calls % 3 == 2) data[n / 2 * size] ^= 1;
  before = right;
}

}  // namespace

void SetFault(const std::string& fault) { g_fault = fault; }

void ChooseFault(std::size_t count) {
  constexpr std::string_view kByCount = "by_count:";
  constexpr std::size_t kFirst = 1000;
  const char* const text = std::getenv("FAKE_NCCL_FAULT");
  const char* const sound_by = std::getenv("FAKE_NCCL_SOUND_BY");
  const char* const sound = sound_by ? std::getenv(sound_by) : nullptr;
  std::string_view faults = text && !(sound && *sound == '1') ? text : "";
  if (!faults.starts_with(kByCount)) return SetFault(std::string(faults));
  faults.remove_prefix(kByCount.size());
  for (; count > kFirst && !faults.empty(); --count)
    faults.remove_prefix(std::min(faults.find(',') + 1, faults.size()));
  SetFault(count == kFirst ? std::string(faults.substr(0, faults.find(','))) : "");
}

bool IsFault(const char* fault) { return g_fault == fault; }

const cudnn_ci::NcclType* TypeOf(int number) {
  for (const char* name : {"int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16",
                           "float32", "float64", "float8_e4m3", "float8_e5m2"})
    if (const cudnn_ci::NcclType* const type = cudnn_ci::FindNcclType(name); type->number == number)
      return type;
  return nullptr;
}

std::size_t Collective::Sends() const {
  const std::size_t all = count * static_cast<std::size_t>(ranks);
  if (kind == kBroadcast) return rank == root ? count : 0;
  if (kind == kScatter) return rank == root ? all : 0;
  return kind == kReduceScatter || kind == kAllToAll ? all : count;
}

std::size_t Collective::Receives() const {
  const std::size_t all = count * static_cast<std::size_t>(ranks);
  if (kind == kReduce) return rank == root ? count : 0;
  if (kind == kGather) return rank == root ? all : 0;
  return kind == kAllGather || kind == kAllToAll ? all : count;
}

int Deliver(const Collective& c, const std::vector<Bytes>& sent, bool errs, unsigned char* send,
            unsigned char* receive) {
  const std::size_t size = c.size(), n = c.Receives();
  if (n == 0) {
    if (errs && receive && IsFault("behind")) std::memset(receive, 0x55, size);
    return 0;
  }
  Bytes out = Right(c, sent, errs);
  std::size_t begin = 0, end = n;
  if (errs) Spoil(c, &out, &begin, &end);
  const bool in_place = send && send < receive + n * size && receive < send + c.Sends() * size;
  const bool odd_address = reinterpret_cast<std::size_t>(receive) % 16 != 0;
  if (errs && ((IsFault("in_place") && in_place) || (IsFault("shifted") && odd_address)))
    std::memset(out.data(), 0x55, size);
  if (end > begin) std::memcpy(receive + begin * size, out.data() + begin * size, (end - begin) * size);
  if (errs && IsFault("behind")) std::memset(receive + n * size, 0x55, size);
  if (errs && IsFault("before")) std::memset(receive - size, 0x55, size);
  if (errs && IsFault("input") && send) send[c.Sends() / 2 * size] ^= 1;
  return errs && IsFault("error_after") ? 1 : 0;
}

}  // namespace fake_nccl
