#include "command.h"

#include <fnmatch.h>

#include <sstream>

#include "base/file.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxPattern = 1000;
constexpr size_t kMostMapped = size_t{16} << 20;  // of the list of files

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool HasLine(std::string_view output, const std::string& pattern) {
  while (!output.empty()) {
    const size_t end = output.find('\n');
    std::string line(output.substr(0, end));
    output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (fnmatch(pattern.c_str(), line.c_str(), 0) == 0) return true;
  }
  return false;
}

std::string ProblemOfPattern(const std::string& pattern) {
  if (pattern.empty()) return "an empty pattern; leave it out instead";
  if (pattern.size() > kMaxPattern)
    return "a pattern of " + std::to_string(pattern.size()) + " bytes; at most " +
           std::to_string(kMaxPattern) + " are allowed";
  if (pattern.find('\n') != std::string::npos)
    return "a pattern with a line feed matches nothing: patterns are compared with one line each";
  return "";
}

MappedFiles ReadMapped(const std::string& file) {
  MappedFiles mapped;
  const Result<std::string> text = ReadFile(file, kMostMapped);
  std::istringstream lines(text.ok() ? *text : text.error());  // the command may have written into it, too
  std::string line;
  // The first line is "ok" when everything was seen.
  if (!std::getline(lines, line)) {
    mapped.refused = "nothing was recorded";
    return mapped;
  }
  if (line != "ok") {
    mapped.refused = line;
    return mapped;
  }
  while (std::getline(lines, line)) mapped.files.push_back(line);
  return mapped;
}

bool IsMapped(const MappedFiles& mapped, const std::string& pattern) {
  const bool whole = pattern.find('/') != std::string::npos;
  for (const std::string& file : mapped.files)
    if (fnmatch(pattern.c_str(), (whole ? file : BaseName(file)).c_str(), 0) == 0) return true;
  return false;
}

std::vector<std::string> Relatives(const MappedFiles& mapped, const std::string& pattern) {
  const std::string name = BaseName(pattern);
  const std::string stem = name.substr(0, name.find_first_of("*?[."));
  std::vector<std::string> found;
  for (const std::string& file : mapped.files)
    if (!stem.empty() && BaseName(file).compare(0, stem.size(), stem) == 0) found.push_back(file);
  return found;
}

}  // namespace cudnn_ci
