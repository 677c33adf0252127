#include "common/cudnn_files.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "common/cudnn_api.h"

namespace cudnn_ci {
namespace {

// The graph library of 9.28 has 149 MB, of which 25 are constants.
constexpr std::size_t kMostOfLibrary = std::size_t{64} << 20;
constexpr std::size_t kMostSections = 1024, kMostOfSectionNames = std::size_t{64} << 10;
constexpr std::size_t kPiece = std::size_t{1} << 20;
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

// The bytes of a file at an offset; fewer where it ends before.
std::string ReadAt(std::ifstream& file, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

// Where the constants of a library stand (.rodata), so that its code need not be read; all of a file without
// such a section. https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.sheader.html
std::pair<std::uint64_t, std::uint64_t> Constants(std::ifstream& file) {
  const std::pair<std::uint64_t, std::uint64_t> all = {0, kMostOfLibrary};
  Elf64_Ehdr header{};
  const std::string head = ReadAt(file, 0, sizeof header);
  if (head.size() < sizeof header || head.compare(0, SELFMAG, ELFMAG) != 0) return all;
  std::memcpy(&header, head.data(), sizeof header);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > kMostSections) return all;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  const std::string table = ReadAt(file, header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  if (table.size() < sections.size() * sizeof(Elf64_Shdr) || header.e_shstrndx >= sections.size()) return all;
  std::memcpy(sections.data(), table.data(), table.size());
  const Elf64_Shdr& of_names = sections[header.e_shstrndx];
  const std::string names =
      ReadAt(file, of_names.sh_offset, std::min<std::size_t>(of_names.sh_size, kMostOfSectionNames));
  const std::string wanted(".rodata\0", 8);
  for (const Elf64_Shdr& section : sections)
    if (section.sh_name < names.size() && names.compare(section.sh_name, wanted.size(), wanted) == 0)
      return {section.sh_offset, std::min<std::uint64_t>(section.sh_size, kMostOfLibrary)};
  return all;
}

}  // namespace

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
  // A FIFO would wait for its writer.
  if (ElfFile(path).kind() == ElfFile::Kind::kUnreadable) return {};
  std::ifstream file(path, std::ios::binary);
  std::set<std::string> names;
  if (!file) return {};
  const auto [offset, size] = Constants(file);
  // A name may lie across the border of two pieces, so that each begins with the end of the one before.
  std::string bytes;
  for (std::uint64_t read = 0; read < size; read += kPiece) {
    const std::string piece =
        ReadAt(file, offset + read, static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size - read)));
    bytes.erase(0, bytes.size() > 2 * kLongestName ? bytes.size() - 2 * kLongestName : 0);
    AddNames(bytes += piece, &names);
    if (piece.size() < kPiece) break;
  }
  return {names.begin(), names.end()};
}

}  // namespace cudnn_ci
