#include "cli/worker_obstacle.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/embedded.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/process_setup.h"
#include "image/elf/dynamic_table.h"
#include "image/elf/elf_interpreter.h"

namespace cudnn_ci {
namespace {

// The oldest glibc that a released worker runs with; one that asks for more was built otherwise.
constexpr int kOldestGlibcMinor = 17;

// Dynamic loaders of other C libraries and processors, by the names that every distribution uses.
std::vector<std::string> LoadersIn(const std::string& root) {
  std::vector<std::string> found;
  for (const char* folder : {"/lib", "/lib64", "/lib32"}) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(root + folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (GlobMatch("ld-*.so.*", name) || GlobMatch("ld64.so.*", name))
        found.push_back(folder + ("/" + name));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool IsOfMusl(const std::string& loader) { return loader.find("/ld-musl-") != std::string::npos; }

// Of glibc for another processor. The loader of 32-bit programs stands beside ours on many machines.
bool IsOfAnotherProcessor(const std::string& loader) {
  return !IsOfMusl(loader) && loader.find("/ld-linux.so.") == std::string::npos;
}

// An image with a glibc for another processor is sound; this cudnn-ci is the wrong one for it.
Finding MissingLoader(const std::string& loader, const std::string& root) {
  std::string detail = "the image has no " + loader + ", the dynamic loader of glibc";
  std::vector<std::string> others = LoadersIn(root);
  const bool has_glibc = std::any_of(others.begin(), others.end(), IsOfAnotherProcessor);
  for (std::string& other : others)
    if (IsOfMusl(other)) other += " (musl, as in Alpine)";
  if (others.empty())
    detail += ", and no other loader: no dynamically linked program runs in it";
  else
    detail += "; for another " + std::string(has_glibc ? "processor" : "C library") + " it has " +
              SingleLine(Join(others, ", "), 300);
  Finding finding = HarnessFinding("loader-missing", detail);
  if (has_glibc) finding.blame = Blame::kHarness;
  return finding;
}

// A file that ld.so opens and waits for, in every process and before any of its code runs. Empty: none.
std::string FifoOfTheLoader(const std::string& root) {
  struct stat seen {};
  for (const char* file : {"/etc/ld.so.cache", "/etc/ld.so.preload"})
    if (stat((root + file).c_str(), &seen) == 0 && S_ISFIFO(seen.st_mode)) return file;
  return "";
}

// How the loaders of other C libraries begin to say what keeps a program from running; glibc's and uClibc's
// begin with the program's name.
struct LoaderWords {
  const char* begin;
  const char* of;
};
constexpr LoaderWords kOtherLoaders[] = {
    {"Error loading shared library ", "musl"},
    {"Error relocating ", "musl"},
    {"/lib/ld-musl-", "musl"},
    {"CANNOT LINK EXECUTABLE ", "bionic"},
    {"Could not start dynamically linked executable: ", "no C library"},  // the stub of NixOS
};

struct Said {
  std::string whose, words;
};

// None: these are no loader's words of the worker.
std::optional<Said> SaidByLoader(const std::string& printed, const std::string& worker_path) {
  if (const std::string begin = worker_path + ": "; printed.starts_with(begin))
    return Said{"", printed.substr(begin.size())};
  for (const LoaderWords& other : kOtherLoaders)
    if (printed.starts_with(other.begin) && printed.find(worker_path) != std::string::npos)
      return Said{std::string(" (of ") + other.of + ")", printed};
  return std::nullopt;
}

// Whether the worker asks for a newer glibc than it should, or for a C++ library of the image's.
bool AsksForTooMuch(const std::string& words) {
  constexpr char kAsked[] = "version `GLIBC_2.";
  if (words.find("version `GLIBCXX_") != std::string::npos) return true;
  const size_t at = words.find(kAsked);
  return at != std::string::npos && atoi(words.c_str() + at + sizeof kAsked - 1) > kOldestGlibcMinor;
}

}  // namespace

std::optional<Finding> ForeignLoader(const std::string& loader) {
  const DynamicTable table = ReadDynamicTable(loader);
  if (!table.problem.empty() || table.soname == loader.substr(loader.rfind('/') + 1)) return std::nullopt;
  std::string detail = "the image's " + loader;
  if (const std::string file = RealPath(loader); file != loader) detail += ", a link to " + file + ",";
  detail += " is not glibc's loader: it has ";
  detail += table.soname.empty() ? "no SONAME" : "the SONAME " + SingleLine(table.soname, 100);
  return HarnessFinding("loader-missing", detail + "; musl's loader or a stub has its name");
}

std::optional<Finding> ObstacleBeforeDiscovery(const std::string& worker_path, const std::string& root) {
  if (const std::string low = LowLimit(); !low.empty()) return HarnessFinding("worker-not-started", low);
  if (IsEmbedded(worker_path))
    if (const Result<int> unpacked = Embedded()->Descriptor(worker_path); !unpacked.ok())
      return HarnessFinding("not-unpacked", unpacked.error());
  if (const std::string loader = MissingInterpreter(worker_path); !loader.empty())
    return MissingLoader(loader, root);
  if (const std::string loader = InterpreterOf(worker_path); !loader.empty())
    if (std::optional<Finding> foreign = ForeignLoader(loader)) return foreign;
  if (const std::string fifo = FifoOfTheLoader(root); !fifo.empty())
    return HarnessFinding("libc-unfit", "the image's " + fifo + " is a FIFO: the loader waits for it " +
                                            "before any program starts");
  return std::nullopt;
}

std::optional<Finding> ObstacleOf(const Discovery& discovery, const std::string& worker_path) {
  const std::vector<BrokenPlugin>& broken = discovery.catalog.broken;
  if (!discovery.catalog.plugins.empty() || broken.empty()) return std::nullopt;
  // A loader ends the program before that has said a word.
  for (const BrokenPlugin& b : broken)
    if (!b.silent || !SaidByLoader(b.printed, worker_path)) return std::nullopt;
  const auto [whose, words] = *SaidByLoader(broken.front().printed, worker_path);
  Finding finding =
      HarnessFinding("libc-unfit", "the image's loader" + whose + " says of cudnn-ci-worker: " + words);
  if (AsksForTooMuch(words)) finding.blame = Blame::kHarness;
  return finding;
}

}  // namespace cudnn_ci
