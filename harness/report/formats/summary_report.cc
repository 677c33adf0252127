// The summary of a run in Markdown. See summary_report.h.
#include "report/formats/summary_report.h"

#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "report/record/own_reports.h"
#include "report/text/run_text.h"
#include "report/text/text_page.h"

namespace cudnn_ci {
namespace {

// A code span with more backquotes around it than stand in a row inside: it holds the text as it is, so that
// a command can be copied.
std::string Code(const std::string& text) {
  if (text.empty()) return "-";
  size_t longest = 0, row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(longest + 1, '`');
  const std::string blank = text.front() == '`' || text.back() == '`' ? " " : "";
  return fence + blank + text + blank + fence;
}

class MarkdownPage : public Page {
 public:
  explicit MarkdownPage(const std::string& head) : text_(head) {}

  // In a block, which keeps the columns.
  void Line(const std::string& line) override {
    // Behind a list the same blanks would only go on with its last item.
    if (!in_block_) text_ += "\n<!-- -->\n\n";
    in_block_ = true;
    text_ += "    " + SingleLine(line, 500) + "\n";  // four blanks make it code
  }
  void Gap() override {
    text_ += "\n";
    in_block_ = false;
  }
  void Item(const std::string& label, const std::string& value) override {
    Put(label, SingleLine(value, 4000));
  }
  void Verbatim(const std::string& label, const std::string& value) override {
    Put(label, SingleLine(value, 8000));
  }
  std::string Take() { return std::move(text_); }

 private:
  void Put(const std::string& label, const std::string& value) {
    in_block_ = false;
    text_ += (label.empty() ? "  - " : "- **" + label + "** ") + Code(value) + "\n";
  }
  std::string text_;
  bool in_block_ = false;
};

}  // namespace

std::string SummaryMarkdown(const Summary& summary, const Verdict& verdict,
                            const RunSummaryOptions& options) {
  MarkdownPage page(std::string(kSummaryMark) + "\n## " + SingleLine(Headline(summary, verdict)) + "\n\n");
  PutRunSummary(summary, verdict, options, &page);
  return page.Take() + "\n" + Code(VerdictLine(summary, verdict)) + "\n";
}

Status SummaryReporter::Finish(const Summary& summary) {
  return WriteFileAtomically(path_, SummaryMarkdown(summary, Judge(summary), screen_), false, IsOwnReport);
}

void SummaryReporter::Withdraw() {
  if (IsOwnReport(path_)) unlink(path_.c_str());
}

}  // namespace cudnn_ci
