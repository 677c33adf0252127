// What an ELF file of the installed tree may need, judged from readelf's output. Knows nothing of how the
// tree is made.
#ifndef CUDNN_CI_TESTS_INSTALL_ELF_RULES_H_
#define CUDNN_CI_TESTS_INSTALL_ELF_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// The broken rules in the output of `readelf -dW`: a NEEDED library that is not glibc's own, or an RPATH or
// RUNPATH with an entry that does not begin with $ORIGIN.
std::vector<std::string> BrokenDynamicRules(std::string_view readelf_d);

// The names of the symbols that `readelf --dyn-syms -W` shows as defined and visible to others, without
// versions.
std::vector<std::string> ExportedSymbols(std::string_view readelf_dyn_syms);

// The symbols, with versions, of the output of `readelf --dyn-syms -W` that a glibc older than 2.MINOR + 1
// lacks.
std::vector<std::string> LaterGlibcSymbols(std::string_view readelf_dyn_syms, int minor);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INSTALL_ELF_RULES_H_
