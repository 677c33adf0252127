#include "fault_test.h"

#include <filesystem>
#include <fstream>

namespace cudnn_ci {

namespace fs = std::filesystem;

FaultTest::FaultTest() {
  Promise("image.toolkit", ">=13.0 <14");
  Promise("image.cudnn", ">=9.12 <10");
}

void FaultTest::TakeAll(const std::string& fake, const std::string& folder) const {
  fs::create_directories(folder);
  for (const auto& entry : fs::directory_iterator(FakeFolder(fake))) {
    if (!entry.is_symlink() || entry.path().extension() == ".so") continue;
    const std::string file = folder + "/" + entry.path().filename().string();
    fs::remove(file);
    fs::copy_file(fs::canonical(entry.path()), file);
  }
}

bool FaultTest::LinkRealCudnn() const {
  bool any = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(CUDNN_CI_CUDNN_LIBRARIES, error)) {
    const std::string file = entry.path().filename().string();
    if (file.compare(0, 8, "libcudnn") != 0 || entry.path().extension() != ".9") continue;
    fs::create_hard_link(fs::canonical(entry.path()), libraries() + "/" + file, error);
    if (error) return false;
    any = true;
  }
  return any;
}

namespace {

// Breaks a hard link: what is damaged must not be the machine's own file.
void MakeOwn(const std::string& path) {
  if (fs::hard_link_count(path) == 1) return;
  fs::copy_file(path, path + ".own");
  fs::rename(path + ".own", path);
}

}  // namespace

void FaultTest::Halve(const std::string& name) const {
  MakeOwn(libraries() + "/" + name);
  fs::resize_file(libraries() + "/" + name, fs::file_size(libraries() + "/" + name) / 2);
}

void FaultTest::Dangle(const std::string& name) const {
  Remove(name);
  fs::create_symlink("nowhere/" + name, libraries() + "/" + name);
}

void FaultTest::Remove(const std::string& name) const { fs::remove(libraries() + "/" + name); }

void FaultTest::Patch(const std::string& name, long offset, char byte) const {
  MakeOwn(libraries() + "/" + name);
  std::fstream file(libraries() + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file.put(byte);
}

bool FaultTest::HideLoaderCache(const std::string& another) {
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache" +
                                      (another.empty() ? "" : " && mount --bind /dev/null " + another));
  gate().Before(words);
  return !words.empty();
}

GateResult FaultTest::Diagnose() {
  std::string entries;
  for (const char* check :
       {"driver.load", "driver.version", "driver.devices", "driver.canary", "toolkit.runtime",
        "toolkit.nvrtc", "toolkit.launch", "cudnn.load", "cudnn.version", "cudnn.init"})
    entries += (entries.empty() ? "" : ", ") + Entry(check);
  return Run(entries, arguments_);
}

void PrintTo(const Fault& fault, std::ostream* os) { *os << fault.name; }

std::string NameOfFault(const ::testing::TestParamInfo<Fault>& info) { return info.param.name; }

void FaultTableTest::ExpectNamed(const Fault& fault) {
  if (!fault.make(*this)) GTEST_SKIP() << "this machine cannot have the environment";
  const GateResult r = Diagnose();
  ASSERT_TRUE(r.report.is_object()) << r.out << r.err;
  EXPECT_EQ(r.exit_code, fault.exit_code) << r.out;
  if (fault.slug.empty()) {
    EXPECT_TRUE(r.report["root_cause"].is_null()) << r.report["root_cause"];
    std::vector<std::string> said;
    for (const json& c : r.report["cases"])
      for (const json& finding : c["findings"]) said.push_back(finding["slug"]);
    if (!fault.note.empty()) {
      EXPECT_THAT(said, ::testing::Contains(fault.note)) << r.out;
    }
    return;
  }
  const json& root = r.report["root_cause"];
  ASSERT_TRUE(root.is_object()) << r.out;
  EXPECT_EQ(root["slug"], fault.slug) << root;
  EXPECT_EQ(root["blame"], fault.blame) << root;
  for (const std::string& words : fault.named)
    EXPECT_THAT(root["detail"].get<std::string>(), ::testing::HasSubstr(words));
}

TEST_P(FaultTableTest, IsNamed) { ExpectNamed(GetParam()); }

}  // namespace cudnn_ci
