#include "cli/answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/secrets.h"
#include "base/text.h"
#include "cli/diagnostics.h"

namespace cudnn_ci {
namespace {

using nlohmann::ordered_json;

// Text by text: in the finished document a value may be escaped, and a number or a key must stay.
void MaskTexts(ordered_json* j) {
  if (j->is_string()) *j = Secrets::OfThisProcess().Mask(j->get_ref<const std::string&>());
  if (j->is_structured())
    for (auto& [key, value] : j->items())
      if (key != "id" && key != "schema" && key != "slug") MaskTexts(&value);
}

}  // namespace

int PrintAsIs(const std::string& text) { return PrintAnswer(text) ? 0 : 5; }

int PrintText(const std::string& text, const CommandSpelling& spelling) {
  return PrintAsIs(WithoutPipelineCommands(Secrets::OfThisProcess().Mask(CleanText(text)), spelling));
}

int PrintJson(const std::string& document) {
  ordered_json j = ordered_json::parse(document, nullptr, false);
  MaskTexts(&j);
  // In ASCII: a terminal shows it, and characters that command one may stand in it.
  return PrintJsonAsIs(j.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n");
}

int PrintJsonAsIs(const std::string& document) {
  return PrintAsIs(WithoutPipelineCommands(document, kInJson));
}

int Fail(const std::string& message) {
  PrintDiagnostic(message);
  return 2;
}

}  // namespace cudnn_ci
