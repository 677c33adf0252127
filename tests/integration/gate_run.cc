#include "gate_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr char kMark[] = "CUDNN_CI_TEST_MARK=";

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> out;
  for (std::string& s : *strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

bool IsZombie(const std::string& pid) {
  const std::string stat = ReadAll("/proc/" + pid + "/stat");
  const size_t end = stat.rfind(')');
  return end == std::string::npos || end + 2 >= stat.size() || stat[end + 2] == 'Z';
}

}  // namespace

json GateResult::Case(const std::string& id) const {
  if (!report.is_object()) return nullptr;
  for (const json& c : report["cases"]) {
    const std::string device = c.value("device", json(nullptr)).is_string() ? c["device"] : "";
    const std::string shown =
        c["id"].get<std::string>() + (device.empty() || device == "gpu0" ? "" : "@" + device);
    if (shown == id) return c;
  }
  return nullptr;
}

std::string GateResult::Outcome(const std::string& id) const {
  const json c = Case(id);
  return c.is_null() ? "" : c["outcome"].get<std::string>();
}

std::string GateResult::Errors(const std::string& id) const {
  const json c = Case(id);
  if (c.is_null()) return "";
  std::vector<std::string> errors;
  for (const json& f : c["findings"])
    if (f["severity"] == "error")
      errors.push_back(f["blame"].get<std::string>() + "." + f["slug"].get<std::string>());
  std::sort(errors.begin(), errors.end());
  std::string joined;
  for (const std::string& e : errors) joined += (joined.empty() ? "" : " ") + e;
  return joined;
}

std::vector<std::string> GateResult::Flags(const std::string& id) const {
  const json c = Case(id);
  return c.is_null() ? std::vector<std::string>{} : c["flags"].get<std::vector<std::string>>();
}

std::vector<json> GateResult::Events(const std::string& kind) const {
  std::vector<json> found;
  for (const json& e : journal)
    if (e["ev"] == kind) found.push_back(e);
  return found;
}

std::string WhyNoMounts() {
  if (geteuid() != 0) return "needs root to mount";
  return system("unshare -m true 2>/dev/null") == 0 ? "" : "may not unshare mounts here";
}

std::string WhyNoOtherUser() {
  if (geteuid() != 0) return "needs root to become another user";
  const bool reached = system("setpriv --reuid 65534 --regid 65534 --clear-groups test -x '" CUDNN_CI_TREE
                              "/bin/cudnn-ci' 2>/dev/null") == 0;
  return reached ? "" : "user 65534 may not enter a folder above the build";
}

GateRun::GateRun() : executable_(CUDNN_CI_TREE "/bin/cudnn-ci"), plugins_({CUDNN_CI_FIXTURES "/fixture"}) {
  std::string name = (fs::temp_directory_path() / "cudnn-ci-gate.XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
  folder_ = name;
  mark_ = kMark + name;
  // What the machine's own user or CI has set must not decide.
  for (const char* v :
       {"CUDNN_CI_PLUGIN_PATH", "CUDNN_CI_KNOWLEDGE", "CUDA_VISIBLE_DEVICES", "GITHUB_ACTIONS", "GITLAB_CI",
        "CI", "COLUMNS", "NO_COLOR", "NVIDIA_REQUIRE_CUDA", "NVIDIA_DISABLE_REQUIRE"})
    environment_[v] = "";
  environment_["FIXTURE_DIR"] = folder_;
  environment_["TZ"] = "UTC";
}

GateRun::~GateRun() {
  for (const pid_t pid : Left()) kill(pid, SIGKILL);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void GateRun::Write(const std::string& name, const std::string& content) const {
  std::ofstream(Path(name), std::ios::binary) << content;
}
std::string GateRun::Read(const std::string& name) const { return ReadAll(Path(name)); }
bool GateRun::Exists(const std::string& name) const { return fs::exists(Path(name)); }

void GateRun::Matrix(const std::string& checks, double timeout_s, const std::string& rest) const {
  std::ostringstream text;
  text << R"({"schema": "cudnn-ci/matrix/1", "name": "test", "defaults": {"timeout_s": )" << timeout_s
       << R"(}, "checks": [)" << checks << "]" << rest << "}\n";
  Write("matrix.json", text.str());
}

void GateRun::UseFakeGpus(int count) {
  Set("FAKE_DEVICE_COUNT", std::to_string(count));
  Set("FAKE_NAME", "NVIDIA Fake");  // of one model
  Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda");
  fs::create_directory(Path("driver"));
  fs::create_symlink(CUDNN_CI_STAGE_PLUGINS "/driver.cci.so", Path("driver/driver.cci.so"));
  AddPlugins(Path("driver"));
}

std::vector<std::string> GateRun::Words(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = before_;
  words.push_back(executable_);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

pid_t GateRun::Spawn(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = Words(arguments), env;
  for (char** e = environ; *e; ++e) {
    const std::string entry = *e;
    if (!environment_.count(entry.substr(0, entry.find('=')))) env.push_back(entry);
  }
  for (const auto& [name, value] : environment_)
    if (!value.empty()) env.push_back(name + "=" + value);
  env.push_back(mark_);
  std::string path;
  for (const std::string& p : plugins_) path += (path.empty() ? "" : ":") + p;
  if (!path.empty()) env.push_back("CUDNN_CI_PLUGIN_PATH=" + path);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, Path("stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_addopen(&actions, 2, Path("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, words[0].c_str(), &actions, nullptr, Pointers(&words).data(), Pointers(&env).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
  return pid;
}

pid_t GateRun::Start(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"--matrix", "matrix.json", "--output-dir", "report"};
  if (std::find(arguments.begin(), arguments.end(), "--grace") == arguments.end())
    all.insert(all.end(), {"--grace", "0.2"});
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Spawn(all);
}

void GateRun::WaitForEvent(const std::string& kind) const {
  const std::string wanted = "\"ev\":\"" + kind + "\"";
  const timespec pause{0, 5'000'000};
  for (int i = 0; i < 12'000 && Read("report/journal.jsonl").find(wanted) == std::string::npos; ++i)
    nanosleep(&pause, nullptr);
}

GateResult GateRun::Wait(pid_t pid) {
  GateResult result;
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.max_rss_kib = usage.ru_maxrss;
  result.out = Read("stdout");
  result.err = Read("stderr");
  ReadReports(&result);
  return result;
}

void GateRun::ReadReports(GateResult* result) const {
  result->junit = Read("report/junit.xml");
  result->report = json::parse(Read("report/report.json"), nullptr, false);
  if (result->report.is_discarded()) result->report = nullptr;
  std::istringstream lines(Read("report/journal.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    json event = json::parse(line, nullptr, false);
    if (!event.is_discarded()) result->journal.push_back(std::move(event));
  }
}

GateResult GateRun::Run(const std::vector<std::string>& arguments) { return Wait(Start(arguments)); }
GateResult GateRun::Command(const std::vector<std::string>& arguments) { return Wait(Spawn(arguments)); }

std::vector<pid_t> GateRun::Left() const {
  std::vector<pid_t> left;
  DIR* proc = opendir("/proc");
  if (!proc) return left;
  while (const dirent* e = readdir(proc)) {
    const long pid = strtol(e->d_name, nullptr, 10);
    if (pid <= 0 || pid == getpid()) continue;
    const std::string env = '\0' + ReadAll("/proc/" + std::string(e->d_name) + "/environ");
    if (env.find('\0' + mark_ + '\0') != std::string::npos && !IsZombie(e->d_name))
      left.push_back(static_cast<pid_t>(pid));
  }
  closedir(proc);
  return left;
}

std::vector<pid_t> GateRun::LeftAfter(double seconds) const {
  std::vector<pid_t> left = Left();
  for (int i = 0; !left.empty() && i < static_cast<int>(seconds * 100); ++i) {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
    left = Left();
  }
  return left;
}

std::string Today() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-11-20"];
  strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string Entry(const std::string& check, const std::string& rest) {
  return R"({"check": ")" + check + "\"" + (rest.empty() ? "" : ", " + rest) + "}";
}

}  // namespace cudnn_ci
