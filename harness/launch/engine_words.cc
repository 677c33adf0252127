#include "launch/engine_words.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/text.h"

namespace cudnn_ci::launch {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "exec /x: exec format error", "standard_init_linux.go:228: exec user process caused: ..."
bool IsFailedExec(std::string_view line) {
  constexpr std::string_view kReasons[] = {"exec format error", "no such file or directory",
                                           "permission denied"};
  constexpr std::string_view kCaused = "exec user process caused: ";
  for (const std::string_view failed : kReasons) {
    if (line.find(std::string(kCaused) + std::string(failed)) != std::string_view::npos) return true;
    if (line.starts_with("exec /") && line.find(": " + std::string(failed)) != std::string_view::npos)
      return true;
  }
  return false;
}

// Without what stands between quotes of one kind, which is a path: `error mounting "/home/exec/w"`.
std::string WithoutQuoted(std::string_view text) {
  constexpr std::string_view kQuotes = "\"`'";
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool opens = kQuotes.find(text[at]) != std::string_view::npos;
    const size_t end = opens ? text.find(text[at], at + 1) : std::string_view::npos;
    plain += opens && end != std::string_view::npos ? ' ' : text[at];
    if (opens && end != std::string_view::npos) at = end;
  }
  return plain;
}

// Whether it has the word as one of a sentence's, not as a part of a path or name.
bool HasWord(std::string_view text, std::string_view word) {
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-").find(c) != std::string_view::npos;
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end]))) return true;
  }
  return false;
}

// What a runtime says of a container that it could not make; empty: the line is none of these.
//   "runc create failed: unable to start container process: error during container init: error setting
//   rlimits" "crun: setrlimit `RLIMIT_NOFILE`: Operation not permitted"
std::string_view WordsOfInit(std::string_view line) {
  for (const std::string_view head : {"unable to start container process: ", "crun: "})
    if (const size_t at = line.find(head); at != std::string_view::npos) return line.substr(at + head.size());
  return {};
}

// Where the program is what fails, it says "exec" or "executable".
bool IsFailedInit(std::string_view line) {
  const std::string words = WithoutQuoted(WordsOfInit(line));
  return !words.empty() && !HasWord(words, "exec") && !HasWord(words, "executable");
}

// Where the words begin in a line by which nerdctl says that it has failed; npos: it is another line.
size_t BeginOfFatal(std::string_view line) {
  constexpr std::string_view kTime = "time=\"", kFatal = "\" level=fatal msg=";
  const size_t at = line.starts_with(kTime) ? line.find(kFatal) : std::string_view::npos;
  return at == std::string_view::npos ? at : at + kFatal.size();
}

// `"a \"b\""` as `a "b"`; what does not begin with a quote, as it is.
std::string Unquoted(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  std::string plain;
  for (size_t at = 1; at < text.size() && text[at] != '"'; ++at) {
    const bool escaped = text[at] == '\\' && at + 1 < text.size();
    if (escaped) ++at;
    plain += escaped && text[at] == 'n' ? '\n' : escaped && text[at] == 't' ? '\t' : text[at];
  }
  return plain;
}

}  // namespace

bool RuntimeFailed(int status, const std::string& said) {
  const std::vector<std::string> lines = Split(Lower(said), '\n');
  if (status == 125) return std::none_of(lines.begin(), lines.end(), IsFailedExec);
  return (status == 126 || status == 127) && std::any_of(lines.begin(), lines.end(), IsFailedInit);
}

bool CouldNotStart(int status, const std::string& said) {
  if (status == 126 || status == 127) return true;
  const std::vector<std::string> lines = Split(said, '\n');
  return std::any_of(lines.begin(), lines.end(), IsFailedExec);
}

int StatusOfClient(const std::string& said) {
  const std::vector<std::string> lines = Split(Lower(said), '\n');
  const bool init =
      std::any_of(lines.begin(), lines.end(), [](const auto& line) { return !WordsOfInit(line).empty(); });
  return init ? 127 : 125;
}

bool SaysFatal(const std::string& said) {
  const std::vector<std::string> lines = Split(said, '\n');
  return std::any_of(lines.begin(), lines.end(),
                     [](const auto& line) { return BeginOfFatal(line) != std::string::npos; });
}

std::string WithPlainFatal(const std::string& said) {
  std::vector<std::string> lines = Split(said, '\n');
  for (std::string& line : lines)
    if (const size_t at = BeginOfFatal(line); at != std::string::npos) line = Unquoted(line.substr(at));
  return Join(lines, "\n");
}

bool IsDenied(const std::string& said) { return Lower(said).find("permission denied") != std::string::npos; }

std::string VersionIn(const std::string& output) {
  for (const std::string& line : Split(output, '\n')) {
    const std::string_view text = Trim(line);
    if (Lower(std::string(text.substr(0, 8))) == "version:") return std::string(Trim(text.substr(8)));
  }
  return "";
}

bool IsPodman(const std::string& output) { return output.find("Podman Engine") != std::string::npos; }

bool IsNerdctl(const std::string& output) { return output.find("buildctl:") != std::string::npos; }

bool IsClientAlone(const std::string& output) {
  return IsNerdctl(output) && output.find("Server:") == std::string::npos;
}

}  // namespace cudnn_ci::launch
