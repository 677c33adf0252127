// Events without secrets. See mask.h.
#include "report/record/mask.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/record/fact_keys.h"
#include "model/record/record_fields.h"

namespace cudnn_ci {
namespace {

// What others look up or compare, whatever it is called in the environment: a masked one would be equal to
// another that is masked, and two images merged into one.
bool IsIdentity(std::string_view key) {
  constexpr std::array<std::string_view, 19> kKeys = {
      "slug",        "run_id",  "timestamp", "version",         "matrix_name", "matrix_sha256", "image",
      "digest_from", "sha256",  "as_of",     "partial",         "plan_sha256", "verdict",       "merged_by",
      "device",      "subject", "code",      "partial_notices", "is"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// Facts that merging compares.
bool IsVersionFact(std::string_view key) {
  return key == kCudnnVersionFact || key == kToolkitVersionFact || key == kDriverVersionFact;
}

// Has a name that other events and the facts know it by.
template <class T>
constexpr bool kIsNamed =
    std::is_same_v<T, SubjectInfo> || std::is_same_v<T, PluginIdentity> || std::is_same_v<T, RunPart>;

// Walks the fields of an event as the journal's encoder does, so that no text is forgotten.
class Masker {
 public:
  explicit Masker(const Secrets& secrets) : secrets_(secrets) {}

  void Ref(CaseRef&) {}
  template <class T>
  void operator()(std::string_view key, T& value, Mark = Mark::kPlain) {
    if (!IsIdentity(key) && !(key == "name" && named_)) Apply(value);
  }

 private:
  void Apply(std::string& text) { text = secrets_.Mask(text); }
  void Apply(CaseRef&) {}
  void Apply(DeviceInfo&) {}  // by name and model, too
  void Apply(Value& value) {
    if (auto* text = std::get_if<std::string>(&value)) Apply(*text);
    if (auto* texts = std::get_if<std::vector<std::string>>(&value)) Apply(*texts);
  }
  // A line with something masked in it would not do what it says.
  void Apply(Finding& finding) {
    const std::string line = finding.command;
    Fields(*this, finding);
    if (finding.command != line) finding.command = {}, finding.where = Where::kNone;
  }
  template <class T>
  void Apply(std::vector<T>& list) {
    for (T& element : list) Apply(element);
  }
  template <class T>
  void Apply(std::map<std::string, T>& map) {
    for (auto& [key, value] : map)
      if (!IsVersionFact(key)) Apply(value);
  }
  template <class T>
  void Apply(T& value) {
    if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) {
      named_ = kIsNamed<T>;
      Fields(*this, value);
      named_ = false;  // none of them lies in another
    }
  }

  const Secrets& secrets_;
  bool named_ = false;
};

}  // namespace

void MaskSecrets(const Secrets& secrets, EventBody* body) {
  Masker masker(secrets);
  std::visit(
      [&](auto& event) {
        using E = std::remove_reference_t<decltype(event)>;
        if constexpr (!std::is_same_v<E, CasePlanned> && !std::is_same_v<E, WaiverDeclared>)
          Fields(masker, event);
      },
      *body);
}

}  // namespace cudnn_ci
