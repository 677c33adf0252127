#include "fault_test.h"

#include <filesystem>
#include <fstream>

#include "mentions.h"

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
    // Its engines call functions of cuBLASLt that the fake one does not have.
    const bool cublaslt = file == "libcublasLt.so.13" || file == "libcublasLt.so.12";
    const bool cudnn = file.compare(0, 8, "libcudnn") == 0 && entry.path().extension() == ".9";
    if (!cublaslt && !cudnn) continue;
    fs::create_hard_link(fs::canonical(entry.path()), libraries() + "/" + file, error);
    if (error) return false;
    any = any || cudnn;
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

void FaultTest::TakeAs(const std::string& other, const std::string& name) const {
  Remove(name);
  fs::copy_file(libraries() + "/" + other, libraries() + "/" + name);
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

bool FaultTest::HideLoaderCache(const std::string& mounts) {
  const auto words =
      InMountNamespace("mount --bind /dev/null /etc/ld.so.cache" + (mounts.empty() ? "" : " && " + mounts));
  gate().Before(words);
  return !words.empty();
}

namespace {

// As the shipped matrices have it.
std::string AllowedSkip(const std::string& check) {
  return check == "toolkit.gemm" ? R"("allow_skip": ["absent"])" : "";
}

}  // namespace

GateResult FaultTest::Diagnose() {
  std::string entries;
  for (const char* check :
       {"driver.load", "driver.version", "driver.devices", "driver.canary", "toolkit.runtime",
        "toolkit.nvrtc", "toolkit.launch", "toolkit.gemm", "cudnn.load", "cudnn.version", "cudnn.init"})
    entries += (entries.empty() ? "" : ", ") + Entry(check, AllowedSkip(check));
  // What a release or a machine without a driver cannot do is no fault.
  entries += ", " + Entry("cudnn.plans", R"("allow_skip": ["version", "absent"])");
  return Run(entries + further_, arguments_);
}

std::vector<Fault> Showing(const std::string& mode, std::vector<Fault> rows) {
  for (Fault& row : rows) row.mode = mode;
  return rows;
}

std::vector<Fault> Joined(const std::vector<std::vector<Fault>>& groups) {
  std::vector<Fault> all;
  for (const std::vector<Fault>& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

Fault Image(const std::string& name, std::function<bool(FaultTest&)> make, const std::string& slug,
            std::vector<std::string> named) {
  return {name, std::move(make), slug, "image", 1, std::move(named)};
}

Fault Runner(const std::string& name, std::function<bool(FaultTest&)> make, const std::string& slug,
             std::vector<std::string> named) {
  return {name, std::move(make), slug, "runner", 3, std::move(named)};
}

Fault Sound(const std::string& name, std::function<bool(FaultTest&)> make, const std::string& note) {
  return {name, std::move(make), "", "", 0, {}, note};
}

Fault FixedBy(Fault row, const std::string& line) {
  row.line = line;
  return row;
}

void PrintTo(const Fault& fault, std::ostream* os) {
  *os << fault.mode << ": ";
  if (!fault.slug.empty())
    *os << fault.blame << "." << fault.slug;
  else if (fault.exit_code != 0)
    *os << "exit " << fault.exit_code;
  else
    *os << "green" << (fault.note.empty() ? "" : " with " + fault.note);
}

std::string NameOfFault(const ::testing::TestParamInfo<Fault>& info) { return info.param.name; }

void FaultTableTest::ExpectGreen(const Fault& fault, const GateResult& r) {
  RecordProperty("sound", r.exit_code == 0 ? 1 : 0);
  EXPECT_TRUE(r.report["root_cause"].is_null()) << r.report["root_cause"];
  std::vector<std::string> said;
  const auto read = [&](const json& findings) {
    for (const json& finding : findings) {
      said.push_back(finding["slug"]);
      if (said.back() == fault.note) ExpectLine(fault, finding);
    }
  };
  read(r.report["findings"]);
  for (const json& c : r.report["cases"]) read(c["findings"]);
  if (!fault.note.empty()) {
    EXPECT_THAT(said, ::testing::Contains(fault.note)) << r.out;
  }
}

void FaultTableTest::ExpectLine(const Fault& fault, const json& finding) {
  if (fault.line.empty()) return;
  std::string line = fault.line;
  const std::string folder = fs::canonical(gate().Path(".")).string();
  for (size_t at = 0; (at = line.find('~', at)) != std::string::npos; at += folder.size())
    line.replace(at, 1, folder);
  ASSERT_TRUE(finding.contains("command") && finding["command"].is_string()) << finding;
  EXPECT_EQ(finding["command"], line);
  EXPECT_EQ(finding["where"], "image");
}

// Nothing ran, and the words on stderr say what is wrong in the matrix.
void FaultTableTest::ExpectRefused(const Fault& fault, const GateResult& r) {
  RecordProperty("detected", r.exit_code == 2 ? 1 : 0);
  EXPECT_TRUE(r.report.is_null());
  bool named = r.exit_code == 2;
  for (const std::string& argument : fault.named) {
    EXPECT_THAT(r.err, MentionsArgument(argument));
    named = named && StandsIn(argument, r.err);
  }
  RecordProperty("named", named ? 1 : 0);
}

void FaultTableTest::ExpectNamed(const Fault& fault) {
  RecordProperty("mode", fault.mode);
  if (!fault.make(*this)) GTEST_SKIP() << "this machine cannot have the environment";
  const GateResult r = Diagnose();
  EXPECT_EQ(r.exit_code, fault.exit_code) << r.out << r.err;
  if (fault.exit_code == 2) return ExpectRefused(fault, r);
  ASSERT_TRUE(r.report.is_object()) << r.out << r.err;
  if (fault.slug.empty()) return ExpectGreen(fault, r);
  RecordProperty("detected", r.exit_code != 0 && r.exit_code != 2 ? 1 : 0);
  const json& root = r.report["root_cause"];
  ASSERT_TRUE(root.is_object()) << r.out;
  EXPECT_EQ(root["slug"], fault.slug) << root;
  EXPECT_EQ(root["blame"], fault.blame) << root;
  ExpectLine(fault, root);
  bool named = root["slug"] == fault.slug && root["blame"] == fault.blame && r.exit_code == fault.exit_code;
  for (const std::string& argument : fault.named) {
    const std::string detail = root["detail"].get<std::string>();
    EXPECT_THAT(detail, MentionsArgument(argument));
    named = named && StandsIn(argument, detail);
  }
  RecordProperty("named", named ? 1 : 0);
}

TEST_P(FaultTableTest, IsNamed) { ExpectNamed(GetParam()); }

}  // namespace cudnn_ci
