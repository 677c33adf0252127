// The entrance of the record: whatever was told, the texts of an event are clean.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/text.h"
#include "model/record/event.h"
#include "model/record/record_fields.h"

namespace cudnn_ci {
namespace {

constexpr char kHostile[] = "a\x1b[31m\r\n\xff\x07\xc2\x9b\xe2\x80\xae";

// Calls the visitor with every text of a record, keys of maps among them, and makes one element where a
// list or a map has none.
template <class Visitor>
class EveryText {
 public:
  explicit EveryText(Visitor visit) : visit_(visit) {}
  void Ref(CaseRef& ref) { Go(ref.id), Go(ref.device); }
  template <class T>
  void operator()(const char*, T& value, Mark = Mark::kPlain) {
    Go(value);
  }
  void Go(CaseRef& ref) { Ref(ref); }
  void Go(std::string& text) { visit_(&text); }
  void Go(Value& value) {
    if (value == Value()) value = std::vector<std::string>{""};
    if (auto* texts = std::get_if<std::vector<std::string>>(&value)) Go(*texts);
  }
  void Go(Outcome& outcome) {
    if (std::holds_alternative<NotRun>(outcome)) outcome = Skipped{};
    std::visit([this](auto& o) { Fields(*this, o); }, outcome);
  }
  template <class T>
  void Go(std::vector<T>& list) {
    if (list.empty()) list.emplace_back();
    for (T& element : list) Go(element);
  }
  template <class T>
  void Go(std::map<std::string, T>& map) {
    if (map.empty()) map[""];
    std::map<std::string, T> visited;
    for (const auto& [key, value] : map) {
      std::string name = key;
      Go(name);
      visited[name] = value;
      Go(visited[name]);
    }
    map = visited;
  }
  template <class T>
  void Go(T& value) {
    if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) Fields(*this, value);
  }

 private:
  Visitor visit_;
};

template <class Visitor>
void VisitTexts(EventBody* body, Visitor visit) {
  EveryText<Visitor> io(visit);
  std::visit([&io](auto& event) { Fields(io, event); }, *body);
}

template <size_t I = 0>
void ExpectClean(int* texts) {
  if constexpr (I < std::variant_size_v<EventBody>) {
    EventBody told(std::in_place_index<I>);
    VisitTexts(&told, [](std::string* text) { *text = kHostile; });
    Event event(1, 2, told);
    VisitTexts(&event.body, [&](std::string* text) {
      EXPECT_EQ(*text, CleanText(*text)) << Name(event.body);
      *texts += text->empty() ? 0 : 1;
    });
    ExpectClean<I + 1>(texts);
  }
}

TEST(CleanEventTest, EveryTextOfEveryEventIsClean) {
  int texts = 0;
  ExpectClean(&texts);
  EXPECT_GT(texts, 100);  // what is not visited proves nothing
}

TEST(CleanEventTest, OfKeysThatLookAlikeOneStays) {
  RunStarted run;
  run.contract = {{"a\x1b[31m", "x"}, {"a", "y"}};
  EXPECT_EQ(std::get<RunStarted>(Event(1, 0, run).body).contract,
            (std::map<std::string, std::string>{{"a", "y"}}));
}

TEST(CleanEventTest, PlainTextStaysAsItIs) {
  const std::string text = "line\n\ttab \"quoted\" Größe";
  const Event event(3, 4, StepReached{{"conv.a", "gpu0"}, text});
  EXPECT_EQ(event.seq, 3);
  EXPECT_EQ(event.t_ms, 4);
  EXPECT_EQ(std::get<StepReached>(event.body).name, text);
}

}  // namespace
}  // namespace cudnn_ci
