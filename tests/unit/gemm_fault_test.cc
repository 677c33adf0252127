// Faults planted at random places of matrix products that are computed from the bytes of their operands, as a
// library does: what a place can show is found. What cannot be shown is drawn again: a fault that leaves
// every element as it was, because a factor was 0 or a result is rounded to the same.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/numeric/fill.h"
#include "fault_table.h"
#include "gemm/known_faults.h"
#include "gemm/matmul_data.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

using Random = std::mt19937_64;

// What goes wrong, and where.
struct Fault {
  std::int64_t from_k = 0, to_k = 0;  // products of these are left out
  std::int64_t row = -1, rows = 0;    // ... of these rows alone, -1: of all
  std::int64_t column = -1, columns = 0;
  bool unwritten = false;  // these elements are not stored
  bool swap_transposes = false, dense_ld = false, no_beta = false, alpha_twice = false, next_bias = false,
       no_relu = false, tf32 = false, half = false, saturated = false, no_scale = false, next_scale = false,
       next_c = false, other_batch = false;
  std::int64_t batch = -1;  // that is read from where the one before it begins, or from another

  bool Hits(const MatmulPlace& at) const {
    const bool in_rows = row < 0 || (at.row >= row && at.row < row + rows);
    const bool in_columns = column < 0 || (at.column >= column && at.column < column + columns);
    return in_rows && in_columns && (batch < 0 || at.batch == batch);
  }
};

double Rounded(double value, int bits) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

// A product by the definition, in bytes.
class Library {
 public:
  explicit Library(const MatmulSpec& spec)
      : spec_(spec),
        operands_(OperandsOf(spec)),
        places_(InputsOf(spec)),
        data_(std::make_shared<MatmulData>(spec)) {
    for (std::size_t i = 0; i < operands_.inputs.size(); ++i) {
      inputs_.emplace_back(operands_.inputs[i].Bytes());
      data_->Encode(i, inputs_.back().data());
    }
    right_ = Filled();
    Compute(
        {}, [](const MatmulPlace&) { return true; }, &right_);
  }
  const MatmulSpec& spec() const { return spec_; }
  const std::vector<unsigned char>& right() const { return right_; }
  ElementJudgement Judged(const std::vector<unsigned char>& d) const { return data_->JudgeAll(d.data()); }

  std::vector<unsigned char> With(const Fault& fault) const {
    std::vector<unsigned char> d = right_;
    Compute(
        fault, [&](const MatmulPlace& at) { return fault.Hits(at); }, &d);
    return d;
  }

 private:
  std::vector<unsigned char> Filled() const {
    std::vector<unsigned char> d(operands_.outputs[0].Bytes());
    const std::uint32_t word = UnwrittenWord(spec_.OutputType());
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = reinterpret_cast<const unsigned char*>(&word)[i % 4];
    return d;
  }
  double In(int place, std::int64_t index) const {
    const Operand& operand = operands_.inputs[static_cast<std::size_t>(place)];
    if (index >= operand.extent.Count()) return 0;
    return Load(operand.type, inputs_[static_cast<std::size_t>(place)].data() +
                                  static_cast<std::size_t>(index) * SizeOf(operand.type));
  }
  double Factor(bool a, std::int64_t batch, std::int64_t row, std::int64_t k, const Fault& fault) const {
    MatmulLayout layout = a ? spec_.A() : spec_.B();
    bool transposed = a ? spec_.transpose_a : !spec_.transpose_b;
    if (fault.swap_transposes) transposed = !transposed;
    if (fault.dense_ld) layout.ld = layout.rows;
    if (fault.other_batch) batch = (batch + 1) % spec_.batch;
    const double value =
        In(a ? 0 : 1, transposed ? layout.Index(batch, k, row) : layout.Index(batch, row, k));
    if (fault.tf32) return Rounded(value, 11);
    return fault.half ? Rounded(value, 8) : value;
  }
  double Value(const MatmulPlace& at, const Fault& fault) const {
    double sum = 0;
    for (std::int64_t k = 0; k < spec_.k; ++k)
      if (k < fault.from_k || k >= fault.to_k)
        sum += Factor(true, at.batch, at.row, k, fault) * Factor(false, at.batch, at.column, k, fault);
    if (fault.saturated) sum = std::min(127.0, std::max(-128.0, sum));
    double x = spec_.alpha * (fault.alpha_twice ? spec_.alpha : 1) * sum;
    const bool rows = spec_.scales == MatmulScales::kRow;
    if (places_.a_scale >= 0 && !fault.no_scale)
      x *= In(places_.a_scale, rows ? (at.row + (fault.next_scale ? 1 : 0)) % spec_.m : 0);
    if (places_.b_scale >= 0) x *= In(places_.b_scale, rows ? at.column : 0);
    const std::int64_t row_of_c = (at.row + (fault.next_c ? 1 : 0)) % spec_.m;
    if (places_.c >= 0 && !fault.no_beta)
      x += spec_.beta * In(places_.c, spec_.D().Index(at.batch, row_of_c, at.column));
    if (places_.bias >= 0) x += In(places_.bias, (at.row + (fault.next_bias ? 1 : 0)) % spec_.m);
    return spec_.relu && !fault.no_relu ? std::max(x, 0.0) : x;
  }
  template <class Function>
  void Compute(const Fault& fault, Function at_hit, std::vector<unsigned char>* d) const {
    const DataType type = spec_.OutputType();
    const std::vector<unsigned char> fill = fault.unwritten ? Filled() : std::vector<unsigned char>();
    for (std::int64_t i = 0; i < operands_.outputs[0].extent.Count(); ++i) {
      const MatmulPlace at = MatmulSpec::PlaceOf(spec_.D(), i);
      if (at.padding || !at_hit(at)) continue;
      unsigned char* const element = d->data() + static_cast<std::size_t>(i) * SizeOf(type);
      if (fault.unwritten)
        std::memcpy(element, fill.data(), SizeOf(type));
      else
        Store(type, Value(at, fault), element);
    }
  }

  const MatmulSpec spec_;
  const Operands operands_;
  const MatmulInputs places_;
  const std::shared_ptr<const MatmulData> data_;
  std::vector<std::vector<unsigned char>> inputs_;
  std::vector<unsigned char> right_;
};

struct Kind {
  const char* name;
  // Whether a product can have it at all.
  std::function<bool(const MatmulSpec&)> fits;
  std::function<Fault(const MatmulSpec&, Random&)> draw;
};

std::int64_t Below(Random& random, std::int64_t count) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
}

bool Always(const MatmulSpec&) { return true; }

// Of a tile of 8 by 8 at a random place, so that the fault is local.
Fault Tile(const MatmulSpec& spec, Random& random) {
  Fault fault;
  fault.row = Below(random, spec.m), fault.rows = 8;
  fault.column = Below(random, spec.n), fault.columns = 8;
  return fault;
}

template <class Set>
std::function<Fault(const MatmulSpec&, Random&)> InTile(Set set) {
  return [set](const MatmulSpec& spec, Random& random) {
    Fault fault = Tile(spec, random);
    set(&fault, spec, random);
    return fault;
  };
}

std::vector<Kind> Kinds() {
  const auto flag = [](bool Fault::*member) {
    return InTile([member](Fault* f, const MatmulSpec&, Random&) { f->*member = true; });
  };
  return {
      {"lost product", Always, InTile([](Fault* f, const MatmulSpec& s, Random& r) {
         f->from_k = Below(r, s.k), f->to_k = f->from_k + 1;
       })},
      {"K tail", Always, InTile([](Fault* f, const MatmulSpec& s, Random& r) {
         f->from_k = s.k - 1 - Below(r, std::min<std::int64_t>(s.k, 8)), f->to_k = s.k;
       })},
      {"lost slice of K", Always, InTile([](Fault* f, const MatmulSpec& s, Random& r) {
         f->from_k = Below(r, s.k), f->to_k = f->from_k + 8;
       })},
      {"lost row of a tile", Always,
       InTile([](Fault* f, const MatmulSpec&, Random&) { f->unwritten = true, f->rows = 1; })},
      {"lost column of a tile", Always,
       InTile([](Fault* f, const MatmulSpec&, Random&) { f->unwritten = true, f->columns = 1; })},
      {"stale element", Always,
       InTile([](Fault* f, const MatmulSpec&, Random&) { f->unwritten = true, f->rows = f->columns = 1; })},
      {"transposes swapped", [](const MatmulSpec& s) { return s.m == s.k && s.n == s.k; },
       flag(&Fault::swap_transposes)},
      {"leading dimension ignored", [](const MatmulSpec& s) { return s.padding > 0; },
       flag(&Fault::dense_ld)},
      {"batch of another", [](const MatmulSpec& s) { return s.batch > 1; },
       InTile([](Fault* f, const MatmulSpec& s, Random& r) {
         f->other_batch = true, f->batch = Below(r, s.batch);
       })},
      {"beta ignored", [](const MatmulSpec& s) { return s.beta != 0; }, flag(&Fault::no_beta)},
      {"C of the next row", [](const MatmulSpec& s) { return s.beta != 0; }, flag(&Fault::next_c)},
      {"alpha twice", [](const MatmulSpec& s) { return s.alpha != 1; }, flag(&Fault::alpha_twice)},
      {"bias of the next row", [](const MatmulSpec& s) { return s.bias; }, flag(&Fault::next_bias)},
      {"ReLU left out", [](const MatmulSpec& s) { return s.relu; }, flag(&Fault::no_relu)},
      {"TF32 for float32", [](const MatmulSpec& s) { return s.type == DataType::kFloat32 && !s.tf32; },
       flag(&Fault::tf32)},
      {"bfloat16 for float32 or float64", [](const MatmulSpec& s) { return SizeOf(s.type) >= 4 && !s.tf32; },
       flag(&Fault::half)},
      {"int8 saturated", [](const MatmulSpec& s) { return s.type == DataType::kInt8; },
       flag(&Fault::saturated)},
      {"scale left out", [](const MatmulSpec& s) { return s.scales != MatmulScales::kNone; },
       flag(&Fault::no_scale)},
      {"scale of the next row", [](const MatmulSpec& s) { return s.scales == MatmulScales::kRow; },
       flag(&Fault::next_scale)},
  };
}

MatmulSpec Spec(DataType type, const std::string& size, bool ta, bool tb) {
  MatmulSpec spec;
  spec.type = type, spec.transpose_a = ta, spec.transpose_b = tb;
  spec.SetSize(size);
  return spec;
}

// Together they can have every kind of fault.
std::vector<MatmulSpec> Specs() {
  std::vector<MatmulSpec> specs;
  for (const DataType type : {DataType::kFloat64, DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16,
                              DataType::kInt8, DataType::kFloat8E4m3}) {
    specs.push_back(Spec(type, "33x29x40", true, false));
    specs.push_back(Spec(type, "24x24x24", false, true));
    specs.push_back(Spec(type, "19x17x21", false, false));
    specs.back().padding = 3, specs.back().batch = 3;
    if (type == DataType::kInt8) continue;
    specs.push_back(Spec(type, "33x29x40", true, true));
    specs.back().bias = specs.back().relu = true;
    if (SizeOf(type) == 1) {
      specs.back().scales = MatmulScales::kRow;
      continue;
    }
    specs.back().alpha = 2, specs.back().beta = -1;
  }
  return specs;
}

TEST(GemmFault, ARightProductIsRight) {
  for (const MatmulSpec& spec : Specs()) {
    const Library library(spec);
    const ElementJudgement j = library.Judged(library.right());
    EXPECT_TRUE(j.AllMatch()) << spec.Text() << ": " << j.wrong << " wrong, " << j.unwritten << " unwritten";
    EXPECT_EQ(j.elements, spec.Elements(spec.D()));
  }
}

TEST(GemmFault, EveryKindIsNoticedAnywhere) {
  Random random(7);
  int kinds = 0;
  for (const Kind& kind : Kinds()) {
    ++kinds;
    bool drawn_at_all = false;
    for (const MatmulSpec& spec : Specs()) {
      if (!kind.fits(spec)) continue;
      drawn_at_all = true;
      const Library library(spec);
      int caught = 0, drawn = 0;
      for (; caught < Positions() && drawn < 40 * Positions(); ++drawn) {
        const std::vector<unsigned char> d = library.With(kind.draw(spec, random));
        // What is the same in memory, but for the sign of a zero, cannot be told.
        bool shows = false;
        const DataType type = spec.OutputType();
        for (std::size_t at = 0; at < d.size() && !shows; at += SizeOf(type))
          shows = std::memcmp(&d[at], &library.right()[at], SizeOf(type)) != 0 &&
                  !(Load(type, &d[at]) == 0 && Load(type, &library.right()[at]) == 0);
        const ElementJudgement j = library.Judged(d);
        ASSERT_EQ(j.AllMatch(), !shows) << kind.name << ", " << spec.Text();
        caught += shows;
      }
      ASSERT_EQ(caught, Positions()) << kind.name << ", " << spec.Text() << ": too few of " << drawn
                                     << " places can show it";
      fault_table->Add(spec.TypeText(), spec.Text(), kind.name, caught, drawn);
    }
    EXPECT_TRUE(drawn_at_all) << kind.name;
  }
  EXPECT_GE(kinds, 15);
}

TEST(GemmFault, AWriteBetweenTheRowsIsNoticedAnywhere) {
  Random random(8);
  for (const MatmulSpec& spec : Specs()) {
    if (spec.padding == 0) continue;
    const Library library(spec);
    const DataType type = spec.OutputType();
    for (int caught = 0; caught < Positions();) {
      const std::int64_t index = Below(random, spec.Elements(spec.D()));
      if (!MatmulSpec::PlaceOf(spec.D(), index).padding) continue;
      std::vector<unsigned char> d = library.right();
      Store(type, 1, &d[static_cast<std::size_t>(index) * SizeOf(type)]);
      const ElementJudgement j = library.Judged(d);
      ASSERT_EQ(j.wrong, 1) << spec.Text();
      ASSERT_EQ(j.first_wrong, index);
      ++caught;
    }
  }
}

// Whatever is summed, in whatever order and however it is split, is exact in the type of the result.
TEST(GemmData, EveryPartialSumIsExactInTheResultsType) {
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    const MatmulSpec spec = Spec(type, "7x9x4096", true, false);
    const Operands operands = OperandsOf(spec);
    const MatmulData data(spec);
    std::vector<unsigned char> a(operands.inputs[0].Bytes()), b(operands.inputs[1].Bytes());
    data.Encode(0, a.data());
    data.Encode(1, b.data());
    const double largest = type == DataType::kBfloat16 ? 256 : type == DataType::kFloat16 ? 2048 : 0x1p24;
    for (std::int64_t row = 0; row < spec.m; ++row)
      for (std::int64_t column = 0; column < spec.n; ++column) {
        double magnitudes = 0;
        for (std::int64_t k = 0; k < spec.k; ++k)
          magnitudes +=
              std::fabs(Load(type, &a[static_cast<std::size_t>(row * spec.k + k) * SizeOf(type)]) *
                        Load(type, &b[static_cast<std::size_t>(column * spec.k + k) * SizeOf(type)]));
        ASSERT_LE(magnitudes, largest) << spec.Text();
        ASSERT_GT(magnitudes, largest / 16) << spec.Text();
      }
  }
}

TEST(GemmData, GeluHasABound) {
  MatmulSpec spec = Spec(DataType::kFloat32, "19x17x21", true, false);
  spec.gelu = true;
  const MatmulData data(spec);
  int curved = 0;
  for (std::int64_t i = 0; i < spec.Elements(spec.D()); ++i) {
    const ElementRule rule = data.RuleOf(i);
    EXPECT_LE(rule.allowed, 0.05);
    curved += rule.allowed > 0 && rule.expected != std::floor(rule.expected);
  }
  EXPECT_GT(curved, 30) << "results that the formula bends";
}

TEST(GemmKnown, ARowHitsWhatItSays) {
  const MatmulSpec spec = Spec(DataType::kFloat32, "33554440x16x64", true, false);
  const MatmulSpec small = Spec(DataType::kFloat32, "64x16x64", true, false);
  const Predicates row = {
      {"operation", {"matmul"}}, {"dtype", {"float32"}}, {"algorithm", {"68"}}, {"wide_span", {"true"}}};
  EXPECT_TRUE(HitsMatmul(row, spec, 68));
  EXPECT_TRUE(HitsMatmul(row, spec, -1));
  EXPECT_FALSE(HitsMatmul(row, spec, 67));
  EXPECT_FALSE(HitsMatmul(row, small, 68));
  EXPECT_FALSE(HitsMatmul({{"operation", {"grouped_matmul"}}}, spec, 68));
  EXPECT_FALSE(HitsMatmul({{"dtype", {"nvfp4"}}}, spec, 68));
  EXPECT_FALSE(HitsMatmul({{"engine", {"4"}}}, spec, 68)) << "cuDNN's";
}

}  // namespace
}  // namespace cudnn_ci
