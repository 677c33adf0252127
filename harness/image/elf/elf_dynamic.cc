#include "image/elf/elf_dynamic.h"

#include <algorithm>
#include <cstring>

#include "image/elf/dynamic_table.h"

namespace cudnn_ci {
namespace {

bool IsOfCLibrary(const std::string& file) {
  constexpr const char* kHeads[] = {"libc.so",  "libm.so",      "libpthread.so", "libdl.so",
                                    "librt.so", "libstdc++.so", "libgcc_s.so",   "ld-linux"};
  return std::any_of(std::begin(kHeads), std::end(kHeads),
                     [&](const char* head) { return file.compare(0, std::strlen(head), head) == 0; });
}

}  // namespace

DynamicSymbols ReadDynamicSymbols(const std::string& path) {
  DynamicSymbols symbols;
  const DynamicTable table = ReadDynamicTable(path);
  symbols.problem = table.problem;
  symbols.foreign = table.foreign;
  if (!table.problem.empty()) return symbols;
  symbols.soname = table.soname;
  symbols.filters = table.filters;
  for (const DefinedSymbol& symbol : table.defined) symbols.defined.insert(table.Name(symbol.name));
  for (const UndefinedSymbol& symbol : table.undefined)
    if (symbol.version < table.versions.size() && IsOfCLibrary(table.versions[symbol.version].file))
      symbols.from_c_library.insert(table.Name(symbol.name));
  return symbols;
}

}  // namespace cudnn_ci
