#include "image/device_code/device_code.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/regular_file.h"
#include "image/device_code/ptx_text.h"
#include "image/elf/elf_sections.h"

namespace cudnn_ci {
namespace {

// A module without code is small: one of ptxas' has at most a few thousand bytes.
constexpr std::size_t kMostUnpacked = 64 << 10;
constexpr int kMostMembers = 100000;
constexpr std::size_t kMostPtxHead = 64 << 10;
constexpr std::uint16_t kCudaMachine = 190;  // EM_CUDA
constexpr std::string_view kCodePrefix = ".text.";

// True unless it is sure that an ELF file of device code has none.
bool ElfHoldsCode(const ByteSource& elf) {
  const ElfSections read = ReadElfSections(elf);
  if (!read.problem.empty()) return true;
  return std::any_of(read.sections.begin(), read.sections.end(), [](const ElfSection& section) {
    return std::string_view(section.name).substr(0, kCodePrefix.size()) == kCodePrefix && section.size > 0;
  });
}

// True unless it is sure that a module has none.
bool HoldsCode(const FatbinEntry& entry, const ByteSource& body) {
  const std::string text = UnpackedBody(entry, body, kMostUnpacked);
  if (text.empty()) return true;
  return entry.kind == FatbinKind::kElf ? ElfHoldsCode(ByteSource(text)) : PtxHoldsCode(text);
}

void AddPtxVersion(const PtxVersion& version, Modules* modules) {
  const bool first = modules->highest == PtxVersion{};
  modules->lowest = first ? version : std::min(modules->lowest, version);
  modules->highest = std::max(modules->highest, version);
}

void AddEntry(const FatbinEntry& entry, const ByteSource& body, CodeTargets* targets) {
  if (entry.kind == FatbinKind::kOther) {
    ++targets->others;
    return;
  }
  const bool ptx = entry.kind == FatbinKind::kPtx;
  Modules& modules = (ptx ? targets->ptx : targets->sass)[{entry.architecture, entry.variant}];
  ++modules.count;
  const PtxVersion version = {entry.major, entry.minor};
  // A body need not be looked at that could change nothing.
  const bool known = modules.hold_code && (!ptx || (modules.lowest <= version && version <= modules.highest));
  if (known || !HoldsCode(entry, body)) return;
  modules.hold_code = true;
  if (ptx) AddPtxVersion(version, &modules);
}

void AddFatbins(const ByteSource& section, CodeTargets* targets, std::string* problem) {
  const std::string why = ReadFatbins(
      section, [&](const FatbinEntry& entry, const ByteSource& body) { AddEntry(entry, body, targets); });
  if (problem->empty()) *problem = why;
}

// A host's library, program or object: its two kinds of sections for device code.
void AddHostElf(const ByteSource& bytes, const ElfSections& elf, DeviceCode* code) {
  if (code->problem.empty()) code->problem = elf.problem;
  for (const ElfSection& section : elf.sections) {
    const bool linked = section.name == ".nv_fatbin";
    if (!linked && section.name != "__nv_relfatbin") continue;
    code->has_sections = true;
    if (section.offset > bytes.size() || section.size > bytes.size() - section.offset)
      code->problem = "its device code is past its end";
    AddFatbins(bytes.Part(section.offset, section.size), linked ? &code->code : &code->unlinked,
               &code->problem);
  }
}

// Whether device code without a container says that it is for one architecture alone: the attribute 9 in
// .nv.compat, which is a list of (format, attribute, 16 bits of value or length, bytes of that length).
bool SaysArchitectureAlone(const ByteSource& bytes, const ElfSections& elf) {
  constexpr std::uint32_t kFlagOfOldFormat = 0x800;
  constexpr std::uint8_t kNewAbi = 8, kSized = 4, kAttribute = 9;
  if (elf.abi_version < kNewAbi) return (elf.flags & kFlagOfOldFormat) != 0;
  const ElfSection* section = elf.Find(".nv.compat");
  const std::string list =
      section ? bytes.Text(section->offset, std::min<std::uint64_t>(section->size, 4096)) : "";
  for (std::size_t at = 0; at + 4 <= list.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(list[at + i]); };
    const std::size_t value = byte(2) + std::size_t{256} * byte(3);
    if (byte(0) != kSized && byte(1) == kAttribute) return value != 0;
    at += 4 + (byte(0) == kSized ? value : 0);
  }
  return false;
}

// Device code alone, as nvcc -cubin writes it. Its header says the architecture, since ABI 8 in the second
// byte.
void AddCubin(const ByteSource& bytes, const ElfSections& elf, DeviceCode* code) {
  constexpr std::uint8_t kNewAbi = 8;
  CodeTarget target;
  target.architecture =
      static_cast<int>(elf.abi_version >= kNewAbi ? (elf.flags >> 8) & 0xff : elf.flags & 0xff);
  if (SaysArchitectureAlone(bytes, elf)) target.variant = CodeVariant::kArchitecture;
  const bool unlinked = elf.type == ET_REL;
  Modules& modules = (unlinked ? code->unlinked : code->code).sass[target];
  ++modules.count;
  modules.hold_code = modules.hold_code || ElfHoldsCode(bytes);
}

void AddElf(const ByteSource& bytes, DeviceCode* code) {
  const ElfSections elf = ReadElfSections(bytes);
  if (elf.machine == kCudaMachine) {
    code->kind = DeviceCode::Kind::kCode;
    code->has_sections = true;
    return AddCubin(bytes, elf, code);
  }
  code->kind = elf.type == ET_REL ? DeviceCode::Kind::kObject : DeviceCode::Kind::kLibrary;
  AddHostElf(bytes, elf, code);
}

// The size of a member of an archive: decimal, blanks behind it. False: it is none.
bool MemberSize(const char* begin, std::size_t length, std::uint64_t* size) {
  const auto [end, error] = std::from_chars(begin, begin + length, *size);
  return error == std::errc() && std::all_of(end, begin + length, [](char c) { return c == ' '; });
}

// https://www.freebsd.org/cgi/man.cgi?query=ar&sektion=5 has the format. Objects in it; other members are
// passed over.
void AddArchive(const ByteSource& bytes, DeviceCode* code) {
  constexpr std::size_t kHeader = 60, kSizeAt = 48, kSizeLength = 10;
  code->kind = DeviceCode::Kind::kObject;
  int members = 0;
  for (std::uint64_t at = 8; at < bytes.size();) {
    const std::string header = bytes.Text(at, kHeader);
    std::uint64_t size = 0;
    if (header.empty() || header.compare(58, 2, "`\n") != 0 ||
        !MemberSize(header.data() + kSizeAt, kSizeLength, &size) || size > bytes.size() - at - kHeader) {
      code->problem = "a member of the archive is cut off";
      return;
    }
    if (++members > kMostMembers) {
      code->problem = "it has more members than are read";
      return;
    }
    const ByteSource member = bytes.Part(at + kHeader, size);
    if (IsElf(member)) AddHostElf(member, ReadElfSections(member), code);
    at += kHeader + size + size % 2;
  }
}

void AddPtxFile(const ByteSource& bytes, DeviceCode* code) {
  const std::string text =
      bytes.Text(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), kMostPtxHead)));
  const PtxHead head = ReadPtxHead(text);
  if (!head.found) return;
  code->kind = DeviceCode::Kind::kCode;
  code->has_sections = true;
  Modules& modules = code->code.ptx[{head.architecture, head.variant}];
  ++modules.count;
  modules.hold_code = bytes.size() > kMostPtxHead || PtxHoldsCode(text);
  if (modules.hold_code) AddPtxVersion({head.major, head.minor}, &modules);
}

bool AnyHoldsCode(const std::map<CodeTarget, Modules>& targets) {
  return std::any_of(targets.begin(), targets.end(), [](const auto& one) { return one.second.hold_code; });
}

}  // namespace

std::string CodeTarget::Text() const {
  const char* suffix = "";
  if (variant == CodeVariant::kArchitecture) suffix = "a";
  if (variant == CodeVariant::kFamily) suffix = "f";
  return std::to_string(architecture) + suffix;
}

bool CodeTargets::HoldCode() const { return others > 0 || AnyHoldsCode(sass) || AnyHoldsCode(ptx); }

DeviceCode ReadDeviceCode(const ByteSource& bytes, const std::string& name) {
  DeviceCode code;
  const std::string mark = bytes.Text(0, 8);
  std::uint32_t magic = 0;
  if (IsElf(bytes)) {
    AddElf(bytes, &code);
  } else if (mark == "!<arch>\n") {
    AddArchive(bytes, &code);
  } else if (mark == "!<thin>\n") {
    code.kind = DeviceCode::Kind::kObject;
    code.problem = "the members of the archive are other files";
  } else if (bytes.ReadObject(0, &magic) && magic == kFatbinMagic) {
    code.kind = DeviceCode::Kind::kCode;
    code.has_sections = true;
    AddFatbins(bytes, &code.code, &code.problem);
  } else if (name.ends_with(".ptx")) {
    AddPtxFile(bytes, &code);
  }
  return code;
}

DeviceCode ReadDeviceCode(const std::string& path) {
  DeviceCode code;
  const Fd file = OpenRegularFile(path);
  struct stat status = {};
  if (!file.valid() || fstat(file.get(), &status) != 0) {
    code.problem = "it cannot be read: " + std::string(strerror(errno));
    return code;
  }
  return ReadDeviceCode(ByteSource(file.get(), static_cast<std::uint64_t>(status.st_size)), path);
}

}  // namespace cudnn_ci
