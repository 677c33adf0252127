#include "kernels/adapter.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "common/knowledge_rows.h"

namespace cudnn_ci {
namespace {

using Row = nlohmann::json;

bool IsAmong(const std::vector<std::string>& patterns, const std::string& problem) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return GlobMatch(pattern, problem); });
}

Implementation ImplementationOf(const Row& row) {
  Implementation one;
  one.name = TextOf(row, "implementation");
  if (TextOf(row, "arithmetic") == "online_softmax") one.arithmetic = KernelArithmetic::kOnlineSoftmax;
  if (TextOf(row, "arithmetic") == "recomputed_softmax")
    one.arithmetic = KernelArithmetic::kRecomputedSoftmax;
  if (TextOf(row, "arithmetic") == "rounded_partials") one.arithmetic = KernelArithmetic::kRoundedPartials;
  one.promises = TextsOf(row, "promises");
  one.offers = TextsOf(row, "offers");
  one.kernels = TextsOf(row, "kernels");
  one.versions = TextOf(row, "versions");
  one.capability = TextOf(row, "capability");
  one.calls_cudnn = TextOf(row, "library") == "cudnn";
  if (const std::vector<std::string> names = TextsOf(row, "processes"); !names.empty()) one.processes = names;
  return one;
}

void AddFault(const Row& row, std::vector<Adapter>* adapters) {
  for (Adapter& adapter : *adapters)
    for (Implementation& one : adapter.implementations)
      if (adapter.name == TextOf(row, "adapter") && one.name == TextOf(row, "implementation"))
        one.faults.push_back({TextsOf(row, "problems"), TextOf(row, "versions"), TextOf(row, "effect"),
                              TextOf(row, "remedy"), TextOf(row, "source")});
}

}  // namespace

bool KernelFault::Hits(const std::string& problem) const { return IsAmong(problems, problem); }

std::string KernelFault::Text() const { return "; known: " + effect + " (" + source + "); " + remedy; }

bool Implementation::Promises(const std::string& problem) const { return IsAmong(promises, problem); }

bool Implementation::Asks(const std::string& problem) const {
  return Promises(problem) || IsAmong(offers, problem);
}

std::vector<Adapter> KnownAdapters(const TableEntry& entry) {
  std::vector<Adapter> adapters;
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_ADAPTER))
    adapters.push_back({TextOf(row, "adapter"),
                        TextOf(row, "title"),
                        TextsOf(row, "distributions"),
                        TextOf(row, "versions"),
                        TextOf(row, "code"),
                        TextOf(row, "known_good"),
                        TextOf(row, "known_bad"),
                        {}});
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_IMPLEMENTATION))
    for (Adapter& adapter : adapters)
      if (adapter.name == TextOf(row, "adapter")) adapter.implementations.push_back(ImplementationOf(row));
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_KERNEL_FAULT)) AddFault(row, &adapters);
  return adapters;
}

}  // namespace cudnn_ci
