// Fatbins: the containers in which nvcc puts device code of several architectures. NVIDIA does not document
// the format; what stands here was learned by comparing with cuobjdump (tests/cuobjdump). Pure functions over
// bytes.
//
//   container  u32 magic 0xBA55ED50, u16 version 1, u16 size of this header, u64 size of the entries behind
//   it entry      u16 kind, u16 version, u32 size of this header, u64 size of the body behind it,
//              u32 size of the compressed body (without padding), u32, u16 minor, u16 major (of PTX: its
//              ISA), u32 architecture, u32, u32, u32 flags, u32, u64, u64 size of the body when unpacked
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_FATBIN_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_FATBIN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "image/elf/byte_source.h"

namespace cudnn_ci {

inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;

enum class FatbinKind {
  kPtx = 1,
  kElf = 2,
  kOther
};  // other: what is compiled or linked at run time, LTO-IR

// What a piece of code runs on beside its own architecture: "sm_90" later minors, "sm_90a" nothing, "sm_100f"
// its family.
enum class CodeVariant { kGeneric, kArchitecture, kFamily };

struct FatbinEntry {
  FatbinKind kind = FatbinKind::kOther;
  int architecture = 0;  // 90 of sm_90
  CodeVariant variant = CodeVariant::kGeneric;
  int major = 0, minor = 0;  // of PTX: the version of its ISA, as `.version` says it
  enum class Compression { kNone, kLz4, kZstd } compression = Compression::kNone;
  std::uint64_t packed = 0, unpacked = 0;  // bytes of the body
};

// Calls `take` with every entry of the containers that lie in a section, one behind the other, and with its
// body as it is in the file. Only headers are read, at most 2,000,000. Returns why this is not all; empty: it
// is.
std::string ReadFatbins(const ByteSource& section,
                        const std::function<void(const FatbinEntry&, const ByteSource& body)>& take);

// A body, unpacked where it is compressed. Empty: it is larger than `most` bytes, or cannot be unpacked.
std::string UnpackedBody(const FatbinEntry& entry, const ByteSource& body, std::size_t most);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_FATBIN_H_
