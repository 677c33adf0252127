#include "common/install_line.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/path.h"

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

// 9 of "9.19.0.56-1".
std::string MajorOf(const std::string& version) { return version.substr(0, version.find('.')); }

// Whether terms of pip's leave releases of this major alone, ">=9.12,<10" those of 9: the wheel of one major
// has the next one's name where it serves the same CUDA.
bool AreOfMajor(const std::string& range, const std::string& major) {
  std::istringstream terms(range);
  bool bounded = false;
  for (std::string term; std::getline(terms, term, ',');) {
    const bool upper = term.compare(0, 2, ">=") != 0;
    const std::string bound = term.substr(upper ? 1 : 2);
    bounded = bounded || upper;
    if (upper && bound == std::to_string(std::atoi(major.c_str()) + 1)) continue;
    if (MajorOf(bound) != major) return false;
    // Below "9.0" there is nothing of 9.
    if (upper && bound.find_first_of("123456789", major.size()) == std::string::npos) return false;
  }
  return bounded;
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

std::string InstallLine(const InstalledPackage& package) {
  if (!IsKnown(package)) return {};
  return package.manager == Manager::kApt ? kApt + package.name
                                          : "RUN " + Pip(package) + "install " + package.name;
}

std::string FreshLine(const InstalledPackage& package, const std::string& version) {
  const bool any_end = version.ends_with(".*");
  if (package.manager != Manager::kPip || !IsKnown(package)) return {};
  if (!IsVersion(any_end ? version.substr(0, version.size() - 2) : version)) return {};
  const char* quote = any_end ? "'" : "";
  return "RUN " + Pip(package) + "install " + quote + package.name + "==" + version + quote;
}

std::string ExtrasLine(const InstalledPackage& package, const std::vector<std::string>& extras) {
  if (package.manager != Manager::kPip || !IsKnown(package) || !IsVersion(package.version)) return {};
  std::string names;
  for (const std::string& extra : extras) {
    if (!HasOnly(extra, "-_.")) return {};
    names += (names.empty() ? "" : ",") + extra;
  }
  return "RUN " + Pip(package) + "install '" + package.name + "[" + names + "]==" + package.version + "'";
}

std::string ReleaseLine(const InstalledPackage& package, const std::string& release) {
  if (!IsKnown(package) || !IsVersion(release) || package.pinned) return {};
  if (package.manager == Manager::kApt) {
    // "8.9.6.50-1+cuda11.8": the version has the CUDA major that it serves, and apt takes the highest.
    if (package.version.find('+') != std::string::npos || MajorOfName(package.name) != MajorOf(release))
      return {};
    // NVIDIA's images hold the package of cuDNN.
    return kApt + ("--allow-downgrades --allow-change-held-packages '" + package.name) + "=" + release +
           ".*'";
  }
  if (MajorOf(package.version) != MajorOf(release)) return {};
  return "RUN " + Pip(package) + "install --no-deps '" + package.name + "==" + release + ".*'";
}

std::string RangeLine(const InstalledPackage& package, const std::string& range) {
  const std::string wanted = PipRange(range);
  if (!IsKnown(package) || wanted.empty()) return {};
  if (package.manager == Manager::kPip && !AreOfMajor(wanted, MajorOf(package.version))) return {};
  if (package.manager == Manager::kPip)
    return "RUN " + Pip(package) + "install --no-deps '" + package.name + wanted + "'";
  const std::size_t lowest = wanted.find(">=");
  if (lowest == std::string::npos) return {};
  const std::string release = wanted.substr(lowest + 2, wanted.find(',', lowest) - lowest - 2);
  return release.find('.') != std::string::npos ? ReleaseLine(package, release) : "";
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

std::string CondaLine(const std::string& prefix, const std::string& name, const std::string& version,
                      bool again) {
  const std::size_t around = prefix.rfind("/envs/");
  std::string conda = prefix + "/bin/conda";
  if (!Exists(conda) && around != std::string::npos) conda = prefix.substr(0, around) + "/bin/conda";
  if (!IsPath(prefix) || !IsName(name) || !IsVersion(version) || !Exists(conda)) return {};
  return "RUN " + conda + " install -y -p " + prefix + " -c conda-forge " +
         (again ? "--force-reinstall " : "") + name + "=" + version;
}

std::string LineWithLinks(const std::string& line, const std::vector<std::string>& links,
                          const std::vector<std::string>& folders) {
  std::string all = line;
  const auto add = [&all](const std::string& command) { all += (all.empty() ? "RUN " : " && ") + command; };
  for (const std::string& link : links) {
    const std::size_t space = link.find(' ');
    if (space == std::string::npos || !HasOnly(link.substr(0, space), "-+._") ||
        !IsPath(link.substr(space + 1)))
      return {};
    add("ln -s " + link);
  }
  std::string names;
  for (const std::string& folder : folders) {
    if (!IsPath(folder)) return {};
    names += folder + " ";
  }
  if (!folders.empty()) add("printf '%s\\n' " + names + ">> /etc/ld.so.conf.d/cuda-python.conf && ldconfig");
  return all;
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

InstalledPackage WheelIn(const std::string& folder, const std::string& name, const std::string& version,
                         const std::string& root) {
  return {Manager::kPip, name, version, PythonOf(DirectoryOf(DirectoryOf(DirectoryOf(folder))), root)};
}

}  // namespace cudnn_ci
