#include "launch/session.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/file.h"
#include "base/random.h"
#include "base/secrets.h"
#include "base/signal_text.h"
#include "base/text.h"
#include "launch/engine_messages.h"
#include "launch/engine_words.h"
#include "launch/program.h"
#include "launch/speech.h"

namespace cudnn_ci::launch {
namespace {

// 128 bits in hex; empty: the kernel gives none.
std::string RandomWord() {
  std::string word;
  for (int i = 0; i < 2; ++i) {
    const Result<uint64_t> bits = RandomBits();
    if (!bits.ok()) return "";
    char digits[17];
    snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(*bits));
    word += digits;
  }
  return word;
}

ContainerOf ContainerFor(const Plan& plan, const Engine& engine) {
  ContainerOf of{};
  of.options = &plan.options;
  of.tool = &plan.tool;
  of.matrix = &plan.matrix;
  of.engine = &engine;
  of.again = plan.again;
  return of;
}

// What was started, for a record: every word masked, then quoted.
std::string RecordOf(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(ShellQuote(Secrets::OfThisProcess().Mask(word)));
  return Shown(Join(words, " "));
}

}  // namespace

std::string DryRun(const Plan& plan) {
  const Engine engine = EngineForDryRun(plan.options);
  ContainerOf of = ContainerFor(plan, engine);
  of.token = "TOKEN";
  of.identity.runs = plan.options.image;
  std::string folder = plan.options.output_dir;
  if (const Result<std::string> cwd = FolderToMount("."); folder[0] != '/' && cwd.ok())
    folder = *cwd + "/" + folder;
  of.reports_at = folder;
  of.reports = folder + "/.cudnn-ci-run.TOKEN/reports";
  std::vector<std::string> words;
  for (const std::string& word : ComposeCommand(of))
    words.push_back(Secrets::OfThisProcess().ShellWord(word));
  return Join(words, " ");
}

Session::Session(const Plan& plan)
    : plan_(plan), options_(plan_.options), inspector_(&facts_.engine, &cancel_) {
  facts_.image = options_.image;
  facts_.keep_entrypoint = options_.keep_entrypoint;
}

Session::~Session() {
  if (created_ && !removed_) RemoveContainer();
}

int Session::Run() {
  if (!Prepare() || !ChooseAnEngine() || !FindImage() || !Compose() || !Start()) return exit_code_;
  (void)(IsGate() ? EvaluateGate() : EvaluateAnswer());
  return exit_code_;
}

bool Session::Invalid(const std::string& message) {
  Say(message);
  exit_code_ = 2;
  return false;
}

bool Session::Refuse(const std::string& message) {
  if (IsGate()) plan_.withdraw();
  return Invalid(message);
}

bool Session::Prepare() {
  run_ = {RandomWord(), RandomWord()};
  facts_.token = run_.token;
  if (run_.token.empty() || run_.secret.empty()) return Refuse("the kernel provides no random numbers");
  const Status prepared =
      IsGate() ? folder_.Prepare(options_.output_dir, options_.attestation, options_.summary, run_)
               : folder_.PrepareWithoutReports();
  if (!prepared.ok()) return Refuse(prepared.error());
  silence_.Begin(RandomWord(), IsGate());
  if (!IsGate()) return true;
  const OwnError not_started{{},
                             "harness.not-started",
                             "the run did not start",
                             "cudnn-ci run was ended before it started the container."};
  if (Status s = WriteJunit(folder_.path(), facts_, not_started); !s.ok()) return Invalid(s.error());
  return true;
}

bool Session::ChooseAnEngine() {
  auto chosen = ChooseEngine(options_, &cancel_);
  if (cancel_.signal() != 0) return Interrupted();
  if (const auto* none = std::get_if<NoEngine>(&chosen)) {
    if (none->missing)
      return Settle(3, "runner.engine-missing",
                    "no container engine: " + none->names + ": not found" + none->named_by,
                    "Install one, or name it with --engine.");
    fprintf(stderr, "%s\n", LastLines(none->said, 20).c_str());
    const char* const user = getenv("USER");
    const std::string remedy =
        IsDenied(none->said)
            ? "This user may not open its socket: run it as root, add the user to the socket's group "
              "(docker: usermod -aG docker " +
                  (user != nullptr ? std::string(user) : std::to_string(geteuid())) +
                  ", then log in again), or use a rootless engine."
            : "Start its daemon, and give this user access to it.";
    return Settle(3, "runner.engine-failed",
                  "the container engine does not answer:" + none->names + none->named_by, remedy, none->said);
  }
  facts_.engine = std::get<Engine>(std::move(chosen));
  if (IsGate())
    folder_.RemoveAbandoned(
        [&](const std::string& token) { return inspector_.Remove(ContainerName(token)); });
  return cancel_.signal() == 0 || Interrupted();
}

bool Session::PullImage() {
  if (options_.pull == Pull::kNever)
    return Settle(3, "runner.image-missing", "the image " + options_.image + " is not on this machine",
                  "Load it first, or leave out --pull never.");
  Ended pulled = launch::Run({.words = {facts_.engine.name, "pull", options_.image},
                              .output = Output::kOurs,
                              .shown = true,
                              .seconds = 0,
                              .grace_s = static_cast<double>(options_.grace_s)},
                             &cancel_);
  if (cancel_.signal() != 0) return Interrupted();
  if (pulled.ok()) return true;
  pulled.said = WithPlainFatal(pulled.said);
  const std::string failed =
      "the image " + options_.image + " could not be pulled (status " + std::to_string(pulled.status) + ")";
  if (EndsByMessage(failed, pulled.said)) return false;
  if (KnowsNoSuchImage(pulled.said, ReadEngineMessages(plan_.home.findings_dir, kSettlesPull)))
    return Settle(
        2, "matrix.image-unknown",
        "the registry has no image " + options_.image + " (status " + std::to_string(pulled.status) + ")",
        "Check the spelling of its name and tag. A private image needs a login first.", pulled.said);
  return Settle(3, "runner.image-missing", failed, "Check the registry, and this runner's network and login.",
                pulled.said);
}

bool Session::FitsTool() {
  const std::string of_image = inspector_.Processor(facts_.identity.runs), of_tool = ProcessorOf(plan_.tool);
  if (of_image.empty() || of_tool.empty() || of_image == of_tool) return true;
  return Settle(
      2, "matrix.platform-unfit",
      "the image " + options_.image + " is for " + of_image + ", and this cudnn-ci for " + of_tool,
      "Pull the image for this processor (--platform of the engine's pull), or test it on a machine with "
      "its processor and the cudnn-ci for it (--tool).");
}

// What is inspected here is what runs, by its id, whatever happens to the tag meanwhile.
bool Session::FindImage() {
  const bool there = options_.pull != Pull::kAlways && inspector_.HasImage(options_.image);
  if (cancel_.signal() != 0) return Interrupted();
  if (!there && !PullImage()) return false;
  Identity& identity = facts_.identity;
  identity = inspector_.Identify(options_.image);
  if (options_.attestation && identity.digest.empty())
    return Settle(2, "matrix.invalid-use",
                  "the image " + options_.image + " has no digest, which --attestation needs",
                  "Push it to a registry first, and give the name that it has there.");
  if (!FitsTool()) return false;
  if (const std::string config = inspector_.Config(identity.runs); !config.empty()) {
    config_file_ = folder_.work() + "/image-config.json";
    // The container's user may be any.
    if (!WriteFileAtomically(config_file_, config + "\n").ok() || chmod(config_file_.c_str(), 0644) != 0)
      config_file_.clear();
  }
  // The image must not choose what of ours tests it, nor which part of the cases.
  blank_ = inspector_.VariablesToBlank(identity.runs);
  if (!blank_.empty()) Say("left empty although the image sets it: " + Join(blank_, " "));
  return cancel_.signal() == 0 || Interrupted();
}

bool Session::Compose() {
  ContainerOf of = ContainerFor(plan_, facts_.engine);
  of.identity = facts_.identity;
  of.token = run_.token;
  of.reports = folder_.reports();
  of.config = config_file_;
  of.blank = blank_;
  of.no_health_check = inspector_.CanLeaveOutHealthCheck();
  of.reports_at = folder_.path();
  command_ = ComposeCommand(of);
  facts_.command = RecordOf(command_);
  return cancel_.signal() == 0 || Interrupted();
}

void Session::RemoveContainer() {
  const std::string name = ContainerName(run_.token);
  removed_ = true;
  // A client that has ended by itself has no container under way.
  if (inspector_.Remove(name) || !ended_.unfinished) return;
  Say("the engine may still be creating the container " + name +
      (IsGate() ? ": the next run in this output folder removes it" : ": remove it"));
  folder_.Keep();
}

bool Session::Start() {
  constexpr size_t kMostMatrix = size_t{4} << 20;
  constexpr double kSecondsToCreate = 13;
  const std::string name = ContainerName(run_.token);
  created_ = true;
  if (IsGate()) {
    const OwnError not_finished{
        {}, "harness.not-finished", "the run did not finish", "cudnn-ci run was ended before the container."};
    (void)WriteJunit(folder_.path(), facts_, not_finished);
  }
  folder_.NoteContainer();
  const bool to_file = options_.ask == "init" && options_.init_file != "-";
  ended_ = launch::Run({.words = command_,
                        .output = to_file ? Output::kKept : Output::kOurs,
                        .most_output = kMostMatrix,
                        .shown = true,
                        .seconds = 0,
                        .stop = {facts_.engine.name, "stop", "-t", std::to_string(options_.grace_s), name},
                        .stop_again_s = kSecondsToCreate,
                        .remove = {facts_.engine.name, "rm", "-f", name},
                        .grace_s = static_cast<double>(options_.grace_s)},
                       &cancel_);
  facts_.status = ended_.status;
  out_of_memory_ = ended_.status == 137 && cancel_.signal() == 0 && inspector_.RanOutOfMemory(name);
  const bool is_nerdctls = facts_.engine.is_nerdctl && ended_.status == 1 && SaysFatal(ended_.said);
  const bool may_be_clients = is_nerdctls || (ended_.status >= 125 && ended_.status <= 127);
  program_ended_ = may_be_clients && cancel_.signal() == 0 && inspector_.HasEnded(name, ended_.status);
  client_failed_ = is_nerdctls && !program_ended_;
  if (client_failed_) ended_.said = WithPlainFatal(ended_.said);
  // Before anything is read that a process of the container could still write.
  RemoveContainer();
  return true;
}

bool Session::EvaluateAnswer() {
  if (cancel_.signal() != 0) return Interrupted();
  if (client_failed_ || ended_.status > 6 || CouldNotStart(ended_.status, ended_.said))
    return EvaluateStatus("");
  exit_code_ = ended_.status;
  if (ended_.ok() && ended_.unprinted) {
    Say("standard output cannot take the answer");
    exit_code_ = 5;
    return false;
  }
  if (options_.ask == "init" && options_.init_file != "-" && ended_.ok()) return WriteInitFile(ended_.output);
  return true;
}

bool Session::WriteInitFile(const std::string& text) {
  const std::string& file = options_.init_file;
  if (ended_.output_cut) return Invalid("the output of init is too large for a matrix: more than 4 MiB");
  const Fd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid() || !WriteAll(fd.get(), text, file).ok()) return Invalid(file + " cannot be written");
  Say("wrote " + file + "; read it, then: " + plan_.called + " --matrix " + ShellQuote(file) + " " +
      ShellQuote(options_.image));
  return true;
}

}  // namespace cudnn_ci::launch
