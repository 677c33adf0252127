// One matrix product of small integers, of which every partial sum is exact: its operands, inputs and result.
// Knows no library.
#ifndef CUDNN_CI_PLUGINS_TOOLKIT_PRODUCT_H_
#define CUDNN_CI_PLUGINS_TOOLKIT_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/cublaslt_api.h"
#include "compute/candidate.h"
#include "compute/operand.h"
#include "compute/reference_data.h"

namespace cudnn_ci {

class Product : public ReferenceData {
 public:
  // The same seed gives the same product.
  Product(GemmType type, std::uint64_t seed);

  // A and B; D.
  const Operands& operands() const { return operands_; }
  // The product as the library is asked for it.
  Gemm On(const VariantPack& pack) const;
  // Which elements of D, as it lies in memory, are wrong, in words; empty: none.
  std::string WrongElements(const unsigned char* got) const;

  void Encode(std::size_t input, unsigned char* to) const override;
  Judgement Judge(std::size_t output, double bound, const unsigned char* got) const override;
  // Null: each product has its own data.
  std::shared_ptr<const void> owner() const override { return nullptr; }

 private:
  const GemmType gemm_type_;
  const DataType type_;
  Operands operands_;
  std::vector<std::int8_t> a_, b_;
  std::vector<std::int16_t> d_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_TOOLKIT_PRODUCT_H_
