// Covering arrays: every pair that can come comes, none that is left out, and there are few.
#include "model/plan/covering_array.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace cudnn_ci {
namespace {

using Pairs = std::set<std::tuple<size_t, size_t, size_t, size_t>>;

bool IsLeftOut(const Factors& factors, const Combination& c) {
  for (const auto& exclusion : factors.exclusions) {
    bool holds = true;
    for (size_t f = 0; f < c.size(); ++f) holds = holds && exclusion[f][c[f]];
    if (holds) return true;
  }
  return false;
}

// Every combination that is not left out, by counting.
std::vector<Combination> Product(const Factors& factors) {
  std::vector<Combination> all = {{}};
  for (const size_t size : factors.sizes) {
    std::vector<Combination> longer;
    for (const Combination& c : all)
      for (size_t value = 0; value < size; ++value) {
        longer.push_back(c);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Combination& c) { return IsLeftOut(factors, c); });
  return all;
}

Pairs PairsOf(const std::vector<Combination>& combinations) {
  Pairs pairs;
  for (const Combination& c : combinations)
    for (size_t a = 0; a < c.size(); ++a)
      for (size_t b = a + 1; b < c.size(); ++b) pairs.emplace(a, c[a], b, c[b]);
  return pairs;
}

// An exclusion of one value each of some factors; others match everywhere.
std::vector<std::vector<bool>> Exclusion(const Factors& factors, const std::map<size_t, size_t>& of) {
  std::vector<std::vector<bool>> exclusion;
  for (size_t f = 0; f < factors.sizes.size(); ++f) {
    exclusion.emplace_back(factors.sizes[f], of.count(f) == 0);
    if (const auto value = of.find(f); value != of.end()) exclusion.back()[value->second] = true;
  }
  return exclusion;
}

TEST(CoveringArray, HasEveryPairInFewCombinations) {
  const std::vector<std::pair<std::vector<size_t>, size_t>> sizes = {
      {{21, 2, 2}, 42},           {{3, 6, 3}, 18},    {{7, 2, 2, 2}, 14},
      {{2, 2, 2, 2, 2, 2, 2}, 8}, {{3, 3, 3, 3}, 12}, {{10, 10, 10, 10}, 160}};
  for (const auto& [each, most] : sizes) {
    const Factors factors{each, {}};
    const auto made = CoverPairs(factors);
    ASSERT_TRUE(made);
    EXPECT_EQ(PairsOf(*made), PairsOf(Product(factors)));
    EXPECT_LE(made->size(), most) << testing::PrintToString(each);
  }
}

TEST(CoveringArray, OfOneFactorIsEveryValueAndOfNoneOneCombination) {
  EXPECT_THAT(*CoverPairs({{3}, {}}), testing::ElementsAre(Combination{0}, Combination{1}, Combination{2}));
  EXPECT_THAT(*CoverPairs({{}, {}}), testing::ElementsAre(Combination{}));
}

TEST(CoveringArray, IsInTheOrderOfTheProductAndTheSameEachTime) {
  const Factors factors{{5, 4, 3, 2}, {}};
  const auto made = CoverPairs(factors);
  EXPECT_TRUE(std::is_sorted(made->begin(), made->end()));
  EXPECT_EQ(made, CoverPairs(factors));
}

TEST(CoveringArray, OfRandomFactorsWithExclusionsHasEveryPairThatCanComeAndNoOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Factors factors;
    for (size_t f = 0; f < 2 + random() % 4; ++f) factors.sizes.push_back(1 + random() % 5);
    for (size_t e = 0; e < random() % 8; ++e) {
      std::map<size_t, size_t> of;
      for (size_t n = 0; n < 1 + random() % 3; ++n) {
        const size_t f = random() % factors.sizes.size();
        of[f] = random() % factors.sizes[f];
      }
      factors.exclusions.push_back(Exclusion(factors, of));
    }
    const auto made = CoverPairs(factors);
    ASSERT_TRUE(made);
    EXPECT_EQ(PairsOf(*made), PairsOf(Product(factors))) << "round " << round;
    for (const Combination& c : *made) EXPECT_FALSE(IsLeftOut(factors, c)) << "round " << round;
  }
}

TEST(CoveringArray, GivesUpOnMorePairsThanItIsFor) {
  EXPECT_FALSE(CoverPairs({{2000, 2000}, {}}));
  EXPECT_FALSE(CoverPairs({{20000, 2}, {}}));
  EXPECT_TRUE(CoverPairs({{20000}, {}}));
}

// The last factor's values agree with no two of the others at once, which shows only at the end of each walk.
TEST(CoveringArray, GivesUpWhereExclusionsIntertwine) {
  Factors factors{std::vector<size_t>(24, 3), {}};
  for (size_t f = 2; f + 1 < factors.sizes.size(); ++f)
    for (size_t a = 0; a < 3; ++a)
      for (size_t b = 0; b < 3; ++b)
        if ((a + b + f) % 3 != 0) factors.exclusions.push_back(Exclusion(factors, {{f, a}, {23, b}, {0, 0}}));
  EXPECT_FALSE(CoverPairs(factors));
}

}  // namespace
}  // namespace cudnn_ci
