// How a launch ends: what the container has left, and what its status means where that proves nothing.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/signal_text.h"
#include "base/text.h"
#include "launch/engine_messages.h"
#include "launch/engine_words.h"
#include "launch/program.h"
#include "launch/session.h"
#include "launch/speech.h"

namespace cudnn_ci::launch {
namespace {

constexpr double kSecondsToReport = 600;
constexpr size_t kMostStatement = size_t{1} << 20, kMostPage = size_t{1} << 20;

// The statement's one subject is the image that ran: NAME@sha256:HEX.
bool IsAbout(const std::string& statement, const std::string& digest) {
  const Result<std::string> text = ReadFile(statement, kMostStatement);
  if (!text.ok()) return false;
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  const size_t at = digest.find('@');
  if (!json.is_object() || at == std::string::npos) return false;
  const nlohmann::json subject = {
      {{"name", digest.substr(0, at)}, {"digest", {{"sha256", digest.substr(at + 8)}}}}};
  return json.value("subject", nlohmann::json()) == subject;
}

bool WasInterrupted(int code) { return code == 130 || code == 142 || code == 143; }

std::string InBrackets(int status) { return " (" + std::to_string(status) + ")"; }

}  // namespace

bool Session::Settle(int exit_code, const std::string& type, const std::string& message,
                     const std::string& remedy, const std::string& said) {
  exit_code_ = exit_code;
  Say(message + ". " + remedy);
  if (!IsGate()) return false;
  std::string text = message + ". " + remedy;
  if (!said.empty()) text += " | " + LastLines(said, 20);
  if (created_) {
    const bool whole = folder_.Collect(false) && folder_.Publish(false, options_.summary, run_.token);
    if (!whole) Say("some of the container's reports could not be copied");
  }
  const OwnError error{exit_code, type, message, text};
  if (Status s = WriteJunit(folder_.path(), facts_, error); !s.ok()) Say(s.error());
  if (Status s = WriteRecord(folder_.path(), facts_, exit_code, false, type + ": " + message); !s.ok())
    Say(s.error());
  AddToJobPage(facts_, {"not passed", exit_code, type + ": " + text, false, {}, {}});
  Say(type + ": exit " + std::to_string(exit_code) + "; reports in " + folder_.path() +
      "; more: cudnn-ci explain " + type.substr(type.find('.') + 1));
  return false;
}

bool Session::Interrupted() {
  const int number = cancel_.signal();
  return Settle(number == SIGINT    ? 130
                : number == SIGALRM ? 142
                                    : 143,
                "undetermined.cancelled",
                "the run was cancelled by " + SignalName(number) + " before it finished", "Run it again.");
}

bool Session::Remake(std::string* why_not) {
  const std::string made = folder_.made();
  const bool collected = folder_.Collect(true);
  std::vector<std::string> words = {"cudnn-ci",          "report",       made + "/journal.jsonl",
                                    "--partial",         "--reports-at", folder_.path(),
                                    "--reproduce-with",  plan_.again,    "--summary",
                                    made + "/summary.md"};
  const auto add = [&](const std::string& option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (options_.strict_junit) add("--junit-profile", "strict");
  // It must have been tested against this machine's matrix.
  const std::string& builtin = plan_.matrix.builtin;
  const bool is_foreign = !builtin.empty() && plan_.tool.matrices_dir != plan_.home.matrices_dir;
  if (!plan_.matrix.file.empty()) add("--matrix", plan_.matrix.file);
  if (!builtin.empty())
    add("--matrix",
        is_foreign ? plan_.tool.matrices_dir + builtin.substr(builtin.find(':')).replace(0, 1, "/") + ".json"
                   : builtin);
  if (options_.attestation) add("--attestation", made + "/attestation.json");
  const Ended report = launch::Run({.words = words,
                                    .program = plan_.home.program,
                                    .output = Output::kDropped,
                                    .seconds = kSecondsToReport},
                                   &cancel_);
  if (collected && report.status == confirmation_.status) return true;
  *why_not = "its journal says exit " + std::to_string(report.status) + ", it ended with " +
             std::to_string(confirmation_.status) + " " + SingleLine(LastLines(report.said, 3), 1000);
  return false;
}

bool Session::EvaluateGate() {
  confirmation_ = Confirm(folder_.reports(), run_.secret, ended_.status, cancel_.signal() != 0);
  ended_.status = confirmation_.status;
  facts_.status = ended_.status;
  std::string reason = confirmation_.reason;
  bool confirmed = confirmation_.confirmed && Remake(&reason);
  const bool is_whole = confirmed && (cancel_.signal() == 0 || WasInterrupted(ended_.status));
  if (cancel_.signal() != 0 && !is_whole) return Interrupted();
  if (!confirmed) return EvaluateStatus(reason);
  const std::string statement = folder_.made() + "/attestation.json";
  if (access(statement.c_str(), F_OK) == 0 && !IsAbout(statement, facts_.identity.digest)) {
    Say("the statement is not about " + facts_.identity.digest + ", so it is left out");
    unlink(statement.c_str());
  }
  JobPage page;
  page.fields = FieldsOfFile(folder_.made() + "/report.json");
  if (!folder_.Publish(true, options_.summary, run_.token))
    return Settle(5, "harness.report-not-written", "the reports could not be copied to " + folder_.path(),
                  "Check its free space and permissions.");
  exit_code_ = ended_.status;
  const std::string verdict = FieldOf(page.fields, "verdict");
  if (Status s = WriteRecord(folder_.path(), facts_, exit_code_, true, verdict); !s.ok()) Say(s.error());
  page.verdict = verdict + (FieldOf(page.fields, "report_only") == "true" ? ", NOT GATING" : "");
  page.exit_code = exit_code_;
  page.confirmed = true;
  // A page's system takes 1 MiB.
  const std::string summary_file = folder_.path() + "/summary.md";
  if (options_.summary && IsOurs(summary_file))
    if (const Result<std::string> text = ReadFile(summary_file, kMostPage); text.ok()) page.page = *text;
  AddToJobPage(facts_, page);
  Say("reports in " + folder_.path());
  return true;
}

bool Session::HasGiven(const std::vector<std::string>& names) const {
  const std::vector<std::string>& words = options_.engine_arguments;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto is_it = [&](const std::string& word) { return word == name || word.starts_with(name + "="); };
    return (name == "--user" && !options_.user.empty()) || std::any_of(words.begin(), words.end(), is_it);
  });
}

bool Session::EndsByMessage(const std::string& happened, const std::string& said) {
  const auto found = FindEngineMessage(said, ReadEngineMessages(plan_.home.findings_dir, kSettlesLaunch));
  if (!found) return false;
  std::string line = ShownLine(found->line, 300);
  while (line.ends_with('.')) line.pop_back();
  const EngineMessage& message = found->message;
  if (HasGiven(message.unless))
    (void)Settle(2, "matrix.invalid-use", happened + ": " + line,
                 "The cause is the value of --user or --engine-arg: correct it, or leave it out.", said);
  else
    (void)Settle(message.exit_code, message.finding, happened + ": " + line, message.fix, said);
  return true;
}

bool Session::EvaluateStatus(const std::string& reason) {
  const int status = ended_.status;
  const std::string &said = ended_.said, &engine = facts_.engine.name;
  const int like_docker = client_failed_ ? StatusOfClient(said) : status;
  const bool may_be_engines = (like_docker >= 125 && like_docker <= 127) || CouldNotStart(like_docker, said);
  if (may_be_engines && !program_ended_)
    if (EndsByMessage(engine + " started no container" + InBrackets(status), said)) return false;
  if (RuntimeFailed(like_docker, said) && !program_ended_)
    return Settle(3, "runner.engine-failed", engine + " could not run the container" + InBrackets(status),
                  "Read its message.", said);
  const bool kept = options_.keep_entrypoint;
  const int code = kept ? 1 : 5;
  const std::string blame = kept ? "image." : "harness.", who = kept ? "the image's entrypoint" : "cudnn-ci";
  // The loader of cudnn-ci ends with 127; what an entrypoint ends with is its own.
  if (CouldNotStart(like_docker, said) && !(kept && program_ended_))
    return Settle(
        code, blame + "tool-not-started", who + " cannot be started in this image" + InBrackets(status),
        "A wrong format means another processor. If a file is not found, it is " + plan_.tool.source +
            " itself, because the engine runs on another machine, or the loader that this build of cudnn-ci "
            "needs.",
        said);
  switch (status) {
    case 137:
      if (out_of_memory_)
        return Settle(6, "undetermined.out-of-memory", "the container ran out of memory (137)",
                      "Give it more memory, or run it once on another machine.");
      return Settle(
          3, "runner.container-killed", "the container was killed from outside (137)",
          "Find out what killed it: a time limit, the runner, its host, or memory that ran out without " +
              engine + " noticing.");
    case 132:
    case 134:
    case 135:
    case 136:
    case 139:
      return Settle(
          code, blame + "tool-crashed",
          who + " crashed (" + std::to_string(status) + ", signal " + std::to_string(status - 128) + ")",
          "Report it, with this output.", said);
    case 2:
      return Settle(2, "matrix.invalid-use", "cudnn-ci refused its command line, matrix or output folder (2)",
                    "Read its message above.", said);
    case 0:
      return Settle(code, blame + "no-finished-report",
                    who + " ended with exit 0 but without a valid report: " + reason,
                    "A kept entrypoint must end with exec \"$@\"; without --keep-entrypoint it is not used.");
    default:
      return Settle(code, blame + "no-finished-report",
                    who + " ended with " + std::to_string(status) + ": " + reason, "Read its message above.",
                    said);
  }
}

}  // namespace cudnn_ci::launch
