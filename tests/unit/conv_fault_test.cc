// Faults put to random places of a result, under every row of the table of bounds, in every type, for each of
// the three operations: what a place can show is found, there and nowhere else, and what it cannot is drawn
// again. What cannot be shown at all: of a number that is off, anything where no bound decides; of a flipped
// bit, one that the bound allows, or the sign of a zero; of a lost product, one that was 0, or that the
// rounding to a short type hides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "conv_output.h"
#include "conv_shapes.h"
#include "conv_types.h"
#include "fault_table.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

using Random = std::mt19937_64;
using Places = std::vector<std::int64_t>;

// Inputs for which plugins/conv/bounds.cc has a bound of its own.
struct BoundRow {
  const char* name;
  Arithmetic arithmetic;
  ConvShape shape;
  Epilogue epilogue = {};
};

std::vector<BoundRow> RowsOf(Operation operation, DataType inputs) {
  const ConvShape five = Shape({3, 16, 6, 7}, {9, 16, 5, 5}, {2});
  std::vector<BoundRow> rows = {
      {"exact", Arithmetic::kExact, Shape({3, 16, 6, 7}, {9, 16, 3, 3}, {1}, {2, 1})}};
  if (SizeOf(inputs) == 1) return rows;  // no transform has these types
  rows.push_back({"FFT", Arithmetic::kFft, five});
  if (operation == Operation::kForward)
    rows.push_back({"FFT and bias", Arithmetic::kFft, five, Epilogue{true, false}});
  rows.push_back({"Winograd 3x3", Arithmetic::kWinograd, Shape({3, 16, 6, 7}, {9, 16, 3, 3}, {1})});
  rows.push_back({"Winograd 5x5, its data", Arithmetic::kWinograd, five});
  // Four channels a group cannot be made fewer. Of the filter's gradient data that suit it are always made.
  if (operation != Operation::kBackwardFilter)
    rows.push_back({"Winograd 5x5, other data", Arithmetic::kWinograd,
                    Shape({3, 8, 6, 7}, {8, 4, 5, 5}, {2}, {1}, {1}, 2)});
  return rows;
}

// What a fault is told of the result that it spoils.
struct Context {
  const Reference& reference;
  DataType type;  // of the result
  double bound;
  Random& random;

  std::int64_t Below(std::int64_t count) const {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
  }
  std::int64_t Index() const { return Below(reference.problem.Y().Count()); }
};

// Spoils a result; returns the elements it wrote, in ascending order. Empty: there was nothing to spoil.
using Fault = std::function<Places(const Context&, Output*)>;

class FaultTest : public testing::TestWithParam<std::tuple<Operation, TensorTypes>> {
 protected:
  // Under every row of the table. At least `least_share` of the places that are drawn can show the fault.
  void Everywhere(const char* name, double least_share, const Fault& fault) {
    for (const BoundRow& row : RowsOf(operation_, types_.inputs)) {
      const Reference reference = Make(row);
      const double bound = ErrorBound(row.arithmetic, types_.inputs, reference.problem, reference.recipe);
      ASSERT_TRUE(IsDecisive(bound)) << row.name;
      Everywhere(name, least_share, fault, reference, bound, row.name);
      if (HasFatalFailure()) return;
    }
  }
  // Where no bound decides.
  void WithAnyNumber(const char* name, const Fault& fault) {
    const Reference reference = Make(RowsOf(operation_, types_.inputs).front());
    Everywhere(name, 1, fault, reference, kAnyNumber, "any number");
  }

 private:
  Reference Make(const BoundRow& row) const {
    const Problem problem = {operation_, row.shape, row.epilogue, types_.output};
    return MakeReference(problem, RecipeFor(problem, types_.inputs, row.arithmetic, {}));
  }

  // A right result that is as inexact as it may be.
  Output Inexact(const Reference& reference, double bound, Layout layout) const {
    Output output(reference, types_.Result(), layout);
    const double error = bound == kAnyNumber ? 3 : 0.99 * bound;
    for (std::int64_t i = 0; i < output.Count(); ++i)
      output.Set(i, output.Right(i) + (i % 2 == 0 ? error : -error));
    return output;
  }

  // Outside of its bound, by the definition. Else what a fault left there is right.
  bool IsWrong(const Output& output, double bound, std::int64_t i) const {
    const double got = output.Get(i), right = output.Right(i);
    return !(got >= RoundTo(types_.Result(), right - bound) &&
             got <= RoundTo(types_.Result(), right + bound));
  }

  void Everywhere(const char* name, double least_share, const Fault& fault, const Reference& reference,
                  double bound, const char* row) {
    const int most = static_cast<int>(Positions() / least_share);
    for (const Layout layout : kLayouts) {
      const Output right = Inexact(reference, bound, layout);
      ASSERT_TRUE(right.Judged(bound).AllMatch()) << row;
      int caught = 0, drawn = 0;
      for (; caught < Positions() && drawn < most; ++drawn) {
        Output spoilt = right;
        const Places written = fault({reference, types_.Result(), bound, random_}, &spoilt);
        if (written.empty()) continue;
        bool shows = false;
        ExpectJudged(spoilt, written, bound, &shows);
        if (HasFatalFailure()) return;
        caught += shows;
      }
      ASSERT_EQ(caught, Positions()) << "too few of " << drawn << " places can show it: " << row;
      fault_table->Add(types_.name, row, name, caught, drawn);
    }
  }

  // All that is wrong of the elements written, and nothing else. Sets whether there is something.
  void ExpectJudged(const Output& spoilt, const Places& written, double bound, bool* shows) const {
    Places wrong, unwritten;
    for (const std::int64_t i : written)
      if (spoilt.IsFill(i))
        unwritten.push_back(i);
      else if (IsWrong(spoilt, bound, i))
        wrong.push_back(i);
    *shows = !wrong.empty() || !unwritten.empty();
    const Judgement j = spoilt.Judged(bound);
    ASSERT_EQ(j.elements, spoilt.Count());
    ASSERT_EQ(j.wrong, static_cast<std::int64_t>(wrong.size())) << written.front();
    ASSERT_EQ(j.unwritten, static_cast<std::int64_t>(unwritten.size())) << written.front();
    ASSERT_EQ(j.first_wrong, wrong.empty() ? -1 : wrong.front());
    ASSERT_EQ(j.first_unwritten, unwritten.empty() ? -1 : unwritten.front());
    if (wrong.empty()) return;
    const double right = spoilt.Right(wrong.front()), got = spoilt.Get(wrong.front());
    ASSERT_EQ(j.first_expected, bound == 0 ? RoundTo(types_.Result(), right) : right);
    ASSERT_EQ(std::isnan(j.first_got), std::isnan(got));
    if (std::isnan(got)) return;
    ASSERT_EQ(j.first_got, got);
    // Of what is exact nothing else errs.
    if (bound != 0 || written.size() > 1) return;
    ASSERT_EQ(j.worst_error, std::fabs(got - j.first_expected));
  }

  const Operation operation_ = std::get<0>(GetParam());
  const TensorTypes types_ = std::get<1>(GetParam());
  Random random_{7};
};

TEST_P(FaultTest, AFlippedBitIsFoundAnywhere) {
  Everywhere("flipped bit", 0.05, [](const Context& c, Output* output) -> Places {
    const std::int64_t index = c.Index();
    output->Flip(index, static_cast<std::size_t>(c.Below(8 * static_cast<std::int64_t>(SizeOf(c.type)))));
    return {index};
  });
}

TEST_P(FaultTest, TheSmallestStepBeyondTheBoundIsFoundAnywhere) {
  Everywhere("smallest step", 0.9, [](const Context& c, Output* output) -> Places {
    const std::int64_t index = c.Index();
    const double sign = c.Below(2) == 0 ? 1 : -1;
    const double last = RoundTo(c.type, output->Right(index) + sign * c.bound);
    double step = 0x1p-60;
    while (RoundTo(c.type, last + sign * step) == last) {
      if (std::isinf(step)) return {};  // the type's largest number
      step *= 2;
    }
    output->Set(index, last + sign * step);
    return {index};
  });
}

TEST_P(FaultTest, AnUnwrittenElementIsFoundAnywhereAndToldFromAWrongOne) {
  const auto unwrite = [](const Context& c, Output* output) -> Places {
    const std::int64_t index = c.Index();
    output->Unwrite(index);
    return {index};
  };
  Everywhere("unwritten element", 1, unwrite);
  if (!HasFatalFailure()) WithAnyNumber("unwritten element", unwrite);
}

// ... in an element that errs as far as it may to where the product took it.
TEST_P(FaultTest, ALostProductIsFoundAnywhere) {
  Everywhere("lost product", 0.01, [](const Context& c, Output* output) -> Places {
    const Reference& r = c.reference;
    const std::int64_t index = c.Index();
    const std::vector<Factors> factors = FactorsOf(r.problem, index);
    if (factors.empty()) return {};
    const Factors one = factors[static_cast<std::size_t>(c.Below(static_cast<std::int64_t>(factors.size())))];
    const double product = r.A().At(one.a) * r.B().At(one.b);
    if (product == 0) return {};
    output->Set(index, output->Right(index) - product + std::copysign(0.99 * c.bound, product));
    return {index};
  });
}

// `count` elements from `a` on change places with those from `b` on.
Places Swap(std::int64_t a, std::int64_t b, std::int64_t count, Output* output) {
  Places written;
  for (const std::int64_t from : {std::min(a, b), std::max(a, b)})
    for (std::int64_t i = 0; i < count; ++i) written.push_back(from + i);
  for (std::int64_t i = 0; i < count; ++i) {
    const double kept = output->Get(a + i);
    output->Set(a + i, output->Get(b + i));
    output->Set(b + i, kept);
  }
  return written;
}

// Two different ones of `count`.
std::pair<std::int64_t, std::int64_t> Two(const Context& c, std::int64_t count) {
  const std::int64_t one = c.Below(count);
  return {one, (one + 1 + c.Below(count - 1)) % count};
}

TEST_P(FaultTest, ASwappedChannelIsFoundAnywhere) {
  Everywhere("swapped channel", 0.5, [](const Context& c, Output* output) {
    const Tensor y = c.reference.problem.Y();
    const std::int64_t pixels = Product(y.sizes), image = c.Below(y.outer) * y.channels;
    const auto [one, other] = Two(c, y.channels);
    return Swap((image + one) * pixels, (image + other) * pixels, pixels, output);
  });
}

// Of the filter's gradient two filters.
TEST_P(FaultTest, ASwappedImageIsFoundAnywhere) {
  Everywhere("swapped image", 0.5, [](const Context& c, Output* output) {
    const Tensor y = c.reference.problem.Y();
    const std::int64_t count = y.channels * Product(y.sizes);
    const auto [one, other] = Two(c, y.outer);
    return Swap(one * count, other * count, count, output);
  });
}

INSTANTIATE_TEST_SUITE_P(All, FaultTest,
                         testing::Combine(testing::ValuesIn(kOperations), testing::ValuesIn(kTensorTypes)),
                         [](const auto& p) {
                           return NameOf(std::get<0>(p.param)) + std::get<1>(p.param).name;
                         });

}  // namespace
}  // namespace cudnn_ci
