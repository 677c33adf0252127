// An event of the record is made of what was told: its texts are cleaned on the way in. See event.h.
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "model/record/event.h"
#include "model/record/record_fields.h"

namespace cudnn_ci {
namespace {

// Walks the fields of an event as the journal's encoder does, so that no text is forgotten.
class Cleaner {
 public:
  void Ref(CaseRef& ref) { Clean(ref.id), Clean(ref.device); }
  template <class T>
  void operator()(const char*, T& value, Mark = Mark::kPlain) {
    Clean(value);
  }

 private:
  void Clean(std::string& text) { CleanInPlace(&text); }
  void Clean(Value& value) {
    if (auto* text = std::get_if<std::string>(&value)) Clean(*text);
    if (auto* texts = std::get_if<std::vector<std::string>>(&value)) Clean(*texts);
  }
  void Clean(CaseRef& ref) { Ref(ref); }
  template <class T>
  void Clean(std::vector<T>& list) {
    for (T& element : list) Clean(element);
  }
  // Of two keys that look alike once they are clean the first stays.
  template <class T>
  void Clean(std::map<std::string, T>& map) {
    bool plain = true;
    for (auto& [key, value] : map) Clean(value), plain = plain && IsPrintableAscii(key);
    if (plain) return;
    std::map<std::string, T> clean;
    for (auto& [key, value] : map) clean.emplace(CleanText(key), std::move(value));
    map = std::move(clean);
  }
  template <class T>
  void Clean(T& value) {
    if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) Fields(*this, value);
  }
};

}  // namespace

Event::Event(int64_t number, int64_t since_start_ms, EventBody&& told)
    : seq(number), t_ms(since_start_ms), body(std::move(told)) {
  Cleaner cleaner;
  std::visit([&](auto& event) { Fields(cleaner, event); }, body);
}

}  // namespace cudnn_ci
