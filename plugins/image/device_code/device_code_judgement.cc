#include "image/device_code/device_code_judgement.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostErrors = 16;  // of one kind, each a finding of its own
constexpr std::size_t kMostNamed = 12;   // in one finding
constexpr std::size_t kMostText = 300;
constexpr int kNewerCards = 90;           // architectures from which on code may be for newer cards by design
constexpr std::int64_t kFewModules = 16;  // of PTX, which the driver compiles in a moment

bool Serves(Cover cover) {
  return cover != Cover::kMissing && cover != Cover::kPtxTooNew && cover != Cover::kLinked;
}
bool IsCompiled(Cover cover) {
  return cover == Cover::kCompiled || cover == Cover::kPartlyCompiled || cover == Cover::kDriverUnknown;
}

std::string Shortened(const std::string& text) {
  return text.size() <= kMostText ? text : text.substr(0, kMostText) + "...";
}

std::string Named(const CodeFile& file) {
  return file.path + (file.package.empty() ? "" : " (" + file.package + ")");
}

// The cards whose cover satisfies `take`: "8.9, 10.0".
template <class Take>
std::string CardsWhere(const std::vector<Card>& cards, const std::vector<Cover>& covers, const Take& take) {
  std::string text;
  for (std::size_t i = 0; i < covers.size(); ++i)
    if (take(covers[i])) text += (text.empty() ? "" : ", ") + cards[i].Text();
  return text;
}

// Gathers what each finding is about, and says it within bounds.
class Findings {
 public:
  void Add(const char* id, const std::string& text) { texts_[id].push_back(text); }
  // One finding for each text, those beyond a bound together.
  void Tell(const char* id, std::vector<DeviceCodeFinding>* findings) const {
    const auto found = texts_.find(id);
    if (found == texts_.end()) return;
    const std::vector<std::string>& all = found->second;
    for (std::size_t i = 0; i < std::min(all.size(), kMostErrors); ++i) findings->push_back({id, all[i]});
    if (all.size() > kMostErrors)
      findings->push_back(
          {id, "and " + std::to_string(all.size() - kMostErrors) + " more files; the table has all"});
  }
  // All in one.
  void TellTogether(const char* id, const std::string& begin,
                    std::vector<DeviceCodeFinding>* findings) const {
    const auto found = texts_.find(id);
    if (found == texts_.end()) return;
    std::string detail = begin;
    for (std::size_t i = 0; i < std::min(found->second.size(), kMostNamed); ++i)
      detail += (detail.empty() ? "" : ". ") + found->second[i];
    if (found->second.size() > kMostNamed)
      detail += ". And " + std::to_string(found->second.size() - kMostNamed) + " more; the table has all";
    findings->push_back({id, detail});
  }

 private:
  std::map<std::string, std::vector<std::string>> texts_;
};

// "libbitsandbytes_cuda#.so" of "libbitsandbytes_cuda126.so": what is there once for each CUDA version.
std::string WithoutCudaVersion(const std::string& path) {
  const std::size_t cuda = path.rfind("cu"), slash = path.rfind('/');
  if (cuda == std::string::npos || (slash != std::string::npos && cuda < slash)) return path;
  const std::size_t begin = cuda + (path.compare(cuda, 4, "cuda") == 0 ? 4 : 2);
  const std::size_t end = std::min(path.find_first_not_of("0123456789", begin), path.size());
  return end - begin < 2 ? path : path.substr(0, begin) + "#" + path.substr(end);
}

JudgedFile::State StateOf(const CodeFile& file) {
  if (file.code.kind == DeviceCode::Kind::kObject) return JudgedFile::State::kLinkedLater;
  if (file.code.code.HoldCode()) return JudgedFile::State::kJudged;
  return file.code.unlinked.HoldCode() ? JudgedFile::State::kLinkedLater : JudgedFile::State::kNotJudged;
}

// The lowest architecture for which there is code that could run; 0: there is none.
int LowestOf(const CodeTargets& code) {
  int lowest = 0;
  for (const auto* kind : {&code.sass, &code.ptx})
    for (const auto& [target, modules] : *kind)
      if (modules.hold_code && (lowest == 0 || target.architecture < lowest)) lowest = target.architecture;
  return lowest;
}

bool HasManyModules(const CodeTargets& code) {
  std::int64_t modules = 0;
  for (const auto& [target, one] : code.ptx) modules += one.hold_code ? one.count : 0;
  return modules >= kFewModules;
}

class Judge {
 public:
  Judge(const PromisedCards& cards, const PromisedDriver& driver, const UseOf& use_of)
      : cards_(cards), driver_(driver), use_of_(use_of) {}

  DeviceCodeJudgement Run(std::vector<CodeFile> files) {
    for (CodeFile& file : files) Take(std::move(file));
    for (const JudgedFile& judged : all_.files)
      if (judged.state == JudgedFile::State::kJudged) JudgeOne(judged);
    for (const char* id : {kDeviceCodeMissing, kDeviceCodePtxTooNew}) findings_.Tell(id, &all_.findings);
    findings_.TellTogether(kDeviceCodeMissingInRange, cards_.origin + " allows cards that are not named",
                           &all_.findings);
    findings_.TellTogether(kDeviceCodeCompiledAtStart, DriverText(), &all_.findings);
    findings_.TellTogether(kDeviceCodeForOtherCards, "", &all_.findings);
    for (const char* id :
         {kDeviceCodeForNewerCards, kDeviceCodeSpecialised, kDeviceCodeNotJudged, kDeviceCodeUnreadable})
      findings_.TellTogether(id, "", &all_.findings);
    return std::move(all_);
  }

 private:
  void Take(CodeFile file) {
    JudgedFile judged;
    judged.state = StateOf(file);
    if (!file.code.problem.empty())
      findings_.Add(kDeviceCodeUnreadable, Named(file) + ": " + file.code.problem);
    if (judged.state == JudgedFile::State::kNotJudged && (file.needs_cuda || file.code.has_sections))
      findings_.Add(kDeviceCodeNotJudged,
                    Named(file) + (file.code.has_sections ? ": its device code has no kernel"
                                                          : ": it needs CUDA, but has no device code"));
    if (judged.state == JudgedFile::State::kJudged) {
      ++all_.judged;
      for (const Card& card : cards_.cards)
        judged.covers.push_back(CoverOf(file.code.code, card, driver_.newest));
      for (std::size_t i = 0; i < judged.covers.size() && !file.package.empty(); ++i)
        if (Serves(judged.covers[i])) {
          served_.insert({file.package, cards_.cards[i]});
          by_cuda_.insert({file.package + "/" + WithoutCudaVersion(file.path), cards_.cards[i]});
        }
    }
    judged.file = std::move(file);
    all_.files.push_back(std::move(judged));
  }

  using ServedCards = std::set<std::pair<std::string, Card>>;

  // True if other files of this kind serve every card that this one does not.
  bool OthersServe(const JudgedFile& judged, const ServedCards& served, const std::string& kind) const {
    for (std::size_t i = 0; i < judged.covers.size(); ++i)
      if (!Serves(judged.covers[i]) && !served.count({kind, cards_.cards[i]})) return false;
    return true;
  }

  // True if each card that the file does not serve is older than this architecture.
  bool LacksOlderCards(const JudgedFile& judged, int architecture) const {
    for (std::size_t i = 0; i < judged.covers.size(); ++i)
      if (!Serves(judged.covers[i]) && cards_.cards[i].major * 10 + cards_.cards[i].minor >= architecture)
        return false;
    return true;
  }

  // Device code alone is chosen by whoever loads it, and a few modules that nothing loads in any case, such
  // as test data, cost nobody a start.
  bool TakesTime(const CodeFile& file) const {
    if (file.code.kind != DeviceCode::Kind::kLibrary) return false;
    if (HasManyModules(file.code.code) || !use_of_) return true;
    const FileUse use = use_of_(file);
    return use != FileUse::kPerhaps && use != FileUse::kUnknown;
  }

  // The finding of a file that lacks a card, where it is no error.
  const char* Excuse(const JudgedFile& judged) const {
    const CodeFile& file = judged.file;
    if (file.code.kind == DeviceCode::Kind::kCode) return kDeviceCodeSpecialised;
    if (file.package.empty()) return nullptr;  // nobody else has it, to choose from
    const FileUse use = use_of_ ? use_of_(file) : FileUse::kImported;
    const bool asked = use != FileUse::kRequired && use != FileUse::kUnknown;
    const int lowest = LowestOf(file.code.code);
    const bool for_newer = lowest >= kNewerCards && LacksOlderCards(judged, lowest);
    if (for_newer && use != FileUse::kImported)
      return use == FileUse::kOwnImport ? kDeviceCodeForOtherCards : kDeviceCodeForNewerCards;
    if (IsSpecialised(file.code.code)) {
      if (OthersServe(judged, served_, file.package)) return kDeviceCodeSpecialised;
      const bool some = std::any_of(judged.covers.begin(), judged.covers.end(), Serves);
      return some || for_newer || !asked ? kDeviceCodeForOtherCards : nullptr;
    }
    const std::string name = WithoutCudaVersion(file.path);
    if (name != file.path && OthersServe(judged, by_cuda_, file.package + "/" + name))
      return kDeviceCodeForOtherCards;
    return use == FileUse::kUnknown ? kDeviceCodeForOtherCards : nullptr;
  }

  void JudgeOne(const JudgedFile& judged) {
    const CodeTargets& code = judged.file.code.code;
    const std::string what = Named(judged.file) + " has " + Shortened(Describe(code));
    const auto where = [&](auto take) { return CardsWhere(cards_.cards, judged.covers, take); };
    const std::string compiled = where(IsCompiled),
                      linked = where([](Cover c) { return c == Cover::kLinked; });
    const std::string missing = where([](Cover c) { return c == Cover::kMissing; });
    const std::string too_new = where([](Cover c) { return c == Cover::kPtxTooNew; });
    const std::string partly = where([](Cover c) { return c == Cover::kPartlyCompiled; });
    if (!compiled.empty() && TakesTime(judged.file))
      findings_.Add(kDeviceCodeCompiledAtStart,
                    what + "; compiled at run time for " + compiled +
                        (partly.empty() ? "" : ", except a part of its PTX that is too new"));
    if (!linked.empty())
      findings_.Add(kDeviceCodeNotJudged,
                    what + "; the code that is linked at run time for " + linked + " is unknown");
    if (missing.empty() && too_new.empty()) return;
    const bool some = std::any_of(judged.covers.begin(), judged.covers.end(), Serves);
    if (const char* excuse = Excuse(judged)) {
      findings_.Add(excuse, what + "; not for " + where([](Cover c) { return !Serves(c); }));
    } else if (!cards_.certain && some) {
      findings_.Add(kDeviceCodeMissingInRange,
                    what + "; nothing that runs on " + where([](Cover c) { return !Serves(c); }));
    } else {
      if (!missing.empty()) findings_.Add(kDeviceCodeMissing, what + "; nothing for " + missing);
      if (!too_new.empty())
        findings_.Add(kDeviceCodePtxTooNew, what + "; only PTX for " + too_new + ". " + DriverText());
    }
  }

  std::string DriverText() const {
    if (driver_.version.empty())
      return "the PTX that the driver compiles is unknown: no driver is promised or found";
    const std::string driver = "driver " + driver_.version + " (" + driver_.origin + ")";
    if (!driver_.newest) return "the PTX that " + driver + " compiles is unknown";
    return driver + " compiles PTX up to " + driver_.newest->Text() + " (CUDA " + driver_.cuda + ")";
  }

  const PromisedCards& cards_;
  const PromisedDriver& driver_;
  const UseOf& use_of_;
  DeviceCodeJudgement all_;
  Findings findings_;
  ServedCards served_;   // by package
  ServedCards by_cuda_;  // by package and WithoutCudaVersion
};

}  // namespace

DeviceCodeJudgement JudgeDeviceCode(std::vector<CodeFile> files, const PromisedCards& cards,
                                    const PromisedDriver& driver, const UseOf& use_of) {
  return Judge(cards, driver, use_of).Run(std::move(files));
}

}  // namespace cudnn_ci
