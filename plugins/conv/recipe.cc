// The choice of data, and their making.
#include "conv/recipe.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "common/numeric/parallel.h"
#include "common/numeric/random_data.h"
#include "conv/reference.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kSmallReduction = 16, kMediumReduction = 64;
constexpr std::int64_t kPlacesAtOnce = 1 << 14;
static_assert(kFewProducts + kMostCovering <= kMaxOutput);

ByteValues InputValues(std::int64_t reduction) {
  if (reduction <= kSmallReduction) return MakeByteValues([](int b) { return b * 7 / 256 - 3; });
  return MakeByteValues([](int b) { return b * 3 / 256 - 1; });
}

ByteValues FilterValues(std::int64_t reduction) {
  if (reduction <= kSmallReduction)
    return MakeByteValues([](int b) { return b * 6 / 256 < 3 ? b * 6 / 256 - 3 : b * 6 / 256 - 2; });
  if (reduction <= kMediumReduction) return MakeByteValues([](int b) { return b < 128 ? -1 : 1; });
  // Longer than the output's range: fewer than half of kMaxOutput non-zero weights, on average.
  if (reduction > kMaxReduction)
    throw std::invalid_argument("a reduction over " + std::to_string(reduction) + " products is too long");
  const int signs = reduction <= kMaxOutput ? 85 : static_cast<int>(kMaxReduction / reduction);
  return MakeByteValues([signs](int b) {
    if (b < signs) return -1;
    return b < 2 * signs ? 1 : 0;
  });
}

// How much of b is not 0. Its weights alone prove that a sum fits 16 bits, except for the backward filter,
// where those of a do.
double DensityOfB(const Problem& problem) {
  const std::int64_t reduction = problem.Reduction();
  if (problem.operation == Operation::kBackwardFilter || reduction <= kMaxOutput) return 1;
  return static_cast<double>(kMaxOutput) / 2 / static_cast<double>(reduction);
}

// Products of the fullest element of the result: of the gradient of x those of the taps that a stride leaves
// it.
std::int64_t MostProducts(const Problem& problem) {
  if (problem.operation != Operation::kBackwardData) return problem.Reduction();
  const ConvShape& s = problem.shape;
  std::int64_t products = s.FiltersPerGroup();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t step = s.stride[axis] / std::gcd(s.stride[axis], s.dilation[axis]);
    products *= (s.kernel[axis] + step - 1) / step;
  }
  return products;
}

double DensityOfA(const Problem& problem, const Recipe& recipe) {
  if (recipe.kind == Recipe::Kind::kFewChannels) return 1;
  const double all = static_cast<double>(MostProducts(problem)) * DensityOfB(problem);
  return static_cast<double>(recipe.products) / 2 / all;
}

// Channels per group of the operand a.
std::int64_t ChannelsOfA(const Problem& problem) {
  return problem.operation == Operation::kForward ? problem.shape.ChannelsPerGroup()
                                                  : problem.shape.FiltersPerGroup();
}

// Products that an output has more where one channel of every place of a is set: in the gradient of w those
// of a filter's share of the places, else one for each place that the output looks at.
std::int64_t ProductsToCover(const Problem& problem) {
  if (problem.operation != Operation::kBackwardFilter) return MostProducts(problem) / ChannelsOfA(problem);
  return (problem.Reduction() + problem.shape.k - 1) / problem.shape.k;
}

// How many of those a recipe for this type can have. The gradient of w can do with a part: its places are
// what it sums over. Those of the others are outputs' own, and are looked at one by one.
std::int64_t CoveringOf(const Problem& problem, DataType type) {
  std::int64_t most = type == DataType::kBfloat16 ? kBfloat16Covering : kMostCovering;
  if (SizeOf(type) == 1) most = kInt8Covering;
  const std::int64_t wanted = ProductsToCover(problem);
  if (problem.operation == Operation::kBackwardFilter) return std::min(wanted, most);
  // Each costs the reference as much as any other: a kernel of 31x31 would take ten times as long.
  return wanted <= std::min(most, kBfloat16Covering) ? wanted : 0;
}

// Sets one channel of a place at a time: in any row of as many as there are channels, each channel once.
class Covering {
 public:
  Covering(const Tensor& t, std::uint64_t seed, std::vector<std::int8_t>* a)
      : channels_(t.channels), pixels_(Product(t.sizes)), seed_(seed), a_(*a) {}

  // The `number`th that is set.
  void Set(std::int64_t place, std::int64_t number) const {
    const auto turn = static_cast<std::uint64_t>(number / channels_);
    const std::int64_t channel =
        (number + Below(RandomWord(RandomWord(seed_, 0), turn), channels_)) % channels_;
    const std::int64_t element = (place / pixels_ * channels_ + channel) * pixels_ + place % pixels_;
    // By the element alone: whoever sets it, and however often, sets the same.
    const std::uint64_t word = RandomWord(RandomWord(seed_, 1), static_cast<std::uint64_t>(element));
    a_[static_cast<std::size_t>(element)] = word & 1 ? 1 : -1;
  }

  // The place in [begin, end) that stands for them.
  std::int64_t OneOf(std::int64_t begin, std::int64_t end) const {
    return begin + Below(RandomWord(RandomWord(seed_, 2), static_cast<std::uint64_t>(begin)), end - begin);
  }

 private:
  static std::int64_t Below(std::uint64_t word, std::int64_t count) {
    return static_cast<std::int64_t>((word >> 11) % static_cast<std::uint64_t>(count));
  }

  const std::int64_t channels_, pixels_;
  const std::uint64_t seed_;
  std::vector<std::int8_t>& a_;
};

// Both ends of every row, or of every image where rows are too many; of the last ones where images are. That
// is where tiles end and kernels pass over something. Returns how many were set, half of `most` at most.
std::int64_t CoverEnds(const Tensor& t, std::int64_t most, const Covering& covering) {
  const std::int64_t places = t.outer * Product(t.sizes);
  const bool rows = places / t.sizes[2] <= most / 4;
  const std::int64_t run = rows ? t.sizes[2] : Product(t.sizes);
  const std::int64_t runs = std::min(places / run, most / 4);
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t end = places - i * run;
    covering.Set(end - 1, 2 * i);
    covering.Set(end - run, 2 * i + 1);
  }
  return 2 * runs;
}

// Spread evenly: the places are cut into as many pieces as can be covered, one place of each. Where all can
// be, each is a piece.
void CoverPlaces(const Problem& problem, const Recipe& recipe, std::uint64_t seed,
                 std::vector<std::int8_t>* a) {
  const Tensor t = problem.A();
  const Covering covering(t, seed, a);
  const std::int64_t places = t.outer * Product(t.sizes), covered = CoveredPlaces(problem, recipe);
  const std::int64_t ends = covered < places ? CoverEnds(t, covered, covering) : 0;
  const std::int64_t pieces = covered - ends;
  // i * places / pieces, whose product may be beyond 64 bits.
  const auto begin_of = [&](std::int64_t i) {
    const std::int64_t whole = places / pieces, rest = places % pieces;
    return i * whole + static_cast<std::int64_t>(static_cast<__int128>(i) * rest / pieces);
  };
  ParallelFor(pieces, kPlacesAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      covering.Set(covering.OneOf(begin_of(i), begin_of(i + 1)), ends + i);
  });
}

// Zeros in all channels but every `classes`th of a group, another one in each image.
void KeepFewChannels(const Problem& problem, std::int64_t classes, std::vector<std::int8_t>* a) {
  const Tensor t = problem.A();
  const std::int64_t pixels = Product(t.sizes), per_group = ChannelsOfA(problem);
  ParallelFor(t.outer * t.channels, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t n = plane / t.channels, channel = plane % t.channels % per_group;
      if (channel % classes == n % classes) continue;
      std::fill_n(a->begin() + plane * pixels, pixels, std::int8_t{0});
    }
  });
}

Recipe WinogradRecipe(const Problem& problem, const Recipe& otherwise) {
  const Axes& kernel = problem.shape.kernel;
  if (*std::max_element(kernel.begin(), kernel.end()) <= 3) return otherwise;
  Recipe recipe;
  if (problem.operation == Operation::kBackwardFilter) {
    recipe.kind = Recipe::Kind::kSparse;
    recipe.covering = std::min(ProductsToCover(problem), kWinogradProducts / 2);
    recipe.products = kWinogradProducts - recipe.covering;
    return recipe;
  }
  recipe.kind = Recipe::Kind::kFewChannels;
  recipe.classes = std::min((ChannelsOfA(problem) + 3) / 4, problem.shape.n);
  return recipe.classes > 1 ? recipe : otherwise;
}

// But for `covering`.
Recipe KindFor(const Problem& problem, DataType type, Arithmetic arithmetic, const ApiPromise& promise) {
  Recipe recipe;
  const bool wide = type == DataType::kFloat32 || type == DataType::kFloat64;
  if (SizeOf(type) == 1) {
    recipe.kind = Recipe::Kind::kSparse;
    recipe.products = kInt8Products;
    if (type != DataType::kInt8 || problem.OutputType(type) == type) return recipe;
    recipe.products = kFewProducts;
    recipe.shift = kInt8Shift;
    return recipe;
  }
  const bool short_sums = !wide && !promise.long_sums && arithmetic == Arithmetic::kExact;
  if (problem.operation != Operation::kForward || short_sums) {
    recipe.kind = Recipe::Kind::kSparse;
    recipe.products = kFewProducts;
  }
  if (arithmetic == Arithmetic::kWinograd) return WinogradRecipe(problem, recipe);
  // What the gradients' algorithms do with 16-bit sums is promised nowhere: some round partial ones.
  const bool shows = wide || (promise.long_sums && problem.operation == Operation::kForward);
  // A transform rounds, so two scales would show nothing but that.
  return promise.strict && shows && arithmetic == Arithmetic::kExact ? DiscriminatingRecipe(type) : recipe;
}

// The high part of a: where a is not 0, with signs of its own.
std::vector<std::int8_t> HighPart(const std::vector<std::int8_t>& low, std::uint64_t seed) {
  std::vector<std::int8_t> high(low.size());
  FillSparse(&high, 1, seed);
  for (std::size_t i = 0; i < low.size(); ++i)
    if (low[i] == 0) high[i] = 0;
  return high;
}

std::vector<std::int8_t> MakeBias(std::int64_t channels, std::uint64_t seed) {
  std::vector<std::int8_t> bias(static_cast<std::size_t>(channels));
  FillByBytes(&bias, FilterValues(kSmallReduction), seed);
  for (std::size_t k = 1; k < bias.size(); ++k)
    if (bias[k] == bias[k - 1]) bias[k] = static_cast<std::int8_t>(-bias[k]);
  return bias;
}

}  // namespace

std::string Recipe::Text() const {
  const std::string scales = shift == 0 ? "" : "two scales " + std::to_string(shift) + ", ";
  switch (kind) {
    case Kind::kSparse:
      return scales + "sparse " + std::to_string(products) +
             (covering > 0 ? ", covering " + std::to_string(covering) : "");
    case Kind::kFewChannels:
      return scales + "few channels " + std::to_string(classes);
    case Kind::kDense:
      break;
  }
  return scales + "dense";
}

Recipe DiscriminatingRecipe(DataType type) {
  Recipe recipe;
  recipe.kind = Recipe::Kind::kSparse;
  recipe.products = kFewProducts;
  switch (type) {
    case DataType::kFloat32:
      recipe.shift = 12;  // 4097 has 13 bits, TF32 and float16 have 11
      break;
    case DataType::kFloat64:
      recipe.shift = 30;  // 31 bits, float32 has 24
      break;
    case DataType::kFloat16:
      recipe.shift = 9;  // 513 has the 10 bits that fit; sums of them do not
      break;
    case DataType::kBfloat16:
      recipe.shift = 6;  // 65 has the 7 bits that fit
      break;
    case DataType::kInt8:
    case DataType::kInt32:  // of results alone
    case DataType::kFloat8E4m3:
    case DataType::kFloat8E5m2:
      recipe.products = kInt8Products;
      break;
  }
  return recipe;
}

Recipe RecipeFor(const Problem& problem, DataType type, Arithmetic arithmetic, const ApiPromise& promise) {
  Recipe recipe = KindFor(problem, type, arithmetic, promise);
  if (recipe.kind == Recipe::Kind::kSparse && recipe.covering == 0)
    recipe.covering = CoveringOf(problem, type);
  return recipe;
}

std::int64_t CoveredPlaces(const Problem& problem, const Recipe& recipe) {
  const Tensor t = problem.A();
  const std::int64_t places = t.outer * Product(t.sizes);
  if (problem.operation != Operation::kBackwardFilter) return recipe.covering > 0 ? places : 0;
  return std::min(places, recipe.covering * t.channels);
}

std::int64_t ActiveChannels(const Problem& problem, const Recipe& recipe) {
  return (ChannelsOfA(problem) + recipe.classes - 1) / recipe.classes;
}

Inputs MakeInputs(const Problem& problem, const Recipe& recipe) {
  const bool dense_forward = recipe.kind == Recipe::Kind::kDense && problem.operation == Operation::kForward;
  if (recipe.kind == Recipe::Kind::kDense && !dense_forward)
    throw std::invalid_argument("dense data are the forward convolution's alone");
  if (problem.epilogue.any() && problem.operation != Operation::kForward)
    throw std::invalid_argument("an epilogue is the forward convolution's alone");
  const std::uint64_t seed = SeedOf(dense_forward ? problem.Text() : problem.Text() + " " + recipe.Text());
  Inputs inputs;
  inputs.a.resize(static_cast<std::size_t>(problem.A().Count()));
  inputs.b.resize(static_cast<std::size_t>(problem.B().Count()));
  if (dense_forward) {
    const std::int64_t reduction = problem.Reduction();
    FillByBytes(&inputs.a, InputValues(reduction), RandomWord(seed, 0));
    FillByBytes(&inputs.b, FilterValues(reduction), RandomWord(seed, 1));
  } else {
    FillSparse(&inputs.a, DensityOfA(problem, recipe), RandomWord(seed, 0));
    FillSparse(&inputs.b, DensityOfB(problem), RandomWord(seed, 1));
  }
  if (recipe.kind == Recipe::Kind::kFewChannels) KeepFewChannels(problem, recipe.classes, &inputs.a);
  if (recipe.covering > 0) CoverPlaces(problem, recipe, RandomWord(seed, 4), &inputs.a);
  if (recipe.shift != 0) inputs.a_high = HighPart(inputs.a, RandomWord(seed, 2));
  if (problem.epilogue.bias) inputs.bias = MakeBias(problem.shape.k, RandomWord(seed, 3));
  return inputs;
}

}  // namespace cudnn_ci
