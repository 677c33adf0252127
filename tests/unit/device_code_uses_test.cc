// What loads a file with device code, by the imports and requirements of an environment.
#include "image/device_code/file_uses.h"

#include <gmock/gmock.h>

#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

class FileUsesTest : public SymbolsJudgeTest {
 protected:
  const std::string site_ = kSite, module_ = "deep/_C.cpython-312-x86_64-linux-gnu.so";

  void SetUp() override {
    SymbolsJudgeTest::SetUp();
    Package("deep", "from ._C import *\n");
    Write(site_ + module_, "");
    Record("my_deep-1.0", {module_, "deep/__init__.py"});
  }
  // A package that is called as it is imported, what it does then and what it requires.
  void Other(const std::string& name, const std::string& init, const std::string& requires_line) {
    Package(name, init);
    Record(name + "-1.0", {name + "/__init__.py"});
    Write(site_ + name + "-1.0.dist-info/METADATA",
          "Name: " + name + "\n" + (requires_line.empty() ? "" : "Requires-Dist: " + requires_line + "\n"));
  }
  FileUse UseOf(const std::string& file) {
    const ImageFiles image = FilesOfSubject("python:" + Path("venv/bin/python"), {}, "");
    return FileUses(&image, &rules_, "").Of(Path(site_ + file));
  }
};

TEST_F(FileUsesTest, APackageIsUsedByWhoeverImportsIt) {
  EXPECT_EQ(UseOf(module_), FileUse::kOwnImport);
  Other("server", "def later():\n  import deep\n", "");
  EXPECT_EQ(UseOf(module_), FileUse::kOwnImport);
  Other("server", "def later():\n  import deep\n", "my_deep>=1; extra == 'fast'");
  EXPECT_EQ(UseOf(module_), FileUse::kOwnImport);
  Other("server", "try:\n  import deep\nexcept ImportError:\n  pass\n", "my.deep==1.0");
  EXPECT_EQ(UseOf(module_), FileUse::kRequired);
  Other("client", "from server import x\nfrom deep import y\n", "my-deep; extra == 'fast'");
  EXPECT_EQ(UseOf(module_), FileUse::kImported);
}

// Its owner chose the cards.
TEST_F(FileUsesTest, APackageThatWasCompiledForTheImageIsMeant) {
  const std::string origin = site_ + "my_deep-1.0.dist-info/direct_url.json";
  Write(origin, R"({"url": "file:///tmp/my_deep-1.0.whl", "archive_info": {}})");
  EXPECT_EQ(UseOf(module_), FileUse::kOwnImport);
  Write(origin, R"({"url": "file:///src/deep", "dir_info": {}})");
  EXPECT_EQ(UseOf(module_), FileUse::kImported);
}

TEST_F(FileUsesTest, AFrameworkIsMeantAndWhatNothingLoadsIsNot) {
  Package("torch", "from ._C import *\n");
  const std::string torch = "torch/_C.cpython-312-x86_64-linux-gnu.so";
  Write(site_ + torch, "");
  Record("torch-2.13.0", {torch, "torch/__init__.py"});
  Other("server", "def later():\n  import torch\n", "torch");
  EXPECT_EQ(UseOf(torch), FileUse::kImported);
  Write(site_ + "deep/_more.abi3.so", "");
  EXPECT_EQ(UseOf("deep/_more.abi3.so"), FileUse::kPerhaps);
}

}  // namespace
}  // namespace cudnn_ci
