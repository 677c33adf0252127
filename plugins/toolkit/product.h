// One matrix product as bytes of device memory: inputs of small integers, of which every partial sum is
// exact, what must stand there afterwards, and what of it does not. Knows no library.
#ifndef CUDNN_CI_PLUGINS_TOOLKIT_PRODUCT_H_
#define CUDNN_CI_PLUGINS_TOOLKIT_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/cublaslt_api.h"

namespace cudnn_ci {

class Product {
 public:
  // The same seed gives the same product.
  Product(GemmType type, std::uint64_t seed);

  // All three matrices between guard zones; the output, like the zones, of bytes that are no number.
  const std::vector<unsigned char>& before() const { return before_; }
  // The product as the library is asked for it, with its memory at `base`.
  Gemm At(std::uint64_t base) const;
  // What differs from what must stand there after it, in words; empty: nothing. `after` has the size of
  // before().
  std::string Problem(const std::vector<unsigned char>& after) const;

 private:
  std::size_t ElementBytes() const { return type_ == GemmType::kFloat16 ? 2 : 4; }
  std::size_t Add(std::size_t elements);
  void Put(std::vector<unsigned char>* memory, std::size_t at, int value) const;
  bool IsRight(const std::vector<unsigned char>& after, std::size_t at) const;
  std::string ValueText(const std::vector<unsigned char>& memory, std::size_t at) const;

  GemmType type_;
  std::size_t a_ = 0, b_ = 0, d_ = 0;  // where each begins
  std::vector<unsigned char> before_, right_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_TOOLKIT_PRODUCT_H_
