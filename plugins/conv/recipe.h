// Which data a convolution is given. All are small integers, so that every partial sum is exact in any
// accumulator, in any order: a right kernel has no rounding to hide behind before its last step. The recipes
// differ in what else they show or spare. Must not know CUDA or cuDNN.
#ifndef CUDNN_CI_PLUGINS_CONV_RECIPE_H_
#define CUDNN_CI_PLUGINS_CONV_RECIPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/numeric/data_type.h"
#include "conv/operation.h"

namespace cudnn_ci {

// What the oracle needs to know of an algorithm.
enum class Arithmetic {
  kExact,     // sums of products, in any order
  kFft,       // also tiled
  kWinograd,  // fused or not
};

struct Recipe {
  enum class Kind {
    // Values by the length of the sum, the forward pass's own:
    //   reduction (c/groups * kernel size)   input            filter
    //   up to 16                             -3 ... 3         -3 ... 3 without 0
    //   up to 64                             -1, 0, 1         -1, 1
    //   more                                 -1, 0, 1         -1, 0, 1
    // Small filters get more values and no zeros, since otherwise two channels would often be equal and a
    // swap
    // of them invisible.
    kDense,
    // All of b is -1 or 1, and so much of a that at most `products` products of an output are not 0: half of
    // that on average, so that no output of any shape comes near it; and `covering` more. Partial sums stay
    // small, and kernels that round them to a short type (atomics, split-K) are exact all the same.
    kSparse,
    // All of b is -1 or 1, and in image n those channels of a that are n modulo `classes`. Every channel, tap
    // and
    // filter is used; Winograd's error grows with the channels that are not 0 in a tile.
    kFewChannels,
  };
  Kind kind = Kind::kDense;
  std::int64_t products = 0;
  // Of kSparse: so many products more for an output, at most, by elements of a that are set where otherwise
  // those of all channels might be 0. A kernel that passes over a place of a, the last pixel of the last
  // image say, would lose nothing there. 0: none are set.
  std::int64_t covering = 0;
  std::int64_t classes = 1;
  // Not 0: a is h * 2^shift + l, both as the kind says. Its two scales need more bits than a type that is
  // passed off as another has.
  int shift = 0;

  // "dense", "sparse 192, covering 25", "two scales 12, sparse 192": equal for equal recipes only.
  std::string Text() const;
};

// Products that may not be 0: up to 256 bfloat16 holds every sum.
constexpr std::int64_t kFewProducts = 192;
// ... so that |y| fits int8.
constexpr std::int64_t kInt8Products = 120;
// Covering products of the 16-bit type with the fewest bits, beside kFewProducts. Signs are random, so that
// ten standard deviations of any partial sum, whatever a kernel adds to what, are 10 sqrt(192 + 463) = 256:
// the distance that `products` has from its average, too. Of int8 they are 110, and 127 fit.
constexpr std::int64_t kBfloat16Covering = 463, kInt8Covering = kInt8Products / 2;
// ... of all else. Ten standard deviations are 1,800 then, of 2,048 that float16 holds; in two scales of
// float32 7.4e6 of 16.8e6. A sum of that many fits the reference's 16 bits whatever the signs.
constexpr std::int64_t kMostCovering = 32000;
// Scales of int8 inputs whose result is wider: 64 * h + l is 65 at most, and most results are beyond 8 bits.
constexpr int kInt8Shift = 6;
// ... with which Winograd's backward filter stays accurate (bounds.cc).
constexpr std::int64_t kWinogradProducts = 48;  // the covering ones are half of them
// Most channels of kFewChannels that are not 0 in an image, for Winograd's bound to hold.
constexpr std::int64_t kWinogradChannels = 16;

// What an API promised, and is to be judged.
struct ApiPromise {
  // The type itself: float32 by way of TF32 or float16 shows, and float64 by way of float32; in a forward
  // convolution with long sums, 16-bit sums of the 16-bit types.
  bool strict = false;
  // Sums in float32 for the 16-bit types. Without it partial sums may be rounded to the type.
  bool long_sums = true;
};

// The recipe that decides most for a problem.
Recipe RecipeFor(const Problem& problem, DataType type, Arithmetic arithmetic, const ApiPromise& promise);

// Two scales that show sums which are shorter than the type promises: of TF32 and float16 in float32, of
// float32 in float64, of the type itself in the 16-bit types, whose sums are promised in float32.
Recipe DiscriminatingRecipe(DataType type);

// How many places of `a`, an outer index and a pixel, are set by `covering` in one channel each: all of them,
// or as many as it allows.
std::int64_t CoveredPlaces(const Problem& problem, const Recipe& recipe);

// Channels of `a` that are not 0 in one image of kFewChannels, at most.
std::int64_t ActiveChannels(const Problem& problem, const Recipe& recipe);

// The data, the same for equal problems and recipes in every process and on every machine. a_high stays empty
// without two scales, bias without one: its values are -3 to 3 without 0, and no two neighbours are equal, so
// that one that is lost, doubled or of the next channel shows. Throws std::invalid_argument where no data are
// exact.
struct Inputs {
  std::vector<std::int8_t> a, a_high, b;
  std::vector<std::int8_t> bias = {};
};
Inputs MakeInputs(const Problem& problem, const Recipe& recipe);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_RECIPE_H_
