#include "report/text/text_page.h"

#include <algorithm>

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kLabelWidth = 14;

std::string Margin(const std::string& label) {
  std::string margin = "  " + label;
  margin.resize(std::max(margin.size() + 1, kLabelWidth), ' ');
  return margin;
}

}  // namespace

std::string InColumns(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i + 1 < cells.size(); ++i)
    line += cells[i] + std::string(widths[i] - std::min(widths[i], cells[i].size()) + 2, ' ');
  return line + cells.back();
}

TextPage::TextPage(size_t width) : width_(std::max<size_t>(width, 60)) {}

void TextPage::Item(const std::string& label, const std::string& value, size_t hang) {
  std::string line = Margin(label);
  size_t column = line.size();
  bool first = true;
  for (const std::string& word : Split(SingleLine(value, 4000), ' ')) {
    if (!first && column + 1 + word.size() > width_) {
      Line(line);
      line = std::string(kLabelWidth + hang, ' ');
      column = line.size();
      first = true;
    }
    if (!first) line += ' ', ++column;
    line += word;
    column += word.size();
    first = false;
  }
  Line(line);
}

void TextPage::Verbatim(const std::string& label, const std::string& value) {
  Line(Margin(label) + SingleLine(value, 8000));
}

}  // namespace cudnn_ci
