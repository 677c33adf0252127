// What the fake NCCL computes, apart from its functions and how its ranks meet.
#ifndef CUDNN_CI_TESTS_FAKES_FAKE_NCCL_H_
#define CUDNN_CI_TESTS_FAKES_FAKE_NCCL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "nccl/nccl_types.h"

namespace fake_nccl {

using Bytes = std::vector<unsigned char>;

// One call, as one rank makes it.
struct Collective {
  enum Kind { kAllReduce, kReduce, kReduceScatter, kAllGather, kBroadcast, kAllToAll, kGather, kScatter };
  Kind kind = kAllReduce;
  std::size_t count = 0;
  const cudnn_ci::NcclType* type = nullptr;
  int op = -1, root = 0, rank = 0, ranks = 1;
  int lost = 0;  // the rank whose part a fault loses

  std::size_t size() const { return type->size; }
  // Elements, of this rank.
  std::size_t Sends() const;
  std::size_t Receives() const;
};

// Null: there is none of this number.
const cudnn_ci::NcclType* TypeOf(int number);

// What goes wrong from now on; empty: nothing.
void SetFault(const std::string& fault);
// That of FAKE_NCCL_FAULT; of "by_count:moved,tail,..." the first one for calls of 1000 elements, the second
// one for calls of 1001.
void ChooseFault(std::size_t count);
bool IsFault(const char* fault);

// Writes what the rank receives of what all ranks sent, with the fault where it errs. Returns what the call
// returns.
int Deliver(const Collective& c, const std::vector<Bytes>& sent, bool errs, unsigned char* send,
            unsigned char* receive);

}  // namespace fake_nccl

#endif  // CUDNN_CI_TESTS_FAKES_FAKE_NCCL_H_
