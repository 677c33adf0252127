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
  std::set<std::string> askers, libraries, lines;
};

// "RUN x -m pip install --no-deps a b" of two such lines; empty: they do not begin alike.
std::string OneLine(const std::set<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) {
    const std::size_t last = line.rfind(' ');
    if (line.find(" -m pip install ") == std::string::npos || last == std::string::npos) return "";
    if (all.empty()) {
      all = line;
    } else if (all.compare(0, last, line, 0, last) == 0) {
      all += line.substr(last);
    } else {
      return "";
    }
  }
  return all;
}

// Whether one line is the cure of both; where neither has one, nothing says otherwise.
bool HaveOneCure(const std::set<std::string>& some, const std::set<std::string>& others) {
  std::set<std::string> all = some;
  all.insert(others.begin(), others.end());
  return some.empty() == others.empty() && (all.size() < 2 || !OneLine(all).empty());
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
      if (!fresh && HaveOneCure(joined[at->second].lines, cause.lines)) {
        Cause& first = joined[at->second];
        first.askers.insert(cause.askers.begin(), cause.askers.end());
        first.libraries.insert(cause.libraries.begin(), cause.libraries.end());
        first.lines.insert(cause.lines.begin(), cause.lines.end());
        continue;
      }
    }
    joined.push_back(std::move(cause));
  }
  return joined;
}

void SayOthers(Cause* cause) {
  std::string others;
  std::size_t shown = 0;
  for (const std::string& library : cause->libraries) {
    if (library == cause->fault.library || library.empty()) continue;
    if (++shown <= kMostNamed) others += (others.empty() ? "" : ", ") + library;
  }
  if (shown > kMostNamed) others += " and " + std::to_string(shown - kMostNamed) + " more";
  if (!others.empty()) cause->fault.detail += "; the same of " + others;
  if (cause->askers.size() > 1)
    cause->fault.detail += "; so it is with " + std::to_string(cause->askers.size() - 1) + " other files";
  if (cause->lines.size() > 1) cause->fault.line = OneLine(cause->lines);
}

}  // namespace

std::vector<SymbolFault> OneForEachCause(std::vector<SymbolFault> faults, const ImageFiles& image) {
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
    SayOthers(&cause);
    merged.push_back(std::move(cause.fault));
  }
  return merged;
}

}  // namespace cudnn_ci
