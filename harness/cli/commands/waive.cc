// `cudnn-ci waive`: from what failed in a run to a matrix that accepts it for some days.
#include <stdio.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/diagnostics.h"
#include "cli/option_checks.h"
#include "model/matrix/matrix.h"
#include "review/run_view.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNamed = 8;

struct WaiveOptions {
  std::string report, file = "-";  // what to read, where to write
  std::string owner, reason;       // no reason: what the report says
  int days = 0;
  std::vector<std::string> case_ids;  // empty: every case that failed
};

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Whether the run's matrix says what `name` among those that come with cudnn-ci says: an own one may be
// called like it.
bool IsShipped(const RunView& run, const std::string& name, const std::string& matrices_dir) {
  const auto loaded = LoadMatrix(matrices_dir + "/" + name, matrices_dir);
  const auto* matrix = std::get_if<Matrix>(&loaded);
  return matrix != nullptr && matrix->sha256 == run.matrix_sha256;
}

// What the new matrix extends: the one that comes with cudnn-ci by its name, another by its way from where
// the new file will lie.
std::string Parent(const RunView& run, const std::string& waiver_file, const std::string& matrices_dir) {
  const fs::path path(run.matrix_path);
  std::error_code failed;
  // Typed by its name, "cu13" or "builtin:cu13".
  const std::string prefix = "builtin:", typed = run.matrix_path;
  std::string named = typed.rfind(prefix, 0) == 0 ? typed : prefix + typed;
  if (std::holds_alternative<Matrix>(LoadMatrix(named, matrices_dir))) return named;
  const fs::path shipped = fs::weakly_canonical(matrices_dir, failed);
  if (!failed && fs::weakly_canonical(fs::absolute(path, failed), failed).parent_path() == shipped && !failed)
    return "builtin:" + path.stem().string();
  if (!fs::exists(path, failed)) {
    // A run in a container: its places are none of this machine's.
    if (path.parent_path().filename() == "matrices" && IsShipped(run, path.filename().string(), matrices_dir))
      return "builtin:" + path.stem().string();
    PrintDiagnostic(run.matrix_path + ", the run's matrix, is not there: put " + path.filename().string() +
                    " beside the new file, or correct its \"extends\"");
    return path.filename().string();
  }
  if (waiver_file == "-") return path.filename().string();
  const fs::path folder = fs::absolute(fs::path(waiver_file), failed).parent_path();
  const fs::path way = fs::proximate(fs::absolute(path, failed), folder, failed);
  return failed ? path.filename().string() : way.string();
}

// Whether --case names it, or nothing. `named`: the cases of --case.
bool IsAskedFor(const std::vector<CaseRef>& named, const CaseRef& ref) {
  return named.empty() ||
         std::any_of(named.begin(), named.end(), [&](const CaseRef& one) { return Means(one, ref); });
}

// One of the file's "waivers", for each error of the case, which `pattern` matches.
void AddWaivers(const std::string& pattern, const CaseView& one, const WaiveOptions& options,
                std::vector<std::string>* waivers) {
  const std::string expires = UtcDate(options.days);
  for (const std::string& finding : one.errors) {
    const std::string reason = options.reason.empty() ? one.reason : options.reason;
    waivers->push_back("    { \"case\": " + Quoted(pattern) + ", \"slug\": " + Quoted(finding) +
                       ",\n      \"reason\": " + Quoted(SingleLine(reason, kMaxTextCharacters)) +
                       ",\n      \"owner\": " + Quoted(options.owner) + ", \"expires\": " + Quoted(expires) +
                       " }");
  }
}

// What stays red whatever is waived.
void TellWhatStays(const RunView& run, const std::vector<CaseRef>& named) {
  std::vector<std::string> stay;
  for (const auto& [ref, one] : run.cases) {
    const bool red = one.standing == Standing::kFailed || one.standing == Standing::kBlocked ||
                     one.standing == Standing::kNotRun || one.skip_not_allowed;
    if (red && one.required && one.errors.empty() && IsAskedFor(named, ref))
      stay.push_back(DisplayId(ref) + " (" + Name(one.standing) + ")");
  }
  for (const auto& [name, detail] : run.run_errors) stay.push_back(name + " (about the run)");
  for (size_t i = 0; i < stay.size() && i < kMaxNamed; ++i)
    PrintDiagnostic("no waiver can excuse " + stay[i]);
  if (stay.size() > kMaxNamed) PrintDiagnostic("nor " + std::to_string(stay.size() - kMaxNamed) + " more");
}

std::string MatrixText(const RunView& run, const std::string& parent,
                       const std::vector<std::string>& waivers) {
  std::string text = "// Failures of " + SingleLine(run.source, 300) + " (" + run.timestamp +
                     "), accepted until they expire.\n"
                     "{\n  \"schema\": \"cudnn-ci/matrix/1\",\n  \"name\": " +
                     Quoted(run.matrix) + ",\n  \"extends\": " + Quoted(parent) + ",\n  \"waivers\": [\n";
  return text + Join(waivers, ",\n") + "\n  ]\n}\n";
}

// Writes a matrix that extends the run's own, with a waiver for each error of each case that failed or
// errored and is not waived yet, to options.file. Returns what to print: the matrix itself for "-". What no
// waiver can excuse is told on stderr. An error when nothing is left to waive, when the waivers are more than
// a matrix takes, or when a file is there already, which is never replaced.
Result<std::string> WriteWaivers(const WaiveOptions& options, const std::string& matrices_dir) {
  const std::string& file = options.file;
  struct stat there {};
  if (file.empty()) return Error{"FILE is empty; name a file, or - for standard output"};
  if (file != "-" && lstat(file.c_str(), &there) == 0)
    return Error{file + " already exists; name another file, or remove it first"};
  if (CleanLine(options.owner, kMaxNameCharacters) != options.owner)
    return Error{"--owner must be one line of at most " + std::to_string(kMaxNameCharacters) + " characters"};
  Result<RunView> run = ReadRun(options.report);
  if (!run.ok()) return Error{run.error()};
  std::vector<CaseRef> named;
  for (const std::string& id : options.case_ids) {
    named.push_back(ParseDisplayId(id));
    if (std::none_of(run->cases.begin(), run->cases.end(),
                     [&](const auto& one) { return Means(named.back(), one.first); }))
      return Error{"--case " + id + ": the run has no such case"};
  }
  std::vector<std::string> waivers;
  for (const auto& [ref, one] : run->cases)
    if (one.standing == Standing::kFailed && IsAskedFor(named, ref))
      // Without a device's name it would cover the case on every one.
      AddWaivers(run->gpus.size() > 1 && !ref.device.empty() ? IdWithDevice(ref) : DisplayId(ref), one,
                 options, &waivers);
  TellWhatStays(*run, named);
  if (waivers.empty()) return Error{options.report + ": no failure can be waived"};
  if (waivers.size() > kMaxWaivers)
    return Error{std::to_string(waivers.size()) + " waivers would be needed, but a matrix takes at most " +
                 std::to_string(kMaxWaivers) + "; repair the cause, or write a pattern by hand"};
  const std::string parent = Parent(*run, file, matrices_dir);
  const std::string text = MatrixText(*run, parent, waivers);
  if (file == "-") return text;
  if (const Status written = WriteFileAtomically(file, text); !written.ok()) return Error{written.error()};
  return "wrote " + file + ": " + std::to_string(waivers.size()) +
         (waivers.size() == 1 ? " waiver" : " waivers") + " until " + UtcDate(options.days) +
         "; read it, then: cudnn-ci --matrix " + ShellQuote(file) + "\n";
}

class Waive : public Command {
 public:
  void Declare(CLI::App* app) override {
    const CLI::Validator not_empty = CheckNotEmpty("the text is empty");
    app->add_option("REPORT", options_.report, "journal.jsonl or report.json of the run")->required();
    app->add_option("FILE", options_.file, "file to write; - for stdout, the default");
    app->add_option("--owner", options_.owner, "who is responsible for the waivers")
        ->type_name("NAME")
        ->required()
        ->check(not_empty);
    app->add_option("--days", options_.days,
                    "days from today until they expire; after that the gate fails again")
        ->type_name("N")
        ->required()
        ->check(CheckWhole(1, 366));
    app->add_option("--reason", options_.reason,
                    "why the failures are accepted (default: the report's reason)")
        ->type_name("TEXT")
        ->check(not_empty);
    app->add_option("--case", options_.case_ids, "waive only this case; repeatable")
        ->type_name("ID")
        ->allow_extra_args(false);
  }
  int Run(const Invocation& invocation) override {
    const Result<std::string> said = WriteWaivers(options_, invocation.installation.matrices_dir());
    if (!said.ok()) return Fail(said.error());
    return PrintJsonAsIs(*said);  // a matrix is read again: no secret is masked
  }

 private:
  WaiveOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeWaive() { return std::make_unique<Waive>(); }

}  // namespace cudnn_ci
