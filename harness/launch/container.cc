#include "launch/container.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace cudnn_ci::launch {
namespace {

// What continuous integration says of a job; none of them holds a secret. Names only: the engine takes the
// values.
constexpr const char* kAllowed[] = {"CI",
                                    "GITHUB_ACTIONS",
                                    "GITHUB_JOB",
                                    "GITHUB_REF",
                                    "GITHUB_REPOSITORY",
                                    "GITHUB_RUN_ATTEMPT",
                                    "GITHUB_RUN_ID",
                                    "GITHUB_RUN_NUMBER",
                                    "GITHUB_SERVER_URL",
                                    "GITHUB_SHA",
                                    "GITHUB_WORKFLOW",
                                    "RUNNER_NAME",
                                    "GITLAB_CI",
                                    "CI_COMMIT_REF_NAME",
                                    "CI_COMMIT_SHA",
                                    "CI_JOB_ID",
                                    "CI_JOB_NAME",
                                    "CI_JOB_URL",
                                    "CI_NODE_INDEX",
                                    "CI_NODE_TOTAL",
                                    "CI_PIPELINE_ID",
                                    "CI_PIPELINE_URL",
                                    "CI_PROJECT_PATH",
                                    "CI_RUNNER_DESCRIPTION",
                                    "CI_RUNNER_ID",
                                    "BUILD_NUMBER",
                                    "BUILD_URL",
                                    "JOB_NAME",
                                    "NODE_NAME",
                                    "BUILDKITE",
                                    "BUILDKITE_BUILD_URL",
                                    "BUILDKITE_JOB_ID",
                                    "GTEST_SHARD_INDEX",
                                    "GTEST_TOTAL_SHARDS",
                                    "SLURM_ARRAY_TASK_COUNT",
                                    "SLURM_ARRAY_TASK_ID",
                                    "SLURM_ARRAY_TASK_MIN"};

class Command {
 public:
  explicit Command(const ContainerOf& of) : of_(of), o_(*of.options), top_("/cudnn-ci." + of.token) {}

  std::vector<std::string> Make() {
    Add({of_.engine->name, "run", "--name", ContainerName(of_.token), "--label", "cudnn-ci.run=" + of_.token,
         "--stop-signal", "SIGTERM"});
    if (of_.no_health_check) Add({"--no-healthcheck"});
    AddMounts();
    AddGpus();
    AddVariables();
    if (!o_.user.empty()) Add({"--user", o_.user == "caller" ? Caller() : o_.user});
    if (!of_.config.empty()) Mount(of_.config, top_ + "/image.json");
    Add(o_.engine_arguments);
    const std::string program = top_ + "/" + of_.tool->program;
    if (o_.keep_entrypoint)
      Add({of_.identity.runs, program});
    else
      Add({"--entrypoint", program, of_.identity.runs});
    AddOfTheTool();
    return std::move(words_);
  }

 private:
  void Add(const std::vector<std::string>& more) { words_.insert(words_.end(), more.begin(), more.end()); }
  void Mount(const std::string& from, const std::string& to) { Add({"-v", from + ":" + to + ":ro"}); }
  static std::string Caller() { return std::to_string(getuid()) + ":" + std::to_string(getgid()); }

  void AddMounts() {
    Mount(of_.tool->source, top_ + "/" + of_.tool->inside);
    Add({"-v", of_.reports + ":" + top_ + "/reports"});
    if (!of_.matrix->folder.empty()) Mount(of_.matrix->folder, top_ + "/matrix" + of_.matrix->folder);
    for (const auto& [file, place] : of_.matrix->parents) Mount(file, top_ + "/matrix" + place);
    for (const std::string& folder : o_.mounts) Mount(folder, folder);
  }

  void AddGpus() {
    if (o_.gpus.empty()) return;
    const bool by_cdi = o_.gpu_way == GpuWay::kOfEngine ? of_.engine->by_cdi : o_.gpu_way == GpuWay::kCdi;
    if (!by_cdi) return Add({"--gpus", o_.gpus == "all" ? "all" : "\"device=" + o_.gpus + "\""});
    for (const std::string& gpu : Split(o_.gpus, ','))
      if (!gpu.empty()) Add({"--device", "nvidia.com/gpu=" + gpu});
  }

  void AddVariables() {
    for (const std::string& name : of_.blank) Add({"-e", name + "="});
    for (const char* name : kAllowed)
      if (getenv(name) != nullptr) Add({"-e", name});
    for (const std::string& name : o_.variables)
      if (getenv(name.c_str()) != nullptr) Add({"-e", name});
  }

  void AddOfTheTool() {
    const std::string reports = top_ + "/reports";
    if (o_.ask.empty())
      Add({"--output-dir", reports, "--run-token", reports + "/run-token"});
    else
      Add({o_.ask});
    if (!of_.matrix->file.empty()) Add({"--matrix-root", top_ + "/matrix", "--matrix", of_.matrix->file});
    if (!of_.matrix->builtin.empty()) Add({"--matrix", of_.matrix->builtin});
    if (TestsWithoutGpu()) Add({"--no-gpu"});
    if (o_.ask.empty()) AddIdentity(reports);
    if (!of_.matrix->inside.empty()) Add({"--matrix", Translated(of_.matrix->inside)});
    for (const std::string& word : o_.arguments) Add({Translated(word)});
  }

  // Whether cudnn-ci has to be told. It knows by the matrix that was chosen for want of a GPU, and a document
  // needs none.
  bool TestsWithoutGpu() const {
    const bool is_chosen = o_.matrix.empty() && o_.matrix_behind.empty() && !of_.matrix->builtin.empty();
    if (!o_.gpus.empty() || is_chosen || (!o_.ask.empty() && o_.ask != "list")) return false;
    return std::none_of(o_.arguments.begin(), o_.arguments.end(), [](const std::string& word) {
      return word == "--no-gpu" || word == "--sbom" || word.starts_with("--sbom=");
    });
  }

  void AddIdentity(const std::string& reports) {
    if (!of_.identity.digest.empty()) Add({"--subject-image", of_.identity.digest});
    if (!of_.identity.by_id.empty()) Add({"--subject-id", of_.identity.by_id});
    if (!of_.config.empty()) Add({"--image-config", top_ + "/image.json"});
    if (o_.attestation) Add({"--attestation", reports + "/attestation.json"});
    // Its screen speaks of this machine.
    Add({"--reports-at", of_.reports_at, "--reproduce-with", of_.again});
  }

  // By these names tree and matrix folder are known to whoever types them, alone or behind "--option=".
  std::string Translated(const std::string& word) const {
    const size_t equals = word.starts_with('-') ? word.find('=') : std::string::npos;
    const size_t at = equals == std::string::npos ? 0 : equals + 1;
    const std::string head = word.substr(0, at), path = word.substr(at);
    constexpr std::string_view kTree = "/opt/cudnn-ci/", kMatrix = "/cudnn-ci-matrix";
    if (path.starts_with(kTree) && of_.tool->inside == "tool")
      return head + top_ + "/tool/" + path.substr(kTree.size());
    const bool is_matrix = path == kMatrix || path.starts_with(std::string(kMatrix) + "/");
    if (is_matrix && !of_.matrix->folder.empty())
      return head + top_ + "/matrix" + of_.matrix->folder + path.substr(kMatrix.size());
    return word;
  }

  const ContainerOf& of_;
  const Options& o_;
  const std::string top_;
  std::vector<std::string> words_;
};

}  // namespace

std::string ContainerName(const std::string& token) { return "cudnn-ci-" + token; }

std::vector<std::string> ComposeCommand(const ContainerOf& of) { return Command(of).Make(); }

const std::vector<std::string>& PartVariables() {
  static const std::vector<std::string> kParts = {
      "CI_NODE_INDEX",        "CI_NODE_TOTAL",          "GTEST_SHARD_INDEX",   "GTEST_TOTAL_SHARDS",
      "JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN"};
  return kParts;
}

}  // namespace cudnn_ci::launch
