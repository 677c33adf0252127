#include "common/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/cut_mark.h"

namespace cudnn_ci {
namespace {

constexpr size_t kShownOutput = 8 * 1024;
constexpr double kLongest = 24 * 3600;
constexpr int kNotFound = 127;  // what cudnn-ci-worker exits with when exec fails
// What execvp searches without PATH (confstr's _CS_PATH of glibc).
constexpr char kDefaultPath[] = "/bin:/usr/bin";

// 0, or why the file cannot be executed.
int ErrorOf(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return errno;
  if (!S_ISREG(st.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

struct Found {
  std::string path, error;  // one of them
};

Found Find(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    const int code = ErrorOf(program);
    return code == 0 ? Found{program, ""} : Found{"", program + ": " + std::strerror(code)};
  }
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : kDefaultPath, refused;
  for (folders += ':'; !folders.empty();) {
    const size_t colon = folders.find(':');
    const std::string folder = colon == 0 ? "." : folders.substr(0, colon);
    folders.erase(0, colon + 1);
    const std::string file = folder + "/" + program;
    const int code = ErrorOf(file);
    if (code == 0) return {file, ""};
    if (code == EACCES && refused.empty()) refused = file + ": " + std::strerror(code);
  }
  return {"", refused.empty() ? program + " is not in PATH" : refused};
}

}  // namespace

std::string LookupError(const std::string& program) { return Find(program).error; }

std::string PathOfProgram(const std::string& program) { return Find(program).path; }

std::string StartError(const std::string& program, const ChildResult& result) {
  const std::string words = "cannot run " + program + ": ";
  if (result.exit_status != kNotFound || result.output.compare(0, words.size(), words) != 0) return "";
  return result.output.substr(words.size(), result.output.find('\n') - words.size());
}

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "it printed nothing";
  const size_t begin = output.find_last_of('\n', end);
  const std::string line = output.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
  return "its last line: " + line.substr(0, end - begin);
}

std::string EndOf(const std::string& output) {
  if (output.size() <= kShownOutput) return output;
  const size_t left_out = output.size() - kShownOutput;
  return CutMark(left_out) + "\n" + output.substr(left_out);
}

void LogEnd(Context& ctx, const std::string& output) { ctx.Log(EndOf(output)); }

std::string SecondsText(double seconds) {
  std::ostringstream text;
  text << seconds << " s";
  return text.str();
}

std::string ProblemOfSeconds(double seconds) {
  // No program starts in less than the shortest: the image would be to blame for that.
  constexpr double kShortest = 0.1;
  if (seconds >= kShortest && seconds <= kLongest) return "";
  return "must be from 0.1 to 86400 seconds";
}

}  // namespace cudnn_ci
