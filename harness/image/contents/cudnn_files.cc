#include "image/contents/cudnn_files.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/regular_file.h"
#include "image/elf/byte_source.h"
#include "image/elf/elf_sections.h"

namespace cudnn_ci {
namespace {

// The graph library of 9.28 has 149 MB; 25 of them are constants.
constexpr std::uint64_t kMostOfLibrary = std::uint64_t{64} << 20;
constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
// Between "libcudnn_" and ".so".
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kMostNames = 32;

// Adds what stands between "libcudnn_" and ".so" and the end of a text, wherever that is in `bytes`.
void AddNames(const std::string& bytes, std::set<std::string>* names) {
  const std::string prefix = "libcudnn_", suffix(".so\0", 4);
  for (std::size_t at = bytes.find(prefix); at != std::string::npos; at = bytes.find(prefix, at + 1)) {
    const std::size_t name = at + prefix.size();
    const std::size_t end = bytes.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", name);
    if (end == std::string::npos || end == name || end - name > kLongestName) continue;
    if (bytes.compare(end, suffix.size(), suffix) == 0 && names->size() < kMostNames)
      names->insert(bytes.substr(name, end - name));
  }
}

// Where the constants of a library stand (.rodata), so that its code need not be read; all of a file without
// such a section.
ByteSource Constants(const ByteSource& file) {
  const ElfSections sections = ReadElfSections(file);
  const ElfSection* constants = sections.Find(".rodata");
  return constants ? file.Part(constants->offset, std::min(constants->size, kMostOfLibrary))
                   : file.Part(0, kMostOfLibrary);
}

}  // namespace

std::string CudnnSoname(int major, const std::string& part) {
  return "libcudnn" + (part.empty() ? "" : "_" + part) + ".so." + std::to_string(major);
}

std::vector<std::string> CudnnPartNames(int major) {
  if (major >= 9)
    return {"graph", "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled"};
  return {"ops_infer", "cnn_infer", "adv_infer", "ops_train", "cnn_train", "adv_train"};
}

// The 4-byte object in .dynsym: major << 16 | minor << 8 | patch. The names kept "infer" in cuDNN 9.
std::string CudnnVersionOf(const ElfFile& file) {
  for (const char* symbol : {"cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_cnn_infer_version",
                             "cudnn_adv_infer_version", "cudnn_ops_train_version", "cudnn_cnn_train_version",
                             "cudnn_adv_train_version"}) {
    if (const auto value = file.ReadObject(symbol)) {
      return std::to_string(*value >> 16) + "." + std::to_string(*value >> 8 & 0xff) + "." +
             std::to_string(*value & 0xff);
    }
  }
  return {};
}

std::string VersionOfFiles(const std::string& directory, int major) {
  for (const std::string& part : CudnnPartNames(major))
    if (std::string version = CudnnVersionOf(ElfFile(directory + "/" + CudnnSoname(major, part)));
        !version.empty())
      return version;
  return {};
}

std::vector<std::string> CudnnPartsOpenedBy(const std::string& path) {
  const FileBytes file(OpenRegularFile(path));
  if (!file.ok()) return {};
  const ByteSource constants = Constants(*file);
  std::set<std::string> names;
  // A name may lie across the border of two pieces, so that each begins with the end of the one before.
  std::string bytes;
  for (std::uint64_t at = 0; at < constants.size(); at += kPiece) {
    const std::string piece = constants.Text(at, std::min(kPiece, constants.size() - at));
    if (piece.empty()) break;
    bytes.erase(0, bytes.size() > 2 * kLongestName ? bytes.size() - 2 * kLongestName : 0);
    AddNames(bytes += piece, &names);
  }
  return {names.begin(), names.end()};
}

}  // namespace cudnn_ci
