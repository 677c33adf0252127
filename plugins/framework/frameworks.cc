#include "framework/frameworks.h"

#include <cudnn_ci/facts.h>

#include <nlohmann/json.hpp>

#include "common/knowledge_rows.h"

namespace cudnn_ci {
namespace {

using Row = nlohmann::json;

}  // namespace

std::vector<Framework> KnownFrameworks(const TableEntry& entry) {
  std::vector<Framework> frameworks;
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_FRAMEWORK))
    frameworks.push_back({TextOf(row, "framework"), TextOf(row, "title"), FlagOf(row, "takes_package"),
                          FlagOf(row, "opens_by_name")});
  return frameworks;
}

CudaLibraries LibrariesOfFrameworks(const TableEntry& entry) {
  std::vector<std::string> files;
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_GPU_LIBRARY))
    if (FlagOf(row, "computes")) files.push_back(TextOf(row, "file"));
  return CudaLibraries(files);
}

std::string FrameworkRows(const TableEntry& entry) {
  return Row(KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_FRAMEWORK)).dump();
}

Framework FrameworkOf(const Probe& probe, const TableEntry& entry) {
  for (Framework& framework : KnownFrameworks(entry))
    if (framework.name == probe.name) return std::move(framework);
  return {probe.name, probe.title, false, false};
}

}  // namespace cudnn_ci
