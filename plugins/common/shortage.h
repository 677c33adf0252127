// What the container was short of while a program ran: a program that ends for want of memory or processes is
// not one that a library has ended.
#ifndef CUDNN_CI_PLUGINS_COMMON_SHORTAGE_H_
#define CUDNN_CI_PLUGINS_COMMON_SHORTAGE_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

namespace cudnn_ci {

// What the kernel counted of this container while a program ran; both empty: nothing.
struct Shortage {
  std::string memory;     // "the kernel killed 1 process of the container to free memory: cgroup limit ..."
  std::string processes;  // "the kernel refused to start 3 more: the cgroup allows 64 processes ..."
};

// Context::RunChild, and what ran out meanwhile. Ends the case with a finding where the program could not
// even be started for want of memory or processes.
ChildResult RunProgram(Context& ctx, const std::vector<std::string>& argv,
                       const std::vector<std::string>& environment, double timeout_s, Shortage* shortage);

// Reports what ran out, of a program that did not end as it was to. False: nothing did.
bool ReportShortage(Context& ctx, const std::string& program, const ChildResult& end,
                    const Shortage& shortage);

// What the last words of a program say was short, where nobody has counted it: "; its output mentions memory
// ("MemoryError"), and 812 MiB are left now (cgroup limit 2048 MiB)". Empty: they mention nothing such.
std::string WordsOfShortage(const std::string& output);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_SHORTAGE_H_
