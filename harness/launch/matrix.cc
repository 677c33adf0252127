#include "launch/matrix.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "launch/speech.h"
#include "model/json/json_parse.h"
#include "model/matrix/builtin_matrices.h"

namespace cudnn_ci::launch {
namespace {

constexpr std::string_view kBuiltin = "builtin:";
constexpr int kMostLevels = 16;

bool IsFile(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

bool IsBelow(const std::string& path, const std::string& folder) {
  const std::string head = folder == "/" ? folder : folder + "/";
  return path.compare(0, head.size(), head) == 0;
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What a matrix extends, as it stands there; empty: nothing, or it is no matrix, which cudnn-ci will say.
std::string ParentOf(const std::string& file) {
  const Result<std::string> text = ReadFile(file, kMaxJsonBytes);
  if (!text.ok()) return {};
  const auto parsed = ParseJson(*text, file);
  const Json* const root = std::get_if<Json>(&parsed);
  const auto* object = root == nullptr ? nullptr : std::get_if<Json::Object>(&root->value);
  const Json* const extends = object == nullptr ? nullptr : Find(*object, "extends");
  const auto* parent = extends == nullptr ? nullptr : std::get_if<std::string>(&extends->value);
  return parent == nullptr ? std::string() : *parent;
}

// Without "." and "..", an absolute path; empty: it leads above the topmost folder.
std::string Plain(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string& part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && parts.empty()) return {};
    if (part == "..")
      parts.pop_back();
    else
      parts.push_back(part);
  }
  return "/" + Join(parts, "/");
}

// Adds what the matrix extends outside of its folder. Each parent lies in the container where the tool looks
// for it: by the path in the child's folder, links followed.
Status AddParents(const std::string& named, MatrixChoice* choice) {
  std::string child = RealPath(choice->file), place = DirectoryOf(choice->file);
  if (IsBelow(child, place)) place = DirectoryOf(child);  // a link is followed there, too
  for (int level = 0; level < kMostLevels; ++level) {
    const std::string parent = ParentOf(child);
    if (parent.empty()) return {};
    const std::string looked_for = parent[0] == '/' ? parent : place + "/" + parent;
    child = parent[0] == '/' ? parent : DirectoryOf(child) + "/" + parent;
    const std::string inside = Plain(looked_for);
    if (inside.empty()) return Error{named + ": \"extends\" leads above the topmost folder"};
    if (!IsFile(child)) return {};  // a name of the tool's own, or none: cudnn-ci says so, with its place
    child = RealPath(child);
    if (child.find(':') != std::string::npos) return Error{child + ": a path with a colon cannot be mounted"};
    if (!IsBelow(inside, choice->folder)) choice->parents.emplace_back(child, inside);
    place = DirectoryOf(inside);
  }
  return {};
}

Result<MatrixChoice> FileOfThisMachine(const std::string& name) {
  const Result<std::string> folder = FolderToMount(DirectoryOf(name));
  if (!folder.ok()) return Error{folder.error()};
  MatrixChoice choice;
  choice.folder = *folder;
  choice.file = (*folder == "/" ? "" : *folder) + "/" + NameOf(name);
  if (Status s = AddParents(name, &choice); !s.ok()) return Error{s.error()};
  return choice;
}

// Whether it is the name of one of the tool's own. Those of a tool that does not tell are not known.
bool IsOfTheTool(const std::string& name, const Tool& tool) {
  return !tool.matrices_dir.empty() && FindBuiltin(name, tool.matrices_dir).ok();
}

Result<MatrixChoice> OfTheTool(const std::string& name, const Tool& tool) {
  MatrixChoice choice;
  choice.builtin = std::string(kBuiltin) + name;
  // One of a file that is the tool is known there.
  if (tool.matrices_dir.empty() && !name.empty()) return choice;
  const Result<std::string> found = FindBuiltin(name, tool.matrices_dir);
  return found.ok() ? Result<MatrixChoice>(choice)
                    : Error{"--matrix " + name + ": no such file, and " + found.error()};
}

bool NamesContract(const Options& options) {
  return std::any_of(options.arguments.begin(), options.arguments.end(), [](const std::string& word) {
    return word == "--auto" || word == "--no-gpu" || word == "--sbom" || word.compare(0, 7, "--sbom=") == 0;
  });
}

}  // namespace

Result<MatrixChoice> ChooseMatrix(const Options& options, const Tool& tool) {
  std::string name = options.matrix;
  const std::string& behind = options.matrix_behind;
  const bool is_of_the_tool = behind.compare(0, kBuiltin.size(), kBuiltin) == 0 || IsOfTheTool(behind, tool);
  if (!behind.empty()) {
    // What is none here is the container's: a file of the image, or of the tree that is mounted there.
    const bool is_mounted = IsBelow(behind, "/opt/cudnn-ci");
    if (is_mounted || (!IsFile(behind) && !is_of_the_tool)) {
      MatrixChoice choice;
      choice.inside = behind;
      return choice;
    }
    name = behind;
  }
  if (options.ask.empty() && name.empty() && options.gpus.empty() && !NamesContract(options) &&
      IsOfTheTool("static", tool)) {
    Say("no GPU and no matrix: testing the image's files with the matrix static");
    name = "static";
  }
  if (name.empty()) return MatrixChoice();
  const bool is_named_in_full = name.compare(0, kBuiltin.size(), kBuiltin) == 0;
  if (!is_named_in_full && IsFile(name)) return FileOfThisMachine(name);
  return OfTheTool(is_named_in_full ? name.substr(kBuiltin.size()) : name, tool);
}

}  // namespace cudnn_ci::launch
