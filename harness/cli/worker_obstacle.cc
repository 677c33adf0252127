#include "cli/worker_obstacle.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "cli/process_setup.h"
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
    detail += ", nor any other: no program that is linked dynamically runs in it";
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

// Whether the worker asks for a newer glibc than it should, or for a C++ library of the image's.
bool AsksForTooMuch(const std::string& words) {
  constexpr char kAsked[] = "version `GLIBC_2.";
  if (words.find("version `GLIBCXX_") != std::string::npos) return true;
  const size_t at = words.find(kAsked);
  return at != std::string::npos && atoi(words.c_str() + at + sizeof kAsked - 1) > kOldestGlibcMinor;
}

}  // namespace

std::optional<Finding> ObstacleBeforeDiscovery(const std::string& worker_path, const std::string& root) {
  if (const std::string low = LowLimit(); !low.empty()) return HarnessFinding("worker-not-started", low);
  if (const std::string loader = MissingInterpreter(worker_path); !loader.empty())
    return MissingLoader(loader, root);
  if (const std::string fifo = FifoOfTheLoader(root); !fifo.empty())
    return HarnessFinding("libc-unfit", "the image's " + fifo + " is a FIFO: the loader waits for it " +
                                            "before any program begins");
  return std::nullopt;
}

std::optional<Finding> ObstacleOf(const Discovery& discovery, const std::string& worker_path) {
  const std::vector<BrokenPlugin>& broken = discovery.catalog.broken;
  if (!discovery.catalog.plugins.empty() || broken.empty()) return std::nullopt;
  // The loader begins with the program's name, and ends it before it has said a word.
  const std::string begin = worker_path + ": ";
  for (const BrokenPlugin& b : broken)
    if (!b.silent || !b.printed.starts_with(begin)) return std::nullopt;
  const std::string words = broken.front().printed.substr(begin.size());
  Finding finding = HarnessFinding("libc-unfit", "the image's loader says of cudnn-ci-worker: " + words);
  if (AsksForTooMuch(words)) finding.blame = Blame::kHarness;
  return finding;
}

}  // namespace cudnn_ci
