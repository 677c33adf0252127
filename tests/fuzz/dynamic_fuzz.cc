// Bytes in place of a shared library: whatever they are, its dynamic segment is read or refused, and what was
// read can be used.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "fuzz_target.h"
#include "image/elf/dynamic_table.h"

namespace {

// One file of this process, removed at its end.
struct Scratch {
  Scratch() {
    fd = mkstemp(path);
    if (fd < 0) abort();
  }
  ~Scratch() { unlink(path); }
  char path[40] = "/tmp/cudnn-ci-dynamic-fuzz-XXXXXX";
  int fd = -1;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cudnn_ci;
  static const Scratch scratch;
  if (ftruncate(scratch.fd, 0) != 0 || pwrite(scratch.fd, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  const DynamicTable table = ReadDynamicTable(scratch.path);
  Require(!table.foreign || !table.problem.empty(), "a foreign file has a problem", scratch.path);
  const auto sorted = [](const DefinedSymbol& a, const DefinedSymbol& b) { return a.hash < b.hash; };
  if (!table.problem.empty()) return 0;
  Require(std::is_sorted(table.defined.begin(), table.defined.end(), sorted), "symbols are sorted",
          scratch.path);
  for (const DefinedSymbol& symbol : table.defined) {
    const std::string name = table.Name(symbol.name);
    Require(GnuHash(name) == symbol.hash, "a symbol has the hash of its name", name);
    Require(table.Find(name) != SymbolLookup::kAbsent, "a symbol is found by its name", name);
    if (symbol.version >= 2 && symbol.version < table.versions.size() &&
        !table.versions[symbol.version].name.empty())
      Require(table.Find(name, table.versions[symbol.version].name) == SymbolLookup::kFound,
              "a symbol is found by its version", name);
  }
  size_t length = 0;
  for (const UndefinedSymbol& symbol : table.undefined) length += std::string(table.Name(symbol.name)).size();
  Require(table.Bytes() >= table.defined.size(), "its size is known", std::to_string(length));
  return 0;
}
