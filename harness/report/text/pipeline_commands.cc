#include "report/text/pipeline_commands.h"

namespace cudnn_ci {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool BeginsWithCommand(std::string_view text) {
  if (text.substr(0, 2) != "##") return false;
  size_t end = 2;
  while (end < text.size() && IsLetter(text[end])) ++end;
  return end < text.size() && text[end] == '[';
}

}  // namespace

std::string WithoutPipelineCommands(std::string_view lines, const CommandSpelling& spelling) {
  std::string out;
  out.reserve(lines.size());
  bool only_blanks = true;  // so far, in this line
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view rest = lines.substr(i);
    if (only_blanks && rest.substr(0, 2) == "::") {
      out += spelling.colon;
    } else if (BeginsWithCommand(rest)) {
      out += '#';
      out += spelling.number_sign;
      ++i;
    } else {
      out += lines[i];
    }
    const bool visible = lines[i] > ' ' && lines[i] < 0x7F;  // of ASCII
    only_blanks = lines[i] == '\n' || lines[i] == '\r' || (only_blanks && !visible);
  }
  return out;
}

}  // namespace cudnn_ci
