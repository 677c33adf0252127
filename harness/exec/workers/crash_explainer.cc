#include "exec/workers/crash_explainer.h"

#include <filesystem>
#include <map>
#include <set>

#include "base/embedded.h"
#include "base/time.h"
#include "image/elf/elf_symbol.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kSymbolsNs = 200'000'000;  // the loop that serves all processes stands still meanwhile

// As /proc/PID/maps writes it: of all characters it escapes the line feed alone.
std::string MappedPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = IsEmbedded(path)
                                         ? std::filesystem::read_symlink(OpenablePath(path), error)
                                         : std::filesystem::canonical(path, error);
  std::string escaped;
  for (const char c : error ? path : real.string()) {
    if (c == '\n')
      escaped += "\\012";
    else
      escaped += c;
  }
  return escaped;
}

// The innermost frame's file comes first: its name is worth most, should the time not suffice.
void AddSymbols(Crash* crash) {
  const int64_t until_ns = MonotonicNs() + kSymbolsNs;
  std::set<std::string> seen;
  for (const CrashFrame& first : crash->frames) {
    if (first.module.empty() || !seen.insert(first.module).second) continue;
    std::vector<uint64_t> offsets;
    std::vector<CrashFrame*> frames;
    for (CrashFrame& frame : crash->frames) {
      if (frame.module != first.module) continue;
      // A call to a function that does not return may be the last instruction of its caller.
      const bool returns = &frame != &crash->frames.front() && frame.offset > 0;
      offsets.push_back(frame.offset - (returns ? 1 : 0));
      frames.push_back(&frame);
    }
    const std::vector<std::string> names = ElfSymbolsAt(first.module, offsets, until_ns);
    for (size_t i = 0; i < frames.size(); ++i) frames[i]->symbol = names[i];
  }
}

// Embedded files that are mapped have the path of a file without a name; reports have their own.
using Renamed = std::map<std::string, std::string>;

// Of what is in memory the path is its name alone. A library that is preloaded for a self-test is opened by
// another process than this one.
Renamed NamesInMemory() {
  Renamed renamed;
  if (Embedded() == nullptr) return renamed;
  for (const std::string& path : Embedded()->Paths())
    if (path.ends_with(".so")) renamed["/memfd:" + path.substr(path.rfind('/') + 1) + " (deleted)"] = path;
  return renamed;
}

void Rename(const Renamed& renamed, Crash* crash) {
  const auto rename = [&](std::string* module) {
    if (const auto known = renamed.find(*module); known != renamed.end()) *module = known->second;
  };
  rename(&crash->module);
  for (CrashFrame& frame : crash->frames) rename(&frame.module);
}

}  // namespace

std::function<CrashSite(Crash*)> CrashExplainer(const WorkerCommand& command) {
  // Now, while the files are there.
  std::vector<std::string> own, third_party;
  Renamed renamed = NamesInMemory();
  const auto add_own = [&](const std::string& path) {
    const std::string mapped = MappedPath(path);
    if (IsEmbedded(path)) renamed[mapped] = path;
    own.push_back(IsEmbedded(path) ? path : mapped);
  };
  add_own(command.worker_path);
  for (const std::string& plugin : command.plugins) add_own(plugin);
  for (const std::string& plugin : command.third_party) third_party.push_back(MappedPath(plugin));
  // The tool's own plugins compute and read files for long on a slow machine or a large image; they do not
  // loop.
  return [own = std::move(own), third_party = std::move(third_party),
          renamed = std::move(renamed)](Crash* crash) {
    Rename(renamed, crash);
    AddSymbols(crash);
    return crash->signal == kTimeIsOver ? SiteOfHang(*crash, third_party) : SiteOf(*crash, own);
  };
}

}  // namespace cudnn_ci
