#include "launch/page.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <string_view>

#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "launch/speech.h"
#include "report/record/own_reports.h"
#include "report/text/json_text.h"

namespace cudnn_ci::launch {
namespace {

std::string Xml(const std::string& text) {
  std::string out;
  for (const char c : ShownLine(text, 8000)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string Property(const std::string& name, const std::string& value) {
  return "      <property name=\"" + name + "\" value=\"" + Xml(value) + "\"/>\n";
}

const char* EntrypointOf(const Facts& facts) { return facts.keep_entrypoint ? "kept" : "replaced"; }

// "2026-01-31T10:00:00"
std::string TimestampWithoutZone() {
  std::string now = UtcTimestamp();
  if (now.ends_with('Z')) now.pop_back();
  return now;
}

std::string HostName() {
  utsname name{};
  return uname(&name) == 0 ? name.nodename : "";
}

std::string Row(const std::string& name, const std::string& value) {
  if (value.empty()) return "";
  std::string row = name;
  row.resize(std::max<size_t>(row.size(), 11), ' ');
  return row + " " + ShownLine(value) + "\n";
}

// What the report says of its root cause.
std::string RootRows(const ReportFields& fields) {
  const auto field = [&](const char* path) { return FieldOf(fields, path); };
  std::string rows;
  if (!field("root_cause.slug").empty())
    rows += Row("root cause", field("root_cause.blame") + "." + field("root_cause.slug") + ": " +
                                  field("root_cause.summary"));
  rows += Row("in", field("root_cause.case")) + Row("evidence", field("root_cause.detail"));
  rows += Row("what to do", field("root_cause.remedy"));
  rows += Row("cases", field("totals.planned") + " planned, " + field("totals.passed") + " passed");
  return rows + Row("partial", field("partial")) + Row("retry", field("retry"));
}

}  // namespace

Status WriteJunit(const std::string& folder, const Facts& facts, const OwnError& error) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--";
  out += kJunitMark;
  out +=
      " of the launcher-->\n"
      "<testsuites name=\"cudnn-ci\" tests=\"1\" failures=\"0\" errors=\"1\" time=\"0.000\">\n"
      "  <testsuite name=\"cudnn-ci.gate\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0.000\" timestamp=\"";
  out += TimestampWithoutZone() + "\" hostname=\"" + Xml(HostName()) + "\">\n    <properties>\n";
  if (error.exit_code) out += Property("exit_code", std::to_string(*error.exit_code));
  out += Property("complete", "false") + Property("launcher.run", facts.token);
  out += Property("launcher.image", TextOf(facts.identity, facts.image));
  out += Property("launcher.entrypoint", EntrypointOf(facts));
  out += "    </properties>\n    <testcase classname=\"cudnn-ci.gate\" name=\"verdict\" time=\"0.000\">\n";
  out += "      <error message=\"" + Xml(error.message) + "\" type=\"" + error.type + "\">" +
         Xml(error.text) + "</error>\n    </testcase>\n  </testsuite>\n</testsuites>\n";
  return WriteFileAtomically(folder + "/junit.xml", out);
}

Status WriteRecord(const std::string& folder, const Facts& facts, int exit_code, bool confirmed,
                   const std::string& reason) {
  JsonText out(1);
  out.BeginObject().Key("schema").String("cudnn-ci/launcher/1").Key("run").String(facts.token);
  out.Key("exit_code")
      .Int(exit_code)
      .Key("reason")
      .String(ShownLine(reason))
      .Key("confirmed")
      .Bool(confirmed);
  out.Key("image").String(ShownLine(facts.image)).Key("digest").String(ShownLine(facts.identity.digest));
  out.Key("image_id").String(ShownLine(facts.identity.id)).Key("entrypoint").String(EntrypointOf(facts));
  out.Key("engine").String(ShownLine(facts.engine.name)).Key("engine_version").String(facts.engine.version);
  out.Key("engine_chosen").String(ShownLine(facts.engine.chosen)).Key("status");
  if (facts.status)
    out.Int(*facts.status);
  else
    out.Null();
  out.Key("command").String(facts.command).EndObject();
  return WriteFileAtomically(folder + "/launcher.json", out.text() + "\n");
}

void AddToJobPage(const Facts& facts, const JobPage& page) {
  const char* const path = getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || path[0] == '\0') return;
  std::string out =
      "### cudnn-ci: " + page.verdict + " (exit " + std::to_string(page.exit_code) + ")\n\n~~~text\n";
  out += Row("image", TextOf(facts.identity, facts.image)) + Row("entrypoint", EntrypointOf(facts));
  out += Row("reason", page.reason);
  if (page.page.empty() && page.confirmed) out += RootRows(page.fields);
  out += "~~~\n\n";
  if (!page.page.empty()) out += page.page + "\n";
  const Fd fd(open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!fd.valid() || !WriteAll(fd.get(), out, path).ok()) Say(std::string(path) + " cannot be written");
}

}  // namespace cudnn_ci::launch
