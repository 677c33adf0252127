#include "base/signal_text.h"

#include <signal.h>

namespace cudnn_ci {
namespace {

struct Known {
  int signal;
  const char* name;
  const char* description;
};

// What sigabbrev_np() and sigdescr_np() say, which glibc has from 2.32 on and musl has not.
constexpr Known kSignals[] = {
    {SIGHUP, "SIGHUP", "Hangup"},
    {SIGINT, "SIGINT", "Interrupt"},
    {SIGQUIT, "SIGQUIT", "Quit"},
    {SIGILL, "SIGILL", "Illegal instruction"},
    {SIGTRAP, "SIGTRAP", "Trace/breakpoint trap"},
    {SIGABRT, "SIGABRT", "Aborted"},
    {SIGBUS, "SIGBUS", "Bus error"},
    {SIGFPE, "SIGFPE", "Floating point exception"},
    {SIGKILL, "SIGKILL", "Killed"},
    {SIGUSR1, "SIGUSR1", "User defined signal 1"},
    {SIGSEGV, "SIGSEGV", "Segmentation fault"},
    {SIGUSR2, "SIGUSR2", "User defined signal 2"},
    {SIGPIPE, "SIGPIPE", "Broken pipe"},
    {SIGALRM, "SIGALRM", "Alarm clock"},
    {SIGTERM, "SIGTERM", "Terminated"},
    {SIGSTKFLT, "SIGSTKFLT", "Stack fault"},
    {SIGCHLD, "SIGCHLD", "Child exited"},
    {SIGCONT, "SIGCONT", "Continued"},
    {SIGSTOP, "SIGSTOP", "Stopped (signal)"},
    {SIGTSTP, "SIGTSTP", "Stopped"},
    {SIGTTIN, "SIGTTIN", "Stopped (tty input)"},
    {SIGTTOU, "SIGTTOU", "Stopped (tty output)"},
    {SIGURG, "SIGURG", "Urgent I/O condition"},
    {SIGXCPU, "SIGXCPU", "CPU time limit exceeded"},
    {SIGXFSZ, "SIGXFSZ", "File size limit exceeded"},
    {SIGVTALRM, "SIGVTALRM", "Virtual timer expired"},
    {SIGPROF, "SIGPROF", "Profiling timer expired"},
    {SIGWINCH, "SIGWINCH", "Window changed"},
    {SIGPOLL, "SIGPOLL", "I/O possible"},
    {SIGPWR, "SIGPWR", "Power failure"},
    {SIGSYS, "SIGSYS", "Bad system call"},
};

const Known* Find(int signal) {
  for (const Known& known : kSignals)
    if (known.signal == signal) return &known;
  return nullptr;
}

}  // namespace

std::string SignalName(int signal) {
  const Known* known = Find(signal);
  return known == nullptr ? "signal " + std::to_string(signal) : known->name;
}

std::string SignalText(int signal) {
  const Known* known = Find(signal);
  return known == nullptr ? SignalName(signal) : std::string(known->name) + " (" + known->description + ")";
}

}  // namespace cudnn_ci
