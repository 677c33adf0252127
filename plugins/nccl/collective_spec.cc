#include "nccl/collective_spec.h"

#include <algorithm>
#include <stdexcept>

namespace cudnn_ci {
namespace {

struct Named {
  const char *name, *call;
};
// In the order of Collective.
constexpr Named kCollectives[] = {{"all_reduce", "ncclAllReduce"},
                                  {"reduce", "ncclReduce"},
                                  {"reduce_scatter", "ncclReduceScatter"},
                                  {"all_gather", "ncclAllGather"},
                                  {"broadcast", "ncclBroadcast"},
                                  {"all_to_all", "ncclAlltoAll"},
                                  {"gather", "ncclGather"},
                                  {"scatter", "ncclScatter"},
                                  {"send_receive", "ncclSend and ncclRecv"}};

const Named& Of(Collective collective) { return kCollectives[static_cast<std::size_t>(collective)]; }

}  // namespace

void CollectiveSpec::SetCollective(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kCollectives); ++i)
    if (name == kCollectives[i].name) {
      collective = static_cast<Collective>(i);
      return;
    }
  throw std::invalid_argument("no collective is called " + name);
}

bool CollectiveSpec::HasRoot() const {
  return collective == Collective::kReduce || collective == Collective::kBroadcast ||
         collective == Collective::kGather || collective == Collective::kScatter;
}

bool CollectiveSpec::CanBeInPlace() const {
  return collective != Collective::kAllToAll && collective != Collective::kSendReceive;
}

RankLayout CollectiveSpec::Of(int rank) const {
  const std::int64_t all = count * ranks, own = count * rank;
  const bool is_root = rank == root;
  RankLayout layout;
  layout.in_place = in_place;
  switch (collective) {
    case Collective::kAllReduce:
      layout.sends = layout.receives = count;
      break;
    case Collective::kReduce:
      layout.sends = count, layout.receives = is_root ? count : 0;
      layout.in_place = in_place && is_root;
      break;
    case Collective::kReduceScatter:
      layout.sends = all, layout.receives = count, layout.receive_begin = in_place ? own : 0;
      break;
    case Collective::kAllGather:
      layout.sends = count, layout.receives = all, layout.send_begin = own;
      break;
    case Collective::kBroadcast:
      layout.sends = is_root ? count : 0, layout.receives = count;
      layout.in_place = in_place && is_root;
      break;
    case Collective::kAllToAll:
    case Collective::kSendReceive:
      layout.sends = layout.receives = all;
      break;
    case Collective::kGather:
      layout.sends = count, layout.receives = is_root ? all : 0, layout.send_begin = own;
      layout.in_place = in_place && is_root;
      break;
    case Collective::kScatter:
      layout.sends = is_root ? all : 0, layout.receives = count;
      layout.in_place = in_place && is_root;
      layout.receive_begin = layout.in_place ? own : 0;
      break;
  }
  layout.output = layout.in_place ? std::max(layout.sends, layout.receives) : layout.receives;
  return layout;
}

double CollectiveSpec::MostBytes() const {
  const bool of_one = collective == Collective::kAllReduce || collective == Collective::kReduce ||
                      collective == Collective::kBroadcast;
  return (static_cast<double>(count) * (of_one ? 1 : ranks) + static_cast<double>(shift)) *
         static_cast<double>(type->size);
}

const char* CollectiveSpec::Name() const { return cudnn_ci::Of(collective).name; }
const char* CollectiveSpec::Call() const { return cudnn_ci::Of(collective).call; }

std::string CollectiveSpec::Text() const {
  std::string text = Name();
  if (reduction != Reduction::kNone) text += std::string(" ") + NameOf(reduction);
  text += " of " + std::to_string(count) + " " + type->name;
  if (in_place) text += ", in place";
  if (shift > 0) text += ", shifted by " + std::to_string(shift);
  if (HasRoot() && ranks > 1) text += ", root " + std::to_string(root);
  return text + (ranks > 1 ? ", of " + std::to_string(ranks) + " ranks" : ", of one rank");
}

}  // namespace cudnn_ci
