#include "image/packages/record_text.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace cudnn_ci {

namespace fs = std::filesystem;

void ForEachLine(std::string_view text, const std::function<void(std::string_view line)>& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string PrintableRecord(std::string text) {
  constexpr std::string_view kMarks = "._-+!~:";
  for (char& c : text)
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
          kMarks.find(c) != std::string_view::npos))
      c = '?';
  return text;
}

std::vector<std::string> RecordNames(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < kMostPackages;
       it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cudnn_ci
