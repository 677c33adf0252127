// One page of many images. See images_page.h.
#include "cli/images_page.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/diagnostics.h"
#include "launch/evidence.h"
#include "report/formats/junit_images.h"
#include "report/record/own_reports.h"
#include "review/page.h"

namespace cudnn_ci {
namespace {

// What the launcher says of a run that it does not stand for, whatever the container left; false: it stands
// for the run, or was none. The row gets the image as it was typed.
bool IsUnconfirmed(const std::string& folder, PageRow* row) {
  const launch::ReportFields fields = launch::FieldsOfFile(folder + "/launcher.json");
  const auto field = [&](const char* path) { return launch::FieldOf(fields, path); };
  if (field("schema") != "cudnn-ci/launcher/1") return false;
  row->typed_image = SingleLine(field("image"), 1000);
  if (field("confirmed") == "true") return false;
  const std::string code = field("exit_code"), digest = field("digest"), reason = field("reason");
  row->view.exit_code = 6;
  std::from_chars(code.data(), code.data() + code.size(), row->view.exit_code);
  row->view.image = SingleLine(digest.empty() ? field("image") : digest, 1000);
  row->view.verdict = "unconfirmed";
  row->problem = CleanLine(reason.empty() ? "the launcher does not stand for the run" : reason, 2000);
  return true;
}

// The record of a folder, or its report.json where only that was kept; a file itself. `page`: the folder of
// the page.
PageRow ReadRow(const std::string& place, const std::string& page) {
  PageRow row;
  row.source = CleanLine(place, 1000);
  struct stat st {};
  std::string path = place;
  if (stat(place.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) {
    if (IsUnconfirmed(place, &row)) return row;
    path = place + "/journal.jsonl";
    if (access(path.c_str(), F_OK) != 0) path = place + "/report.json";
  }
  row.report = ReportBeside(std::filesystem::path(path).parent_path() / ".", page);
  Result<RunView> view = ReadRun(path);
  if (view.ok())
    row.view = std::move(*view);
  else
    row.problem = CleanLine(view.error(), 2000);
  return row;
}

JunitImage CaseOf(const ImageStanding& image) {
  const size_t colon = image.cause.find(": ");
  const std::string type = image.cause.substr(0, colon);
  return {image.name, image.exit_code, type, image.cause};
}

// Writes a file instead of one of ours. Returns 0, or 2 or 5 as MakeImagesPage does.
int Write(const std::string& path, const std::string& text, bool (*is_ours)(const std::string&)) {
  if (access(path.c_str(), F_OK) == 0 && !is_ours(path))
    return Fail("cannot replace " + path + ": it is not a page of cudnn-ci; name another --output-dir");
  const Status s = WriteFileAtomically(path, text, false, is_ours);
  if (s.ok()) return 0;
  PrintDiagnostic(s.error());
  return 5;
}

// An image as a row of the page that has no run: it is missing.
PageRow MissingRow(const ImageStanding& image) {
  PageRow row;
  row.view.image = image.name;
  row.view.verdict = image.word;
  row.problem = image.cause;
  return row;
}

// Lines of a verdict: how each image stands, and the exit code.
std::string TextOf(const ImagesVerdict& verdict) {
  std::string text;
  for (const ImageStanding& image : verdict.images) {
    std::string word = image.word;
    word.resize(std::max<size_t>(word.size() + 2, 13), ' ');
    text += word + image.name + (image.cause.empty() ? "" : "  " + image.cause) + "\n";
  }
  constexpr const char* kWords[] = {"passed", "failed", "", "failed", "not_gated", "failed", "inconclusive"};
  return text + "verdict: " + kWords[verdict.exit_code] + " (exit " + std::to_string(verdict.exit_code) +
         ")\n";
}

}  // namespace

int MakeImagesPage(const std::vector<std::string>& places, const std::string& output_dir,
                   const std::optional<ExpectedImages>& expected) {
  std::vector<PageRow> rows;
  size_t unread = 0;
  const std::string folder = output_dir.empty() ? "." : output_dir;
  for (const std::string& place : places) {
    if (expected && access(place.c_str(), F_OK) != 0) {
      PrintDiagnostic(place + ": no such file or folder");
      continue;
    }
    rows.push_back(ReadRow(place, folder));
    unread += rows.back().problem.empty() ? 0 : 1;
  }
  if (!expected && unread == rows.size()) return Fail(rows[0].problem);
  ImagesVerdict verdict;
  std::vector<JunitImage> cases;
  if (expected) verdict = VerdictOnImages(rows, *expected);
  for (const ImageStanding& image : verdict.images) {
    cases.push_back(CaseOf(image));
    if (image.word == "missing") rows.push_back(MissingRow(image));
  }
  if (const Status s = MakeDirectories(folder); !s.ok()) return Fail(s.error());
  const std::string page = folder + "/images.html", junit = folder + "/images.xml";
  const std::string counts =
      std::to_string(rows.size()) + " images, " + std::to_string(unread) + " could not be read\n";
  if (expected)
    if (const int failed = Write(junit, RenderImagesJunit(cases), IsOwnReport); failed != 0) return failed;
  if (const int failed = Write(page, RenderPage(std::move(rows), time(nullptr)), IsOwnPage); failed != 0)
    return failed;
  if (!expected) return PrintAnswer(DiagnosticLine(page, 1000) + ": " + counts) ? 0 : 5;
  const int said = PrintText(TextOf(verdict));
  return said == 0 ? verdict.exit_code : said;
}

}  // namespace cudnn_ci
