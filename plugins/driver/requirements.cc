// The mini language of NVIDIA_REQUIRE_*.
#include "driver/requirements.h"

#include <cctype>
#include <sstream>

namespace cudnn_ci {
namespace {

struct Condition {
  std::string property, op, value;
};

Condition Parse(const std::string& text) {
  size_t at = 0;
  while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at]))) ++at;
  size_t end = at;
  while (end < text.size() && std::string("<>=!").find(text[end]) != std::string::npos) ++end;
  return {text.substr(0, at), text.substr(at, end - at), text.substr(end)};
}

// Up to 16 numbers of up to 9 digits, as InRange takes them: what an image's variable holds is anything.
bool IsVersion(const std::string& text) {
  std::istringstream parts(text + ".");
  size_t count = 0;
  for (std::string part; std::getline(parts, part, '.'); ++count)
    if (part.empty() || part.size() > 9 || part.find_first_not_of("0123456789") != std::string::npos)
      return false;
  return count > 0 && count <= 16;
}

// As "quadrortx", which the brands' names are.
bool IsLowerWord(const std::string& text) {
  return text.size() <= 20 && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
}

Kept EvaluateCondition(const Condition& c, const HostProperties& host, const InRange& in_range) {
  const auto known = [](bool kept) { return kept ? Kept::kYes : Kept::kNo; };
  if (c.property == "brand") {
    if (host.brand.empty() || c.value.empty() || (c.op != "=" && c.op != "!=")) return Kept::kUnknown;
    return known((host.brand == c.value) == (c.op == "="));
  }
  const std::string& version = c.property == "cuda"     ? host.cuda
                               : c.property == "driver" ? host.driver
                                                        : host.arch;
  const bool is_property = c.property == "cuda" || c.property == "driver" || c.property == "arch";
  const bool is_operator =
      c.op == "=" || c.op == "!=" || c.op == "<" || c.op == "<=" || c.op == ">" || c.op == ">=";
  if (!is_property || !is_operator || !IsVersion(c.value) || !IsVersion(version)) return Kept::kUnknown;
  return known(in_range(version, c.op + c.value));
}

// All of the conditions between commas.
Kept EvaluateAlternative(const std::string& text, const HostProperties& host, const InRange& in_range) {
  Kept all = Kept::kYes;
  std::istringstream conditions(text);
  for (std::string condition; std::getline(conditions, condition, ',');) {
    const Kept kept = EvaluateCondition(Parse(condition), host, in_range);
    if (kept == Kept::kNo) return Kept::kNo;
    if (kept == Kept::kUnknown) all = Kept::kUnknown;
  }
  return all;
}

}  // namespace

Kept Evaluate(const std::string& requirement, const HostProperties& host, const InRange& in_range) {
  Kept any = Kept::kUnknown;
  bool one_unknown = false, first = true;
  std::istringstream alternatives(requirement);
  for (std::string alternative; alternatives >> alternative; first = false) {
    const Kept kept = EvaluateAlternative(alternative, host, in_range);
    if (kept == Kept::kYes) return Kept::kYes;
    one_unknown = one_unknown || kept == Kept::kUnknown;
  }
  if (!first && !one_unknown) any = Kept::kNo;
  return any;
}

bool HasConditionsAlone(const std::string& requirement) {
  std::istringstream alternatives(requirement);
  for (std::string alternative; alternatives >> alternative;) {
    std::istringstream conditions(alternative);
    for (std::string text; std::getline(conditions, text, ',');) {
      const Condition c = Parse(text);
      const bool version = c.property == "cuda" || c.property == "driver" || c.property == "arch";
      if (c.op.empty() || (version ? !IsVersion(c.value) : c.property != "brand" || !IsLowerWord(c.value)))
        return false;
    }
  }
  return true;
}

std::string LowestCuda(const std::string& requirement) {
  std::istringstream alternatives(requirement);
  for (std::string alternative; alternatives >> alternative;) {
    std::istringstream conditions(alternative);
    for (std::string text; std::getline(conditions, text, ',');) {
      const Condition c = Parse(text);
      if (c.property == "cuda" && (c.op == ">=" || c.op == "=") && IsVersion(c.value)) return c.value;
    }
  }
  return {};
}

}  // namespace cudnn_ci
