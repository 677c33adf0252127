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

// nerdctl finds an image by name or by the digest of its manifest, not by both nor by its id.
std::string FoundBy(const Engine& engine, const std::string& image) {
  const size_t at = engine.is_nerdctl ? image.find("@sha256:") : std::string::npos;
  return at == std::string::npos ? image : image.substr(at + 1);
}

// That of the first NAME@DIGEST; all that nerdctl lists have the same.
std::string FirstDigest(const std::string& listed) {
  const std::string line = listed.substr(0, listed.find('\n'));
  const size_t at = line.find("@sha256:");
  return at == std::string::npos ? "" : line.substr(at + 1);
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
  return {name, "", "", IsNamed(name, "podman"), IsNamed(name, "nerdctl")};
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
    if (answer.ok() && !IsClientAlone(answer.output)) {
      Engine engine{name, ShownLine(VersionIn(answer.output), 100), "it answers",
                    IsNamed(name, "podman") || IsPodman(answer.output),
                    IsNamed(name, "nerdctl") || IsNerdctl(answer.output)};
      if (!others.empty()) engine.chosen = "because " + others;
      if (!named_by.empty()) engine.chosen = "named by " + named_by;
      Say("engine: " + name + (engine.version.empty() ? "" : " " + engine.version) + ", " + engine.chosen);
      return engine;
    }
    const std::string last =
        answer.out_of_time ? "for a minute" : SingleLine(LastLines(WithPlainFatal(answer.said), 3), 500);
    others = AndBefore(others) + name + " does not answer (" + last + ")";
    none.said += WithPlainFatal(answer.said);
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

std::string Inspector::AskOfImage(const std::string& format, const std::string& image,
                                  size_t most_output) const {
  const std::string answer = Ask({"image", "inspect", "--format", format, image}, most_output);
  return std::string(Trim(std::string_view(answer).substr(0, answer.find('\n'))));
}

std::string Inspector::DigestsOf(const std::string& image) const {
  return Ask({"image", "inspect", "--format", "{{range .RepoDigests}}{{println .}}{{end}}", image});
}

bool Inspector::HasImage(const std::string& image) const {
  return Run({.words = {engine_->name, "image", "inspect", FoundBy(*engine_, image)},
              .output = Output::kDropped},
             cancel_)
      .ok();
}

// What is inspected here is what runs, whatever happens to the tag meanwhile.
Identity Inspector::Identify(const std::string& image) const {
  Identity identity;
  std::string listed;
  if (engine_->is_nerdctl) {
    identity.runs = FoundBy(*engine_, image);
    listed = DigestsOf(identity.runs);
    if (const std::string digest = FirstDigest(listed); !digest.empty()) identity.runs = digest;
    identity.id = AskOfImage("{{.Id}}", identity.runs);
  } else {
    identity.id = AskOfImage("{{.Id}}", image);
  }
  const bool is_id =
      !identity.id.empty() &&
      identity.id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz:") == std::string::npos;
  if (!is_id) identity.id = image;
  if (!engine_->is_nerdctl) {
    identity.runs = identity.id;
    listed = DigestsOf(identity.runs);
  }
  identity.digest = DigestOf(image, identity.runs, Split(listed, '\n'));
  if (identity.digest.empty() && is_id) identity.by_id = NameWithId(image, identity.id);
  return identity;
}

std::string Inspector::Processor(const std::string& image) const {
  constexpr const char* kKnown[] = {"amd64", "arm64", "ppc64le", "riscv64", "s390x"};
  const std::string told = AskOfImage("{{.Architecture}}", image);
  return std::find(std::begin(kKnown), std::end(kKnown), told) == std::end(kKnown) ? "" : told;
}

std::string Inspector::Config(const std::string& image) const {
  return AskOfImage(R"({"RepoDigests":{{json .RepoDigests}},"Config":{{json .Config}}})", image,
                    kMaxJsonBytes);
}

std::vector<std::string> Inspector::VariablesToBlank(const std::string& image) const {
  constexpr std::string_view kOurs = "CUDNN_CI_";
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::vector<std::string> names;
  for (const std::string& line : Split(
           Ask({"image", "inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", image}), '\n')) {
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

bool Inspector::HasEnded(const std::string& container, int status) const {
  const std::string told =
      Ask({"container", "inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", container});
  const std::string code = std::to_string(status);
  return Trim(told) == "exited " + code || Trim(told) == "stopped " + code;  // the latter is podman's
}

bool Inspector::CanLeaveOutHealthCheck() const {
  return !engine_->is_nerdctl || Ask({"run", "--help"}).find("--no-healthcheck") != std::string::npos;
}

bool Inspector::Remove(const std::string& container) const {
  const Call remove{.words = {engine_->name, "rm", "-f", container}};
  const int before = cancel_->signal();
  Ended removed = Run(remove, cancel_);
  // A signal that ends the launch asks for nothing else.
  if (cancel_->signal() != before && !removed.ok()) removed = Run(remove, cancel_);
  // Of a container that is not there some engines say so with 0; they name one that was.
  return removed.ok() && !Trim(removed.output).empty();
}

}  // namespace cudnn_ci::launch
