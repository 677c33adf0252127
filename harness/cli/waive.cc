#include "cli/waive.h"

#include <stdio.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/diagnostics.h"
#include "model/matrix/matrix.h"
#include "review/run_view.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNamed = 8;

std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Whether the run's matrix says what `name` among those that come with cudnn-ci says: an own one may be
// called like it.
bool IsShipped(const RunView& run, const std::string& name, const Options& options) {
  const auto loaded = LoadMatrix(options.matrices_dir() + "/" + name, options.matrices_dir());
  const auto* matrix = std::get_if<Matrix>(&loaded);
  return matrix != nullptr && matrix->sha256 == run.matrix_sha256;
}

// What the new matrix extends: the one that comes with cudnn-ci by its name, another by its way from where
// the new file will lie.
std::string Parent(const RunView& run, const Options& options) {
  const fs::path path(run.matrix_path);
  std::error_code failed;
  // Typed by its name, "cu13" or "builtin:cu13".
  const std::string prefix = "builtin:", typed = run.matrix_path;
  std::string named = typed.rfind(prefix, 0) == 0 ? typed : prefix + typed;
  if (std::holds_alternative<Matrix>(LoadMatrix(named, options.matrices_dir()))) return named;
  const fs::path shipped = fs::weakly_canonical(options.matrices_dir(), failed);
  if (!failed && fs::weakly_canonical(fs::absolute(path, failed), failed).parent_path() == shipped && !failed)
    return "builtin:" + path.stem().string();
  if (!fs::exists(path, failed)) {
    // A run in a container: its places are none of this machine's.
    if (path.parent_path().filename() == "matrices" && IsShipped(run, path.filename().string(), options))
      return "builtin:" + path.stem().string();
    PrintDiagnostic(run.matrix_path + ", the run's matrix, is not there: put " + path.filename().string() +
                    " beside the new file, or correct its \"extends\"");
    return path.filename().string();
  }
  if (options.waiver_file == "-") return path.filename().string();
  const fs::path folder = fs::absolute(fs::path(options.waiver_file), failed).parent_path();
  const fs::path way = fs::proximate(fs::absolute(path, failed), folder, failed);
  return failed ? path.filename().string() : way.string();
}

// Whether --case names it, or nothing does.
bool IsAskedFor(const Options& options, const CaseRef& ref) {
  const std::vector<std::string>& ids = options.case_ids;
  return ids.empty() || std::any_of(ids.begin(), ids.end(),
                                    [&](const std::string& id) { return Means(ParseDisplayId(id), ref); });
}

// One of the file's "waivers", for each error of the case, which `pattern` matches.
void AddWaivers(const std::string& pattern, const CaseView& one, const Options& options,
                std::vector<std::string>* waivers) {
  const std::string expires = UtcDate(options.waiver_days);
  for (const std::string& finding : one.errors) {
    const std::string reason = options.waiver_reason.empty() ? one.reason : options.waiver_reason;
    waivers->push_back("    { \"case\": " + Quoted(pattern) + ", \"slug\": " + Quoted(finding) +
                       ",\n      \"reason\": " + Quoted(SingleLine(reason, kMaxTextCharacters)) +
                       ",\n      \"owner\": " + Quoted(options.waiver_owner) +
                       ", \"expires\": " + Quoted(expires) + " }");
  }
}

// What stays red whatever is waived.
void TellWhatStays(const RunView& run, const Options& options) {
  std::vector<std::string> stay;
  for (const auto& [ref, one] : run.cases) {
    const bool red = one.standing == Standing::kFailed || one.standing == Standing::kBlocked ||
                     one.standing == Standing::kNotRun || one.skip_not_allowed;
    if (red && one.required && one.errors.empty() && IsAskedFor(options, ref))
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

}  // namespace

Result<std::string> WriteWaivers(const Options& options) {
  const std::string& file = options.waiver_file;
  struct stat there {};
  if (file.empty()) return Error{"FILE is empty; name a file, or - for standard output"};
  if (file != "-" && lstat(file.c_str(), &there) == 0)
    return Error{file + " is there already; name another file, or take it away first"};
  if (CleanLine(options.waiver_owner, kMaxNameCharacters) != options.waiver_owner)
    return Error{"--owner must be one line of at most " + std::to_string(kMaxNameCharacters) + " characters"};
  Result<RunView> run = ReadRun(options.waived_report);
  if (!run.ok()) return Error{run.error()};
  for (const std::string& id : options.case_ids)
    if (std::none_of(run->cases.begin(), run->cases.end(),
                     [named = ParseDisplayId(id)](const auto& one) { return Means(named, one.first); }))
      return Error{"--case " + id + ": the run has no such case"};
  std::vector<std::string> waivers;
  for (const auto& [ref, one] : run->cases)
    if (one.standing == Standing::kFailed && IsAskedFor(options, ref))
      // Without a device's name it would cover the case on every one.
      AddWaivers(run->gpus.size() > 1 && !ref.device.empty() ? IdWithDevice(ref) : DisplayId(ref), one,
                 options, &waivers);
  TellWhatStays(*run, options);
  if (waivers.empty())
    return Error{options.waived_report + ": no case failed that a waiver could excuse; nothing to waive"};
  if (waivers.size() > kMaxWaivers)
    return Error{std::to_string(waivers.size()) + " waivers would be needed and a matrix takes " +
                 std::to_string(kMaxWaivers) + "; repair the cause, or write a pattern by hand"};
  const std::string parent = Parent(*run, options);
  const std::string text = MatrixText(*run, parent, waivers);
  if (file == "-") return text;
  if (const Status written = WriteFileAtomically(file, text); !written.ok()) return Error{written.error()};
  return "wrote " + file + ": " + std::to_string(waivers.size()) +
         (waivers.size() == 1 ? " waiver" : " waivers") + " until " + UtcDate(options.waiver_days) +
         "; read it, then: cudnn-ci --matrix " + ShellQuote(file) + "\n";
}

}  // namespace cudnn_ci
