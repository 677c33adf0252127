// A crash as the dying process told it, and whose code it was in. The process is a check's: what it says is
// data, and decides only whom a red accuses, never whether there is one.
#ifndef CUDNN_CI_MODEL_RECORD_CRASH_H_
#define CUDNN_CI_MODEL_RECORD_CRASH_H_

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/record/outcome.h"

namespace cudnn_ci {

inline constexpr size_t kMaxCrashFrames = 32;
// What a fault of a program raises, or the program itself when it gives up.
inline constexpr std::array<int, 6> kCrashSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
// With which the harness ends a process whose time is over. The process tells where it was, as of a crash.
inline constexpr int kTimeIsOver = SIGTERM;
// Stands for a file whose path there was no room for.
inline constexpr char kUnkeptModule[] = "/?";

// One instruction on the way to the crash.
struct CrashFrame {
  uint64_t address = 0;  // of the instruction; a return address in all frames but the first
  std::string module;    // the file mapped there, as /proc/PID/maps writes it; empty: none
  uint64_t offset = 0;   // of the address in that file
  std::string symbol;    // "cudnnCreate+0x1f"; empty: not known
  bool operator==(const CrashFrame&) const = default;
};

struct Crash {
  int signal = 0;                  // one of kCrashSignals, or kTimeIsOver
  int code = 0;                    // si_code of sigaction(2)
  uint64_t address = 0;            // si_addr, where the kernel raised the signal; else 0
  std::string module;              // the file mapped at `address`; empty: none
  std::vector<CrashFrame> frames;  // innermost first, at most kMaxCrashFrames
  bool operator==(const Crash&) const = default;
};

// The rules of blame, all of them; attribution.cc turns a site into blame. `own`: the paths of the worker and
// of the plugins it has loaded, as /proc/PID/maps writes them. The first frame decides that is neither of the
// C and C++ runtime nor without a file: who calls strlen(nullptr) or abort() is at fault, not libc. A file
// that was unlinked since counts as the one it was. A bus error on a page of a file is the fault of that
// file, which is shorter than its headers say. Whatever is neither ours, the runtime's nor the driver's is
// the image's: no name can take a library out of that but one of the runtime's or the driver's. It is
// unknown whose fault it was
// - in the loader below a plugin: the file that was being loaded may have been bad, or the argument;
// - where the allocator itself gives up: any code may have written over the heap before;
// - in code of a memfd, which any code may have written;
// - of a bus error on a device or in /dev/shm, and of one by bad memory (the codes are of sigaction(2)).
CrashSite SiteOf(const Crash& crash, const std::vector<std::string>& own);

// Of a process that was ended because its time was over: kHarness if the code of a plugin itself was running,
// so that nothing of the image can have kept it; else kUnknown. A plugin that waits, for the image or for the
// GPU, is in a function of another file. `plugins`: their paths as /proc/PID/maps writes them.
CrashSite SiteOfHang(const Crash& crash, const std::vector<std::string>& plugins);

// "in /opt/lib/libfoo.so, foo_bar+0x1f": the frame that decides; empty: there is none.
std::string PlaceOf(const Crash& crash);

// Signal, code, address and frames, a line each; as evidence.
std::string StoryOf(const Crash& crash);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_CRASH_H_
