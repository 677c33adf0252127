// `cudnn-ci copy-to`: the installed tree, or the one that the executable carries, into a folder, where there
// is neither a shell nor cp.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>

#include "base/embedded.h"
#include "base/file.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/commands/table.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// In the order they appear in; bin, by which a whole copy is known, is the last.
constexpr const char* kParts[] = {"libexec", "plugins", "matrices", "knowledge", "share", "bin"};

bool IsOurs(const fs::path& component) { return component.string().compare(0, 8, "cudnn-ci") == 0; }

// Whether a file is copied, by its path below the tree. A tree may be /usr/local: only what bears our name is
// taken of folders that others use as well.
bool Belongs(const fs::path& relative) {
  const std::string part = relative.begin()->string();
  if (part == "plugins" || part == "matrices" || part == "knowledge") return true;
  for (const fs::path& component : relative)
    if (IsOurs(component)) return true;
  return false;
}

Error Failed(const fs::path& path, const std::error_code& error) {
  return Error{"cannot copy to " + path.string() + ": " + error.message()};
}

// A folder with mode 0755, and its parents below `root`.
Status MakeFolder(const fs::path& root, const fs::path& relative) {
  fs::path path = root;
  std::error_code error;
  for (const fs::path& component : relative) {
    path /= component;
    if (fs::create_directory(path, error)) fs::permissions(path, fs::perms(0755), error);
    if (error) return Failed(path, error);
  }
  return {};
}

Status SetMode(const fs::path& file, bool program) {
  std::error_code error;
  fs::permissions(file, fs::perms(program ? 0755 : 0644), error);
  return error ? Status(Failed(file, error)) : Status();
}

Status CopyFile(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::perms mode = fs::status(from, error).permissions();
  if (error) return Failed(from, error);
  if (!fs::copy_file(from, to, error)) return Failed(to, error);
  return SetMode(to, (mode & fs::perms::owner_exec) != fs::perms::none);
}

Status WriteFile(const fs::path& root, const fs::path& relative, const Result<std::string>& content,
                 bool program) {
  if (!content.ok()) return Error{content.error()};
  if (Status s = MakeFolder(root, relative.parent_path()); !s.ok()) return s;
  if (Status s = WriteFileAtomically((root / relative).string(), *content); !s.ok()) return s;
  return SetMode(root / relative, program);
}

// What the executable `root` carries, and the executable without that, below `staging`; counts the files.
Status Unpack(const std::string& root, const fs::path& staging, int* files) {
  for (const std::string& path : Embedded()->Paths()) {
    const fs::path relative = path.substr(root.size() + 1);
    if (Status s = WriteFile(staging, relative, Embedded()->Read(path), Embedded()->IsProgram(path)); !s.ok())
      return s;
    ++*files;
  }
  ++*files;
  return WriteFile(staging, "bin/cudnn-ci", Embedded()->ProgramAlone(), true);
}

// One part of the tree below `staging`; counts its files.
Status CopyPart(const fs::path& tree, const fs::path& staging, const char* part, int* files) {
  std::error_code error;
  if (!fs::exists(tree / part, error)) return {};
  fs::recursive_directory_iterator it(tree / part, fs::directory_options::follow_directory_symlink, error),
      end;
  for (; !error && it != end; it.increment(error)) {
    const fs::path relative = it->path().lexically_relative(tree);
    if (!it->is_regular_file(error) || !Belongs(relative)) continue;
    if (Status s = MakeFolder(staging, relative.parent_path()); !s.ok()) return s;
    if (Status s = CopyFile(it->path(), staging / relative); !s.ok()) return s;
    ++*files;
  }
  return error ? Status(Error{"cannot read " + (tree / part).string() + ": " + error.message()}) : Status();
}

// Moves what was copied into its place, and an earlier copy out of it.
Status Exchange(const fs::path& staging, const fs::path& target) {
  std::error_code error;
  const fs::path old = staging / "old";
  fs::create_directory(old, error);
  // From the last to the first: from here on until the end the target is visibly not whole.
  for (size_t i = std::size(kParts); i-- > 0 && !error;)
    if (fs::exists(fs::symlink_status(target / kParts[i])))
      fs::rename(target / kParts[i], old / kParts[i], error);
  for (const char* part : kParts)
    if (!error && fs::exists(staging / part)) fs::rename(staging / part, target / part, error);
  return error ? Status(Failed(target, error)) : Status();
}

Status CheckTarget(const fs::path& tree, const fs::path& target) {
  std::error_code error;
  const fs::path from = fs::weakly_canonical(tree, error), to = fs::weakly_canonical(target, error);
  if (error) return Failed(target, error);
  const fs::path below = to.lexically_relative(from);
  if (!below.empty() && *below.begin() != "..")
    return Error{target.string() + " is inside the installed tree; name another folder"};
  if (fs::exists(to / "bin/cudnn-ci", error) && fs::exists(to / "libexec/cudnn-ci-worker", error)) return {};
  for (const char* part : kParts)
    if (fs::exists(fs::symlink_status(to / part, error)))
      return Error{(target / part).string() + " exists and is not a copy of cudnn-ci; name an empty folder"};
  return {};
}

// Copies what belongs to cudnn-ci of the tree of an installation (programs, plugins, matrices, documents; not
// the SDK) into `target`, which is created if it is not there. Links are followed. Files get mode 0755 when
// their owner may execute them and 0644 else, folders 0755, whatever the umask: only their owner may
// write a plugin. bin/ appears last, by rename: a target with bin/cudnn-ci is whole. An earlier copy is
// replaced; anything else of these names in `target` is an error, and nothing is touched then. Returns how
// many files were copied. Errors name the path and what to do.
Result<int> CopyTree(const Installation& installation, const std::string& target) {
  const std::string& tree = installation.TreeRoot();
  for (const char* needed : {"/bin/cudnn-ci", "/libexec/cudnn-ci-worker", "/plugins"}) {
    const std::string why =
        installation.IsEmbedded() ? "" : Installation::MissingFileText(tree + needed, R_OK);
    if (!why.empty()) return Error{why};
  }
  if (Status s = CheckTarget(tree, target); !s.ok()) return Error{s.error()};
  if (Status s = MakeDirectories(target); !s.ok()) return Error{s.error()};
  std::string staging = target + "/.cudnn-ci-XXXXXX";
  if (!mkdtemp(staging.data()))
    return Error{"cannot write to " + target + ": " +
                 std::error_code(errno, std::generic_category()).message() + "; mount a folder that user " +
                 std::to_string(geteuid()) + " can write"};
  int files = 0;
  Status status;
  if (installation.IsEmbedded()) status = Unpack(tree, staging, &files);
  for (const char* part : kParts)
    if (status.ok() && !installation.IsEmbedded()) status = CopyPart(tree, staging, part, &files);
  if (status.ok()) status = Exchange(staging, target);
  std::error_code ignored;
  fs::remove_all(staging, ignored);
  if (!status.ok()) return Error{status.error()};
  return files;
}

class CopyTo : public Command {
 public:
  void Declare(CLI::App* app) override {
    app->add_option("DIR", target_, "folder to copy the tree to")->required();
  }
  int Run(const Invocation& invocation) override {
    const Result<int> files = CopyTree(invocation.installation, target_);
    if (!files.ok()) return Fail(files.error());
    return PrintText("copied " + std::to_string(*files) + " files to " + target_ + "\n");
  }

 private:
  std::string target_;
};

}  // namespace

std::unique_ptr<Command> MakeCopyTo() { return std::make_unique<CopyTo>(); }

}  // namespace cudnn_ci
