#include "image/contents/python_packages.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// A .pth file has a line for each folder; setuptools writes one of some hundred bytes.
constexpr size_t kMostOfPth = 64 * 1024;
constexpr size_t kMostFolders = 200;

std::string LowerCase(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// "key = value" lines of pyvenv.cfg, keys in lower case; empty where there is no such file.
std::map<std::string, std::string> ReadConfiguration(const std::string& path) {
  std::map<std::string, std::string> values;
  for (const std::string& line : Split(ReadSmallFile(path), '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key(Trim(std::string_view(line).substr(0, equals)));
    values[LowerCase(key)] = std::string(Trim(std::string_view(line).substr(equals + 1)));
  }
  return values;
}

bool IsVersioned(const std::string& name) {
  return name.compare(0, 8, "python3.") == 0 || name.compare(0, 6, "pypy3.") == 0;
}

// "python3.11" of an interpreter's name or of "3.11.2", which is how its folder below lib is called; empty
// where they do not tell.
std::string LibraryName(const std::string& executable, const std::string& version) {
  const std::string name = fs::path(executable).filename().string();
  if (IsVersioned(name)) return name.substr(0, name.find_first_not_of("0123456789t", name.find('.') + 1));
  const std::vector<std::string> parts = Split(version, '.');
  return parts.size() < 2 ? "" : "python" + parts[0] + "." + parts[1];
}

// "/opt/more" of `import site; site.addsitedir("/opt/more")`; empty where the line has no such call of an
// absolute path.
std::string AddedSite(const std::string& line) {
  constexpr std::string_view kCall = "site.addsitedir(";
  const size_t at = line.find(kCall);
  if (at == std::string::npos || at + kCall.size() >= line.size()) return "";
  const size_t begin = at + kCall.size() + 1;
  const char quote = line[begin - 1];
  const size_t end = line.find(quote, begin);
  const bool is_path = (quote == '"' || quote == '\'') && end != std::string::npos && line[begin] == '/';
  return is_path ? line.substr(begin, end - begin) : "";
}

// Gathers folders of packages in the order of sys.path.
class Gatherer {
 public:
  explicit Gatherer(FolderReader* reader) : reader_(reader) {}

  // A folder on sys.path, and those that its .pth files name. They may also hold code, which is not run; of a
  // call of site.addsitedir with a text, as uv writes it, the folder is taken.
  void AddSite(const std::string& folder) {
    if (!Add(folder)) return;
    for (const std::string& name : reader_->Names(folder)) {
      if (fs::path(name).extension() != ".pth") continue;
      for (const std::string& line : Split(ReadSmallFile(folder + "/" + name, kMostOfPth), '\n')) {
        const std::string text(Trim(line));
        const bool code = text.compare(0, 7, "import ") == 0 || text.compare(0, 7, "import\t") == 0;
        if (const std::string site = code ? AddedSite(text) : ""; !site.empty()) AddSite(site);
        if (!text.empty() && text[0] != '#' && !code) Add((fs::path(folder) / text).string());
      }
    }
  }

  // The packages of a prefix; `library` is "python3.11", or empty for every version that it has.
  void AddPrefix(const std::string& prefix, const std::string& library) {
    // Debian's own interpreter has them in folders of another name; one of them is for all versions.
    const std::string shared = prefix + "/lib/python3/dist-packages";
    for (const std::string& version : Versions(prefix, library)) {
      if (IsFolder(shared)) {
        AddSite(prefix + "/local/lib/" + version + "/dist-packages");
        AddSite(shared);
        AddSite(prefix + "/lib/" + version + "/dist-packages");
      }
      for (const char* lib : {"/lib/", "/lib64/"}) AddSite(prefix + lib + version + "/site-packages");
    }
  }

  bool Add(const std::string& folder) {
    const std::string normal = Normal(folder), real = RealPath(normal);
    const bool known = std::find(known_.begin(), known_.end(), real) != known_.end();
    if (known || folders_.size() >= kMostFolders || !IsFolder(normal)) return false;
    known_.push_back(real);
    folders_.push_back(normal);
    return true;
  }

  std::vector<std::string> Take() { return std::move(folders_); }

 private:
  std::vector<std::string> Versions(const std::string& prefix, const std::string& library) {
    if (!library.empty()) return {library};
    std::vector<std::string> versions;
    for (const char* lib : {"/lib", "/lib64"})
      for (const std::string& name : reader_->Names(prefix + lib))
        if (IsVersioned(name)) versions.push_back(name);
    return versions;
  }

  FolderReader* reader_;
  std::vector<std::string> folders_, known_;
};

// Why a path leads to no interpreter.
std::string InterpreterProblem(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_regular_file(status)) return "";
  if (fs::is_directory(status))
    return path + " is a folder; name the interpreter in it, as in " + path + "/bin/python";
  if (const fs::path target = fs::read_symlink(path, error); !error)
    return path + " is a link to " + target.string() + ", which does not exist";
  return path + ": no such file";
}

}  // namespace

PythonPackages FindPythonPackages(const std::string& interpreter, const Variables& environment,
                                  FolderReader* reader) {
  PythonPackages python;
  python.problem = InterpreterProblem(interpreter);
  if (python.problem.empty()) python.executable = RealPath(interpreter);
  std::string bin = DirectoryOf(Normal(interpreter));
  std::map<std::string, std::string> environment_file = ReadConfiguration(bin + "/pyvenv.cfg");
  if (environment_file.empty()) environment_file = ReadConfiguration(DirectoryOf(bin) + "/pyvenv.cfg");
  const bool is_environment = environment_file.count("home") > 0;
  // Outside an environment the interpreter follows the links to itself.
  if (!is_environment && !python.executable.empty()) bin = DirectoryOf(python.executable);
  python.prefix = DirectoryOf(bin);
  const std::string& version = environment_file["version"];
  const std::string library =
      LibraryName(python.executable, version.empty() ? environment_file["version_info"] : version);

  Gatherer gatherer(reader);
  for (const std::string& folder : Split(ValueOf(environment, "PYTHONPATH"), ':'))
    if (!folder.empty() && folder[0] == '/') gatherer.Add(folder);
  const auto add_users_own = [&] {
    if (!ValueOf(environment, "PYTHONNOUSERSITE").empty()) return;
    std::string base = ValueOf(environment, "PYTHONUSERBASE");
    const std::string home = ValueOf(environment, "HOME");
    if (base.empty() && !home.empty()) base = home + "/.local";
    if (!base.empty()) gatherer.AddPrefix(base, library);
  };
  if (!is_environment) add_users_own();
  gatherer.AddPrefix(python.prefix, library);
  if (is_environment && LowerCase(environment_file["include-system-site-packages"]) == "true") {
    add_users_own();
    gatherer.AddPrefix(fs::path(RealPath(environment_file["home"])).parent_path().string(), library);
  }
  python.folders = gatherer.Take();
  if (python.problem.empty() && python.folders.empty())
    python.problem = interpreter + ": no folder of packages belongs to it (" + python.prefix +
                     "/lib/python3*/site-packages); name the interpreter itself, not a script that starts it";
  return python;
}

std::string HomeOfEnvironment(const std::string& prefix) {
  return ReadConfiguration(prefix + "/pyvenv.cfg")["home"];
}

}  // namespace cudnn_ci
