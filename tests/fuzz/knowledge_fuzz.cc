// Files of knowledge as teams and broken generators write them: whatever the bytes, reading ends in rows
// within the bounds, laid over those that come with cudnn-ci, or in problems with positions.
#include <sys/mman.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "fuzz_target.h"
#include "shipped_knowledge.h"

namespace cudnn_ci {
namespace {

// The shipped table is read once; each input is laid over a copy of it.
const Compatibility& ShippedTable() {
  static const Compatibility kTable = std::get<Compatibility>(LoadCompatibility(CUDNN_CI_TABLE));
  return kTable;
}

void RequireGood(const Knowledge& knowledge, const Knowledge& shipped) {
  std::set<std::pair<std::string, std::string>> keys;
  for (const KnowledgeRow& row : knowledge.rows) {
    Require(keys.insert({row.list, row.key}).second, "no row is there twice", row.key);
    // The code of an adapter, which has a limit of its own, is part of its row.
    const std::size_t most = kMaxKnowledgeEntry + (row.list == "adapters" ? kMaxAdapterBytes : 0);
    Require(IsPrintableAscii(row.entry) && row.entry.size() <= most, "what plugins are told is bounded text",
            row.entry);
    Require(!row.source.empty() && !row.confidence.empty(), "a row is from somewhere", row.key);
  }
  Require(knowledge.rows.size() >= shipped.rows.size(), "no row is taken away", "");
  Require(knowledge.Rows("driver_libraries").size() == shipped.Rows("driver_libraries").size(),
          "no file names a library of the driver", "");
  size_t bytes = 0;
  for (const auto& [key, value] : EntriesOf(knowledge)) bytes += key.size() + value.size();
  Require(bytes <= kMaxKnowledgeEntryBytes, "all rows together are bounded", std::to_string(bytes));
  for (const std::string& sentence : SentencesOf(knowledge.notices))
    Require(!sentence.empty(), "a notice says something", "");
}

void RequireGood(const Compatibility& table) {
  for (const KnowledgeRow& row : FaultRows(table))
    Require(!row.position.file.empty(), "a known fault is of a file", row.key);
  size_t bytes = 0;
  for (const auto& [key, value] : table.entries) bytes += key.size() + value.size();
  Require(bytes <= kMaxCompatibilityEntryBytes, "the table is bounded", std::to_string(bytes));
}

// LoadKnowledge reads files: this one lies in memory.
void TestKnowledge(const std::string& text) {
  const Fd file(memfd_create("knowledge", MFD_CLOEXEC));
  Require(file.valid(), "memfd_create", "");
  Require(write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write", "");
  static const Knowledge kShipped = ShippedKnowledge();
  Compatibility table = ShippedTable();
  const auto loaded = LoadKnowledge(CUDNN_CI_KNOWLEDGE_FOLDER,
                                    {{"/proc/self/fd/" + std::to_string(file.get()), "--knowledge"}}, &table);
  if (const auto* knowledge = std::get_if<Knowledge>(&loaded)) {
    RequireGood(*knowledge, kShipped);
    return RequireGood(table);
  }
  const auto& problems = std::get<std::vector<Problem>>(loaded);
  Require(!problems.empty(), "a refusal has a reason", "");
  for (const Problem& problem : problems)
    Require(!problem.message.empty() && !problem.position.file.empty(), "a problem has words and a place",
            ToString(problem));
}

}  // namespace
}  // namespace cudnn_ci

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cudnn_ci::TestKnowledge(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
