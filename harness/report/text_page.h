// Text for a person: labelled paragraphs, wrapped to a width. What the last screen and the screen of facts
// are made of.
#ifndef CUDNN_CI_REPORT_TEXT_PAGE_H_
#define CUDNN_CI_REPORT_TEXT_PAGE_H_

#include <cstddef>
#include <string>
#include <utility>

namespace cudnn_ci {

// Texts come from anywhere: they are cleaned (CleanLine) and bounded here.
class TextPage {
 public:
  // In columns, at least 60.
  explicit TextPage(size_t width);

  void Line(const std::string& line) { text_ += line + "\n"; }
  void Gap() { text_ += "\n"; }
  // `label` stands in the margin of the first line; the lines behind it are indented by `hang` more. A word
  // longer than a line is not broken: ids, paths and commands must stay fit for copying.
  void Item(const std::string& label, const std::string& value, size_t hang = 0);
  // As it is, for text to copy.
  void Verbatim(const std::string& label, const std::string& value);
  std::string Take() { return std::move(text_); }

 private:
  size_t width_;
  std::string text_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_PAGE_H_
