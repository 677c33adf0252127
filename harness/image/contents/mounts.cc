#include "image/contents/mounts.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/driver_names.h"
#include "base/file.h"
#include "base/path.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostBytes = 4 << 20;

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// As mountinfo has a path: "\040" for a blank (proc(5)).
std::string Unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) &&
                        IsOctal(text[i + 2]) && IsOctal(text[i + 3]);
    if (escape) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The process namespace from which all others are made: PROC_PID_INIT_INO of linux/proc_ns.h.
constexpr char kMachinesPids[] = "pid:[4026531836]";

}  // namespace

Mounts Mounts::Parse(const std::string& text) {
  Mounts mounts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, point;
    if (!(words >> skipped >> skipped >> skipped >> skipped >> point)) continue;
    mounts.points_.push_back(Unescaped(point));
    std::string type;
    for (std::string word; words >> word && word != "-";) continue;
    // The last one covers those before it.
    if (point == "/" && words >> type)
      mounts.root_is_of_image_ = type == "overlay" || type == "fuse.fuse-overlayfs" || type == "aufs";
  }
  return mounts;
}

Mounts Mounts::Read(const std::string& root) {
  Mounts mounts = Parse(ReadSmallFile(root + "/proc/self/mountinfo", kMostBytes));
  // Not /.dockerenv, which virtual machines have whose disk was an image.
  // The root of a node without a disk is an overlay too: that of the machine's own processes.
  std::error_code error;
  const std::string pids = std::filesystem::read_symlink(root + "/proc/self/ns/pid", error).string();
  mounts.root_is_of_image_ =
      (mounts.root_is_of_image_ && pids != kMachinesPids) || Exists(root + "/run/.containerenv");
  return mounts;
}

bool Mounts::IsPoint(const std::string& path) const {
  return std::find(points_.begin(), points_.end(), RealPath(path)) != points_.end();
}

bool Mounts::IsOfDriver(const std::string& path) const {
  if (IsPoint(path)) return true;
  const std::string real = RealPath(path);
  for (const char* name : driver_names::kFolders) {
    const std::string folder = RealPath(name);
    const auto holds = [&](const std::string& point) {
      return (point + "/").starts_with(folder + "/") && real.starts_with(point + "/");
    };
    if (std::any_of(points_.begin(), points_.end(), holds)) return true;
  }
  return false;
}

}  // namespace cudnn_ci
