// A compute case of an operation with several inputs and outputs, on a fake driver whose device memory is the
// host's, with a host that the test plays.
#include "compute/compute_case.h"
#include "compute/prepared_case.h"

#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "common/numeric/encode.h"
#include "common/numeric/random_data.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

constexpr std::int64_t kCount = 40;
constexpr ComputeFindings kFindings = {"failed",      "mixed",     "wrong",       "unexplained",
                                       "imprecise",   "unwritten", "outside",     "input",
                                       "understated", "refused",   "unrepeatable"};

// What the case reported.
struct Record {
  std::vector<std::pair<std::string, std::string>> findings;
  std::map<std::string, double> measured;
  std::vector<std::string> steps;
  std::string attached, skip;
  int held = 0;  // expectations that all elements were compared
};
Record g_record;
std::uint64_t g_seed = 0;  // of the case

cci_host PlayedHost() {
  cci_host host{};
  host.struct_size = sizeof host;
  host.step = [](cci_case*, const char* name) { g_record.steps.emplace_back(name); };
  host.should_skip_step = [](cci_case*, const char*) { return 0; };
  host.expect = [](cci_case*, int held, const char*, int, const char* what) {
    if (std::strstr(what, "compared")) g_record.held += held;
  };
  host.finding = [](cci_case*, const char* slug, const char* detail) {
    g_record.findings.emplace_back(slug, detail);
  };
  host.skip = [](cci_case*, std::uint32_t, const char* need, const char* seen) {
    g_record.skip = std::string(need) + " | " + seen;
  };
  host.measure = [](cci_case*, const char* name, double value, const char*, std::uint32_t) {
    g_record.measured[name] = value;
  };
  host.attach = [](cci_case*, const char*, const char*, const void* data, std::size_t size) {
    g_record.attached.assign(static_cast<const char*>(data), size);
  };
  host.log = [](cci_case*, std::uint32_t, const char*) {};
  host.seed = [](cci_case*) { return g_seed; };
  host.poison = [](cci_case*, const char*) {};
  return host;
}

class TestSession : public DeviceSession {
 public:
  TestSession() {
    OpenDriver();
    OpenEvents();
  }
  std::string LibraryText() const override { return "a library"; }

 private:
  bool HasStreams() const override { return false; }
  std::string SetStream(CUstream) override { return "none"; }
};

// a + b, and a * b times a scale that is the same in every run.
Operands OperandsOfTest() {
  const Extent extent = {2, 5, 4};
  Operands operands;
  operands.inputs = {{"a", DataType::kFloat16, extent, Layout::kNhwc, 1},
                     {"scale", DataType::kFloat32, {1, 1, 1}},
                     {"b", DataType::kFloat32, extent, Layout::kNhwc, 2}};
  operands.outputs = {{"sum", DataType::kFloat32, extent, Layout::kNhwc},
                      {"product", DataType::kFloat16, extent, Layout::kNhwc}};
  return operands;
}

struct TestData : ReferenceData, ReferenceSource, std::enable_shared_from_this<TestData> {
  std::vector<std::int8_t> a, b, scale = {2};
  std::vector<std::int16_t> sum, product;

  TestData() {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      a.push_back(static_cast<std::int8_t>(RandomWord(1, i) % 5) - 2);
      b.push_back(static_cast<std::int8_t>(RandomWord(2, i) % 5) - 2);
      sum.push_back(static_cast<std::int16_t>(a[i] + b[i]));
      product.push_back(static_cast<std::int16_t>(a[i] * b[i] * scale[0]));
    }
  }
  void Encode(std::size_t input, unsigned char* to) const override {
    const Operand operand = OperandsOfTest().inputs[input];
    const std::vector<std::int8_t>& values = input == 0 ? a : input == 1 ? scale : b;
    EncodeData({values.data()}, operand.extent, operand.type, operand.layout, to);
  }
  Judgement Judge(std::size_t output, double bound, const unsigned char* got) const override {
    const Operand operand = OperandsOfTest().outputs[output];
    return JudgeOutput({{output == 0 ? sum.data() : product.data()}, 8}, operand.extent, operand.type,
                       operand.layout, bound, got);
  }
  std::shared_ptr<const void> owner() const override { return shared_from_this(); }
  std::shared_ptr<const ReferenceData> Get() const override { return shared_from_this(); }
  double MakingBytes() const override { return 0; }
  double Growth() const override { return 0; }
  void ForgetOthers() const override {}
};

// What the latest run found in its second output.
std::vector<unsigned char> g_product_found;

// Does what a fault does, behind a right computation.
using Fault = std::function<void(const VariantPack&, int run)>;

class TestCandidate : public Candidate {
 public:
  TestCandidate(std::string name, Fault fault) : name_(std::move(name)), fault_(std::move(fault)) {}
  std::string Name() const override { return name_; }
  std::size_t Prepare() override { return 64; }
  bool deterministic() const override { return true; }
  std::int64_t number() const override { return 7; }
  void Run(const VariantPack& pack) override {
    const auto in = [&](std::size_t i) { return static_cast<const unsigned char*>(pack.inputs[i]); };
    const auto out = [&](std::size_t o) { return static_cast<unsigned char*>(pack.outputs[o]); };
    g_product_found.assign(out(1), out(1) + 2 * kCount);
    const double scale = Load(DataType::kFloat32, in(1));
    for (std::size_t i = 0; i < kCount; ++i) {
      const double a = Load(DataType::kFloat16, in(0) + 2 * i), b = Load(DataType::kFloat32, in(2) + 4 * i);
      Store(DataType::kFloat32, a + b, out(0) + 4 * i);
      Store(DataType::kFloat16, a * b * scale, out(1) + 2 * i);
    }
    if (fault_) fault_(pack, ++runs_);
  }

 private:
  const std::string name_;
  const Fault fault_;
  int runs_ = 0;
};

class TestProblem : public ComputeProblem {
 public:
  explicit TestProblem(Fault fault) : fault_(std::move(fault)) {
    asked.choice = "auto", asked.alternatives = "others", asked.text = "the asked";
  }
  const Operands& operands() const override { return operands_; }
  const ComputeFindings& findings() const override { return kFindings; }
  const CaseRequest& request() const override { return asked; }
  std::string Text() const override { return "a test"; }
  std::string Place(std::size_t, std::int64_t index) const override { return "at " + std::to_string(index); }
  DeviceSession& OpenSession(Context&) override {
    static TestSession session;
    return session;
  }
  Candidates Open(const std::string& choice, const SearchMemory&) override {
    ++opened;
    Candidates candidates;
    candidates.asked = "TestHeuristics";
    if (choice != "others") candidates.list.push_back(std::make_unique<TestCandidate>("one", fault_));
    if (choice == "others" || asked.sweep)
      candidates.list.push_back(std::make_unique<TestCandidate>("another", nullptr));
    return candidates;
  }
  std::shared_ptr<const ReferenceSource> SearchData() const override { return data_; }
  Expectation ExpectationOf(const Candidate&) const override { return {data_, {0, 0}, undecided}; }
  std::string WrongOnRandom(const Candidate&, const std::vector<const unsigned char*>& outputs) override {
    looked_at = outputs.size();
    return wrong_on_random;
  }

  CaseRequest asked;
  std::optional<Expectation::Undecided> undecided;
  std::string wrong_on_random;
  std::size_t looked_at = 0;
  int opened = 0;

 private:
  const Operands operands_ = OperandsOfTest();
  const std::shared_ptr<const TestData> data_ = std::make_shared<TestData>();
  const Fault fault_;
};

Record RunCase(TestProblem* problem) {
  g_record = {};
  const cci_host host = PlayedHost();
  Context ctx(&host, nullptr);
  detail::CurrentContext() = &ctx;
  try {
    RunComputeCase(ctx, problem);
  } catch (const detail::StopCheck&) {
  }
  detail::CurrentContext() = nullptr;
  return g_record;
}

Record RunWith(Fault fault) {
  TestProblem problem(std::move(fault));
  return RunCase(&problem);
}

unsigned char* Output(const VariantPack& pack, std::size_t output) {
  return static_cast<unsigned char*>(pack.outputs[output]);
}

TEST(ComputeCase, HoldsEveryOutputToItsExpectation) {
  TestProblem problem(nullptr);
  const Record r = RunCase(&problem);
  EXPECT_THAT(r.findings, IsEmpty());
  EXPECT_EQ(r.held, 1) << "all elements of both were compared";
  EXPECT_EQ(problem.looked_at, 2u) << "outputs on random data";
  EXPECT_THAT(r.steps, ElementsAre("workspace query", "reference", "upload", "run", "compare", "time"));
  EXPECT_THAT(r.measured,
              testing::AllOf(Contains(Pair("candidate", 7)), Contains(Pair("workspace_bytes", 64)),
                             Contains(Pair("max_error", 0)), Contains(Pair("deterministic", 1))));
}

TEST(ComputeCase, NamesTheOutputThatIsWrong) {
  for (const std::size_t output : {0u, 1u}) {
    const Record r = RunWith([output](const VariantPack& pack, int) {
      Store(OperandsOfTest().outputs[output].type, 100, Output(pack, output));
    });
    EXPECT_THAT(r.findings,
                ElementsAre(Pair(
                    "wrong", testing::AllOf(StartsWith(output == 0 ? "sum: 1 of 40 elements"
                                                                   : "product: 1 of 40 elements"),
                                            HasSubstr("first at 0: expected"), HasSubstr("; another is ")))));
    EXPECT_EQ(r.held, 0);
  }
}

TEST(ComputeCase, TellsEveryOutputThatIsWrongInOneFinding) {
  const Record r = RunWith([](const VariantPack& pack, int) {
    Store(DataType::kFloat32, 100, Output(pack, 0));
    Store(DataType::kFloat16, 100, Output(pack, 1));
  });
  EXPECT_THAT(r.findings, ElementsAre(Pair("wrong", testing::AllOf(StartsWith("sum: 1 of 40"),
                                                                   HasSubstr("; product: 1 of 40")))));
}

TEST(ComputeCase, NamesTheOutputThatWasNotWritten) {
  const Record r = RunWith([](const VariantPack& pack, int) {
    const std::uint32_t word = 0xFFFEFFFEu;
    std::memcpy(Output(pack, 1) + 76, &word, 4);
  });
  EXPECT_THAT(r.findings, ElementsAre(Pair("unwritten", StartsWith("product: 2 of 40 elements"))));
}

TEST(ComputeCase, LooksAtEveryInputAndEveryGuard) {
  const std::vector<Operand> inputs = OperandsOfTest().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Record r = RunWith([i, &inputs](const VariantPack& pack, int) {
      static_cast<unsigned char*>(const_cast<void*>(pack.inputs[i]))[inputs[i].Bytes() - 1] ^= 1;
    });
    EXPECT_THAT(r.findings,
                ElementsAre(Pair("input",
                                 Mentions(inputs[i].name, "byte " + std::to_string(inputs[i].Bytes() - 1)))));
  }
  for (const Operand& output : OperandsOfTest().outputs) {
    const std::size_t place = output.name == "sum" ? 0 : 1;
    const Record r = RunWith([&](const VariantPack& pack, int) { Output(pack, place)[output.Bytes()] ^= 1; });
    EXPECT_THAT(r.findings, ElementsAre(Pair("outside", Mentions("after", "end of " + output.name))));
  }
}

TEST(ComputeCase, NamesTheOutputThatDoesNotRepeatItsBits) {
  for (const std::size_t output : {0u, 1u}) {
    const Record r = RunWith([output](const VariantPack& pack, int run) {
      if (run == 3) Output(pack, output)[8] ^= 1;  // of the runs on random data the second
      if (run == 4) Output(pack, output)[8] ^= 3;
    });
    EXPECT_THAT(r.findings, ElementsAre(Pair("unrepeatable",
                                             StartsWith(output == 0 ? "sum: 1 of 40 elements differ"
                                                                    : "product: 1 of 40 elements differ"))));
    EXPECT_EQ(r.measured.count("milliseconds"), 0u);
  }
}

TEST(ComputeCase, NamesTheOutputThatARepeatedRunLeaves) {
  const Record r = RunWith([](const VariantPack& pack, int run) {
    if (run == 4) std::memcpy(Output(pack, 1) + 4, g_product_found.data() + 4, 2);
  });
  EXPECT_THAT(
      r.findings,
      ElementsAre(Pair("unwritten", testing::AllOf(StartsWith("product: 1 of 40"), HasSubstr("repeated")))));
}

TEST(ComputeCase, ReportsWhatIsImpreciseOnRandomData) {
  TestProblem problem(nullptr);
  problem.wrong_on_random = "sum: off";
  EXPECT_THAT(RunCase(&problem).findings, ElementsAre(Pair("imprecise", Mentions("random", "sum: off"))));
}

TEST(ComputeCase, WhatCannotBeDecidedIsNoPass) {
  TestProblem problem(nullptr);
  problem.undecided = Expectation::Undecided{"a bound", "none"};
  const Record r = RunCase(&problem);
  EXPECT_EQ(r.skip, "a bound | none");
  EXPECT_EQ(r.held, 0);
}

TEST(ComputeCase, ASweepRunsEveryCandidateAndTellsEach) {
  TestProblem problem([](const VariantPack& pack, int) { Store(DataType::kFloat16, 100, Output(pack, 1)); });
  problem.asked.sweep = true;
  const Record r = RunCase(&problem);
  EXPECT_THAT(r.steps, ElementsAre("workspace query", "one", "another"));
  EXPECT_THAT(r.attached, testing::AllOf(HasSubstr("one: wrong"), HasSubstr("another: passed, ")));
  EXPECT_THAT(r.findings, ElementsAre(Pair("wrong", StartsWith("product: 1 of 40"))));
}

// Prepares the case of a seed.
void Prepare(TestProblem* problem, std::uint64_t seed) {
  g_seed = seed;
  const cci_host host = PlayedHost();
  Context ctx(&host, nullptr);
  PrepareComputeCase(ctx, problem);
}

TEST(PreparedCase, RunsWithTheCandidatesThatWereKeptOnce) {
  TestProblem problem(nullptr);
  Prepare(&problem, 1);
  EXPECT_EQ(problem.opened, 1);
  EXPECT_EQ(RunCase(&problem).held, 1);
  EXPECT_EQ(problem.opened, 1) << "the kept ones";
  EXPECT_EQ(RunCase(&problem).held, 1);
  EXPECT_EQ(problem.opened, 2) << "they are taken once";
}

TEST(PreparedCase, AnotherCaseDoesNotRunWithIt) {
  TestProblem kept([](const VariantPack& pack, int) { Store(DataType::kFloat32, 100, Output(pack, 0)); });
  Prepare(&kept, 1);
  TestProblem problem(nullptr);
  g_seed = 2;
  EXPECT_THAT(RunCase(&problem).findings, IsEmpty());
  EXPECT_EQ(problem.opened, 1);
  g_seed = 1;
  EXPECT_THAT(RunCase(&problem).findings, testing::SizeIs(1)) << "it is still there";
}

TEST(PreparedCase, ManyCandidatesAreNotPrepared) {
  TestProblem problem(nullptr);
  problem.asked.sweep = true;
  Prepare(&problem, 3);
  EXPECT_EQ(problem.opened, 0);
}

}  // namespace
}  // namespace cudnn_ci
