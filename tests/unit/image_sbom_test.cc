// Bills of materials: which packages a document lists, and what no document gets past the reader.
#include "image/packages/sbom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "golden_messages.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// "pypi torch 2.11.0" of each package, or "error: ..." alone.
std::vector<std::string> Read(const std::string& text) {
  const auto packages = ParseSbom(text);
  if (!packages.ok()) return {"error: " + packages.error()};
  std::vector<std::string> texts;
  for (const SbomPackage& package : *packages)
    texts.push_back(package.type + " " + package.name + " " + package.version);
  return texts;
}

std::string CycloneDx(const std::string& components) {
  return R"({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [)" + components + "]}";
}

std::string Spdx(const std::string& packages) {
  return R"({"packages": [)" + packages + R"(], "spdxVersion": "SPDX-2.3"})";
}

TEST(Sbom, ComponentsOfCycloneDxHaveTheNamesOfTheirPackageUrls) {
  EXPECT_THAT(Read(CycloneDx(R"({"name": "x", "version": "0", "purl": "pkg:pypi/torch@2.11.0%2Bcu130"},
    {"purl": "pkg:deb/debian/libnccl2@2.27.3-1%2bcuda12.9?arch=amd64&distro=debian-12", "name": "libnccl2"},
    {"purl": "PKG:pypi/none@1", "name": "plain", "version": "1.0"}, {"version": "2"},
    {"purl": "pkg:pypi/", "name": "bad", "version": "3"}, {"purl": "pkg:conda/cudnn", "version": "9.8.0"})")),
              ElementsAre("pypi torch 2.11.0+cu130", "deb libnccl2 2.27.3-1+cuda12.9", " plain 1.0", " bad 3",
                          "conda cudnn 9.8.0"));
}

TEST(Sbom, ComponentsWithinComponentsCountAndTheImageItselfDoesNot) {
  EXPECT_THAT(
      Read(R"({"metadata": {"component": {"name": "image", "version": "1", "components": [{"name": "m"}]}},
    "components": [{"name": "outer", "version": "1", "components": [{"name": "inner", "version": "2"}],
                    "pedigree": {"ancestors": [{"name": "old"}], "components": [{"name": "old"}]}}],
    "services": [{"name": "service", "components": [{"name": "no"}]}],
    "bomFormat": "CycloneDX", "specVersion": "1.4"})"),
      ElementsAre(" inner 2", " outer 1"));
}

TEST(Sbom, PackagesOfSpdxHaveTheNamesOfTheirReferences) {
  EXPECT_THAT(
      Read(Spdx(R"({"name": "torch", "versionInfo": "2.9.1"},
    {"name": "n", "versionInfo": "1", "externalRefs": [
      {"referenceLocator": "cpe:2.3:a:b", "referenceType": "cpe23Type"},
      {"referenceLocator": "pkg:pypi/nvidia-cudnn-cu13@9.19.0.56", "referenceType": "purl"}]},
    {"name": "libcudnn9", "versionInfo": "9.8.0.87-1", "externalRefs": [
      {"referenceType": "purl", "referenceLocator": "pkg:deb/libcudnn9-cuda-12"}]})")),
      ElementsAre(" torch 2.9.1", "pypi nvidia-cudnn-cu13 9.19.0.56", "deb libcudnn9-cuda-12 9.8.0.87-1"));
}

TEST(Sbom, OtherDocumentsAreRefusedInOneLine) {
  GoldenMessages golden("sbom.txt");
  const auto refused = [&golden](const std::string& text) {
    const std::vector<std::string> read = Read(text);
    EXPECT_THAT(read, ElementsAre(StartsWith("error: "))) << text;
    return golden.Row(text, read.at(0).substr(0, read.at(0).find(": [json")));  // the parser's own words
  };
  for (const char* text : {"{", ""}) EXPECT_THAT(refused(text), HasSubstr("JSON"));
  for (const char* text : {"\"text\"", R"([{"bomFormat": "CycloneDX", "specVersion": "1.6"}])"})
    EXPECT_THAT(refused(text), AllOf(HasSubstr("SPDX"), HasSubstr("CycloneDX")));
  EXPECT_THAT(refused(R"({"bomFormat": "CycloneDX", "specVersion": "1.3", "components": []})"),
              HasSubstr("\"1.3\""));
  EXPECT_THAT(refused(R"({"spdxVersion": "SPDX-3.0", "packages": []})"), HasSubstr("\"SPDX-3.0\""));
  EXPECT_EQ(Read("{\"a\": \"\n\"}").front().find('\n'), std::string::npos);
  EXPECT_THAT(Read(Spdx("")), IsEmpty());
}

TEST(Sbom, DepthAndPackagesAreBounded) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_THAT(Read(CycloneDx(nested(62))), IsEmpty()) << "64 with the document and its list";
  EXPECT_THAT(Read(CycloneDx(nested(63))), ElementsAre("error: is nested more than 64 deep"));
  EXPECT_THAT(Read(CycloneDx(nested(5000000))), ElementsAre("error: is nested more than 64 deep"));
  std::string many = R"({"name":"a"})";
  for (size_t i = 0; i < kMaxSbomPackages; ++i) many += R"(,{"name":"a"})";
  EXPECT_THAT(Read(CycloneDx(many)), ElementsAre("error: lists more than 50000 packages"));
}

TEST(Sbom, AFileThatIsNoneIsNamed) {
  const Scratch scratch;
  const std::string path = scratch.File("sbom.json");
  EXPECT_THAT(ReadSbom(path).error(), HasSubstr(path));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(ReadSbom(path).error(), HasSubstr(path)) << "and nobody waits for a writer";
  std::filesystem::remove(path);
  std::ofstream(path) << "[1";
  EXPECT_THAT(ReadSbom(path).error(), HasSubstr(path + " is not JSON"));
  std::ofstream(path) << CycloneDx(R"({"name": "a"})");
  EXPECT_EQ(ReadSbom(path)->size(), 1u);
  std::filesystem::resize_file(path, kMaxSbomBytes + 1);
  EXPECT_FALSE(ReadSbom(path).ok()) << "larger than is read";
}

}  // namespace
}  // namespace cudnn_ci
