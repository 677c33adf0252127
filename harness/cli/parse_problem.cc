#include "cli/parse_problem.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "base/text.h"
#include "launch/options.h"

namespace cudnn_ci {
namespace {

// "; did you mean '--matrix'?" for the first word that is neither option nor command; else empty.
std::string Suggestion(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return {};
  // What stands behind an unknown option is taken for another word: the option was meant.
  const auto is_option = [](const std::string& text) { return text.compare(0, 2, "--") == 0; };
  const auto first = std::find_if(unknown.begin(), unknown.end(), is_option);
  const std::string& found = first == unknown.end() ? unknown[0] : *first;
  const std::string word = found.substr(0, found.find('='));
  const auto& launcher = launch::OwnOptions();
  if (std::find(launcher.begin(), launcher.end(), word) != launcher.end())
    return "; " + word + " is an option of cudnn-ci run IMAGE";
  const auto any = [](const CLI::App*) { return true; };
  std::vector<std::string> known;
  std::vector<const CLI::App*> heard = {&app};
  for (const CLI::App* command : app.get_subcommands()) heard.push_back(command);
  if (first == unknown.end() && heard.size() == 1)
    for (const CLI::App* command : app.get_subcommands(any)) known.push_back(command->get_name());
  for (const CLI::App* a : heard)
    for (const CLI::Option* option : a->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::string near = DidYouMean(word, known);
  // The same word is an option of the gate's, and nothing to mean instead.
  return near.empty() || near == word ? "" : "; did you mean '" + near + "'?";
}

// "unknown option --nosuch"; without an option among the words, what the first of them was to be. What stands
// behind an unknown option may be its value.
std::string Unknown(const std::vector<std::string>& words, bool after_command) {
  std::vector<std::string> options;
  for (const std::string& word : words)
    if (word.size() > 1 && word[0] == '-') options.push_back(word.substr(0, word.find('=')));
  if (!options.empty())
    return (options.size() > 1 ? "unknown options " : "unknown option ") + Join(options, " ");
  return (after_command ? "unexpected argument " : "unknown command ") + words[0];
}

// What CLI11 says of a wrong number of values, in words of the command line; else its own text.
std::string Explained(const CLI::ParseError& error) {
  std::string text = error.what();
  const size_t many = text.find(": At Most 1 required but received "), none = text.find(": 1 required ");
  if (many != std::string::npos) return text.substr(0, many) + " is given more than once; give it once";
  if (none != std::string::npos && text.ends_with(" missing")) return text.substr(0, none) + " needs a value";
  return text;
}

}  // namespace

std::string ParseProblem(const CLI::App& app, const CLI::ParseError& error) {
  // The parser names unknown words from the last to the first.
  const std::vector<std::string> unknown = app.remaining(true);
  const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) && !unknown.empty();
  const auto commands = app.get_subcommands();
  return (is_unknown ? Unknown(unknown, !commands.empty()) : Explained(error)) + Suggestion(app) +
         " (see cudnn-ci " + (commands.empty() ? "" : commands[0]->get_name() + " ") + "--help)";
}

}  // namespace cudnn_ci
