// Rows of what is known, as the harness tells them to a plugin. `Json` is nlohmann::json, whose header the
// users of this one include themselves.
//
// Rows come over the worker's own channel, which the harness fills from files that it read and judged before
// the worker began: there is no file that the image could change meanwhile. What a library of the image can
// do inside of the worker's process it can do without them.
#ifndef CUDNN_CI_PLUGINS_COMMON_KNOWLEDGE_ROWS_H_
#define CUDNN_CI_PLUGINS_COMMON_KNOWLEDGE_ROWS_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"

namespace cudnn_ci {

// The rows of one kind, CCI_KNOWLEDGE_IMPORT or another of cudnn_ci/facts.h, in order.
template <class Json>
std::vector<Json> KnowledgeRows(const TableEntry& entry, const std::string& kind) {
  std::vector<Json> rows;
  for (int i = 0;; ++i) {
    const std::string text = entry(kind + std::to_string(i));
    if (text.empty()) return rows;
    rows.push_back(Json::parse(text));
  }
}

// A text of a row; empty: it has none.
template <class Json>
std::string TextOf(const Json& row, const char* field) {
  const auto value = row.find(field);
  return value == row.end() ? std::string() : value->template get<std::string>();
}

template <class Json>
bool FlagOf(const Json& row, const char* field) {
  const auto value = row.find(field);
  return value != row.end() && value->template get<bool>();
}

template <class Json>
std::vector<std::string> TextsOf(const Json& row, const char* field) {
  const auto value = row.find(field);
  return value == row.end() ? std::vector<std::string>() : value->template get<std::vector<std::string>>();
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_KNOWLEDGE_ROWS_H_
