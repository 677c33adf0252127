#include "model/record/table.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace cudnn_ci {
namespace {

using Node = nlohmann::json;

constexpr std::array<std::pair<const char*, CellState>, 5> kStates = {{{"", CellState::kNone},
                                                                       {"ok", CellState::kOk},
                                                                       {"warning", CellState::kWarning},
                                                                       {"error", CellState::kError},
                                                                       {"unknown", CellState::kUnknown}}};

// Null: there is no such member, or of another type.
const Node* Member(const Node& object, const char* key, Node::value_t type) {
  const auto found = object.find(key);
  return found != object.end() && found->type() == type ? &*found : nullptr;
}

std::string TextOf(const Node& node) {
  return SingleLine(node.get_ref<const std::string&>(), kMostTableText);
}

// A text, or {"text", "state"}.
bool ReadCell(const Node& node, TableCell* cell) {
  if (node.is_string()) {
    cell->text = TextOf(node);
    return true;
  }
  if (!node.is_object()) return false;
  const Node* text = Member(node, "text", Node::value_t::string);
  if (text == nullptr) return false;
  cell->text = TextOf(*text);
  if (!node.contains("state")) return true;
  const Node* state = Member(node, "state", Node::value_t::string);
  return state != nullptr && Parse(state->get_ref<const std::string&>(), &cell->state);
}

// Why it is none; empty: it was read.
std::string ReadRow(const Node& node, size_t columns, TableRow* row) {
  if (!node.is_array() || node.size() != columns) return "a row is not a list with a cell for each column";
  for (const Node& cell : node)
    if (!ReadCell(cell, &row->cells.emplace_back()))
      return "a cell is neither a text nor {\"text\", \"state\"} with a state that is known";
  return {};
}

}  // namespace

const char* Name(CellState state) {
  for (const auto& [name, known] : kStates)
    if (known == state) return name;
  return "";
}

bool Parse(const std::string& name, CellState* out) {
  for (const auto& [known, state] : kStates) {
    if (name != known) continue;
    *out = state;
    return true;
  }
  return false;
}

Result<AttachedTable> ParseTable(const std::string& text) {
  if (text.size() > kMostTableBytes) return Error{"a table of more than 256 KiB"};
  const Node top = Node::parse(text, nullptr, false);
  if (!top.is_object()) return Error{"no JSON object"};
  const Node* schema = Member(top, "schema", Node::value_t::string);
  if (schema == nullptr || *schema != kTableSchema)
    return Error{std::string("its \"schema\" is not ") + kTableSchema};
  AttachedTable table;
  if (const Node* title = Member(top, "title", Node::value_t::string)) table.title = TextOf(*title);
  const Node* columns = Member(top, "columns", Node::value_t::array);
  if (columns == nullptr || columns->empty() || columns->size() > kMostTableColumns)
    return Error{"\"columns\" is not a list of 1 to 32 texts"};
  for (const Node& column : *columns) {
    if (!column.is_string()) return Error{"\"columns\" is not a list of 1 to 32 texts"};
    table.columns.push_back(TextOf(column));
  }
  const Node* rows = Member(top, "rows", Node::value_t::array);
  if (rows == nullptr || rows->size() > kMostTableRows)
    return Error{"\"rows\" is not a list of at most 1000 rows"};
  for (const Node& row : *rows) {
    const std::string problem = ReadRow(row, table.columns.size(), &table.rows.emplace_back());
    if (!problem.empty()) return Error{problem};
  }
  if (const auto left = top.find("left_out"); left != top.end() && left->is_number_unsigned())
    table.left_out = static_cast<int64_t>(left->get<uint64_t>() & INT64_MAX);
  return table;
}

}  // namespace cudnn_ci
