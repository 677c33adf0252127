#include "image/contents/resolve.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/json_bytes.h"
#include "base/text.h"
#include "image/contents/folder_list.h"
#include "image/contents/package_libraries.h"
#include "image/contents/program_libraries.h"
#include "image/contents/python_packages.h"

namespace cudnn_ci {
namespace {

// "/opt/venv" of "python:/opt/venv" for "python:"; nothing of another specification.
bool TakeAfter(const std::string& prefix, const std::string& spec, std::string* rest) {
  if (spec.compare(0, prefix.size(), prefix) != 0) return false;
  *rest = spec.substr(prefix.size());
  return true;
}

// The loader passes over a folder that is not there, and would test the system's libraries in its place.
std::string FolderProblem(const std::string& folder, FolderReader* reader) {
  if (reader->HoldsLibrary(folder)) return "";
  std::error_code error;
  const std::filesystem::directory_iterator readable(folder, error);
  return folder + (error ? ": " + error.message() : " holds no shared library");
}

// The folders that fit, in their order; *left_out names the first that does not.
std::vector<std::string> Bounded(const std::vector<std::string>& folders, size_t* count, size_t* bytes,
                                 std::string* left_out) {
  std::vector<std::string> kept;
  for (const std::string& folder : folders) {
    *bytes += JsonBytes(folder) + 1;
    // The loader's list knows no way to write a separator.
    const bool fits = ++*count <= kMaxSubjectFolders && *bytes <= kMaxSubjectFolderBytes &&
                      folder.find_first_of(":;") == std::string::npos;
    if (fits)
      kept.push_back(folder);
    else if (left_out->empty())
      *left_out = folder;
  }
  return kept;
}

LibraryFolders FindFolders(const std::string& spec, const Variables& environment, const PackageNames& names,
                           FolderReader* reader, std::string* problem) {
  LibraryFolders folders;
  std::string rest;
  if (TakeAfter("path:", spec, &rest)) {
    folders.before = Split(rest, ':');
    for (const std::string& folder : folders.before) {
      const std::string wrong = FolderProblem(folder, reader);
      if (!wrong.empty()) *problem += (problem->empty() ? "" : "; ") + wrong;
    }
  } else if (TakeAfter("python:", spec, &rest)) {
    const PythonPackages python = FindPythonPackages(rest, environment, reader);
    *problem = python.problem;
    folders = FindPackageLibraries(python, names, reader);
  } else if (TakeAfter("program:", spec, &rest)) {
    folders = FindProgramLibraries(rest, ValueOf(environment, "LD_LIBRARY_PATH"), reader, problem);
  }
  return folders;
}

}  // namespace

ResolvedSubject ResolveSubject(SubjectInfo subject, const Variables& environment, const PackageNames& names) {
  ResolvedSubject resolved;
  FolderReader reader;
  const LibraryFolders found = FindFolders(subject.spec, environment, names, &reader, &resolved.problem);
  size_t count = 0, bytes = 0;
  subject.folders = Bounded(found.before, &count, &bytes, &resolved.left_out);
  subject.late_folders = Bounded(found.behind, &count, &bytes, &resolved.left_out);
  if (!resolved.problem.empty()) resolved.problem = "subject " + subject.name + ": " + resolved.problem;
  resolved.complete = reader.complete();
  resolved.subject = std::move(subject);
  return resolved;
}

}  // namespace cudnn_ci
