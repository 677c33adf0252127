#include "common/install_line.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "common/loader_path.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr char kApt[] = "RUN apt-get update && apt-get install -y ";

// What neither a shell nor a Dockerfile takes for anything but itself.
bool HasOnly(const std::string& word, const std::string& further) {
  return word.find_first_not_of(kLetters + further) == std::string::npos;
}

bool IsName(const std::string& name) { return !name.empty() && name[0] != '-' && HasOnly(name, "-+."); }
bool IsVersion(const std::string& version) {
  return !version.empty() && version[0] >= '0' && version[0] <= '9' && HasOnly(version, ".+-:~");
}
bool IsPath(const std::string& path) { return !path.empty() && path[0] == '/' && HasOnly(path, "/._-+"); }

// A line can be written for it.
bool IsKnown(const InstalledPackage& package) {
  return IsName(package.name) &&
         (package.manager == Manager::kApt || (package.manager == Manager::kPip && IsPath(package.python)));
}

std::string Pip(const InstalledPackage& package) { return package.python + " -m pip "; }

// The terms of ">=9.12 <10" as pip has them, ">=9.12,<10". A bound as an upper one that is part of the range,
// or as an equal one, means something else there: a wheel has four numbers.
std::string PipRange(const std::string& range) {
  std::string all;
  std::istringstream terms(range);
  for (std::string term; terms >> term;) {
    const std::size_t digits = term.find_first_of("0123456789");
    const std::string op = term.substr(0, digits);
    if ((op != ">=" && op != "<") || digits == std::string::npos ||
        term.find_first_not_of("0123456789.", digits) != std::string::npos)
      return {};
    all += (all.empty() ? "" : ",") + term;
  }
  return all;
}

// 9 of "libcudnn9-cuda-13".
std::string MajorOfName(const std::string& package) {
  const std::size_t begin = package.find_first_of("0123456789");
  if (begin == std::string::npos) return {};
  return package.substr(begin, package.find_first_not_of("0123456789", begin) - begin);
}

}  // namespace

std::string ReinstallLine(const InstalledPackage& package) {
  if (!IsKnown(package) || !IsVersion(package.version)) return {};
  if (package.manager == Manager::kApt) return kApt + ("--reinstall " + package.name) + "=" + package.version;
  return "RUN " + Pip(package) + "install --force-reinstall --no-deps " + package.name +
         "==" + package.version;
}

std::string ReleaseLine(const InstalledPackage& package, const std::string& release) {
  if (!IsKnown(package) || !IsVersion(release) || package.pinned) return {};
  // NVIDIA's images hold the package of cuDNN.
  if (package.manager == Manager::kApt)
    return kApt + ("--allow-downgrades --allow-change-held-packages '" + package.name) + "=" + release +
           ".*'";
  return "RUN " + Pip(package) + "install --no-deps '" + package.name + "==" + release + ".*'";
}

std::string RangeLine(const InstalledPackage& package, const std::string& range) {
  const std::string wanted = PipRange(range);
  if (!IsKnown(package) || wanted.empty()) return {};
  if (package.manager == Manager::kPip)
    return "RUN " + Pip(package) + "install --no-deps '" + package.name + wanted + "'";
  const std::size_t lowest = wanted.find(">=");
  if (lowest == std::string::npos) return {};
  const std::string release = wanted.substr(lowest + 2, wanted.find(',', lowest) - lowest - 2);
  const bool same = release.compare(0, release.find('.'), MajorOfName(package.name)) == 0;
  return same && release.find('.') != std::string::npos ? ReleaseLine(package, release) : "";
}

std::string ReplaceLine(const InstalledPackage& package, const std::vector<std::string>& others) {
  if (package.manager != Manager::kPip || !IsKnown(package) || !IsVersion(package.version)) return {};
  if (!std::all_of(others.begin(), others.end(), IsName)) return {};
  const std::string install = Pip(package) + "install --no-deps " + package.name + "==" + package.version;
  if (others.empty()) return "RUN " + install;
  // The package itself too: the files that they have in common go with the first.
  std::string names = package.name;
  for (const std::string& other : others)
    if (other != package.name) names += " " + other;
  return "RUN " + Pip(package) + "uninstall -y " + names + " && " + install;
}

std::string EnvironmentLine(const std::string& name, const std::string& value) {
  return HasOnly(value, "_-+=./:,@%") ? "ENV " + name + "=" + value : "";
}

std::string PythonOf(const std::string& site_packages, const std::string& root) {
  const fs::path folder = site_packages, lib = folder.parent_path();
  const std::string name = lib.filename().string();  // "python3.11"
  // What Debian's own Python gets by pip.
  const bool local = site_packages == "/usr/local/lib/" + name + "/dist-packages";
  if (!local && folder.filename() != "site-packages") return {};
  if (name.compare(0, 6, "python") != 0 || lib.parent_path().filename() != "lib") return {};
  const auto exists = [&root](const fs::path& path) {
    std::error_code ignored;
    return fs::exists(root + path.string(), ignored);
  };
  const fs::path prefix = local ? fs::path("/usr") : lib.parent_path().parent_path();
  // https://packaging.python.org/en/latest/specifications/externally-managed-environments/
  if (exists(prefix / "lib" / name / "EXTERNALLY-MANAGED")) return {};
  if (!exists(folder / "pip") && !(local && exists("/usr/lib/python3/dist-packages/pip"))) return {};
  // A virtual environment has one Python; elsewhere "python" may be another.
  if (exists(prefix / "pyvenv.cfg") && exists(prefix / "bin/python")) return (prefix / "bin/python").string();
  return exists(prefix / "bin" / name) ? (prefix / "bin" / name).string() : "";
}

InstalledPackage WheelIn(const std::string& folder, const std::string& name, const std::string& version) {
  return {Manager::kPip, name, version, PythonOf(DirectoryOf(DirectoryOf(DirectoryOf(folder))))};
}

}  // namespace cudnn_ci
