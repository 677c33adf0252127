// Runs one check in this process and prints what it reported, one record per line, fields separated by
// tabs; tabs, line feeds and backslashes in them are escaped. The tests of the plugins start one per
// check, since loaded libraries cannot be unloaded.
//
//   plugin_runner PLUGIN.cci.so CHECK|--facts [contract:KEY=VALUE | fact:KEY=VALUE | param:KEY=VALUE]...
#include <cstdio>
#include <cstring>
#include <string>

#include "plugin_host.h"

namespace {

std::string Escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

void Print(std::initializer_list<std::string> fields) {
  std::string line;
  for (const auto& f : fields) {
    if (!line.empty()) line += '\t';
    line += Escaped(f);
  }
  std::puts(line.c_str());
}

bool Take(const char* argument, const char* prefix, std::string* key, std::string* value) {
  const size_t length = std::strlen(prefix);
  const char* equals = std::strchr(argument, '=');
  if (std::strncmp(argument, prefix, length) != 0 || !equals) return false;
  key->assign(argument + length, equals);
  value->assign(equals + 1);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using cudnn_ci::testing::CheckInput;
  using cudnn_ci::testing::CheckReport;
  if (argc < 3) return 2;
  CheckInput input;
  for (int i = 3; i < argc; ++i) {
    std::string key, value;
    if (Take(argv[i], "contract:", &key, &value)) {
      input.contract[key] = value;
    } else if (Take(argv[i], "fact:", &key, &value)) {
      input.facts[key] = value;
    } else if (Take(argv[i], "param:", &key, &value)) {
      input.params[key] = value;
    } else {
      std::fprintf(stderr, "unknown argument: %s\n", argv[i]);
      return 2;
    }
  }
  const bool facts = std::strcmp(argv[2], "--facts") == 0;
  const CheckReport report = facts ? cudnn_ci::testing::RunFacts(argv[1], input)
                                   : cudnn_ci::testing::RunCheck(argv[1], argv[2], input);
  if (!report.load_error.empty()) Print({"load_error", report.load_error});
  for (const auto& f : report.findings)
    Print({"finding", f.slug, std::to_string(f.severity), std::to_string(f.blame), f.detail});
  for (const auto& e : report.expectations)
    if (!e.held) Print({"failed", e.what});
  for (const auto& s : report.skips) Print({"skip", std::to_string(s.kind), s.need, s.seen});
  for (const auto& u : report.uncaught) Print({"uncaught", u});
  for (const auto& l : report.logs) Print({"log", l});
  for (const auto& m : report.measurements) Print({"measure", m.name, std::to_string(m.value)});
  for (const auto& [key, value] : report.facts) Print({"fact", key, value});
  if (!facts) Print({"verdict", report.Verdict()});
  return 0;
}
