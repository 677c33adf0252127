// The codes of the keys of one head in the exact data of attention: which dimensions of a key, and of a query
// that asks for it, are not 0. Must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_CODES_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_CODES_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "common/numeric/attention_keys.h"

namespace cudnn_ci {

// Dimensions of the head that codes may take: half of them, and one less for the constant.
std::int64_t RoomForCodes(std::int64_t head_size);

// Each set of a plan that does not overlap has a code of one-hot digits, as few as name all sets, since each
// makes the scores larger. Each set of one that does has a dimension, and its keys are 1 in it.
class KeyCodes {
 public:
  // Throws std::logic_error where there are more sets than codes.
  KeyCodes(const KeyPlan& plan, std::int64_t keys, std::int64_t head_size, std::mt19937_64* random);

  // In how many dimensions a query that asks for a key meets it.
  std::size_t digits() const { return digits_; }
  // The dimensions that are 1 in a key.
  const std::vector<std::int64_t>& OfKey(std::int64_t key) const {
    return of_key_[static_cast<std::size_t>(key)];
  }
  // The dimensions that are 1 in a query that asks for the keys of a set: digits() of them.
  const std::vector<std::int64_t>& OfSet(std::size_t set) const { return of_set_[set]; }
  std::int64_t constant() const { return dimensions_[static_cast<std::size_t>(used_)]; }
  // The dimensions in which every query is 0.
  std::vector<std::int64_t> Free() const { return {dimensions_.begin() + used_ + 1, dimensions_.end()}; }

 private:
  void NameSets(std::size_t sets, std::int64_t room, std::mt19937_64* random);

  std::vector<std::int64_t> dimensions_;
  std::vector<std::vector<std::int64_t>> of_key_, of_set_;
  std::size_t digits_ = 1;
  std::int64_t used_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_CODES_H_
