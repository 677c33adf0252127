// Pages for a person, as labelled paragraphs: what the summary and the screen of facts are made of. As
// text, wrapped to a width; as Markdown in summary_report.cc.
#ifndef CUDNN_CI_REPORT_TEXT_TEXT_PAGE_H_
#define CUDNN_CI_REPORT_TEXT_TEXT_PAGE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci {

// Texts are clean (base/text.h): an implementation puts them on one line and bounds them.
class Page {
 public:
  virtual ~Page() = default;
  virtual void Line(const std::string& line) = 0;  // of several with the same columns; as it is
  virtual void Gap() = 0;
  // A label that is empty goes on with the one before.
  virtual void Item(const std::string& label, const std::string& value) = 0;
  // As it is, for text to copy.
  virtual void Verbatim(const std::string& label, const std::string& value) = 0;
};

// Cells side by side, each in a column of its width and two blanks behind it; the last one has none.
std::string InColumns(const std::vector<std::string>& cells, const std::vector<size_t>& widths);

class TextPage : public Page {
 public:
  // In columns, at least 60.
  explicit TextPage(size_t width);

  void Line(const std::string& line) override { text_ += line + "\n"; }
  void Gap() override { text_ += "\n"; }
  void Item(const std::string& label, const std::string& value) override { Item(label, value, 0); }
  // `label` stands in the margin of the first line; the lines behind it are indented by `hang` more. A word
  // longer than a line is not broken: ids, paths and commands must stay fit for copying.
  void Item(const std::string& label, const std::string& value, size_t hang);
  void Verbatim(const std::string& label, const std::string& value) override;
  std::string Take() { return std::move(text_); }

 private:
  size_t width_;
  std::string text_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_TEXT_PAGE_H_
