// SHA-256 (FIPS 180-4) of what comes piece by piece. Of one text: Sha256Hex in text.h.
#ifndef CUDNN_CI_BASE_SHA256_H_
#define CUDNN_CI_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cudnn_ci {

class Sha256 {
 public:
  void Update(std::string_view bytes);
  // In lower-case hex. Once, as the last.
  std::string Hex();

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};  // what does not fill a block yet
  size_t used_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_SHA256_H_
