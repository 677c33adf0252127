// Events without secrets. See mask.h.
#include "report/mask.h"

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "report/journal_fields.h"

namespace cudnn_ci {
namespace {

// Walks the fields of an event as the journal's encoder does, so that no text is forgotten.
class Masker {
 public:
  explicit Masker(const Secrets& secrets) : secrets_(secrets) {}

  void Ref(CaseRef&) {}
  template <class T>
  void operator()(std::string_view key, T& value) {
    if (key != "slug" && key != "by") Apply(value);
  }

 private:
  void Apply(std::string& text) { text = secrets_.Mask(text); }
  void Apply(Outcome& outcome) {
    std::visit([this](auto& o) { journal::Fields(*this, o); }, outcome);
  }
  template <class T>
  void Apply(std::vector<T>& list) {
    for (T& element : list) Apply(element);
  }
  template <class T>
  void Apply(std::map<std::string, T>& map) {
    for (auto& [key, value] : map) Apply(value);
  }
  template <class T>
  void Apply(T& value) {
    if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) journal::Fields(*this, value);
  }

  const Secrets& secrets_;
};

}  // namespace

void MaskSecrets(const Secrets& secrets, EventBody* body) {
  Masker masker(secrets);
  std::visit(
      [&](auto& event) {
        using E = std::remove_reference_t<decltype(event)>;
        if constexpr (!std::is_same_v<E, CasePlanned> && !std::is_same_v<E, WaiverDeclared>)
          journal::Fields(masker, event);
      },
      *body);
}

}  // namespace cudnn_ci
