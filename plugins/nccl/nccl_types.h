// The types, reductions and results of NCCL by their numbers in nccl.h, which is not at hand everywhere
// (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/types.html). Data alone; must not know the
// SDK or CUDA.
#ifndef CUDNN_CI_PLUGINS_NCCL_NCCL_TYPES_H_
#define CUDNN_CI_PLUGINS_NCCL_NCCL_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/numeric/data_type.h"

namespace cudnn_ci {

// An element type of NCCL's.
struct NcclType {
  const char* name;  // "float8_e4m3"
  int number;        // ncclDataType_t
  std::size_t size;
  // Of the same size, and with the same fill, where numeric/data_type.h does not have the type.
  DataType memory;
  int significant_bits;  // every whole number up to 2^significant_bits has an element, if it is not an
                         // integer
  bool is_signed, is_integer;

  // The largest number up to which there is an element for every whole number.
  double Most() const;
  // One element of a whole number that has one.
  void Store(double value, unsigned char* to) const;
  double Load(const unsigned char* from) const;
};

// Null: there is none of this name.
const NcclType* FindNcclType(const std::string& name);

enum class Reduction { kNone, kSum, kProduct, kMin, kMax, kAverage };

// "sum"; throws std::invalid_argument for others.
Reduction ReductionFrom(const std::string& name);
const char* NameOf(Reduction reduction);
// ncclRedOp_t of one that is not kNone.
int NumberOf(Reduction reduction);

// ncclUniqueId, which calls take by value.
struct NcclUniqueId {
  char bytes[128];
};

// ncclConfig_t as of 2.14, which all later releases take: what it does not have keeps its default.
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 0;  // 0: calls return at once, and what becomes of them is asked for
};

inline constexpr int kNcclSuccess = 0, kNcclSystemError = 2, kNcclInProgress = 7;

// "2.28.9" of 22809, "2.8.4" of 2804.
std::string NcclVersionText(int code);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_NCCL_TYPES_H_
