#include "image/device_code/fatbin.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include <algorithm>

namespace cudnn_ci {
namespace {

struct Container {
  std::uint32_t magic;
  std::uint16_t version, header_size;
  std::uint64_t size;
};
static_assert(sizeof(Container) == 16);

struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_size;
  std::uint64_t size;
  std::uint32_t packed, unused_1;
  std::uint16_t minor, major;
  std::uint32_t architecture, unused_2, unused_3, flags, unused_4;
  std::uint64_t unused_5, unpacked;
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint32_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr std::uint32_t kFlagArchitecture = 0x100000, kFlagFamily = 0x200000;
constexpr int kMostHeaders = 2000000;
constexpr std::uint64_t kMostPadding = 1 << 16;
constexpr std::uint64_t kAlignment = 8;

FatbinKind KindOf(std::uint16_t kind) {
  if (kind == 1) return FatbinKind::kPtx;
  return kind == 2 ? FatbinKind::kElf : FatbinKind::kOther;
}

CodeVariant VariantOf(std::uint32_t flags) {
  if (flags & kFlagFamily) return CodeVariant::kFamily;
  return flags & kFlagArchitecture ? CodeVariant::kArchitecture : CodeVariant::kGeneric;
}

FatbinEntry EntryOf(const EntryHeader& header) {
  FatbinEntry entry;
  entry.kind = KindOf(header.kind);
  entry.architecture = static_cast<int>(std::min<std::uint32_t>(header.architecture, 100000));
  entry.variant = VariantOf(header.flags);
  entry.major = header.major;
  entry.minor = header.minor;
  if (header.flags & kFlagLz4) entry.compression = FatbinEntry::Compression::kLz4;
  if (header.flags & kFlagZstd) entry.compression = FatbinEntry::Compression::kZstd;
  const bool plain = entry.compression == FatbinEntry::Compression::kNone;
  entry.packed = plain ? header.size : std::min<std::uint64_t>(header.packed, header.size);
  entry.unpacked = plain ? header.size : header.unpacked;
  return entry;
}

// Where the next container begins: what lies between two is zeros.
std::uint64_t SkipPadding(const ByteSource& section, std::uint64_t at) {
  char block[512];
  for (std::uint64_t skipped = 0; at < section.size() && skipped <= kMostPadding;) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(sizeof block, section.size() - at));
    if (!section.Read(at, block, count)) return at;
    const auto zeros =
        static_cast<std::size_t>(std::find_if(block, block + count, [](char c) { return c != 0; }) - block);
    if (zeros < count) return at + zeros - zeros % kAlignment;
    at += count, skipped += count;
  }
  return at;
}

// Why its entries are not all taken; empty: they are.
std::string ReadEntries(const ByteSource& entries, int* headers,
                        const std::function<void(const FatbinEntry&, const ByteSource&)>& take) {
  for (std::uint64_t at = 0; at < entries.size();) {
    EntryHeader header;
    if (!entries.ReadObject(at, &header)) return "an entry of a fatbin is cut off";
    if (++*headers > kMostHeaders) return "it has more device code than is read";
    const std::uint64_t room = entries.size() - at;
    if (header.header_size < sizeof header || header.header_size > room ||
        header.size > room - header.header_size)
      return "an entry of a fatbin extends past its end";
    take(EntryOf(header), entries.Part(at + header.header_size, header.size));
    at += header.header_size + header.size;
  }
  return {};
}

}  // namespace

std::string ReadFatbins(const ByteSource& section,
                        const std::function<void(const FatbinEntry&, const ByteSource& body)>& take) {
  int headers = 0;
  for (std::uint64_t at = SkipPadding(section, 0); at < section.size(); at = SkipPadding(section, at)) {
    Container container;
    if (!section.ReadObject(at, &container)) return "a fatbin is cut off";
    if (container.magic != kFatbinMagic) return "other data lies between its fatbins";
    if (container.version != 1) return "a fatbin has an unknown version";
    const std::uint64_t room = section.size() - at;
    if (container.header_size < sizeof container || container.header_size > room ||
        container.size > room - container.header_size)
      return "a fatbin extends past its end";
    if (++headers > kMostHeaders) return "it has more device code than is read";
    std::string problem =
        ReadEntries(section.Part(at + container.header_size, container.size), &headers, take);
    if (!problem.empty()) return problem;
    at += container.header_size + container.size;
  }
  return {};
}

std::string UnpackedBody(const FatbinEntry& entry, const ByteSource& body, std::size_t most) {
  if (entry.unpacked == 0 || entry.unpacked > most || entry.packed > most) return {};
  std::string packed = body.Text(0, entry.packed);
  if (entry.compression == FatbinEntry::Compression::kNone || packed.empty()) return packed;
  std::string text(entry.unpacked, '\0');
  if (entry.compression == FatbinEntry::Compression::kLz4) {
    const int count = LZ4_decompress_safe(packed.data(), text.data(), static_cast<int>(packed.size()),
                                          static_cast<int>(text.size()));
    return count == static_cast<int>(text.size()) ? text : std::string();
  }
  const std::size_t count = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  return !ZSTD_isError(count) && count == text.size() ? text : std::string();
}

}  // namespace cudnn_ci
