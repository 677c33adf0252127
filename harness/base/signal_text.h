// Names of signals.
#ifndef CUDNN_CI_BASE_SIGNAL_TEXT_H_
#define CUDNN_CI_BASE_SIGNAL_TEXT_H_

#include <string>

namespace cudnn_ci {

// "SIGSEGV"; "signal 40" for one without a name. Any thread.
std::string SignalName(int signal);

// "SIGSEGV (Segmentation fault)"; "signal 40". The words are those of glibc
// in the C locale, whatever C library is linked: a report reads the same from every build. Any thread.
std::string SignalText(int signal);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_SIGNAL_TEXT_H_
