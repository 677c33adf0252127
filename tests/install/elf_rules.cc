#include "elf_rules.h"

#include <cstdlib>
#include <set>
#include <sstream>

namespace cudnn_ci {
namespace {

// glibc's own libraries: an image always has them, and of one version.
bool IsGlibc(std::string_view library) {
  static const std::set<std::string_view> kGlibc = {"libc.so.6",
                                                    "libm.so.6",
                                                    "libdl.so.2",
                                                    "libpthread.so.0",
                                                    "librt.so.1",
                                                    "ld-linux-x86-64.so.2",
                                                    "ld-linux-aarch64.so.1"};
  return kGlibc.count(library) != 0;
}

// What readelf prints between the brackets: "... Shared library: [libc.so.6]".
std::string Bracketed(const std::string& line) {
  const size_t open = line.rfind('[');
  const size_t close = line.rfind(']');
  return open == std::string::npos || close < open ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace

std::vector<std::string> BrokenDynamicRules(std::string_view readelf_d) {
  std::vector<std::string> broken;
  std::istringstream lines{std::string(readelf_d)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") != std::string::npos) {
      if (!IsGlibc(Bracketed(line))) broken.push_back("needs " + Bracketed(line));
    } else if (line.find("(RPATH)") != std::string::npos || line.find("(RUNPATH)") != std::string::npos) {
      std::istringstream entries(Bracketed(line));
      for (std::string entry; std::getline(entries, entry, ':');) {
        if (entry.rfind("$ORIGIN", 0) != 0) broken.push_back("searches " + entry);
      }
    }
  }
  return broken;
}

std::vector<std::string> ExportedSymbols(std::string_view readelf_dyn_syms) {
  std::vector<std::string> symbols;
  std::istringstream lines{std::string(readelf_dyn_syms)};
  for (std::string line; std::getline(lines, line);) {
    // "   7: 0000000000001109    11 FUNC    GLOBAL DEFAULT   12 name@@VERSION"
    std::istringstream words(line);
    std::string number, value, size, type, binding, visibility, section, name;
    if (!(words >> number >> value >> size >> type >> binding >> visibility >> section >> name)) continue;
    if (binding != "GLOBAL" && binding != "WEAK" && binding != "UNIQUE") continue;
    if (section == "UND" || visibility == "HIDDEN" || visibility == "INTERNAL") continue;
    symbols.push_back(name.substr(0, name.find('@')));
  }
  return symbols;
}

std::vector<std::string> LaterGlibcSymbols(std::string_view readelf_dyn_syms, int minor) {
  std::vector<std::string> later;
  std::istringstream words{std::string(readelf_dyn_syms)};
  const std::string mark = "@GLIBC_2.";
  for (std::string word; words >> word;) {
    const size_t at = word.find(mark);
    if (at != std::string::npos && std::atoi(word.c_str() + at + mark.size()) > minor) later.push_back(word);
  }
  return later;
}

}  // namespace cudnn_ci
