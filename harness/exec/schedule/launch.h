// How a worker begins: its environment, its plugin files, what it is told first. Pure, but for the harness's
// own environment, which it reads, and the plugin files, whose identity it looks at.
#ifndef CUDNN_CI_EXEC_SCHEDULE_LAUNCH_H_
#define CUDNN_CI_EXEC_SCHEDULE_LAUNCH_H_

#include <map>
#include <string>
#include <vector>

#include "exec/schedule/cases.h"
#include "exec/workers/case_worker.h"
#include "model/plan/check_info.h"
#include "model/record/event.h"
#include "wire/message.h"

namespace cudnn_ci {

// All folders of a resolved subject, in the order of the search.
std::vector<std::string> FoldersOf(const SubjectInfo& subject);

// Sets one of NAME=VALUE pairs.
void SetVariable(std::vector<std::string>* env, const std::string& name, const std::string& value);

// The harness's environment, with what the folders of a subject (around the user's LD_LIBRARY_PATH) and the
// choice of devices change. `devices`: null when the variables are the user's own; empty: none is to be seen;
// else the UUIDs to be seen.
std::vector<std::string> WorkerEnvironment(const SubjectInfo* subject,
                                           const std::vector<std::string>* devices);

// For workers that share a GPU. CUDA_DEVICE_MAX_CONNECTIONS=1: the driver opens one hardware queue for a
// context, not eight, and makes and ends the context sooner; their checks use one stream.
// GLIBC_TUNABLES=glibc.malloc.hugetlb=1: from glibc 2.35 on malloc asks for huge pages, so that a cold run
// spends a quarter less time in the kernel (harness/docs/measurements.md). A value that the user or the image
// has set stays.
void TuneForSharing(std::vector<std::string>* env);

// `base` with the contract and the facts, in messages that each fit a packet and add up.
std::vector<wire::Configure> Configuration(wire::Configure base,
                                           const std::map<std::string, std::string>& contract,
                                           const FactMap* facts);

// The packets that tell a worker of the table of version facts and of what is known. Of adapters, which are
// code and more than all others, only one that runs them is told: `adapters`.
std::vector<std::string> KnownPackets(std::map<std::string, std::string> entries, bool adapters);
// The plugin that runs them.
inline constexpr char kPluginOfAdapters[] = "kernels";

// The plugin that is loaded with a canary alone, which decides about devices: one of the tool's own, if there
// is any. The catalog has plugins, and outlives what is returned.
const PluginInfo& PluginOfCanary(const Catalog& catalog);

// The case's next attempt, with everything the worker is told of it.
Assignment MakeAssignment(size_t case_index, const Case& c, NextAttempt next, bool shared);

// A serial for a run that cannot be guessed: 53 bits, so that JSON holds it exactly, never 0. Ends this
// process when the kernel gives no random numbers.
int64_t RandomSerial();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_LAUNCH_H_
