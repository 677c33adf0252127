#include "launch/engine.h"

#include <stdlib.h>

#include <algorithm>

#include "base/text.h"
#include "launch/container.h"
#include "launch/engine_words.h"
#include "launch/speech.h"
#include "model/json/json_parse.h"

namespace cudnn_ci::launch {
namespace {

constexpr const char* kEngines[] = {"docker", "podman", "nerdctl"};

bool IsSet(const char* variable) {
  const char* const value = getenv(variable);
  return value != nullptr && value[0] != '\0';
}

// The engines to try; *named_by says what names the only one.
std::vector<std::string> Candidates(const Options& options, std::string* named_by) {
  if (!options.engine.empty()) {
    *named_by = "--engine";
    return {options.engine};
  }
  constexpr struct {
    const char *variable, *engine;
  } kNaming[] = {{"DOCKER_HOST", "docker"},
                 {"DOCKER_CONTEXT", "docker"},
                 {"CONTAINER_HOST", "podman"},
                 {"CONTAINER_CONNECTION", "podman"}};
  for (const auto& [variable, engine] : kNaming) {
    if (!IsSet(variable)) continue;
    *named_by = variable;
    return {engine};
  }
  return {std::begin(kEngines), std::end(kEngines)};
}

// The file's name of a path.
std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsNamed(const std::string& engine, const std::string& kind) {
  return NameOf(engine).compare(0, kind.size(), kind) == 0;
}

std::string AndBefore(const std::string& text) { return text.empty() ? "" : text + ", "; }

}  // namespace

Engine EngineForDryRun(const Options& options) {
  std::string named_by;
  std::vector<std::string> names = Candidates(options, &named_by);
  std::string name = names.back();
  if (const auto found =
          std::find_if(names.begin(), names.end(), [](const auto& n) { return !FindProgram(n).empty(); });
      found != names.end())
    name = *found;
  return {name, "", "", IsNamed(name, "podman")};
}

std::variant<Engine, NoEngine> ChooseEngine(const Options& options, Cancel* cancel) {
  std::string named_by, others;
  NoEngine none;
  const std::vector<std::string> names = Candidates(options, &named_by);
  for (const std::string& name : names) {
    if (FindProgram(name).empty()) {
      others = AndBefore(others) + name + " is not installed";
      continue;
    }
    none.names += " " + name;
    const Ended answer = Run({.words = {name, "version"}}, cancel);
    if (answer.ok()) {
      Engine engine{name, ShownLine(VersionIn(answer.output), 100), "it answers",
                    IsNamed(name, "podman") || IsPodman(answer.output)};
      if (!others.empty()) engine.chosen = "because " + others;
      if (!named_by.empty()) engine.chosen = "named by " + named_by;
      Say("engine: " + name + (engine.version.empty() ? "" : " " + engine.version) + ", " + engine.chosen);
      return engine;
    }
    const std::string last = answer.out_of_time ? "for a minute" : SingleLine(LastLines(answer.said, 3), 500);
    others = AndBefore(others) + name + " does not answer (" + last + ")";
    none.said += answer.said;
  }
  none.missing = none.names.empty();
  if (none.missing) none.names = Join(names, " ");
  if (!named_by.empty()) none.named_by = " (named by " + named_by + ")";
  return none;
}

std::string Inspector::Ask(const std::vector<std::string>& words, size_t most_output) const {
  Call call{.words = {engine_->name}, .most_output = most_output};
  call.words.insert(call.words.end(), words.begin(), words.end());
  Ended answer = Run(call, cancel_);
  return answer.ok() && !answer.output_cut ? std::move(answer.output) : "";
}

bool Inspector::IsNerdctl() const { return IsNamed(engine_->name, "nerdctl"); }

bool Inspector::HasImage(const std::string& image) const {
  return Run({.words = {engine_->name, "image", "inspect", image}, .output = Output::kDropped}, cancel_).ok();
}

Identity Inspector::Identify(const std::string& image) const {
  Identity identity;
  identity.id = std::string(Trim(Ask({"image", "inspect", "--format", "{{.Id}}", image})));
  const bool is_id =
      !identity.id.empty() &&
      identity.id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz:") == std::string::npos;
  if (!is_id) identity.id = image;
  // What is inspected here is what runs, whatever happens to the tag meanwhile. nerdctl would look for a
  // repository of that name.
  identity.runs = IsNerdctl() ? image : identity.id;
  const std::string listed =
      Ask({"image", "inspect", "--format", "{{range .RepoDigests}}{{println .}}{{end}}", identity.id});
  identity.digest = DigestOf(image, identity.id, Split(listed, '\n'));
  if (identity.digest.empty() && is_id) identity.by_id = NameWithId(image, identity.id);
  return identity;
}

std::string Inspector::Processor(const std::string& id) const {
  constexpr const char* kKnown[] = {"amd64", "arm64", "ppc64le", "riscv64", "s390x"};
  const std::string told(Trim(Ask({"image", "inspect", "--format", "{{.Architecture}}", id})));
  return std::find(std::begin(kKnown), std::end(kKnown), told) == std::end(kKnown) ? "" : told;
}

std::string Inspector::Config(const std::string& id) const {
  return Ask({"image", "inspect", "--format",
              R"({"RepoDigests":{{json .RepoDigests}},"Config":{{json .Config}}})", id},
             kMaxJsonBytes);
}

std::vector<std::string> Inspector::VariablesToBlank(const std::string& id) const {
  constexpr std::string_view kOurs = "CUDNN_CI_";
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::vector<std::string> names;
  for (const std::string& line :
       Split(Ask({"image", "inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", id}), '\n')) {
    const std::string name = line.substr(0, line.find('='));
    const bool is_ours = name.starts_with(kOurs) && std::all_of(name.begin(), name.end(), fits);
    const auto& parts = PartVariables();
    if (is_ours || std::find(parts.begin(), parts.end(), name) != parts.end()) names.push_back(name);
  }
  return names;
}

bool Inspector::RanOutOfMemory(const std::string& container) const {
  return Trim(Ask({"container", "inspect", "--format", "{{.State.OOMKilled}}", container})) == "true";
}

bool Inspector::CanLeaveOutHealthCheck() const {
  return !IsNerdctl() || Ask({"run", "--help"}).find("--no-healthcheck") != std::string::npos;
}

void Inspector::Remove(const std::string& container) const {
  (void)Run({.words = {engine_->name, "rm", "-f", container}, .output = Output::kDropped}, cancel_);
}

}  // namespace cudnn_ci::launch
