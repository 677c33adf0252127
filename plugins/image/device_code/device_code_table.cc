#include "image/device_code/device_code_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>

namespace cudnn_ci {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostRows = 1000;        // of a table (harness/model/record/table.h)
constexpr std::size_t kMostBytes = 240 << 10;  // of its rows; a table has 256 KiB
constexpr std::size_t kMostCell = 200;
constexpr std::size_t kMostCards = 24;

struct Shown {
  const char* text;
  const char* state;
  int rank;  // the worse, the lower
};

Shown Of(Cover cover) {
  switch (cover) {
    case Cover::kRuns:
      return {"SASS", "ok", 4};
    case Cover::kCompiled:
      return {"JIT", "warning", 3};
    case Cover::kPartlyCompiled:
      return {"JIT in part", "warning", 2};
    case Cover::kDriverUnknown:
      return {"PTX", "unknown", 2};
    case Cover::kLinked:
      return {"linked", "unknown", 2};
    case Cover::kPtxTooNew:
      return {"PTX too new", "error", 1};
    case Cover::kMissing:
      break;
  }
  return {"missing", "error", 0};
}

// Of a path the end says more than the beginning.
std::string EndOf(const std::string& text) {
  return text.size() <= kMostCell ? text : "..." + text.substr(text.size() - (kMostCell - 3));
}
std::string BeginOf(const std::string& text) {
  return text.size() <= kMostCell ? text : text.substr(0, kMostCell - 3) + "...";
}

std::string Below(const std::string& path, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (!folder.empty() && path.compare(0, folder.size() + 1, folder + "/") == 0)
      return path.substr(folder.size() + 1);
  return path;
}

Json Cell(const std::string& text, const char* state) { return {{"text", text}, {"state", state}}; }

int RankOf(const JudgedFile& judged) {
  if (judged.state == JudgedFile::State::kNotJudged) return 6;
  if (judged.state == JudgedFile::State::kLinkedLater) return 5;
  int rank = 4;
  for (const Cover cover : judged.covers) rank = std::min(rank, Of(cover).rank);
  return rank;
}

Json RowOf(const JudgedFile& judged, std::size_t cards, const std::vector<std::string>& folders) {
  const DeviceCode& code = judged.file.code;
  Json row = Json::array();
  row.push_back(EndOf(Below(judged.file.path, folders)));
  row.push_back(BeginOf(judged.file.package));
  const bool later = judged.state == JudgedFile::State::kLinkedLater;
  for (std::size_t i = 0; i < cards; ++i) {
    if (i >= judged.covers.size()) {
      row.push_back(later ? Json("") : Cell("not tested", "unknown"));
      continue;
    }
    const Shown shown = Of(judged.covers[i]);
    row.push_back(Cell(shown.text, shown.state));
  }
  std::string holds = Describe(later && !code.code.HoldCode() ? code.unlinked : code.code);
  if (later) holds += ", to be linked";
  row.push_back(BeginOf(holds));
  return row;
}

}  // namespace

std::string DeviceCodeTable(const DeviceCodeJudgement& judgement, const PromisedCards& cards,
                            const std::vector<std::string>& folders) {
  const std::size_t shown_cards = std::min(cards.cards.size(), kMostCards);
  Json columns = {"library", "package"};
  for (std::size_t i = 0; i < shown_cards; ++i) columns.push_back(cards.cards[i].Text());
  columns.push_back("holds");
  std::vector<std::size_t> order(judgement.files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return RankOf(judgement.files[a]) < RankOf(judgement.files[b]);
  });
  Json rows = Json::array();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    Json row = RowOf(judgement.files[order[i]], shown_cards, folders);
    bytes += row.dump(-1, ' ', false, Json::error_handler_t::replace).size() + 1;
    if (bytes > kMostBytes) break;
    rows.push_back(std::move(row));
  }
  const Json table = {{"schema", "cudnn-ci/table/1"},
                      {"title", "device code by library and card"},
                      {"columns", columns},
                      {"rows", rows},
                      {"left_out", order.size() - rows.size()}};
  // Paths may hold any bytes.
  return table.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cudnn_ci
