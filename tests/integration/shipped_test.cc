#include "shipped_test.h"

#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// The machine's own kernel module, which the fake driver must match to be healthy; empty: there is none.
std::string ModuleVersion() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  file >> version;
  return version;
}

std::string Section(const std::map<std::string, std::string>& contract, const std::string& section) {
  std::string inside;
  for (const auto& [key, range] : contract) {
    if (key.compare(0, section.size() + 1, section + ".") != 0) continue;
    inside += (inside.empty() ? "\"" : ", \"") + key.substr(section.size() + 1) + "\": \"" + range + "\"";
  }
  return inside.empty() ? "" : ", \"" + section + "\": {" + inside + "}";
}

const std::map<std::string, std::string> kJudges = {{"image.cudnn", "cudnn.version"},
                                                    {"image.toolkit", "toolkit.runtime"},
                                                    {"runner.compute_capability", "driver.devices"},
                                                    {"runner.driver", "driver.version"},
                                                    {"runner.gpus", "driver.devices"}};

}  // namespace

std::vector<std::string> CheckOutcome::Slugs() const {
  std::vector<std::string> slugs;
  if (record.is_null()) return slugs;
  for (const json& f : record["findings"])
    if (f["severity"] == "error") slugs.push_back(f["slug"]);
  return slugs;
}

std::vector<std::string> CheckOutcome::AllSlugs() const {
  std::vector<std::string> slugs;
  if (record.is_null()) return slugs;
  for (const json& f : record["findings"]) slugs.push_back(f["slug"]);
  return slugs;
}

std::string CheckOutcome::Finding(const std::string& key) const {
  return record.is_null() || record["findings"].empty() ? "" : record["findings"][0][key].get<std::string>();
}

std::string CheckOutcome::Skip(const std::string& key) const {
  return record.is_null() || !record.contains("skip") ? "" : record["skip"][key].get<std::string>();
}

double CheckOutcome::Measured(const std::string& name) const {
  if (!record.is_null())
    for (const json& m : record["measurements"])
      if (m["name"] == name) return m["value"];
  return std::numeric_limits<double>::quiet_NaN();
}

std::string CheckOutcome::Fact(const std::string& key) const {
  if (!gate.report.is_object()) return "(none)";
  return gate.report["facts"].value("system", json::object()).value(key, "(none)");
}

void PrintTo(const CheckOutcome& outcome, std::ostream* os) {
  *os << "exit " << outcome.gate.exit_code << "\n"
      << outcome.record.dump(1) << "\n"
      << outcome.gate.out << outcome.gate.err;
}

ShippedTest::ShippedTest() : libraries_(gate_.Path("libraries")) {
  gate_.WithoutFixture();
  gate_.AddPlugins(CUDNN_CI_STAGE_PLUGINS);
  fs::create_directory(libraries_);
  if (const std::string module = ModuleVersion(); !module.empty()) Set("FAKE_NVML_DRIVER", module);
}

void ShippedTest::Set(const std::string& name, const std::string& value) {
  gate_.Set(name, value);
  if (name != "FAKE_NVML_DRIVER") return;
  driver_ = gate_.Path("driver-" + value);
  for (const auto& [fake, soname] :
       {std::pair("libcuda", "libcuda.so."), std::pair("nvml", "libnvidia-ml.so.")}) {
    const std::string folder = driver_ + "/" + fake, file = soname + value;
    if (!fs::create_directories(folder)) continue;
    fs::copy_file(FakeFile(fake, soname + std::string("1")), folder + "/" + file);
    fs::create_symlink(file, folder + "/" + soname + "1");
  }
}

std::string ShippedTest::FakeFolder(const std::string& fake) { return CUDNN_CI_FAKES "/" + fake; }

std::string ShippedTest::FakeFile(const std::string& fake, const std::string& file) {
  return fs::canonical(FakeFolder(fake) + "/" + file).string();
}

void ShippedTest::Take(const std::string& fake, const std::string& file) {
  // To overwrite a file would write through a hard link.
  fs::remove(libraries_ + "/" + file);
  fs::copy_file(FakeFile(fake, file), libraries_ + "/" + file);
}

void ShippedTest::TakeCudnn() {
  for (const auto& entry : fs::directory_iterator(FakeFolder("cudnn"))) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() == ".9") Take("cudnn", file);
  }
}

void ShippedTest::WriteLibrary(const std::string& name, const std::string& bytes) {
  fs::remove(libraries_ + "/" + name);
  std::ofstream(libraries_ + "/" + name, std::ios::binary) << bytes;
}

void ShippedTest::Halve(const std::string& name) {
  fs::resize_file(libraries_ + "/" + name, fs::file_size(libraries_ + "/" + name) / 2);
}

void ShippedTest::Compose() {
  std::string path;
  const auto add = [&path](const std::string& folder) { path += (path.empty() ? "" : ":") + folder; };
  if (!fs::is_empty(libraries_)) add(libraries_);
  for (const std::string& fake : fakes_) {
    if (!driver_.empty() && fs::exists(driver_ + "/" + fake)) add(driver_ + "/" + fake);
    add(FakeFolder(fake));
  }
  Set("LD_LIBRARY_PATH", path);
}

GateResult ShippedTest::Run(const std::string& entries, const std::vector<std::string>& arguments) {
  Compose();
  std::string rest = Section(contract_, "runner") + Section(contract_, "image");
  if (!subjects_.empty()) rest += ", \"subjects\": " + subjects_;
  if (!shapes_.empty()) rest += ", \"shapes\": " + shapes_;
  if (!parent_.empty()) rest += ", \"extends\": \"" + parent_ + "\"";
  gate_.Matrix(entries, 30, rest);
  return gate_.Run(arguments);
}

CheckOutcome ShippedTest::Check(const std::string& check, const std::string& rest,
                                const std::vector<std::string>& arguments) {
  CheckOutcome outcome;
  std::string entries = Entry(check, rest);
  // A matrix lists whoever judges what it promises; the run is about this check all the same.
  std::vector<std::string> selection = arguments;
  std::set<std::string> judges;
  for (const auto& [key, judge] : kJudges) {
    // One check may judge several promises.
    if (contract_.count(key) == 0 || judge == check || !judges.insert(judge).second) continue;
    entries += ", " + Entry(judge);
    if (judges.size() == 1) selection.insert(selection.end(), {"--filter", check + "*"});
  }
  outcome.gate = Run(entries, selection);
  if (!outcome.gate.report.is_object()) return outcome;
  for (const json& c : outcome.gate.report["cases"])
    if (outcome.record.is_null() && c["check"] == check) outcome.record = c;
  return outcome;
}

std::vector<std::string> InMountNamespace(const std::string& mounts) {
  for (const std::string flags : {"-m", "-rm"}) {
    if (system(("unshare " + flags + " sh -c '" + mounts + "' 2>/dev/null").c_str()) != 0) continue;
    return {"unshare", flags, "sh", "-c", mounts + " && exec \"$@\"", "--"};
  }
  return {};
}

}  // namespace cudnn_ci
