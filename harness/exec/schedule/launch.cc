#include "exec/schedule/launch.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "model/knowledge/knowledge.h"
#include "wire/entries.h"

extern char** environ;

namespace cudnn_ci {
namespace {

constexpr size_t kConfigureBytes = 24 * 1024;

}  // namespace

void SetVariable(std::vector<std::string>* env, const std::string& name, const std::string& value) {
  const std::string prefix = name + "=";
  std::erase_if(*env, [&](const std::string& e) { return e.compare(0, prefix.size(), prefix) == 0; });
  env->push_back(prefix + value);
}

std::vector<std::string> FoldersOf(const SubjectInfo& subject) {
  std::vector<std::string> all = subject.folders;
  all.insert(all.end(), subject.late_folders.begin(), subject.late_folders.end());
  return all;
}

std::vector<std::string> WorkerEnvironment(const SubjectInfo* subject,
                                           const std::vector<std::string>* devices) {
  std::vector<std::string> env;
  for (char** e = environ; *e; ++e) env.emplace_back(*e);
  if (subject && !FoldersOf(*subject).empty()) {
    std::vector<std::string> path = subject->folders;
    if (const char* users = getenv("LD_LIBRARY_PATH"); users && *users) path.emplace_back(users);
    path.insert(path.end(), subject->late_folders.begin(), subject->late_folders.end());
    SetVariable(&env, "LD_LIBRARY_PATH", Join(path, ":"));
  }
  if (devices) SetVariable(&env, "CUDA_VISIBLE_DEVICES", Join(*devices, ","));
  return env;
}

void TuneForSharing(std::vector<std::string>* env) {
  for (const auto& [name, value] :
       {std::pair{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}, std::pair{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}})
    if (!getenv(name)) SetVariable(env, name, value);
}

std::vector<wire::Configure> Configuration(wire::Configure base,
                                           const std::map<std::string, std::string>& contract,
                                           const FactMap* facts) {
  std::vector<wire::Configure> out;
  size_t bytes = 0;
  const auto add = [&](const std::map<std::string, std::string>& from,
                       std::map<std::string, std::string> wire::Configure::*to) {
    for (const auto& [key, value] : from) {
      const size_t size = key.size() + value.size() + 8;
      if (bytes > 0 && bytes + size > kConfigureBytes) {
        out.push_back(base);
        base.contract.clear();
        base.facts.clear();
        bytes = 0;
      }
      (base.*to)[key] = value;
      bytes += size;
    }
  };
  add(contract, &wire::Configure::contract);
  if (facts) add(*facts, &wire::Configure::facts);
  out.push_back(std::move(base));
  return out;
}

std::vector<std::string> KnownPackets(std::map<std::string, std::string> entries, bool adapters) {
  std::vector<std::string> packets;
  if (!adapters) std::erase_if(entries, [](const auto& entry) { return IsEntryOfAdapters(entry.first); });
  for (std::string& text : wire::PackEntries(entries, kConfigureBytes))
    packets.push_back(wire::Encode(wire::ToWorker(wire::Known{std::move(text)})));
  return packets;
}

const PluginInfo& PluginOfCanary(const Catalog& catalog) {
  const auto own = std::find_if(catalog.plugins.begin(), catalog.plugins.end(),
                                [](const PluginInfo& p) { return !p.third_party; });
  return own == catalog.plugins.end() ? catalog.plugins.front() : *own;
}

Assignment MakeAssignment(size_t case_index, const Case& c, NextAttempt next, bool shared) {
  Assignment a;
  a.case_index = case_index;
  a.ref = c.planned.ref;
  a.attempt = next.number;
  a.mode = shared ? AttemptMode::kShared : next.mode;
  a.timeout_s = c.planned.timeout_s;
  a.run.serial = RandomSerial();
  a.run.check = c.planned.check;
  a.run.params = c.planned.params;
  a.run.timeout_s = c.planned.timeout_s;
  // From the id alone: the same case draws the same data wherever and whenever it runs.
  a.run.seed = Fnv1a(c.planned.ref.id) >> 1;
  a.run.skip_steps = std::move(next.skip_steps);
  return a;
}

int64_t RandomSerial() {
  const Result<uint64_t> bits = RandomBits();
  if (!bits.ok()) {  // the kernel gave some when the run began
    fprintf(stderr, "cudnn-ci: %s\n", bits.error().c_str());
    abort();
  }
  return static_cast<int64_t>(*bits >> 11) | 1;
}

}  // namespace cudnn_ci
