#include "image/device_code/device_code_cover.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cudnn_ci {
namespace {

// Compute capabilities of Tegra, by architecture: between them and the other cards of their major nothing is
// compatible.
constexpr std::array<int, 7> kTegra = {53, 62, 72, 87, 101, 110, 88};

Card CardOf(const CodeTarget& target) { return {target.architecture / 10, target.architecture % 10}; }

bool IsTegra(const CodeTarget& target) {
  return std::find(kTegra.begin(), kTegra.end(), target.architecture) != kTegra.end();
}

// Two numbers with a point between them.
bool TwoNumbers(const std::string& text, int* first, int* second) {
  const char* end = text.data() + text.size();
  const auto [point, error] = std::from_chars(text.data(), end, *first);
  if (error != std::errc() || point == end || *point != '.' || text[0] == '-') return false;
  const auto [stop, wrong] = std::from_chars(point + 1, end, *second);
  return wrong == std::errc() && stop == end && *(point + 1) != '-';
}

// The PTX that serves the card: the oldest of it, and the newest.
std::optional<Modules> ServingPtx(const CodeTargets& code, const Card& card) {
  std::optional<Modules> serving;
  for (const auto& [target, modules] : code.ptx) {
    if (!modules.hold_code || !PtxServes(target, card)) continue;
    if (!serving) serving = modules;
    serving->lowest = std::min(serving->lowest, modules.lowest);
    serving->highest = std::max(serving->highest, modules.highest);
  }
  return serving;
}

bool IsGeneric(const std::pair<const CodeTarget, Modules>& one) {
  return one.second.hold_code && one.first.variant == CodeVariant::kGeneric;
}

}  // namespace

std::optional<Card> ParseCard(const std::string& text) {
  Card card;
  if (!TwoNumbers(text, &card.major, &card.minor)) return std::nullopt;
  return card;
}

std::optional<PtxVersion> ParsePtxVersion(const std::string& text) {
  PtxVersion version;
  if (!TwoNumbers(text, &version.major, &version.minor)) return std::nullopt;
  return version;
}

bool SassRunsOn(const CodeTarget& target, const Card& card) {
  const Card own = CardOf(target);
  if (target.variant == CodeVariant::kArchitecture || IsTegra(target)) return own == card;
  return own.major == card.major && own.minor <= card.minor;
}

bool PtxServes(const CodeTarget& target, const Card& card) {
  if (target.variant != CodeVariant::kGeneric) return SassRunsOn(target, card);
  return CardOf(target) <= card;
}

Cover CoverOf(const CodeTargets& code, const Card& card, const std::optional<PtxVersion>& newest) {
  for (const auto& [target, modules] : code.sass)
    if (modules.hold_code && SassRunsOn(target, card)) return Cover::kRuns;
  const std::optional<Modules> ptx = ServingPtx(code, card);
  if (!ptx) return code.others > 0 ? Cover::kLinked : Cover::kMissing;
  if (!newest) return Cover::kDriverUnknown;
  if (ptx->highest <= *newest) return Cover::kCompiled;
  return ptx->lowest <= *newest ? Cover::kPartlyCompiled : Cover::kPtxTooNew;
}

bool IsSpecialised(const CodeTargets& code) {
  return code.HoldCode() && code.others == 0 && std::none_of(code.sass.begin(), code.sass.end(), IsGeneric) &&
         std::none_of(code.ptx.begin(), code.ptx.end(), IsGeneric);
}

std::string Describe(const CodeTargets& code) {
  std::string sass, ptx;
  for (const auto& [target, modules] : code.sass)
    if (modules.hold_code) sass += " " + target.Text();
  for (const auto& [target, modules] : code.ptx) {
    if (!modules.hold_code) continue;
    ptx += " " + target.Text() + " (" + modules.lowest.Text();
    ptx += (modules.lowest < modules.highest ? " to " + modules.highest.Text() : "") + ")";
  }
  std::string all = sass.empty() ? "" : "SASS" + sass;
  if (!ptx.empty()) all += (all.empty() ? "" : ", ") + ("PTX" + ptx);
  if (code.others > 0) all += std::string(all.empty() ? "" : ", ") + "intermediate code";
  return all.empty() ? "no code" : all;
}

}  // namespace cudnn_ci
