// run_sample SEED FOLDER: junit.xml, strict.xml (the strict profile) and report.json of a made-up run with
// every kind of ending and random bytes in every text, for the readers to compare. One seed makes one run.
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

constexpr int kCases = 24;

class Sample {
 public:
  explicit Sample(unsigned seed) : random_(seed) {}

  Summary Make() {
    b_.run.hostname = b_.run.image = b_.run.matrix_path = b_.run.command_line = Text();
    b_.run.facts["system"][Text()] = Text();
    b_.run.not_gated = {OtherNotice(Text()), OtherNotice(Text()), OtherNotice("plain"), OtherNotice("plain")};
    b_.run.warnings = {OtherNotice(Text())};
    b_.run.environment[Text()] = "image";
    b_.run.subjects.push_back({"venv", Text()});
    b_.run.devices.push_back({"gpu1", "GPU-1", Text(), "9.0"});
    if (One(3)) b_.run.partial = {OtherNotice(Text())};
    b_.waivers = {{"conv.waived*", "wrong-value", Text(), Text(), "2999-01-01"}};
    for (int i = 0; i < kCases; ++i) AddCase(i);
    b_.finished = !One(4);
    return b_.Summarize();
  }

 private:
  bool One(unsigned of) { return random_() % of == 0; }
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <class T, size_t N>
  const T& Any(const T (&all)[N]) {
    return all[random_() % N];
  }
  std::string Text() {
    static const char* const kPieces[] = {
        "]]>", "\x1b[31m",     "&#27;", "<",    "\xff", "\xef\xbf\xbf", "[[ATTACHMENT|/etc/passwd]]",
        "\r",  "\xed\xa0\x80", "\"'&",  "--",   "\n\n", "<?xml?>",      "\xc0\x80",
        "%s",  "\xe2\x80\xa8", "\t",    "word", "\x7f", "\xc2\x85"};
    std::string text;
    for (int i = Below(40); i >= 0; --i)
      text += One(3) ? std::string(1, static_cast<char>(random_())) : Any(kPieces);
    return text;
  }
  Outcome Ending() {
    switch (Below(7)) {
      case 0:
        return Failed{};
      case 1:
        return Errored{One(2) ? ErrorKind::kCrashed : ErrorKind::kTimedOut, Text()};
      case 2:
        if (One(2)) return Skipped{SkipKind::kMemory, Text(), Text(), Resource::kHostMemory};
        return Skipped{SkipKind::kVersion, Text(), Text()};
      case 3:
        return Blocked{Text()};
      case 4:
        return NotRun{Text()};
      default:
        return Passed{};
    }
  }
  std::vector<Finding> Findings() {
    std::vector<Finding> findings;
    for (int i = Below(3); i > 0; --i) {
      // Drawn one after the other: compilers evaluate arguments in different orders.
      const std::string slug = One(2) ? "wrong-value" : Text();
      const Blame blame = One(2) ? Blame::kImage : Blame::kRunner;
      findings.push_back(Wrong(slug, blame, Text()));
      if (One(3)) findings.back().severity = Severity::kWarning;
    }
    return findings;
  }
  void AddAttempt(const CaseRef& ref, int number, const Outcome& outcome) {
    b_.Add(AttemptStarted{ref, number, number, number == 1 ? AttemptMode::kShared : AttemptMode::kConfirm});
    b_.Add(StepReached{ref, Text()})
        .Add(Measured{ref, One(2) ? "time" : Text(), 0.25 * number, "ms", "lower"});
    if (One(3)) b_.Add(Attached{ref, Text(), Text(), Text()});
    if (std::holds_alternative<Failed>(outcome))
      b_.Add(ExpectationFailed{ref, One(2) ? "plugins/conv/a.cc" : Text(), Below(100), Text()});
    for (const Finding& finding : Findings()) b_.Add(FindingReported{ref, finding});
    b_.Add(AttemptFinished{ref, number, number, outcome, 0.5, One(2) ? Text() : "", Text()});
  }
  void AddCase(int i) {
    static const char* const kChecks[] = {"conv.plain", "conv.waived", "driver.plain", "we:ird/x.plain"};
    static const char* const kDevices[] = {"", "gpu0", "gpu1"};
    std::string id = Any(kChecks) + std::string("[i=") + std::to_string(i) + "]";
    if (One(3)) id += Text();
    const CaseRef ref{id, Any(kDevices)};
    CasePlanned& planned = b_.Plan(id, Layer::kOther, ref.device);
    planned.required = !One(3);
    planned.allow_flaky = One(2);
    planned.subject = One(2) ? "system" : "";
    const Outcome outcome = Ending();
    const bool runs = !std::holds_alternative<Blocked>(outcome) && !std::holds_alternative<NotRun>(outcome);
    const int attempts = runs ? 1 + Below(3) : 0;
    for (int n = 1; n < attempts; ++n) AddAttempt(ref, n, One(2) ? Outcome(Failed{}) : Ending());
    if (attempts > 0) AddAttempt(ref, attempts, outcome);
    // One without an ending: the run was cut short.
    if (!One(10))
      b_.Add(CaseFinished{ref, outcome, 0.001 * Below(100'000), attempts > 1 ? Flagged() : None()});
  }
  static std::vector<Flag> Flagged() { return {Flag::kFlaky}; }
  static std::vector<Flag> None() { return {}; }

  std::mt19937 random_;
  RunBuilder b_;
};

int Main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Summary summary = Sample(static_cast<unsigned>(atoi(argv[1]))).Make();
  const std::string folder = argv[2];
  JunitOptions strict;
  strict.strict = true;
  for (const Status& status : {JunitReporter(folder + "/junit.xml", {}).Finish(summary),
                               JunitReporter(folder + "/strict.xml", strict).Finish(summary),
                               WriteJsonReport(summary, folder + "/report.json")}) {
    if (status.ok()) continue;
    fprintf(stderr, "%s\n", status.error().c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace cudnn_ci

int main(int argc, char** argv) { return cudnn_ci::Main(argc, argv); }
