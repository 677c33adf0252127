#include "nccl/nccl_types.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

namespace cudnn_ci {
namespace {

constexpr NcclType kTypes[] = {
    {"int8", 0, 1, DataType::kInt8, 7, true, true},
    {"uint8", 1, 1, DataType::kInt8, 8, false, true},
    {"int32", 2, 4, DataType::kInt32, 31, true, true},
    {"uint32", 3, 4, DataType::kInt32, 32, false, true},
    {"int64", 4, 8, DataType::kFloat64, 53, true, true},
    {"uint64", 5, 8, DataType::kFloat64, 53, false, true},
    {"float16", 6, 2, DataType::kFloat16, 11, true, false},
    {"float32", 7, 4, DataType::kFloat32, 24, true, false},
    {"float64", 8, 8, DataType::kFloat64, 53, true, false},
    {"bfloat16", 9, 2, DataType::kBfloat16, 8, true, false},
    {"float8_e4m3", 10, 1, DataType::kFloat8E4m3, 4, true, false},
    {"float8_e5m2", 11, 1, DataType::kFloat8E5m2, 3, true, false},
};

struct NamedReduction {
  const char* name;
  int number;
};
// In the order of Reduction.
constexpr NamedReduction kReductions[] = {{"none", -1}, {"sum", 0}, {"product", 1},
                                          {"min", 3},   {"max", 2}, {"average", 4}};

}  // namespace

double NcclType::Most() const { return std::ldexp(1, significant_bits) - (is_integer ? 1 : 0); }

void NcclType::Store(double value, unsigned char* to) const {
  if (!is_integer) return cudnn_ci::Store(memory, value, to);
  const auto whole = static_cast<std::int64_t>(value);
  std::memcpy(to, &whole, size);  // of a little-endian number its lower bytes
}

double NcclType::Load(const unsigned char* from) const {
  if (!is_integer) return cudnn_ci::Load(memory, from);
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size);
  if (!is_signed) return static_cast<double>(bits);
  const int unused = 64 - 8 * static_cast<int>(size);
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

const NcclType* FindNcclType(const std::string& name) {
  for (const NcclType& type : kTypes)
    if (name == type.name) return &type;
  return nullptr;
}

Reduction ReductionFrom(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kReductions); ++i)
    if (name == kReductions[i].name) return static_cast<Reduction>(i);
  throw std::invalid_argument("no reduction is called " + name);
}

const char* NameOf(Reduction reduction) { return kReductions[static_cast<std::size_t>(reduction)].name; }

int NumberOf(Reduction reduction) { return kReductions[static_cast<std::size_t>(reduction)].number; }

// NCCL_VERSION of nccl.h.
std::string NcclVersionText(int code) {
  const int step = code >= 10000 ? 10000 : 1000;
  return std::to_string(code / step) + "." + std::to_string(code % step / 100) + "." +
         std::to_string(code % 100);
}

}  // namespace cudnn_ci
