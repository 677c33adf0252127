// SHA-256 as in FIPS 180-4, for the fingerprints of matrices, plans and plugin files. Not meant to keep
// secrets.
#include "base/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/sha256_blocks.h"
#include "base/text.h"

namespace cudnn_ci {

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const std::array<uint32_t, 64> kSha256Rounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

namespace {

void Compress(const unsigned char* block, Sha256State* state) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 | uint32_t{block[4 * i + 2]} << 8 |
           uint32_t{block[4 * i + 3]};
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = *state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256Rounds[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const Sha256State add = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) (*state)[i] += add[i];
}

void CompressAll(const unsigned char* data, size_t blocks, Sha256State* state) {
  const Sha256Blocks accelerated = Sha256BlocksAccelerated();
  (accelerated != nullptr ? accelerated : Sha256BlocksAnywhere)(data, blocks, state);
}

}  // namespace

void Sha256BlocksAnywhere(const unsigned char* data, size_t blocks, Sha256State* state) {
  for (size_t i = 0; i < blocks; ++i) Compress(data + 64 * i, state);
}

void Sha256::Update(std::string_view bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    if (used_ == 0 && bytes.size() >= block_.size()) {
      const size_t blocks = bytes.size() / block_.size();
      CompressAll(data, blocks, &state_);
      bytes.remove_prefix(blocks * block_.size());
      continue;
    }
    const size_t taken = std::min(bytes.size(), block_.size() - used_);
    std::memcpy(block_.data() + used_, data, taken);
    bytes.remove_prefix(taken);
    used_ = (used_ + taken) % block_.size();
    if (used_ == 0) CompressAll(block_.data(), 1, &state_);
  }
}

std::string Sha256::Hex() {
  // A one bit, zeros, and the length in bits at a block's end.
  const uint64_t bits = bytes_ * 8;
  std::string tail(1, '\x80');
  tail.append((block_.size() * 2 - 9 - used_) % block_.size(), '\0');
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift & 0xff);
  Update(tail);

  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += kDigits[word >> shift & 15u];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

}  // namespace cudnn_ci
