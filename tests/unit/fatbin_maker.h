// Makes device code by hand, byte by byte: fatbins, cubins, libraries and archives with them.
#ifndef CUDNN_CI_TESTS_UNIT_FATBIN_MAKER_H_
#define CUDNN_CI_TESTS_UNIT_FATBIN_MAKER_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci::made {

template <class T>
std::string Bytes(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof object};
}

struct Entry {
  std::uint16_t kind = 2;  // 1: PTX, 2: machine code, 8: LTO-IR
  std::uint32_t architecture = 80;
  std::uint32_t flags = 0x11;  // 0x100000: "a", 0x200000: "f", 0x2000: LZ4, 0x8000: zstd
  std::string body;            // as it lies in the file
  std::uint16_t major = 1, minor = 8;
  std::uint64_t unpacked = 0;  // of a compressed body
};

inline std::string Padded(std::string bytes) {
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

inline std::string EntryBytes(const Entry& entry) {
  const std::string body = Padded(entry.body);
  std::string bytes =
      Bytes(entry.kind) + Bytes(std::uint16_t{0x101}) + Bytes(std::uint32_t{64}) +
      Bytes(std::uint64_t{body.size()}) + Bytes(static_cast<std::uint32_t>(entry.body.size())) +
      Bytes(std::uint32_t{0}) + Bytes(entry.minor) + Bytes(entry.major) + Bytes(entry.architecture) +
      std::string(8, '\0') + Bytes(entry.flags) + std::string(12, '\0') + Bytes(entry.unpacked);
  return bytes + body;
}

inline std::string Fatbin(const std::vector<Entry>& entries) {
  std::string all;
  for (const Entry& entry : entries) all += EntryBytes(entry);
  return Bytes(std::uint32_t{0xBA55ED50}) + Bytes(std::uint16_t{1}) + Bytes(std::uint16_t{16}) +
         Bytes(std::uint64_t{all.size()}) + all;
}

using Sections = std::vector<std::pair<std::string, std::string>>;

// An ELF file of these sections, and nothing else.
inline std::string Elf(std::uint16_t type, std::uint16_t machine, const Sections& sections,
                       std::uint32_t flags = 0, std::uint8_t abi = 0) {
  std::string names(1, '\0'), content;
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](const std::string& name, const std::string& bytes) {
    Elf64_Shdr header = {};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = SHT_PROGBITS;
    header.sh_offset = sizeof(Elf64_Ehdr) + content.size();
    header.sh_size = bytes.size();
    names += name + '\0';
    content += Padded(bytes);
    headers.push_back(header);
  };
  for (const auto& [name, bytes] : sections) add(name, bytes);
  const std::string own = ".shstrtab";
  add(own, names + own + '\0');
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_ABIVERSION] = abi;
  header.e_type = type;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_flags = flags;
  header.e_shoff = sizeof header + content.size();
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  std::string bytes = Bytes(header) + content;
  for (const Elf64_Shdr& one : headers) bytes += Bytes(one);
  return bytes;
}

// Machine code with a kernel, and without one.
inline std::string Cubin(const Sections& more = {{".text.kernel", std::string(128, 'x')}},
                         std::uint32_t flags = 0x06005004, std::uint8_t abi = 8) {
  Sections sections = {{".nv.info", "info"}};
  sections.insert(sections.end(), more.begin(), more.end());
  return Elf(ET_EXEC, 190, sections, flags, abi);
}
inline std::string EmptyCubin() { return Cubin({}); }

inline std::string Ptx(const std::string& version, const std::string& target, bool kernel = true) {
  return "//\n// made by hand\n//\n.version " + version + "\n.target " + target + "\n.address_size 64\n" +
         (kernel ? ".visible .entry kernel()\n{\nret;\n}\n" : "");
}

inline Entry Sass(std::uint32_t architecture, std::uint32_t flags = 0x11) {
  return {2, architecture, flags, Cubin()};
}
inline Entry PtxEntry(std::uint32_t architecture, std::uint16_t major, std::uint16_t minor) {
  const std::string version = std::to_string(major) + "." + std::to_string(minor);
  return {1, architecture, 0x11, Ptx(version, "sm_" + std::to_string(architecture)), major, minor};
}

// A library with linked device code of one container for each list.
inline std::string Library(const std::vector<std::vector<Entry>>& containers) {
  std::string section;
  for (const std::vector<Entry>& entries : containers) section += Fatbin(entries);
  return Elf(ET_DYN, EM_X86_64, {{".text", "code"}, {".nv_fatbin", section}});
}

// A frame of zstd that holds the bytes as they are (RFC 8878, section 3.1.1); 256 to 65,791 of them.
inline std::string Zstd(const std::string& bytes) {
  std::string frame = Bytes(std::uint32_t{0xFD2FB528}) + '\x60';
  frame += Bytes(static_cast<std::uint16_t>(bytes.size() - 256));
  const auto block = static_cast<std::uint32_t>(bytes.size() << 3 | 1);
  return frame + Bytes(block).substr(0, 3) + bytes;
}

// A block of LZ4 that holds the bytes as they are: one sequence of literals.
inline std::string Lz4(const std::string& bytes) {
  std::string block(1, '\xf0');
  std::size_t left = bytes.size() - 15;
  for (; left >= 255; left -= 255) block += '\xff';
  return block + static_cast<char>(left) + bytes;
}

// Members by their names.
inline std::string Archive(const Sections& members) {
  std::string bytes = "!<arch>\n";
  for (const auto& [name, content] : members) {
    std::string header = name + "/";
    header.resize(48, ' ');
    header += std::to_string(content.size());
    header.resize(58, ' ');
    bytes += header + "`\n" + content + (content.size() % 2 ? "\n" : "");
  }
  return bytes;
}

}  // namespace cudnn_ci::made

#endif  // CUDNN_CI_TESTS_UNIT_FATBIN_MAKER_H_
