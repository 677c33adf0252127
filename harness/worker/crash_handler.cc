#include "worker/crash_handler.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/stacktrace/safe_dump_to.hpp>
#include <cstdint>

#include "wire/message.h"
#include "worker/crash_maps.h"

namespace cudnn_ci::worker {
namespace {

constexpr size_t kStackBytes = 128 * 1024;
constexpr unsigned kSecondsToTell = 3;
// With those of the handler itself, which are left out.
constexpr size_t kCollected = kMaxCrashFrames + 16;

// A handler has nothing but static memory to work with.
int g_control = -1;
pid_t g_process = 0;
std::atomic<int> g_signal{0};  // of the crash that is being told
std::atomic<long> g_thread{0};
alignas(16) char g_stack[kStackBytes];
const void* g_collected[kCollected + 1];
CrashMaps g_maps;

// Not getpid(): in a process that was made by clone(2) itself, a glibc before 2.25 says its parent's.
pid_t Self() { return static_cast<pid_t>(syscall(SYS_getpid)); }
long Thread() { return syscall(SYS_gettid); }

void Unblock(int signal_number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// Text in static memory. What does not fit is left out.
class Packet {
 public:
  void Clear() { size_ = 0; }
  bool HasRoomFor(size_t bytes) const { return size_ + bytes <= sizeof text_; }
  void Put(char c) {
    if (HasRoomFor(1)) text_[size_++] = c;
  }
  void Put(const char* text) {
    while (*text) Put(*text++);
  }
  void PutHex(uint64_t number) {
    Put("0x");
    int shift = 60;
    while (shift > 0 && number >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) PutDigit(number >> shift);
  }
  void PutInt(int number) {
    if (number < 0) Put('-');
    unsigned rest = number < 0 ? 0u - static_cast<unsigned>(number) : static_cast<unsigned>(number);
    char digits[12];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    while (count > 0) Put(digits[--count]);
  }
  void PutEncoded(const char* bytes) {
    for (; *bytes; ++bytes) {
      if (wire::NeedsNoEscape(*bytes)) {
        Put(*bytes);
        continue;
      }
      Put('%');
      PutDigit(static_cast<unsigned char>(*bytes) >> 4);
      PutDigit(static_cast<unsigned char>(*bytes));
    }
  }
  const char* text() const { return text_; }
  size_t size() const { return size_; }

 private:
  void PutDigit(uint64_t number) { Put("0123456789abcdef"[number & 15]); }

  char text_[wire::kMaxPacket];
  size_t size_ = 0;
};
Packet g_packet;

uint64_t InstructionOf(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
#else
  return context.uc_mcontext.pc;
#endif
}

// Where a function that has not begun, because it is not there, was called from.
uint64_t CallerOf(const ucontext_t& context) {
#if defined(__x86_64__)
  // The stack pointer may be anything: the kernel reads for us. Not from /proc/self/mem, which is root's.
  uint64_t address = 0;
  int through[2];
  if (pipe2(through, O_CLOEXEC | O_NONBLOCK) != 0) return 0;
  const auto* const stack = reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RSP]);
  constexpr auto kSize = static_cast<ssize_t>(sizeof address);
  if (write(through[1], stack, sizeof address) != kSize ||
      read(through[0], &address, sizeof address) != kSize)
    address = 0;
  close(through[0]);
  close(through[1]);
  return address;
#else
  return context.uc_mcontext.regs[30];
#endif
}

// Signal, code, address and what the maps know of them. Leaves out the frames that do not fit.
void Send(int signal_number, const siginfo_t& info) {
  // A signal that a process has sent carries its sender instead of the address.
  const uint64_t address = info.si_code > 0 ? reinterpret_cast<uint64_t>(info.si_addr) : 0;
  g_maps.SetExtra(address);
  g_maps.Resolve();
  Packet& p = g_packet;
  p.Clear();
  p.Put(R"({"m":"crashed","signal":)");
  p.PutInt(signal_number);
  p.Put(R"(,"code":)");
  p.PutInt(info.si_code);
  p.Put(R"(,"address":")");
  p.PutHex(address);
  p.Put(R"(","module":")");
  p.PutEncoded(g_maps.ExtraModule());
  p.Put(R"(","frames":[)");
  for (size_t i = 0; i < g_maps.count(); ++i) {
    const CrashMaps::Place place = g_maps.At(i);
    if (!p.HasRoomFor(3 * strlen(place.module) + 100)) break;
    p.Put(i == 0 ? R"({"a":")" : R"(,{"a":")");
    p.PutHex(place.address);
    p.Put(R"(","m":")");
    p.PutEncoded(place.module);
    p.Put(R"(","o":")");
    p.PutHex(place.offset);
    p.Put(R"("})");
  }
  p.Put("]}");
  while (send(g_control, p.text(), p.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

void Tell(int signal_number, const siginfo_t& info, const ucontext_t& context) {
  const uint64_t instruction = InstructionOf(context);
  // At once what needs no unwinder: it may crash or hang on a stack that was written over.
  g_maps.Clear();
  g_maps.Add(instruction);
  Send(signal_number, info);
  if (*g_maps.At(0).module == '\0') {
    g_maps.Add(CallerOf(context));
    Send(signal_number, info);
  }
  size_t count = boost::stacktrace::safe_dump_to(static_cast<void*>(g_collected), sizeof g_collected);
  if (count > 0) --count;  // of its terminating zero
  const void** const end = g_collected + count;
  const void** const begin = std::find(g_collected, end, reinterpret_cast<const void*>(instruction));
  if (end - begin < 2) return;  // no more than is told already
  g_maps.Clear();
  for (const void** frame = begin; frame != end; ++frame) g_maps.Add(reinterpret_cast<uint64_t>(*frame));
  Send(signal_number, info);
}

// The thread that dies need not be the one that crashed, and may have blocked the signal.
void Die(int signal_number) {
  signal(signal_number, SIG_DFL);
  Unblock(signal_number);
  syscall(SYS_tgkill, Self(), Thread(), signal_number);
}

void OnAlarm(int) { Die(g_signal); }

void OnCrash(int signal_number, siginfo_t* info, void* context) {
  if (Self() != g_process) return Die(signal_number);
  const long thread = Thread();
  int none = 0;
  if (g_signal.compare_exchange_strong(none, signal_number)) {
    g_thread = thread;
    struct sigaction enough {};
    enough.sa_handler = OnAlarm;
    sigaction(SIGALRM, &enough, nullptr);
    Unblock(SIGALRM);
    alarm(kSecondsToTell);
    Tell(signal_number, *info, *static_cast<const ucontext_t*>(context));
    return Die(signal_number);
  }
  // The telling itself has crashed; the first crash is the one to die of.
  if (g_thread == thread) return Die(g_signal);
  // Another thread is telling of another crash, and the process will die of that.
  for (;;) pause();
}

}  // namespace

void InstallCrashHandler(int control_fd) {
  g_control = control_fd;
  g_process = Self();
  stack_t stack{};
  stack.ss_sp = g_stack;
  stack.ss_size = sizeof g_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = OnCrash;
  // Not deferred: a crash of the handler comes back to it.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  const auto install = [&action](int signal_number) {
    struct sigaction before {};
    if (sigaction(signal_number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(signal_number, &action, nullptr);
  };
  for (const int signal_number : kCrashSignals) install(signal_number);
  install(kTimeIsOver);
  // Before any plugin registers its own function, so that this one is called after them.
  atexit(WaitForCrash);
}

void WaitForCrash() {
  // A child that was forked meanwhile has a copy of the flag and no thread that tells.
  while (g_signal != 0 && g_thread != Thread() && Self() == g_process) pause();
}

}  // namespace cudnn_ci::worker
