// nccl.*, from the matrix to the verdict, against a fake NCCL that computes real collectives, or errs in
// them.
#include <array>
#include <filesystem>
#include <fstream>
#include <map>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Nccl : public ShippedTest {
 protected:
  static std::string Params(const std::string& collective, const std::string& rest) {
    return R"("params": {"collective": ")" + collective + "\", " + rest + "}";
  }
  static std::string AllReduce(const std::string& rest, const std::string& reduction = "sum") {
    return Params("all_reduce", R"("dtype": "float32", "reduction": ")" + reduction + "\", " + rest);
  }
  // Of the cases of nccl.collective, by their counts: the finding and its detail, or the outcome.
  static std::map<int, std::pair<std::string, std::string>> ByCount(const GateResult& r) {
    std::map<int, std::pair<std::string, std::string>> said;
    for (const json& c : r.report["cases"]) {
      if (c["check"] != "nccl.collective") continue;
      auto& [slug, detail] = said[c["params"]["count"]];
      slug = c["outcome"];
      for (const json& f : c["findings"])
        if (f["severity"] == "error") slug = f["slug"], detail = f["detail"];
    }
    return said;
  }
};

TEST_F(Nccl, AHealthyLibraryPassesInEveryCollectiveTypeAndReduction) {
  const std::string types =
      R"("dtype": ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
                   "float64", "float8_e4m3", "float8_e5m2"], "count": [0, 1, 1023], "shift": [0, 1])";
  const GateResult r = Run(Entry("nccl.collective", R"("cover": "pairs",
        "exclude": [{"dtype": "float8_e4m3", "reduction": "average"},
                    {"dtype": "float8_e5m2", "reduction": "average"}],
        "axes": {
        "collective": ["all_reduce", "reduce", "reduce_scatter"], "place": ["out", "in"],
        "reduction": ["sum", "product", "min", "max", "average"], )" +
                                                        types + "}") +
                           ", " +
                           Entry("nccl.collective", R"("cover": "pairs", "axes": {
        "collective": ["all_gather", "broadcast", "gather", "scatter"], "place": ["out", "in"], )" +
                                                        types + "}") +
                           ", " +
                           Entry("nccl.collective", R"("cover": "pairs", "axes": {
        "collective": ["all_to_all", "send_receive"], )" +
                                                        types + "}"));
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.report["totals"]["passed"], r.report["totals"]["planned"]);
}

// Each case has a fault of its own.
TEST_F(Nccl, EveryFaultHasItsFinding) {
  const std::string wrong = "collective-wrong-value", unwritten = "collective-not-written";
  struct Row {
    std::string fault, slug, words, place = "";
  };
  const Row rows[] = {{"nothing", unwritten, "1000 of 1000", "(element 0)"},
                      {"half", unwritten, "first (element 500)"},
                      {"tail", unwritten, "8 of 1002", "(element 994)"},
                      {"odd", unwritten, "1 of 1003", "(element 1002)"},
                      {"first", unwritten, "1 of 1004", "(element 0)"},
                      {"element", wrong, "1 of 1005", "(element 502)"},
                      {"bit", wrong, "1 of 1006"},
                      {"last", wrong, "first (element 1006)"},
                      {"moved", wrong, "first (element "},
                      {"block", wrong, "first (element 32)"},
                      {"swapped", wrong, "first (element 16)"},
                      {"reversed", wrong, ""},
                      {"zeros", wrong, "1012 of 1012"},
                      {"behind", "collective-out-of-bounds-write", "the end"},
                      {"before", "collective-out-of-bounds-write", "the start"},
                      {"input", "collective-input-modified", "the input", "byte"},
                      {"races", "collective-not-repeatable", "1 of 1016"},
                      {"stale", "collective-not-repeatable", "1017 of 1017"},
                      {"error_after", "collective-failed", "ncclAllReduce: 1 "}};
  std::string faults, counts;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    faults += (i > 0 ? "," : "by_count:") + rows[i].fault;
    counts += (i > 0 ? ", " : "") + std::to_string(1000 + i);
  }
  Set("FAKE_NCCL_FAULT", faults);
  const GateResult r = Run(
      Entry("nccl.collective", AllReduce(R"("place": "out")") + R"(, "axes": {"count": [)" + counts + "]}"));
  auto said = ByCount(r);
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto& [slug, detail] = said[static_cast<int>(1000 + i)];
    EXPECT_EQ(slug, rows[i].slug) << rows[i].fault << ": " << detail;
    EXPECT_THAT(detail, AllOf(HasSubstr(rows[i].words), HasSubstr(rows[i].place),
                              HasSubstr("NCCL 2.30.7+cuda13.0 (/")))
        << rows[i].fault;
  }
}

TEST_F(Nccl, WhatIsInPlaceOrShiftedOrANaNIsSeen) {
  Set("FAKE_NCCL_FAULT", "by_count:in_place,shifted,nan");
  const GateResult r =
      Run(Entry("nccl.collective",
                Params("reduce_scatter", R"("dtype": "int32", "reduction": "max", "count": 1000)") +
                    R"(, "axes": {"place": ["in"]})") +
          ", " +
          Entry("nccl.collective", Params("all_to_all", R"("dtype": "float16", "count": 1001)") +
                                       R"(, "axes": {"shift": [1]})") +
          ", " + Entry("nccl.collective", Params("all_gather", R"("dtype": "bfloat16", "count": 1002)")));
  auto said = ByCount(r);
  for (const int count : {1000, 1001, 1002}) EXPECT_EQ(said[count].first, "collective-wrong-value") << count;
}

TEST_F(Nccl, AKnownFaultIsNamedWithTheReleaseToTake) {
  Set("FAKE_NCCL_FAULT", "average_tail");
  Set("FAKE_NCCL_SAYS", "22809");
  const std::string average = AllReduce(R"("count": 1003)", "average");
  const CheckOutcome r = Check("nccl.collective", average);
  EXPECT_THAT(r.Slugs(), ElementsAre("collective-not-written")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("11 of 1003", "known: wrong", "NCCL 2.19.1 to 2.29.3", "fixed in 2.29.7",
                                   "NCCL 2.29.7 or later"));
  Set("FAKE_NCCL_SAYS", "22907");
  EXPECT_THAT(Check("nccl.collective", average).Detail(), Not(HasSubstr("known:")));
}

TEST_F(Nccl, AnOlderLibraryIsSkippedForWhatItLacks) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn", "nccl_old"});
  const GateResult r =
      Run(Entry("nccl.init") + ", " +
          Entry("nccl.collective", Params("all_to_all", R"("dtype": "float32", "count": 1)")) + ", " +
          Entry("nccl.collective", Params("broadcast", R"("dtype": "float8_e4m3", "count": 2)")) + ", " +
          Entry("nccl.collective", Params("send_receive", R"("dtype": "float32", "count": 3)")));
  std::map<std::string, std::string> skips;
  for (const json& c : r.report["cases"])
    skips[c["id"].get<std::string>().substr(0, 40)] =
        c["outcome"] == "skipped"
            ? c["skip"]["kind"].get<std::string>() + ": " + c["skip"]["need"].get<std::string>()
            : c["outcome"].get<std::string>();
  EXPECT_EQ(skips["nccl.init[subject=system]"], "passed") << r.out;
  EXPECT_EQ(skips["nccl.collective[collective=all_to_all,co"],
            "version: ncclAlltoAll, which NCCL has from 2.28.3 on");
  EXPECT_EQ(skips["nccl.collective[collective=broadcast,cou"],
            "version: the type float8_e4m3, which NCCL has from 2.24.3 on");
  EXPECT_EQ(skips["nccl.collective[collective=send_receive,"], "passed");
}

TEST_F(Nccl, AReductionOfEightBitFloatsIsSkippedOnAnOlderGpu) {
  Set("FAKE_CC", "8.0");
  const std::string sum = R"("dtype": "float8_e5m2", "reduction": "sum", "count": 5)";
  const CheckOutcome r = Check("nccl.collective", Params("all_reduce", sum));
  EXPECT_EQ(r.Skip("kind"), "version") << ::testing::PrintToString(r);
  EXPECT_EQ(Check("nccl.collective", Params("all_gather", R"("dtype": "float8_e5m2", "count": 5)")).Outcome(),
            "passed");
}

TEST_F(Nccl, AnAverageOfEightBitFloatsIsTheMatrixsFault) {
  const auto exit_of = [this](const std::string& reduction) {
    const std::string rest = R"("dtype": "float8_e4m3", "count": 7, "reduction": ")" + reduction + '"';
    return Run(Entry("nccl.collective", Params("all_reduce", rest))).exit_code;
  };
  EXPECT_EQ(exit_of("average"), 2);
  EXPECT_EQ(exit_of("sum"), 0);
}

TEST_F(Nccl, ACommunicatorThatIsNotOneIsRed) {
  for (const auto& [fault, words] :
       {std::pair("count", "rank 0 of 2"), std::pair("call:ncclCommDestroy:1:3", "ncclCommDestroy: 3"),
        std::pair("call:ncclCommDestroy:2:3", "ncclCommDestroy: 3")}) {
    Set("FAKE_NCCL_FAULT", fault);
    const CheckOutcome r = Check("nccl.init");
    EXPECT_THAT(r.Slugs(), ::testing::Contains("nccl-init-failed")) << fault << ::testing::PrintToString(r);
    EXPECT_THAT(r.Detail(), AllOf(HasSubstr(words), HasSubstr("NCCL 2.30.7+cuda13.0 (/"))) << fault;
  }
}

TEST_F(Nccl, AnImageWithoutOneIsNotJudged) {
  const std::vector<std::string> hidden = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (hidden.empty()) GTEST_SKIP() << "mount namespaces are refused";
  gate().Before(hidden);
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn"});
  const std::string allowed = R"("allow_skip": ["absent"])";
  const GateResult r =
      Run(Entry("nccl.load", allowed) + ", " + Entry("nccl.init", allowed) + ", " + Entry("toolkit.nvrtc") +
          ", " +
          Entry("nccl.collective", Params("broadcast", R"("dtype": "int8", "count": 1)") + ", " + allowed));
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.report["warnings"].size(), 0u) << r.report["warnings"];
  const CheckOutcome named = Check("nccl.load", R"("params": {"below": "3"})");
  EXPECT_THAT(named.Slugs(), ElementsAre("nccl-missing")) << ::testing::PrintToString(named);
}

TEST_F(Nccl, ItsCudaIsHeldToTheToolkits) {
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn", "nccl_old"});
  Promise("image.toolkit", ">=13 <14");
  const CheckOutcome r = Check("nccl.load", R"("params": {"at_least": "2.13", "below": "3"})");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_THAT(r.AllSlugs(), ::testing::Contains("nccl-other-cuda"));
  // One cause is told once: that the toolkit is not the promised one says toolkit.runtime.
  Promise("image.toolkit", ">=12 <13");
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn", "nccl"});
  EXPECT_THAT(Check("nccl.load").AllSlugs(), Not(::testing::Contains("nccl-other-cuda")));
}

// image.symbols names the package that has replaced the toolkit's NCCL, and what to do.
TEST_F(Nccl, OneThatReplacedTheToolkitsIsToldOfOnce) {
  const std::string site = gate().Path("site-packages"), folder = site + "/nvidia/nccl/lib",
                    file = folder + "/libnccl.so.2";
  fs::create_directories(folder);
  fs::copy_file(FakeFile("nccl_old", "libnccl.so.2"), file);
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn"});
  UseSubjects("{\"mine\": \"path:" + folder + "\"}");
  const auto record = [&](const std::string& package, const std::string& hash, const std::string& size) {
    fs::create_directory(site + "/" + package + ".dist-info");
    std::ofstream(site + "/" + package + ".dist-info/RECORD")
        << "nvidia/nccl/lib/libnccl.so.2,sha256=" << std::string(43, hash[0]) << "," << size << "\n";
  };
  const std::string rest = R"("params": {"at_least": "2.13", "below": "3"})";
  record("nvidia_nccl_cu12-2.29.3", "A", std::to_string(fs::file_size(file)));
  EXPECT_THAT(Check("nccl.load", rest).AllSlugs(), ::testing::Contains("nccl-other-cuda"));
  record("nvidia_nccl_cu13-2.30.7", "B", "1");
  EXPECT_THAT(Check("nccl.load", rest).AllSlugs(), Not(::testing::Contains("nccl-other-cuda")));
}

TEST_F(Nccl, WhatChangesItIsNamed) {
  Set("NCCL_P2P_DISABLE", "1");
  Set("NCCL_ALGO", "Ring");
  Set("NCCL_SHM_DISABLE", "0");
  Take("nccl", "libnccl.so.2");
  WriteLibrary("libnccl-net.so", "damaged");
  Set("NCCL_TUNER_PLUGIN", "acme");
  const CheckOutcome r = Check("nccl.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  std::map<std::string, std::string> said;
  for (const json& f : r.record["findings"]) said[f["slug"]] += f["detail"].get<std::string>() + "\n";
  EXPECT_THAT(said["nccl-settings"], AllOf(HasSubstr("NCCL_P2P_DISABLE=1 ("), HasSubstr("NCCL_ALGO=Ring ("),
                                           Not(HasSubstr("NCCL_SHM_DISABLE"))));
  EXPECT_THAT(said["nccl-plugin-unusable"],
              AllOf(HasSubstr("libnccl-net.so"), HasSubstr("NCCL_TUNER_PLUGIN=acme: ")));
  EXPECT_THAT(said["nccl-several-copies"], HasSubstr("fakes/nccl/libnccl.so.2.30.7 (2.30.7+cuda13.0)"));
}

TEST_F(Nccl, ADamagedOneIsRed) {
  Take("nccl", "libnccl.so.2");
  Halve("libnccl.so.2");
  EXPECT_THAT(Check("nccl.load").Slugs(), ElementsAre("nccl-not-loadable"));
}

TEST_F(Nccl, ACallOfNoElementsWritesNothing) {
  const std::string empty = R"("dtype": "float32", "count": 0, "shift": 1)";
  EXPECT_EQ(Check("nccl.collective", Params("all_gather", empty)).Outcome(), "passed");
  Set("FAKE_NCCL_FAULT", "behind");
  EXPECT_THAT(Check("nccl.collective", Params("all_gather", empty)).Slugs(),
              ElementsAre("collective-out-of-bounds-write"));
}

TEST_F(Nccl, ParametersThatMakeNoSenseAreRefused) {
  std::string entries = Entry("nccl.load", R"("params": {"at_least": "2.x"})");
  for (const char* params : {R"("collective": "all_reduce", "dtype": "int8", "count": 1)",
                             R"("collective": "broadcast", "dtype": "int8", "count": 1, "reduction": "sum")",
                             R"("collective": "all_to_all", "dtype": "int8", "count": 1, "place": "in")",
                             R"("collective": "broadcast", "dtype": "float64", "count": 137438953472)"})
    entries += ", " + Entry("nccl.collective", "\"params\": {" + std::string(params) + "}");
  const GateResult r = Run(entries);
  EXPECT_EQ(r.exit_code, 2);
  for (const char* words : {"\"at_least\" of nccl.load", "all_reduce needs one", "broadcast copies",
                            "all_to_all cannot", "2^38 bytes"})
    EXPECT_THAT(r.err, HasSubstr(words));
}

}  // namespace
}  // namespace cudnn_ci
