// Faults planted at random places of grouped products that are computed from the bytes of their operands, as
// a library does: what a place can show is found. What cannot be shown is drawn again.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/numeric/fill.h"
#include "fault_table.h"
#include "gemm/grouped_data.h"
#include "gemm/grouped_spec.h"
#include "gemm/known_faults.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

using Random = std::mt19937_64;

std::int64_t Below(Random& random, std::int64_t count) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
}

// One product of a group as a library takes it: faults change it.
struct Taken {
  std::size_t group = 0;
  std::int64_t product = 0;          // in the group
  std::int64_t a = 0, b = 0, c = 0;  // where its matrices begin
  MatmulLayout la, lb, lc;
  bool ta = false, tb = false;
  std::int64_t k = 0, rows = 0, columns = 0;  // those that are computed
  double alpha = 1, beta = 0;
  bool stored = true;
};

GroupedSpec Spec(DataType type, const std::vector<std::string>& groups) {
  GroupedSpec spec;
  spec.type = type;
  for (const std::string& group : groups) EXPECT_EQ(spec.Add(group), "") << group;
  EXPECT_EQ(spec.Problem(), "");
  return spec;
}

// Grouped products by the definition, in bytes.
class Library {
 public:
  explicit Library(const GroupedSpec& spec)
      : spec_(spec), operands_(OperandsOf(spec)), data_(std::make_shared<GroupedData>(spec)) {
    for (std::size_t i = 0; i < operands_.inputs.size(); ++i) {
      inputs_.emplace_back(operands_.inputs[i].Bytes());
      data_->Encode(i, inputs_.back().data());
    }
    right_ = With(Products());
  }
  const GroupedSpec& spec() const { return spec_; }
  const std::vector<unsigned char>& right() const { return right_; }
  ElementJudgement Judged(const std::vector<unsigned char>& d) const { return data_->JudgeAll(d.data()); }

  std::vector<Taken> Products() const {
    const auto a = spec_.Starts(&MatmulSpec::A), b = spec_.Starts(&MatmulSpec::B),
               c = spec_.Starts(&MatmulSpec::D);
    std::vector<Taken> all;
    for (std::size_t i = 0; i < spec_.groups.size(); ++i) {
      const MatmulSpec& group = spec_.groups[i];
      for (std::int64_t p = 0; p < group.batch; ++p)
        all.push_back({i, p, a[i] + p * group.A().stride, b[i] + p * group.B().stride,
                       c[i] + p * group.D().stride, group.A(), group.B(), group.D(), group.transpose_a,
                       group.transpose_b, group.k, group.m, group.n, group.alpha, group.beta});
    }
    return all;
  }

  // D after the call: it holds C where a group adds it.
  std::vector<unsigned char> With(const std::vector<Taken>& products) const {
    std::vector<unsigned char> d(operands_.outputs[0].Bytes());
    const std::uint32_t word = UnwrittenWord(spec_.type);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = reinterpret_cast<const unsigned char*>(&word)[i % 4];
    for (const Taken& right : Products())
      if (right.beta != 0)
        Each(right, [&](std::int64_t index, double) { Store(spec_.type, C(index), At(&d, index)); });
    for (const Taken& product : products) {
      if (!product.stored) continue;
      Each(product, [&](std::int64_t index, double sum) {
        const double before = product.beta != 0 ? Load(spec_.type, At(&d, index)) : 0;
        Store(spec_.type, product.alpha * sum + product.beta * before, At(&d, index));
      });
    }
    return d;
  }

 private:
  unsigned char* At(std::vector<unsigned char>* d, std::int64_t index) const {
    return d->data() + static_cast<std::size_t>(index) * SizeOf(spec_.type);
  }
  double C(std::int64_t index) const { return In(2, index); }
  // What lies behind a buffer is all 0.
  double In(std::size_t operand, std::int64_t index) const {
    if (index < 0 || index >= operands_.inputs[operand].extent.Count()) return 0;
    return Load(spec_.type, inputs_[operand].data() + static_cast<std::size_t>(index) * SizeOf(spec_.type));
  }
  template <class Function>
  void Each(const Taken& p, Function function) const {
    for (std::int64_t column = 0; column < p.columns; ++column)
      for (std::int64_t row = 0; row < p.rows; ++row) {
        double sum = 0;
        for (std::int64_t i = 0; i < p.k; ++i)
          sum += In(0, p.a + (p.ta ? row * p.la.ld + i : i * p.la.ld + row)) *
                 In(1, p.b + (p.tb ? i * p.lb.ld + column : column * p.lb.ld + i));
        function(p.c + column * p.lc.ld + row, sum);
      }
  }

  const GroupedSpec spec_;
  const Operands operands_;
  const std::shared_ptr<const GroupedData> data_;
  std::vector<std::vector<unsigned char>> inputs_;
  std::vector<unsigned char> right_;
};

struct Kind {
  const char* name;
  // Makes the fault in the product, of which `other` is another one; false: these cannot have it.
  std::function<bool(Taken* product, const Taken& other, Random& random)> make;
};

template <class T>
bool Take(T* value, const T& other) {
  if (*value == other) return false;
  *value = other;
  return true;
}

std::vector<Kind> Kinds() {
  return {
      {"A of another product", [](Taken* p, const Taken& o, Random&) { return Take(&p->a, o.a); }},
      {"B of another product", [](Taken* p, const Taken& o, Random&) { return Take(&p->b, o.b); }},
      {"alpha of another group", [](Taken* p, const Taken& o, Random&) { return Take(&p->alpha, o.alpha); }},
      {"beta of another group", [](Taken* p, const Taken& o, Random&) { return Take(&p->beta, o.beta); }},
      {"beta ignored", [](Taken* p, const Taken&, Random&) { return Take(&p->beta, 0.0); }},
      {"lda of another group", [](Taken* p, const Taken& o, Random&) { return Take(&p->la.ld, o.la.ld); }},
      {"ldb of another group", [](Taken* p, const Taken& o, Random&) { return Take(&p->lb.ld, o.lb.ld); }},
      {"ldc of another group",
       [](Taken* p, const Taken& o, Random&) { return o.lc.ld < p->lc.ld && Take(&p->lc.ld, o.lc.ld); }},
      {"transposes of another group",
       [](Taken* p, const Taken& o, Random&) {
         const bool a = Take(&p->ta, o.ta), b = Take(&p->tb, o.tb);
         return a || b;
       }},
      {"K of another group", [](Taken* p, const Taken& o, Random&) { return Take(&p->k, o.k); }},
      {"product left out",
       [](Taken* p, const Taken&, Random&) { return p->stored = false, p->rows > 0 && p->columns > 0; }},
      {"last rows lost",
       [](Taken* p, const Taken&, Random& r) {
         const std::int64_t lost = p->rows > 0 ? 1 + Below(r, p->rows) : 0;
         p->rows -= lost;
         return lost > 0 && p->columns > 0;
       }},
      {"last columns lost",
       [](Taken* p, const Taken&, Random& r) {
         const std::int64_t lost = p->columns > 0 ? 1 + Below(r, p->columns) : 0;
         p->columns -= lost;
         return lost > 0 && p->rows > 0;
       }},
      {"K tail",
       [](Taken* p, const Taken&, Random& r) {
         const std::int64_t lost = p->k > 0 ? 1 + Below(r, std::min<std::int64_t>(p->k, 8)) : 0;
         p->k -= lost;
         return lost > 0;
       }},
      {"D of another product", [](Taken* p, const Taken& o,
                                  Random&) { return o.group == p->group && p->stored && Take(&p->c, o.c); }},
  };
}

// Together they can have every kind of fault.
std::vector<GroupedSpec> Specs() {
  std::vector<GroupedSpec> specs;
  for (const DataType type :
       {DataType::kFloat64, DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    specs.push_back(
        Spec(type, {"17x19x23*2 tn", "0x19x23 padding=2", "17x19x23 nt alpha=2 beta=-1",
                    "24x8x16*3 nn beta=1 padding=3", "24x8x0", "17x19x23*0", "24x8x16 tt alpha=-0.5"}));
    specs.push_back(Spec(type, {"16x16x16 nt", "16x0x16", "16x16x16 tn beta=2", "16x16x0 beta=0.5",
                                "16x16x16*2 nn padding=1"}));
  }
  return specs;
}

bool SameForAll(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b, DataType type) {
  for (std::size_t at = 0; at < a.size(); at += SizeOf(type))
    if (std::memcmp(&a[at], &b[at], SizeOf(type)) != 0 &&
        !(Load(type, &a[at]) == 0 && Load(type, &b[at]) == 0))
      return false;
  return true;
}

TEST(GroupedFault, RightProductsAreRight) {
  for (const GroupedSpec& spec : Specs()) {
    const Library library(spec);
    const ElementJudgement j = library.Judged(library.right());
    EXPECT_TRUE(j.AllMatch()) << spec.Text() << ": " << j.wrong << " wrong, " << j.unwritten << " unwritten";
    EXPECT_EQ(j.elements, spec.Starts(&MatmulSpec::D).back());
  }
}

TEST(GroupedFault, EveryKindIsNoticedAnywhere) {
  Random random(7);
  for (const Kind& kind : Kinds()) {
    int specs = 0;
    for (const GroupedSpec& spec : Specs()) {
      const Library library(spec);
      int caught = 0, drawn = 0;
      for (; caught < Positions() && drawn < 100 * Positions(); ++drawn) {
        std::vector<Taken> products = library.Products();
        const auto count = static_cast<std::int64_t>(products.size());
        const auto place = static_cast<std::size_t>(Below(random, count));
        const Taken other = products[static_cast<std::size_t>(Below(random, count))];
        if (!kind.make(&products[place], other, random)) continue;
        const std::vector<unsigned char> d = library.With(products);
        const bool shows = !SameForAll(d, library.right(), spec.type);
        ASSERT_EQ(library.Judged(d).AllMatch(), !shows) << kind.name << ", " << spec.Text();
        caught += shows;
      }
      specs += caught == Positions();
      if (caught > 0) fault_table->Add("grouped", spec.Text(), kind.name, caught, drawn);
    }
    EXPECT_GE(specs, 4) << kind.name << ": too few products can show it";
  }
  EXPECT_GE(Kinds().size(), 10U);
}

// Behind an empty group all others have the addresses, or the factors, of the one before them.
TEST(GroupedFault, AnEmptyGroupThatShiftsTheOthersIsNoticed) {
  for (const GroupedSpec& spec : Specs()) {
    const Library library(spec);
    const std::vector<Taken> right = library.Products();
    for (std::size_t empty = 0; empty < right.size(); ++empty) {
      if (!IsEmpty(spec.groups[right[empty].group])) continue;
      std::vector<Taken> products = right;
      for (std::size_t i = empty + 1; i < products.size(); ++i)
        products[i].a = right[i - 1].a, products[i].b = right[i - 1].b;
      EXPECT_FALSE(library.Judged(library.With(products)).AllMatch()) << spec.Text() << ", " << empty;
    }
  }
}

// Of padding, of gaps that align and of empty groups.
TEST(GroupedFault, AWriteBesideTheResultsIsNoticedAnywhere) {
  Random random(8);
  for (const GroupedSpec& spec : Specs()) {
    const Library library(spec);
    const auto may_not = OperandsOf(spec).outputs[0].padding;
    for (int caught = 0; caught < Positions();) {
      const std::int64_t index = Below(random, spec.Starts(&MatmulSpec::D).back());
      if (!may_not(index)) continue;
      std::vector<unsigned char> d = library.right();
      Store(spec.type, 1, &d[static_cast<std::size_t>(index) * SizeOf(spec.type)]);
      const ElementJudgement j = library.Judged(d);
      ASSERT_EQ(j.wrong, 1) << spec.Text();
      ASSERT_EQ(j.first_wrong, index);
      ++caught;
    }
  }
}

TEST(GroupedSpecs, EveryMatrixIsAlignedTo16Bytes) {
  for (const GroupedSpec& spec : Specs())
    for (const Taken& product : Library(spec).Products())
      for (const std::int64_t start : {product.a, product.b, product.c})
        EXPECT_EQ(start * static_cast<std::int64_t>(SizeOf(spec.type)) % 16, 0) << spec.Text();
}

TEST(GroupedSpecs, AGroupIsReadAndSaidAgain) {
  GroupedSpec spec = Spec(DataType::kFloat16, {"17x19x23", "0x48x32*2 nt alpha=-0.5 beta=2 padding=3"});
  EXPECT_EQ(spec.Text(), "float16, groups 17x19x23 nn; 0x48x32*2 nt alpha=-0.5 beta=2 padding=3");
  EXPECT_EQ(spec.Products(), 3);
  EXPECT_EQ(spec.groups[1].D().ld, 4) << "a leading dimension is never 0";
  EXPECT_TRUE(spec.HasEmptyGroup());
}

TEST(GroupedKnown, ARowHitsWhatItSays) {
  const GroupedSpec empty = Spec(DataType::kFloat32, {"8x8x8", "8x8x0"}),
                    full = Spec(DataType::kFloat32, {"8x8x8"});
  const Predicates row = {{"operation", {"grouped_matmul"}}, {"empty_group", {"true"}}};
  EXPECT_TRUE(HitsGrouped(row, empty));
  EXPECT_FALSE(HitsGrouped(row, full));
  EXPECT_TRUE(HitsGrouped({{"empty_group", {"false"}}}, full));
  EXPECT_FALSE(HitsGrouped({{"operation", {"matmul"}}}, empty));
  EXPECT_TRUE(HitsGrouped({{"dtype", {"float32"}}, {"compute_capability_min", {"10.3"}}}, full));
  EXPECT_FALSE(HitsGrouped({{"dtype", {"float16"}}}, full));
  EXPECT_FALSE(HitsGrouped({{"algorithm", {"66"}}}, full)) << "cuBLASLt's";
  EXPECT_FALSE(HitsMatmul(row, full.groups[0], -1));
  EXPECT_FALSE(HitsMatmul({{"empty_group", {"false"}}}, full.groups[0], -1));
}

}  // namespace
}  // namespace cudnn_ci
