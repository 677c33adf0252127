#include "model/record/crash.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "base/signal_text.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

// The C library with its loader, and the runtimes of C++, by the beginning of a file's name.
constexpr std::array<std::string_view, 16> kRuntime = {
    "libc.so.",   "libc-2.",       "libpthread.so.", "libpthread-2.", "libdl.so.",     "libdl-2.",
    "libm.so.",   "libm-2.",       "librt.so.",      "librt-2.",      "libstdc++.so.", "libgcc_s",
    "libc++.so.", "libc++abi.so.", "libunwind.",     "ld-musl-"};
constexpr std::array<std::string_view, 3> kLoader = {"ld-linux", "ld-2.", "ld64.so."};
constexpr std::array<std::string_view, 3> kDriver = {"libcuda.so", "libnvidia-", "libcudadebugger.so"};
// What glibc's allocator is called by; its file names each of them twice, as "__libc_free" too.
constexpr std::array<std::string_view, 9> kAllocator = {"free+",          "cfree+",          "malloc+",
                                                        "realloc+",       "calloc+",         "memalign+",
                                                        "aligned_alloc+", "posix_memalign+", "valloc+"};
constexpr std::string_view kDeleted = " (deleted)";

template <size_t N>
bool BeginsLikeOne(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool IsDeleted(std::string_view module) {
  return module.size() > kDeleted.size() && module.ends_with(kDeleted);
}
std::string_view PathOf(std::string_view module) {
  if (IsDeleted(module)) module.remove_suffix(kDeleted.size());
  return module;
}

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }
bool IsLoader(const std::string& module) { return BeginsLikeOne(NameOf(module), kLoader); }
bool IsRuntime(const std::string& module) {
  return IsLoader(module) || BeginsLikeOne(NameOf(module), kRuntime);
}
// A driver that came with the host. The one of a cuda-compat package is the image's.
bool IsDriver(std::string_view path) {
  return BeginsLikeOne(NameOf(path), kDriver) && path.find("/compat/") == std::string_view::npos;
}
// Code whose origin no path tells.
bool IsNobodys(std::string_view module) { return module.starts_with("/memfd:") || module == kUnkeptModule; }
// [vdso] is none.
bool IsFile(std::string_view module) { return module.starts_with("/") && !IsNobodys(module); }

CrashSite OwnerOf(const std::string& module, const std::vector<std::string>& own) {
  const std::string_view path = PathOf(module);
  if (std::find(own.begin(), own.end(), path) != own.end()) return CrashSite::kHarness;
  return IsDriver(path) ? CrashSite::kDriver : CrashSite::kImage;
}

// Of a GPU that fell off the bus, a full /dev/shm, and memory that the machine has found bad.
bool IsBadMemory(const Crash& crash) {
  return crash.signal == SIGBUS &&
         (crash.code == BUS_MCEERR_AR || crash.code == BUS_MCEERR_AO || crash.module.starts_with("/dev/"));
}

// A page of a file behind its end: the address is the file's. What a program has unlinked it may have made.
bool IsFileTooShort(const Crash& crash) {
  return crash.signal == SIGBUS && crash.code == BUS_ADRERR && !IsBadMemory(crash) && IsFile(crash.module) &&
         !IsDeleted(crash.module);
}

const CrashFrame* DecisiveFrame(const Crash& crash) {
  for (const CrashFrame& frame : crash.frames) {
    if (IsNobodys(frame.module)) return nullptr;
    if (IsFile(frame.module) && !IsRuntime(frame.module)) return &frame;
  }
  return nullptr;
}

// The allocator has found the heap broken. Who called it last need not have done that.
bool IsHeapCorrupted(const Crash& crash, const CrashFrame* decisive) {
  constexpr std::string_view kAlias = "__libc_";
  if (crash.signal != SIGABRT) return false;
  for (const CrashFrame& frame : crash.frames) {
    if (&frame == decisive) return false;
    std::string_view symbol = frame.symbol;
    if (symbol.starts_with(kAlias)) symbol.remove_prefix(kAlias.size());
    if (BeginsLikeOne(symbol, kAllocator)) return true;
  }
  return false;
}

bool BeganInLoader(const Crash& crash) {
  for (const CrashFrame& frame : crash.frames)
    if (IsFile(frame.module)) return IsLoader(frame.module);
  return false;
}

std::string Hex(uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}

}  // namespace

CrashSite SiteOf(const Crash& crash, const std::vector<std::string>& own) {
  if (IsFileTooShort(crash)) return OwnerOf(crash.module, own);
  const CrashFrame* frame = DecisiveFrame(crash);
  if (!frame || IsBadMemory(crash) || IsHeapCorrupted(crash, frame)) return CrashSite::kUnknown;
  const CrashSite site = OwnerOf(frame->module, own);
  return site == CrashSite::kHarness && BeganInLoader(crash) ? CrashSite::kUnknown : site;
}

CrashSite SiteOfHang(const Crash& crash, const std::vector<std::string>& plugins) {
  if (crash.frames.empty()) return CrashSite::kUnknown;
  const std::string_view path = PathOf(crash.frames.front().module);
  return std::find(plugins.begin(), plugins.end(), path) == plugins.end() ? CrashSite::kUnknown
                                                                          : CrashSite::kHarness;
}

std::string PlaceOf(const Crash& crash) {
  if (IsFileTooShort(crash)) return "on a page of " + CleanLine(crash.module, 400) + " behind its end";
  const CrashFrame* frame = DecisiveFrame(crash);
  if (!frame) return "";
  return "in " + CleanLine(frame->module, 400) +
         (frame->symbol.empty() ? "" : ", " + CleanLine(frame->symbol));
}

std::string StoryOf(const Crash& crash) {
  const std::string where = crash.module.empty() ? "" : " in " + CleanLine(crash.module, 400);
  std::string story = crash.signal == kTimeIsOver
                          ? "where it was when its time was over:\n"
                          : SignalName(crash.signal) + ", code " + std::to_string(crash.code) + ", address " +
                                Hex(crash.address) + where + "\n";
  for (size_t i = 0; i < crash.frames.size(); ++i) {
    const CrashFrame& frame = crash.frames[i];
    story +=
        "#" + std::to_string(i) + " " +
        (frame.module.empty() ? Hex(frame.address) : CleanLine(frame.module, 400) + "+" + Hex(frame.offset)) +
        (frame.symbol.empty() ? "" : " " + CleanLine(frame.symbol)) + "\n";
  }
  return story;
}

}  // namespace cudnn_ci
