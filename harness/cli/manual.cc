#include "cli/manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/help_format.h"
#include "launch/options.h"

namespace cudnn_ci {
namespace {

// An option or an argument as its user sees it.
struct Entry {
  std::vector<std::string> names;  // "--help", "-h"; none: an argument
  std::string value;               // "FILE", "rich|strict"; empty: a flag
  std::string help;
};

Entry EntryOf(const CLI::Option& option) {
  Entry entry;
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  entry.help = option.get_description();
  if (option.get_items_expected_max() == 0) return entry;
  entry.value = option.get_positional() ? option.get_name() : ValueName(option);
  return entry;
}

std::vector<Entry> EntriesOf(const CLI::App& app, bool arguments) {
  std::vector<Entry> entries;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() == arguments) entries.push_back(EntryOf(*option));
  return entries;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// As text of roff: nothing in it is a request, a hyphen may be typed, quotes stay straight (groff_char(7)).
std::string Roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool line_begins = out.empty() || out.back() == '\n';
    if (line_begins && c == '.') out += "\\&";
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string RoffOption(const Entry& entry) {
  std::vector<std::string> names;
  for (const std::string& name : entry.names) names.push_back("\\fB" + Roff(name) + "\\fR");
  std::string out = ".TP\n" + Join(names, ", ");
  if (!entry.value.empty())
    out += (names.empty() ? "" : " ") + std::string("\\fI") + Roff(entry.value) + "\\fR";
  return out + "\n" + Roff(entry.help) + "\n";
}

std::string RoffSynopsis(const CLI::App& app, const std::string& words) {
  std::string out = ".br\n\\fB" + Roff(words) + "\\fR [\\fIOPTIONS\\fR]";
  for (const Entry& argument : EntriesOf(app, true)) out += " \\fI" + Roff(argument.value) + "\\fR";
  return out + "\n";
}

// A command's own options in full, and by name those it shares with the gate.
std::string RoffCommand(const CLI::App& app, const CLI::App& command) {
  std::string out = ".SS " + Roff(command.get_name()) + "\n" + Roff(command.get_description()) + "\n";
  for (const Entry& entry : EntriesOf(command, true)) out += RoffOption(entry);
  const std::vector<Entry> of_gate = EntriesOf(app, false);
  std::vector<std::string> shared;
  for (const Entry& entry : EntriesOf(command, false)) {
    const bool same = std::any_of(of_gate.begin(), of_gate.end(), [&](const Entry& other) {
      return other.names == entry.names && other.help == entry.help;
    });
    if (same) {
      shared.push_back("\\fB" + Roff(entry.names[0]) + "\\fR");
    } else {
      out += RoffOption(entry);
    }
  }
  return out + (shared.empty() ? "" : ".PP\nAs above: " + Join(shared, ", ") + ".\n");
}

// The launcher's --help: what stands before its options, then these. A line of an option has two blanks
// before its name; lines that go on with its help have more.
std::string RoffLauncher() {
  std::string out;
  bool is_synopsis = true, is_option = false;
  for (const std::string& line : Split(launch::Usage(), '\n')) {
    const std::string text(Trim(line));
    is_synopsis = is_synopsis && !text.empty();
    if (is_synopsis || text.empty()) continue;
    if (!line.starts_with("  --")) {
      const bool goes_on = is_option == line.starts_with("    ") && !out.empty();
      is_option = is_option && goes_on;
      out += (goes_on ? "" : ".PP\n") + Roff(text) + "\n";
      continue;
    }
    is_option = true;
    const size_t end = text.find("  ");
    const std::vector<std::string> words = Split(text.substr(0, end), ' ');
    Entry entry{{words[0]}, words.size() > 1 ? words[1] : "", std::string(Trim(text.substr(end)))};
    out += RoffOption(entry);
  }
  return out;
}

}  // namespace

std::string ManPage(const CLI::App& app, const std::string& version) {
  const std::string description = app.get_description();
  const size_t exit = description.find("Exit: ");
  std::string out = ".\\\" Made by cudnn-ci manual man.\n.TH CUDNN\\-CI 1 \"\" \"" +
                    Roff("cudnn-ci " + version) + "\" \"User Commands\"\n.SH NAME\n" + Roff("cudnn-ci") +
                    " \\- test of a CUDA container image before it is pushed\n" +
                    ".SH SYNOPSIS\n.nh\n.ad l\n" + RoffSynopsis(app, app.get_name());
  for (const CLI::App* command : CommandsOf(app))
    out += RoffSynopsis(*command, app.get_name() + " " + command->get_name());
  out += ".ad b\n.hy\n.SH DESCRIPTION\n" + Roff(std::string(Trim(description.substr(0, exit)))) +
         "\n.SH OPTIONS\n";
  for (const Entry& entry : EntriesOf(app, false)) out += RoffOption(entry);
  out += ".SH COMMANDS\n";
  for (const CLI::App* command : CommandsOf(app)) {
    out += RoffCommand(app, *command);
    if (command->get_name() == "run") out += RoffLauncher();
  }
  out += ".SH EXIT STATUS\n" + Roff(CleanLine(description.substr(exit + 6), 1000)) + "\n";
  return out + ".SH SEE ALSO\nThe installed tree has all documents in " + Roff("share/doc/cudnn-ci") +
         "; the format of a matrix is in " + Roff("matrices/README.md") + " there.\n";
}

}  // namespace cudnn_ci
