#include "image/symbols/symbols_merge.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace cudnn_ci {
namespace {

using Kind = SymbolFaultKind;

constexpr std::size_t kMostNamed = 6;

bool IsOfLibraries(const SymbolFault& fault) {
  return fault.kind == Kind::kMissingLibrary || fault.kind == Kind::kOtherMajor ||
         fault.kind == Kind::kOpenedLater;
}

bool IsOfSymbols(const SymbolFault& fault) {
  return fault.kind == Kind::kMissingSymbol || fault.kind == Kind::kVersionMissing ||
         fault.kind == Kind::kOtherCxxAbi || fault.kind == Kind::kWrongProvider;
}

// What is said of one cause, and of what shares it.
struct Cause {
  SymbolFault fault;
  std::set<std::string> askers, libraries, lines, pips, links, folders;
  bool ahead = false;
};

void AddAll(const std::set<std::string>& from, std::set<std::string>* to) {
  to->insert(from.begin(), from.end());
}

// What pip is told, with the options that it has in common: "--no-deps a b" of two; empty: these differ.
std::string OnePip(const std::set<std::string>& pips) {
  std::string all;
  for (const std::string& pip : pips) {
    const std::size_t last = pip.rfind(' ') == std::string::npos ? 0 : pip.rfind(' ') + 1;
    if (all.empty()) {
      all = pip;
    } else if (all.rfind("--", 0) == pip.rfind("--", 0) && all.compare(0, last, pip, 0, last) == 0) {
      all += " " + pip.substr(last);
    } else {
      return "";
    }
  }
  return all;
}

// The same of lines for it; `pips`: what they end with.
std::string OneLine(const std::set<std::string>& lines, const std::set<std::string>& pips) {
  if (lines.size() < 2) return lines.empty() ? "" : *lines.begin();
  const std::string& first = *lines.begin();
  for (const std::string& pip : pips)
    if (first.ends_with(" " + pip)) return first.substr(0, first.size() - pip.size()) + OnePip(pips);
  return "";
}

// Whether one line is the cure of both; where neither has one, nothing says otherwise.
bool HaveOneCure(const Cause& a, const Cause& b) {
  std::set<std::string> pips = a.pips, lines = a.lines;
  AddAll(b.pips, &pips), AddAll(b.lines, &lines);
  if (!pips.empty() && OnePip(pips).empty()) return false;
  if (lines.empty()) return true;
  if (a.pips.empty() != b.pips.empty() || a.lines.empty() != b.lines.empty()) return false;
  if (a.links.empty() != b.links.empty() || a.folders.empty() != b.folders.empty()) return false;
  return !pips.empty() || lines.size() < 2;
}

using KeyOf = std::function<std::string(const SymbolFault&)>;

// Joins those with the same key, in the order of the first of each.
std::vector<Cause> Joined(std::vector<Cause> causes, const std::function<bool(const SymbolFault&)>& concerns,
                          const KeyOf& key_of) {
  std::vector<Cause> joined;
  std::map<std::pair<Kind, std::string>, std::size_t> known;
  for (Cause& cause : causes) {
    if (concerns(cause.fault)) {
      const auto [at, fresh] =
          known.emplace(std::make_pair(cause.fault.kind, key_of(cause.fault)), joined.size());
      if (!fresh && HaveOneCure(joined[at->second], cause)) {
        Cause& first = joined[at->second];
        AddAll(cause.askers, &first.askers), AddAll(cause.libraries, &first.libraries);
        AddAll(cause.lines, &first.lines), AddAll(cause.pips, &first.pips);
        AddAll(cause.links, &first.links), AddAll(cause.folders, &first.folders);
        first.ahead = first.ahead || cause.ahead;
        continue;
      }
    }
    joined.push_back(std::move(cause));
  }
  return joined;
}

void SayOthers(Cause* cause, const std::vector<std::string>& library_path) {
  std::string others;
  std::size_t shown = 0;
  for (const std::string& library : cause->libraries) {
    if (library == cause->fault.library || library.empty()) continue;
    if (++shown <= kMostNamed) others += (others.empty() ? "" : ", ") + library;
  }
  if (shown > kMostNamed) others += " and " + std::to_string(shown - kMostNamed) + " more";
  if (!others.empty()) cause->fault.detail += "; the same is true of " + others;
  if (cause->askers.size() > 1)
    cause->fault.detail +=
        "; the same is true of " + std::to_string(cause->askers.size() - 1) + " other files";
  SymbolCure cure = {OnePip(cause->pips),
                     {cause->links.begin(), cause->links.end()},
                     {cause->folders.begin(), cause->folders.end()},
                     cause->ahead};
  if (!cure.folders.empty())
    cure.folders.insert(cure.folders.end(), library_path.begin(), library_path.end());
  cause->fault.detail += WordsForCure(cure);
  cause->fault.line = LineForCure(OneLine(cause->lines, cause->pips), cure);
}

}  // namespace

std::vector<SymbolFault> OneForEachCause(std::vector<SymbolFault> faults, const ImageFiles& image,
                                         const std::vector<std::string>& library_path) {
  std::vector<Cause> causes;
  std::size_t first_copies = 0, copies = 0;
  for (SymbolFault& fault : faults) {
    if (fault.kind == Kind::kTwoProviders && copies++ > 0) {
      if (copies <= kMostNamed) causes[first_copies].fault.detail += ". " + fault.detail;
      continue;
    }
    if (fault.kind == Kind::kTwoProviders) first_copies = causes.size();
    Cause cause;
    cause.askers = {fault.asker}, cause.libraries = {fault.library};
    if (!fault.line.empty()) cause.lines = {fault.line};
    if (!fault.cure.pip.empty()) cause.pips = {fault.cure.pip};
    cause.links = {fault.cure.links.begin(), fault.cure.links.end()};
    cause.folders = {fault.cure.folders.begin(), fault.cure.folders.end()};
    cause.ahead = fault.cure.ahead;
    cause.fault = std::move(fault);
    causes.push_back(std::move(cause));
  }
  if (copies > kMostNamed)
    causes[first_copies].fault.detail += ". And " + std::to_string(copies - kMostNamed) + " more libraries";
  const KeyOf owner = [&](const SymbolFault& fault) {
    const std::string package = image.BroughtBy(fault.asker);
    return package.empty() ? fault.asker : package;
  };
  const KeyOf library = [](const SymbolFault& fault) { return fault.library; };
  causes = Joined(std::move(causes), IsOfLibraries, library);
  causes = Joined(std::move(causes), IsOfLibraries, owner);
  causes = Joined(std::move(causes), IsOfSymbols,
                  [&](const SymbolFault& fault) { return owner(fault) + "\n" + fault.library; });
  std::vector<SymbolFault> merged;
  for (Cause& cause : causes) {
    SayOthers(&cause, library_path);
    merged.push_back(std::move(cause.fault));
  }
  return merged;
}

}  // namespace cudnn_ci
