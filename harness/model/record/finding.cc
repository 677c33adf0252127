// Names of severity, blame and layer, and the findings of harness and launcher by their ids.
#include "model/record/finding.h"

#include <cassert>
#include <utility>

#include "base/text.h"
#include "model/record/finding_ids.h"
#include "model/record/names.h"

namespace cudnn_ci {

namespace {

constexpr const char* kSeverities[] = {"error", "warning", "note"};
constexpr const char* kBlames[] = {"image", "runner", "harness", "matrix", "undetermined"};
constexpr const char* kLayers[] = {"driver", "toolkit", "cudnn", "init", "convolution", "framework", "other"};

constexpr const char* kWheres[] = {"", "image", "host", "matrix"};
// How a page says it.
constexpr const char* kPlaces[] = {"command", "Dockerfile", "on the host", "in matrix"};

struct Declaration {
  const char* slug;
  Severity severity;
  Blame blame;
  const char *summary, *remedy, *link, *declared_by, *command;
  Where where;
};

constexpr Declaration kDeclarations[] = {
#include "model/record/harness_findings.inc"
#include "model/record/launcher_findings.inc"
};

}  // namespace

const char* Name(Severity severity) { return NameOf(kSeverities, severity); }
const char* Name(Blame blame) { return NameOf(kBlames, blame); }
const char* Name(Layer layer) { return NameOf(kLayers, layer); }
bool Parse(const std::string& name, Severity* out) { return ParseName(kSeverities, name, out); }
bool Parse(const std::string& name, Blame* out) { return ParseName(kBlames, name, out); }
const char* Name(Where where) { return NameOf(kWheres, where); }
bool Parse(const std::string& name, Layer* out) { return ParseName(kLayers, name, out); }
bool Parse(const std::string& name, Where* out) { return ParseName(kWheres, name, out); }

const char* PlaceOf(Where where) { return NameOf(kPlaces, where); }

bool IsCommand(const std::string& command) {
  return !command.empty() && CleanLine(command, kMostCommand) == command;
}

Finding MakeFinding(const FindingInfo& info, std::string detail) {
  return {info.slug,   info.severity, info.blame,   std::move(detail), info.summary,
          info.remedy, info.link,     info.command, info.where};
}

const std::vector<FindingInfo>& HarnessFindings() {
  static const std::vector<FindingInfo> kFindings = [] {
    std::vector<FindingInfo> list;
    for (const Declaration& d : kDeclarations)
      list.push_back(
          {d.slug, d.severity, d.blame, d.summary, d.remedy, d.link, d.declared_by, d.command, d.where});
    return list;
  }();
  return kFindings;
}

const FindingInfo* FindHarnessFinding(const std::string& slug) {
  for (const FindingInfo& info : HarnessFindings()) {
    if (info.slug == slug) return &info;
  }
  return nullptr;
}

bool MayBeReported(const std::string& slug) {
  return slug == kGpuComputesWrong || slug == kOutOfMemory || slug == kProcessesRefused;
}

Finding HarnessFinding(const std::string& slug, std::string detail) {
  const FindingInfo* info = FindHarnessFinding(slug);
  assert(info != nullptr);
  if (info == nullptr) return {slug, Severity::kError, Blame::kHarness, std::move(detail), "", "", ""};
  return MakeFinding(*info, std::move(detail));
}

Finding HarnessFinding(const std::string& slug, std::string detail, std::string subject) {
  Finding finding = HarnessFinding(slug, std::move(detail));
  finding.subject = std::move(subject);
  return finding;
}

}  // namespace cudnn_ci
