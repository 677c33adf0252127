// `cudnn-ci explain`: what a finding means, and what to do about it; or which finding an error's text is of.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/diagnostics.h"
#include "cli/finding_signs.h"
#include "cli/known.h"
#include "cli/preparation.h"
#include "cli/shared_options.h"
#include "model/record/finding.h"

namespace cudnn_ci {
namespace {

using nlohmann::ordered_json;

std::string Compact(const ordered_json& j) {
  return j.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

using Signs = std::map<std::string, FindingSigns>;

// Empty signs of a finding that has none: one of a third party's plugin.
FindingSigns SignsOf(const Signs& signs, const FindingInfo& f) {
  const auto found = signs.find(f.slug);
  return found == signs.end() ? FindingSigns{} : found->second;
}

ordered_json ToJson(const FindingInfo& f, const FindingSigns& signs) {
  ordered_json modes = ordered_json::array(), messages = ordered_json::array();
  for (const FailureMode& mode : signs.failure_modes)
    modes.push_back({{"name", mode.name}, {"shows", mode.shows}});
  for (const ProgramMessage& message : signs.messages)
    messages.push_back({{"text", message.text}, {"fix", message.fix}});
  return {{"slug", f.slug},         {"severity", Name(f.severity)}, {"blame", Name(f.blame)},
          {"summary", f.summary},   {"remedy", f.remedy},           {"link", f.link},
          {"command", f.command},   {"where", Name(f.where)},       {"declared_by", f.declared_by},
          {"failure_modes", modes}, {"messages", messages}};
}

std::string ToText(const FindingInfo& f, const FindingSigns& signs) {
  std::string out = f.slug + "\n  what:     " + f.summary + "\n  severity: " + Name(f.severity) +
                    "\n  blame:    " + Name(f.blame) + "\n  remedy:   " + f.remedy + "\n";
  if (!f.command.empty()) out += "  command:  " + f.command + "   (" + PlaceOf(f.where) + ")\n";
  if (!f.link.empty()) out += "  link:     " + f.link + "\n";
  for (const FailureMode& mode : signs.failure_modes)
    out += "  mode:     " + mode.name + ": " + mode.shows + "\n";
  for (const ProgramMessage& message : signs.messages) out += "  message:  " + message.text + "\n";
  return out + "  declared: by " + f.declared_by + "\n";
}

// Every finding there can be, by finding id. A plugin that cannot be loaded may declare more: exit 5.
int ExplainAll(const Known& known, const Signs& signs, Session* session, bool json) {
  const Looked looked = Looked::AtPlugins(session);
  const Catalog& catalog = looked.discovery().catalog;
  if (const auto problems = RemedyProblems(known, catalog); !problems.empty()) return PrintProblems(problems);
  std::vector<FindingInfo> all = HarnessFindings();
  for (const PluginInfo& p : catalog.plugins) all.insert(all.end(), p.findings.begin(), p.findings.end());
  std::sort(all.begin(), all.end(), [](const FindingInfo& a, const FindingInfo& b) {
    return std::tie(a.slug, a.declared_by) < std::tie(b.slug, b.declared_by);
  });
  std::string text;
  ordered_json list = ordered_json::array();
  for (FindingInfo& f : all) {
    ApplyRemedy(known.knowledge, &f);
    text += (text.empty() ? "" : "\n") + ToText(f, SignsOf(signs, f));
    list.push_back(ToJson(f, SignsOf(signs, f)));
  }
  for (const BrokenPlugin& b : catalog.broken) PrintDiagnostic("not loaded: " + b.stem + ": " + b.reason);
  const int printed =
      json ? PrintJson(Compact({{"schema", "cudnn-ci/findings/1"}, {"findings", list}})) : PrintText(text);
  return printed != 0 || catalog.broken.empty() ? printed : 5;
}

// The messages of other programs that an error's text is, and the findings that say more of each.
int ExplainText(const std::string& text, const Signs& signs, bool json) {
  constexpr size_t kMost = 3;
  const std::vector<ProgramMessage> found = FindMessages(text, signs, kMost);
  if (found.empty()) return Fail("no finding and no known message: '" + text + "'");
  std::string out;
  ordered_json hits = ordered_json::array();
  for (const ProgramMessage& message : found) {
    out += (out.empty() ? "" : "\n") + message.text + "\n  fix:      " + message.fix +
           "\n  findings: " + Join(message.findings, ", ") + "\n";
    hits.push_back({{"text", message.text}, {"fix", message.fix}, {"findings", message.findings}});
  }
  if (json) return PrintJson(Compact({{"schema", "cudnn-ci/messages/1"}, {"messages", hits}}));
  return PrintText(out + "\ncudnn-ci explain " + found.front().findings.front() + " says more\n");
}

bool MayBeSlug(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](const char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

// "No engine" as the id that has these words.
std::string WithHyphens(std::string words) {
  for (char& c : words) c = c == ' ' ? '-' : LowerCase(c);
  return words;
}

int ExplainOne(const std::string& named, const Known& known, const Signs& signs, Session* session,
               bool json) {
  const std::string id = WithHyphens(named), word = FindingIdIn(named, signs);
  if (word.empty() && (!MayBeSlug(id) || (id != named && !FindMessages(named, signs, 1).empty())))
    return ExplainText(named, signs, json);
  const std::string slug = word.empty() ? id.substr(id.rfind('.') + 1) : word;
  const FindingInfo* found = FindHarnessFinding(slug);
  std::optional<Looked> looked;
  if (!found || !known.knowledge.Rows("remedies").empty()) {
    looked = Looked::AtPlugins(session);
    const Catalog& catalog = looked->discovery().catalog;
    if (const auto problems = RemedyProblems(known, catalog); !problems.empty())
      return PrintProblems(problems);
    if (!found) found = catalog.FindFinding(slug);
  }
  if (!found) {
    if (id != named || !FindMessages(named, signs, 1).empty()) return ExplainText(named, signs, json);
    std::vector<std::string> slugs;
    for (const FindingInfo& f : HarnessFindings()) slugs.push_back(f.slug);
    for (const PluginInfo& p : looked->discovery().catalog.plugins)
      for (const FindingInfo& f : p.findings) slugs.push_back(f.slug);
    const std::string near = DidYouMean(slug, slugs);
    return Fail("no finding '" + slug + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  FindingInfo finding = *found;
  ApplyRemedy(known.knowledge, &finding);
  const FindingSigns of = SignsOf(signs, finding);
  return json ? PrintJson(Compact(ToJson(finding, of))) : PrintText(ToText(finding, of));
}

class Explain : public Command {
 public:
  void Declare(CLI::App* app) override {
    CLI::Option* const slug =
        app->add_option("FINDING", words_, "the name of a finding, as in a report; or the text of an error")
            ->type_name("FINDING|TEXT");
    CLI::Option* const all = app->add_flag("--all", all_, "explain all findings");
    DeclareJson(app, &json_);
    DeclareDiscovery(app, &discovery_);
    app->callback([slug, all] {
      if (slug->empty() && all->empty()) throw CLI::RequiredError("FINDING, TEXT or --all");
      if (!slug->empty() && !all->empty())
        throw CLI::ValidationError("--all explains every finding; leave out the name");
    });
  }
  Status Check() override { return CheckDiscovery(discovery_); }
  int Run(const Invocation& invocation) override {
    const auto known = LoadKnown(invocation.installation, discovery_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
    PrintNotices(std::get<Known>(known).notices);
    Session session({invocation.installation, discovery_});
    const auto signs = ReadFindingSigns(invocation.installation.knowledge_dir() + "/findings");
    if (!signs.ok()) return Fail(signs.error());
    return all_ ? ExplainAll(std::get<Known>(known), *signs, &session, json_)
                : ExplainOne(Join(words_, " "), std::get<Known>(known), *signs, &session, json_);
  }

 private:
  DiscoveryOptions discovery_;
  std::vector<std::string> words_;  // none with all_
  bool all_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeExplain() { return std::make_unique<Explain>(); }

}  // namespace cudnn_ci
