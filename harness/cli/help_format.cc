#include "cli/help_format.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace cudnn_ci {
namespace {

bool IsRepeatable(const CLI::Option& option) {
  return option.get_expected_max() == CLI::detail::expected_max_vector_size;
}

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (!is_positional) return Formatter::make_option_name(option, false);
    const std::string value = ValueName(*option);
    return value.empty() ? option->get_name(true, false) : value;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string out;
    const std::string value = ValueName(*option);
    if (!option->get_positional() && !value.empty()) out += " " + value;
    if (IsRepeatable(*option)) out += " ...";
    return out;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::vector<std::string> excluded;
    for (const CLI::Option* other : option->get_excludes()) excluded.push_back(other->get_name());
    return option->get_description() +
           (option->get_required() && !option->get_positional() ? "; required" : "") +
           (excluded.empty() ? "" : "; not with " + Join(excluded, ", "));
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = make_option_name(option, true) + (IsRepeatable(*option) ? "..." : "");
    return option->get_required() ? name : "[" + name + "]";
  }
};

}  // namespace

std::string ValueName(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  std::string type = option.get_type_name();  // "FILE", or "TEXT:{rich,strict}" with its check
  const size_t colon = type.find(":{");
  if (option.get_positional()) return colon != std::string::npos || type == "TEXT" ? "" : type;
  if (colon != std::string::npos)
    return Join(Split(std::string_view(type).substr(colon + 2, type.size() - colon - 3), ','), "|");
  return type;
}

std::shared_ptr<CLI::FormatterBase> MakeHelpFormat() { return std::make_shared<HelpFormat>(); }

}  // namespace cudnn_ci
