// The stack that a run tested, as a chain of links from the host's driver to the operations: what each is,
// what was proven of it, which one broke, and what that blocks. Values alone; knows no markup.
#ifndef CUDNN_CI_REPORT_TEXT_STACK_CHAIN_H_
#define CUDNN_CI_REPORT_TEXT_STACK_CHAIN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/verdict/verdict.h"

namespace cudnn_ci {

// Links in the order of the chain. The first two are of the machine; of the others each subject has its own.
enum class LinkKind { kDriver, kDriverFiles, kToolkit, kCudnn, kEnvironment, kOperations };

// Cases by what became of them. A red case is in `red` alone; a failure that does not count is in `excused`.
struct LinkCounts {
  int64_t passed = 0, red = 0, blocked = 0, skipped = 0, not_run = 0, excused = 0;
  void Add(const LinkCounts& other);
  int64_t all() const { return passed + red + blocked + skipped + not_run + excused; }
};

// What a link is as a whole: the first of these that holds.
enum class LinkState {
  kBroken,   // a case of it is red by itself
  kBlocked,  // a case of it waits for one that did not pass
  kNotRun,   // a case of it did not run
  kExcused,  // a case of it failed, and is waived or optional
  kProven,   // a case of it passed
  kSkipped,
  kNoCase,
};

// A finding that broke a link, as reports name it.
struct BrokenBy {
  std::string finding, detail, case_id;
};

struct ChainLink {
  LinkKind kind = LinkKind::kDriver;
  std::string value;               // "13.0", "libcuda.so.1"; empty: not found
  std::vector<std::string> lines;  // where it lies, and the like
  LinkCounts counts;
  // By check, and within it by type of data ("" of a check that has none).
  std::map<std::string, std::map<std::string, LinkCounts>> checks;
  std::vector<BrokenBy> broken_by;  // the root cause first; at most kMostBroken
  bool root = false;                // it holds the root cause
  int64_t blocks = 0;               // cases of the whole run that wait for one of its cases

  LinkState state() const;
};
inline constexpr size_t kMostBroken = 2;

// What one subject is made of; without a subject's name, what belongs to none.
struct ChainLane {
  std::string name, spec;
  std::vector<ChainLink> links;  // from the toolkit on
  bool broken() const;           // a link is broken, or holds the root cause
};

struct StackChain {
  std::vector<ChainLink> machine;         // driver, driver files
  std::vector<ChainLane> lanes;           // broken ones first, else in the run's order
  std::vector<std::string> unused_cudnn;  // copies that no subject takes: "9.1.0 in /opt/x"; at most 32
};

StackChain MakeStackChain(const Summary& summary, const Verdict& verdict);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_STACK_CHAIN_H_
