// A bill of materials instead of an image (--sbom): which checks can test it, and what is said of the
// others. See gate.h.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/gate.h"
#include "image/packages/sbom.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

// The matrix without --matrix; and the checks that read names and versions alone.
constexpr char kSbomMatrix[] = "builtin:sbom";
constexpr char kSubjectName[] = "sbom";

struct SbomCheck {
  const char* name;
  bool may_be_absent;  // where a matrix does not list it: there may be nothing to test
};
constexpr std::array<SbomCheck, 2> kSbomChecks = {{{"image.versions", true}, {"image.known_faults", false}}};

bool TestsSbom(const std::string& check) {
  return std::any_of(kSbomChecks.begin(), kSbomChecks.end(),
                     [&](const SbomCheck& c) { return check == c.name; });
}

Entry EntryOf(const SbomCheck& check, const std::string& matrix_path) {
  Entry entry;
  entry.check = check.name;
  if (check.may_be_absent) entry.allow_skip = {SkipKind::kAbsent};
  entry.position = entry.check_position = {matrix_path, 0, 0};
  return entry;
}

// Leaves the entries that can test a bill of materials, for its one subject, and adds those
// that are not listed. Returns the checks that were taken out.
std::vector<std::string> KeepSbomEntries(Matrix* matrix) {
  std::set<std::string> left_out;
  std::vector<Entry> kept;
  for (Entry& entry : matrix->entries) {
    entry.subjects.clear();
    if (TestsSbom(entry.check))
      kept.push_back(std::move(entry));
    else
      left_out.insert(entry.check);
  }
  for (const SbomCheck& check : kSbomChecks)
    if (std::none_of(kept.begin(), kept.end(), [&](const Entry& e) { return e.check == check.name; }))
      kept.push_back(EntryOf(check, matrix->path));
  matrix->entries = std::move(kept);
  return {left_out.begin(), left_out.end()};
}

}  // namespace

bool Gate::LoadForSbom() {
  std::error_code ignored;
  const std::string path = std::filesystem::absolute(options_.sbom, ignored).lexically_normal().string();
  if (const auto packages = ReadSbom(path); !packages.ok()) return Invalid("--sbom: " + packages.error());
  const std::string& named = options_.selection.matrix.name;
  std::optional<Matrix> matrix = LoadMatrixFile(named.empty() ? kSbomMatrix : named);
  if (!matrix) return false;
  const std::vector<std::string> left_out = KeepSbomEntries(&*matrix);
  matrix->subjects = {{kSubjectName, kSbomSubject + path}};
  matrix->automatic_subjects = matrix->default_subjects = false;
  // What no package's record can show is not tested here, which the report says of each promise; the matrix
  // is no worse for it.
  matrix->contract_positions.clear();
  chosen_.emplace(std::move(*matrix));
  sbom_not_gated_.push_back({NoticeCode::kFilesNotInSbom, {{"path", path}}});
  if (!left_out.empty()) sbom_not_gated_.push_back({NoticeCode::kChecksNotInSbom, {{"checks", left_out}}});
  return true;
}

void Gate::ReportSbom() {
  if (options_.sbom.empty()) return;
  plan_.partial.push_back({NoticeCode::kSbom});
  // image.versions tests what the image promises, by records, or warns that it cannot.
  std::erase_if(plan_.not_gated, [](const Notice& notice) {
    const auto key = notice.args.find("key");
    return notice.code == NoticeCode::kPromiseNotJudged && key != notice.args.end() &&
           (key->second == Params::mapped_type(std::string("image.cudnn")) ||
            key->second == Params::mapped_type(std::string("image.toolkit")));
  });
  plan_.not_gated.insert(plan_.not_gated.end(), sbom_not_gated_.begin(), sbom_not_gated_.end());
}

}  // namespace cudnn_ci
