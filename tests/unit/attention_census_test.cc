// A census of the inputs of every attention that a shipped matrix plans: which keys and values may change
// without a change of what is expected. A kernel that does not read one of those is taken for right.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "attention/params.h"
#include "attention_judged.h"
#include "common/numeric/attention_numbers.h"
#include "common/numeric/parallel.h"
#include "positions.h"
#include "shipped_problems.h"

namespace cudnn_ci {
namespace {

AttentionProblemSpec SpecOf(const nlohmann::json& params, bool backward) {
  AttentionParams p;
  p.dtype = params.at("dtype");
  p.layout = params.value("layout", "bshd");
  p.mask = params.value("mask", "none");
  p.bias = params.value("bias", "11ss");
  p.bias_gradient = params.value("bias_gradient", "no");
  p.logits = params.value("logits", "ordinary");
  p.data = params.value("data", "exact");
  p.statistics = params.value("statistics", "yes");
  p.window = params.value("window", kDefaultAttentionWindow);
  p.page_size = params.value("page_size", 0);
  p.q = params.at("shape").at("q").get<std::vector<std::int64_t>>();
  p.kv = params.at("shape").at("kv").get<std::vector<std::int64_t>>();
  return p.Spec(backward);
}

struct Census {
  std::int64_t keys = 0, unread_keys = 0, unread_values = 0;  // of all heads; those that some query sees
  std::int64_t beyond_reach = 0;  // of the unread ones, by count: where one query sees a head alone
  std::set<std::int64_t> positions, read_positions;
};

// The keys whose probability is not 0: by plain scores, which know nothing of how the data are made.
class Counter {
 public:
  explicit Counter(const AttentionProblemSpec& spec)
      : spec_(spec), s_(spec.shape), n_(MakeAttentionNumbers(spec, 20250)) {}

  Census Count() {
    for (std::int64_t b = 0; b < s_.batch; ++b)
      for (std::int64_t g = 0; g < s_.kv_heads; ++g) CountHead(b, g);
    return census_;
  }

 private:
  static std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
  const float* Row(const std::vector<float>& t, std::int64_t head, std::int64_t length, std::int64_t i,
                   std::int64_t size) const {
    return &t[At((head * length + i) * size)];
  }

  void CountHead(std::int64_t b, std::int64_t g) {
    const std::int64_t kv_head = b * s_.kv_heads + g;
    seen_.assign(At(s_.keys), false), asked_ = seen_, value_ = seen_;
    std::int64_t questions = 0, most = 0;
    for (std::int64_t h = 0; h < s_.Group(); ++h)
      for (std::int64_t i = 0; i < s_.Queries(b); ++i) {
        const std::int64_t visible = Look(b, kv_head, b * s_.q_heads + g * s_.Group() + h, i);
        questions += visible > 0;
        most = std::max(most, visible);
      }
    std::int64_t power = 1;
    while (2 * power <= most) power *= 2;
    const bool alone = questions == 1;
    if (alone && HasBias(s_.mask)) power = 1;
    std::int64_t unread = 0;
    for (std::int64_t j = 0; j < s_.keys; ++j) {
      if (!seen_[At(j)]) continue;
      ++census_.keys;
      census_.positions.insert(j);
      bool key = asked_[At(j)], value = value_[At(j)];
      if (spec_.backward) {
        const float* dv = Row(n_.dv, kv_head, s_.keys, j, s_.v_head_size);
        const float* dk = Row(n_.dk, kv_head, s_.keys, j, s_.head_size);
        const auto not_zero = [](float x) { return x != 0; };
        key = std::any_of(dv, dv + s_.v_head_size, not_zero) || std::any_of(dk, dk + s_.head_size, not_zero);
      }
      census_.unread_keys += !key, census_.unread_values += !value;
      unread += !key;
      if (key && value) census_.read_positions.insert(j);
    }
    if (alone) census_.beyond_reach += HasBias(s_.mask) ? unread : most - power;
  }

  double BiasAt(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (n_.bias.empty()) return 0;
    return n_.bias[At(
        ((b % s_.BiasBatch() * s_.BiasHeads() + h % s_.BiasHeads()) * s_.queries + i) * s_.keys + j)];
  }

  // How many keys a query sees.
  std::int64_t Look(std::int64_t b, std::int64_t kv_head, std::int64_t q_head, std::int64_t i) {
    const KeyRange range = s_.Visible(b, i);
    const float* q = Row(n_.q, q_head, s_.queries, i, s_.head_size);
    const float* d_o = Row(n_.d_o, q_head, s_.queries, i, s_.v_head_size);
    std::vector<std::int64_t> dimensions, rows;
    for (std::int64_t d = 0; d < s_.head_size; ++d)
      if (q[d] != 0) dimensions.push_back(d);
    for (std::int64_t d = 0; d < s_.v_head_size; ++d)
      if (d_o[d] != 0) rows.push_back(d);
    std::vector<double> scores;
    double most = -std::numeric_limits<double>::infinity();
    std::int64_t visible = 0;
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const float* k = Row(n_.k, kv_head, s_.keys, j, s_.head_size);
      const double bias = BiasAt(b, q_head % s_.q_heads, i, j);
      double score = bias;
      for (const std::int64_t d : dimensions) score += static_cast<double>(q[d]) * k[d];
      scores.push_back(score), most = std::max(most, score);
      if (bias > -10000) ++visible, seen_[At(j)] = true;
    }
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      if (scores[At(j - range.begin)] < most - 50) continue;
      asked_[At(j)] = true;
      float dp = 0;
      for (const std::int64_t d : rows) dp += d_o[d] * Row(n_.v, kv_head, s_.keys, j, s_.v_head_size)[d];
      if (!spec_.backward || dp != 0) value_[At(j)] = true;
    }
    return visible;
  }

  const AttentionProblemSpec spec_;
  const AttentionShape& s_;
  const AttentionNumbers n_;
  Census census_;
  std::vector<bool> seen_, asked_, value_;
};

// Of many problems one type and one score are enough, but where all are asked for: keys are planned alike.
std::string TextOf(const AttentionProblemSpec& spec) {
  const bool few = Positions() < 1000 && !spec.Scaled() && spec.data == AttentionData::kExact;
  if (few)
    return spec.shape.Text() + (spec.backward ? ", backward" : "") + (spec.bias_gradient ? ", dBias" : "");
  return spec.shape.Text() + (spec.backward ? ", backward" : "") + ", " +
         std::to_string(static_cast<int>(spec.type)) + ", score " +
         std::to_string(static_cast<int>(ScoreOf(spec.logits))) + (spec.bias_gradient ? ", dBias" : "") +
         (spec.page_size > 0 ? ", pages" : "");
}

// Each problem once, whatever its layout and algorithm.
std::map<std::string, AttentionProblemSpec> ProblemsOf(const std::string& matrix, AttentionData data) {
  std::map<std::string, AttentionProblemSpec> problems;
  for (const bool backward : {false, true})
    for (const ShippedProblem& problem :
         ShippedProblems(matrix, backward ? "attention.backward" : "attention.forward")) {
      const AttentionProblemSpec spec = SpecOf(problem.params, backward);
      if (spec.data == data) problems.emplace(TextOf(spec), spec);
    }
  return problems;
}

class AttentionCensus : public testing::TestWithParam<const char*> {};

// One query that has a head of keys for itself asks for as many as a power of two; the heads together ask for
// every position.
// Of nightly's, a sample; all with CUDNN_CI_POSITIONS.
TEST_P(AttentionCensus, EveryKeyAndValueIsRead) {
  const std::map<std::string, AttentionProblemSpec> by_text = ProblemsOf(GetParam(), AttentionData::kExact);
  const auto problems = SampleOf(by_text, GetParam());
  std::vector<Census> found(problems.size());
  ParallelFor(static_cast<std::int64_t>(problems.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      found[static_cast<std::size_t>(i)] = Counter(problems[static_cast<std::size_t>(i)].second).Count();
  });
  std::int64_t keys = 0, unread_keys = 0, unread_values = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Census& census = found[i];
    keys += census.keys, unread_keys += census.unread_keys, unread_values += census.unread_values;
    EXPECT_EQ(census.unread_keys, census.beyond_reach) << problems[i].first << ", of " << census.keys;
    EXPECT_EQ(census.unread_values, census.beyond_reach) << problems[i].first << ", of " << census.keys;
    // Each head sees other keys of a bias.
    if (!HasBias(problems[i].second.shape.mask)) {
      EXPECT_EQ(census.read_positions.size(), census.positions.size()) << problems[i].first;
    }
  }
  std::ostringstream row;
  row << problems.size() << " problems, " << keys << " keys, unread: " << unread_keys << " keys, "
      << unread_values << " values";
  std::printf("%s: %s\n", GetParam(), row.str().c_str());
}

// Lengths that leave a few queries of many keys.
TEST(AttentionCensusTest, AFewQueriesBehindLengthsReadEveryKey) {
  for (const std::int32_t queries : {2, 4, 9, 10, 14, 16}) {
    AttentionProblemSpec spec;
    spec.shape = {2, 3, 3, 19, 319, 64, 64, AttentionMask::kPadding, 0, {queries, 19}, {162, 319}};
    EXPECT_EQ(Counter(spec).Count().unread_keys, 0) << queries;
  }
}

// Exact data do not tell exp(x) from a step: a key has the largest score, or one that is 128 less. So each
// kind of attention that a default matrix has is there with normal data too.
class AttentionStep : public testing::TestWithParam<const char*> {};

TEST_P(AttentionStep, InPlaceOfExpIsNoticedInEachKind) {
  std::set<std::string> kinds;
  for (const auto& [text, spec] : ProblemsOf(GetParam(), AttentionData::kNormal)) {
    const AttentionShape& s = spec.shape;
    if (s.queries == 1) kinds.insert("decode");
    if (s.queries > 1 && s.queries < s.keys) kinds.insert("cross");
    if (s.mask == AttentionMask::kSlidingWindow) kinds.insert("window");
    if (HasLengths(s.mask)) kinds.insert(spec.page_size > 0 ? "pages" : "lengths");
    const JudgedAttention judged(spec);
    EXPECT_TRUE(judged.SoundIsRight()) << text;
    AttentionFault step;
    step.last = s.queries, step.step = true;
    for (const std::int64_t h : {std::int64_t{0}, s.q_heads - 1})
      EXPECT_FALSE(judged.AllRight(judged.InMemory(judged.With(s.batch - 1, h, step))))
          << text << ", head " << h;
  }
  EXPECT_THAT(kinds, testing::ElementsAre("cross", "decode", "lengths", "pages", "window"));
}

INSTANTIATE_TEST_SUITE_P(All, AttentionStep, testing::Values("cu13"),
                         [](const auto& matrix) { return std::string(matrix.param); });

// cu12 has the attentions and products of cu13.
INSTANTIATE_TEST_SUITE_P(All, AttentionCensus, testing::Values("cu13", "nightly"),
                         [](const auto& matrix) { return std::string(matrix.param); });

}  // namespace
}  // namespace cudnn_ci
