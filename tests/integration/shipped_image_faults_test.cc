// What is known of the releases that an image, or a bill of materials, lists: image.known_faults,
// image.versions, --sbom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image_environment.h"
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// "warning known-fault", of every finding.
std::vector<std::string> Said(const json& record) {
  std::vector<std::string> said;
  if (record.is_null()) return {"no such case"};
  for (const json& f : record["findings"])
    said.push_back(f["severity"].get<std::string>() + " " + f["slug"].get<std::string>());
  return said;
}

class ImageFaultsTest : public ShippedTest {
 protected:
  ImageFaultsTest() {
    UseFakes({});
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
  }

  CheckOutcome Known(const std::vector<std::string>& packages, const std::string& params = "{}",
                     const std::vector<std::string>& arguments = {}) {
    const ImageEnvironment environment(gate().Path("env" + std::to_string(++count_)), packages);
    UseSubjects(environment.Subject());
    return Check("image.known_faults", "\"params\": " + params, arguments);
  }

  // A run by a bill of materials of these Python packages.
  GateResult Sbom(const std::vector<std::pair<std::string, std::string>>& packages,
                  std::vector<std::string> arguments = {}) {
    std::string components;
    for (const auto& [name, version] : packages)
      components += std::string(components.empty() ? "" : ", ") + R"({"name": ")" + name +
                    R"(", "purl": "pkg:pypi/)" + name + (version.empty() ? "" : "@" + version) + "\"}";
    gate().Write("sbom.json",
                 R"({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [)" + components + "]}");
    arguments.insert(arguments.begin(),
                     {"--sbom", gate().Path("sbom.json"), "--output-dir", gate().Path("report")});
    GateResult result = gate().Command(arguments);
    gate().ReadReports(&result);
    return result;
  }

 private:
  int count_ = 0;
};

const std::vector<std::string> kTorch211 = {"torch-2.11.0", "triton-3.6.0", "nvidia_cudnn_cu13-9.19.0.56",
                                            "nvidia_nccl_cu13-2.28.9"};

TEST_F(ImageFaultsTest, TheAttentionFaultThatPyTorch211BringsIsNamed) {
  const CheckOutcome r = Known(kTorch211);
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_THAT(Said(r.record), ElementsAre("warning known-fault"));
  EXPECT_THAT(r.Detail(),
              Mentions("cuDNN 9.19.0 (", "nvidia-cudnn-cu13 9.19.0.56)", "attention_dq_nan; wrong; sure; ",
                       "cuDNN 9.26.0 or later", "NCCL 2.28.9"));
  EXPECT_LT(r.Detail().find("attention_dq_nan"), r.Detail().find("likely")) << "what is sure comes first";
  EXPECT_THAT(r.Detail(), Mentions("nccl_one_rank_average; wrong; sure; ", "NCCL 2.29.7 or later"));
}

TEST_F(ImageFaultsTest, ItIsRedWhereTheMatrixNamesAttentionAndHopper) {
  CheckOutcome r = Known(kTorch211, R"({"operations": ["attention"], "gpus": ["9.0"]})");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("known-fault-promised"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("attention_dq_nan"), HasSubstr("fixed in 9.26.0")));
  r = Known(kTorch211, R"({"operations": ["attention"], "gpus": ["8.0"]})");
  EXPECT_EQ(r.gate.exit_code, 0) << "another card";
  EXPECT_THAT(Said(r.record), IsEmpty());
  r = Known(kTorch211, R"({"operations": ["convolution", "norm"], "gpus": ["9.0"]})");
  EXPECT_THAT(Said(r.record), IsEmpty()) << "another operation";
  r = Known(kTorch211, R"({"dtypes": ["float64"], "operations": ["attention"], "gpus": ["9.0"]})");
  EXPECT_EQ(r.gate.exit_code, 1) << "the row names no type";
}

TEST_F(ImageFaultsTest, TheContractsCardsCountWhereTheEntryNamesNone) {
  Promise("runner.compute_capability", ">=9.0 <9.1");
  EXPECT_THAT(Known(kTorch211, R"({"operations": ["attention"]})").Slugs(),
              ElementsAre("known-fault-promised"));
  Promise("runner.compute_capability", ">=8.0 <8.1");
  EXPECT_THAT(Said(Known(kTorch211, R"({"operations": ["attention"]})").record), IsEmpty());
}

TEST_F(ImageFaultsTest, EffectsOfFailOnAreRed) {
  EXPECT_THAT(Said(Known({"nvidia_nccl_cu13-2.29.2"}).record), ElementsAre("warning known-fault"));
  const CheckOutcome r = Known({"nvidia_nccl_cu13-2.29.2"}, R"({"fail_on": ["hang"]})");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("nccl_hang_2_29_2"), HasSubstr("install NCCL 2.29.3 or later"),
                                HasSubstr("https://github.com/pytorch/pytorch/pull/174338")));
}

TEST_F(ImageFaultsTest, SoundReleasesAreSilentAndWhatTellsNoVersionIsNot) {
  CheckOutcome r = Known({"nvidia_nccl_cu13-2.32.3", "jaxlib-0.10.2"});
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_THAT(Said(r.record), IsEmpty());
  EXPECT_EQ(r.Measured("libraries"), 2);
  r = Known({"nvidia_nccl_cu13-2.32.3", "torch-unknown"});
  EXPECT_THAT(Said(r.record), ElementsAre("warning component-version-unknown"));
  r = Known({"torch-unknown"});
  EXPECT_THAT(r.Slugs(), ElementsAre("skip-not-allowed")) << "nothing was judged";
  r = Known({"numpy-2.0"});
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.gate.exit_code, 4);
}

TEST_F(ImageFaultsTest, WithoutRowsNothingIsJudged) {
  std::ifstream file(CUDNN_CI_SOURCE_DIR "/knowledge/compatibility.json");
  std::string table(std::istreambuf_iterator<char>(file), {});
  const size_t at = table.find("\"known_regressions\": [");
  gate().Write("table.json", table.substr(0, at) + "\"known_regressions\": []}");
  const CheckOutcome r = Known(kTorch211, "{}", {"--compatibility", gate().Path("table.json")});
  EXPECT_EQ(r.Outcome(), "skipped") << r.gate.err;
  EXPECT_EQ(r.Skip("kind"), "unsupported");
}

TEST_F(ImageFaultsTest, ParametersThatNoRowKnowsAreRefused) {
  EXPECT_THAT(Known({}, R"({"gpus": ["hopper"]})").gate.err, Mentions("\"gpus\"", "\"hopper\""));
  EXPECT_THAT(Known({}, R"({"operations": ["atention"]})").gate.err,
              Mentions("\"operations\"", "\"attention\"?"));
}

TEST_F(ImageFaultsTest, ABillOfMaterialsStandsInForAnImage) {
  const GateResult r = Sbom({{"torch", "2.11.0"}, {"nvidia-cudnn-cu13", "9.19.0.56"}});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, Mentions("attention_dq_nan", "partial: "));
  EXPECT_EQ(r.report["partial_codes"], json::array({"sbom"}));
  EXPECT_THAT(r.report["not_gated_codes"].dump(), HasSubstr("files-not-in-sbom"));
  EXPECT_EQ(r.Outcome("image.known_faults[subject=sbom]"), "passed");
  EXPECT_TRUE(r.report["facts"].empty() || r.report["facts"]["sbom"].is_null())
      << "this machine's say nothing";
}

TEST_F(ImageFaultsTest, AMatrixIsHeldToWhatABillOfMaterialsShows) {
  gate().Write("team.json", R"({"schema": "cudnn-ci/matrix/1", "name": "team",
    "runner": {"compute_capability": ">=9.0"}, "image": {"cudnn": ">=9.20 <10", "toolkit": ">=13"},
    "subjects": {"a": "python:/none/bin/python", "b": "loader"},
    "checks": [{"check": "driver.devices"}, {"check": "cudnn.version", "subjects": ["b"]},
               {"check": "image.known_faults", "params": {"operations": ["attention"]}, "subjects": ["a"]}]})");
  const std::vector<std::string> team = {"--matrix", gate().Path("team.json")};
  GateResult r = Sbom({{"nvidia-cudnn-cu13", "9.19.0.56"}}, team);
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.Errors("image.known_faults[operations=attention,subject=sbom]"), "image.known-fault-promised");
  EXPECT_EQ(r.Errors("image.versions[subject=sbom]"), "image.package-outside-contract");
  const json versions = r.Case("image.versions[subject=sbom]");
  EXPECT_THAT(Said(versions), ElementsAre("error package-outside-contract", "warning package-not-listed"));
  EXPECT_THAT(r.report["not_gated"].dump(),
              AllOf(Mentions("cudnn.version, driver.devices", "runner.compute_capability"),
                    Not(HasSubstr("image.cudnn >="))));
  EXPECT_THAT(r.report["not_gated_codes"].dump(), HasSubstr("\"checks-not-in-sbom\""));
  r = Sbom({{"nvidia-cudnn-cu13", "9.26.0.51"}, {"nvidia-cuda-runtime", "13.0.96"}}, team);
  EXPECT_EQ(r.exit_code, 0) << r.out;
  EXPECT_EQ(r.Outcome("image.versions[subject=sbom]"), "passed");
}

TEST_F(ImageFaultsTest, WhatIsPromisedAbsentMayNotBeListed) {
  gate().Write("none.json", R"({"schema": "cudnn-ci/matrix/1", "name": "none", "image": {"cudnn": "absent"},
    "checks": [{"check": "cudnn.load"}]})");
  const std::vector<std::string> none = {"--matrix", gate().Path("none.json")};
  GateResult r = Sbom({{"nvidia-cudnn-cu12", "9.26.0.51"}}, none);
  EXPECT_EQ(r.Errors("image.versions[subject=sbom]"), "image.package-outside-contract");
  r = Sbom({{"torch", "2.13.0"}}, none);
  EXPECT_EQ(r.exit_code, 0) << r.out;
}

TEST_F(ImageFaultsTest, SeveralMajorsAreJudgedByThePromisedOne) {
  gate().Write("m.json", R"({"schema": "cudnn-ci/matrix/1", "name": "m", "image": {"cudnn": ">=8 <9"},
    "checks": [{"check": "cudnn.load"}]})");
  const std::vector<std::string> matrix = {"--matrix", gate().Path("m.json")};
  EXPECT_EQ(Sbom({{"nvidia-cudnn-cu11", "8.9.7.29"}, {"nvidia-cudnn-cu12", "9.26.0.51"}}, matrix).exit_code,
            0);
  EXPECT_EQ(Sbom({{"nvidia-cudnn-cu12", ""}}, matrix).exit_code, 4) << "no version: nothing is judged";
}

TEST_F(ImageFaultsTest, ADocumentThatCannotBeReadIsWrongUse) {
  gate().Write("sbom.json", "{\"bomFormat\": \"Cyclone");
  for (const std::string& file : {gate().Path("sbom.json"), gate().Path("none.json"), gate().folder()}) {
    const GateResult r = gate().Command({"--sbom", file, "--output-dir", gate().Path("report")});
    EXPECT_EQ(r.exit_code, 2) << file;
    EXPECT_THAT(r.err, AllOf(HasSubstr("--sbom"), HasSubstr(file))) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  EXPECT_EQ(gate().Command({"--sbom", gate().Path("sbom.json"), "--auto"}).exit_code, 2);
}

}  // namespace
}  // namespace cudnn_ci
