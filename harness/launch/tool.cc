#include "launch/tool.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "launch/options.h"

namespace cudnn_ci::launch {
namespace {

bool IsProgram(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<Tool> FindTool(const std::string& given, const Home& home) {
  const std::string place = !given.empty() ? given : home.tree.empty() ? home.program : home.tree;
  if (IsProgram(place)) {
    const std::string file = RealPath(place);
    if (file.find(':') != std::string::npos) return Error{file + ": a path with a colon cannot be mounted"};
    return Tool{file, "cudnn-ci", "cudnn-ci", given.empty() ? home.matrices_dir : ""};
  }
  if (given.empty() && (!IsProgram(place + "/bin/cudnn-ci") || !Exists(place + "/libexec/cudnn-ci-worker")))
    return Error{
        home.program +
        " is incomplete: it carries no files, and is not in an installed tree. If it was cudnn-ci as one "
        "file, it was truncated or stripped: download it again, or name a tree with --tool"};
  if (!IsProgram(place + "/bin/cudnn-ci"))
    return Error{place + "/bin/cudnn-ci: not found; name the installed tree with --tool"};
  const Result<std::string> tree = FolderToMount(place);
  if (!tree.ok()) return Error{tree.error()};
  return Tool{*tree, "tool", "tool/bin/cudnn-ci", *tree + "/matrices"};
}

std::string ProcessorOf(const Tool& tool) {
  const std::string head =
      ReadSmallFile(tool.source + (tool.inside == "tool" ? "/bin/cudnn-ci" : ""), sizeof(Elf64_Ehdr));
  Elf64_Ehdr header{};
  if (head.size() < sizeof header) return "";
  memcpy(&header, head.data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "";
  return header.e_machine == EM_X86_64 ? "amd64" : header.e_machine == EM_AARCH64 ? "arm64" : "";
}

}  // namespace cudnn_ci::launch
