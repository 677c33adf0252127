#include "cleaning_rules.h"

#include <algorithm>

#include "size_rules.h"

namespace cudnn_ci {

const std::vector<CleaningPlace>& CleaningPlaces() {
  static const std::vector<CleaningPlace> kPlaces = {
      {"harness/base/text.h", "declares it"},
      {"harness/base/text.cc", "does it"},
      {"harness/base/secrets.cc", "names and values of the environment"},
      {"harness/model/record/field_reader.h", "what a worker says"},
      {"harness/model/record/field_reader.cc", "an error quotes the record"},
      {"harness/wire/decode.cc", "an error quotes the packet"},
      {"harness/wire/encode.cc", "what a check says that is no UTF-8, which JSON has no bytes for"},
      {"harness/exec/workers/asked_worker.cc", "what a process has printed that describes a plugin"},
      {"harness/model/record/clean_event.cc", "what becomes an event"},
      {"harness/model/record/crash.cc", "names of files and symbols, which are looked up as they are"},
      {"harness/model/record/finding.cc", "refuses a command that is not clean"},
      {"harness/model/json/json_parse.cc", "an error quotes the text"},
      {"harness/model/json/json_tree.cc", "an error quotes the text"},
      {"harness/model/matrix/first_matrix.cc", "comments of a file that is no record"},
      {"harness/report/record/journal_line.cc", "an error quotes the journal"},
      {"harness/report/record/read_report.cc", "what a report says of a waiver is in no event"},
      {"harness/report/formats/facts_json.cc", "what was found is no record: its paths are opened"},
      {"harness/report/formats/facts_screen.cc", "what was found is no record: its paths are opened"},
      {"harness/report/formats/junit_document.cc", "the name of this host"},
      {"harness/review/run_view.cc", "what a report.json says"},
      {"harness/launch/speech.cc", "what an engine says, and what the launcher writes without a record"},
      {"harness/image/packages/sbom.cc", "what a document says"}};
  return kPlaces;
}

std::vector<std::string> Cleanings(std::string_view path, std::string_view text) {
  std::vector<std::string> found;
  const std::string code = CodeOf(text);
  for (const std::string_view name : {"CleanText(", "CleanLine(", "CleanInPlace("})
    for (size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1))
      found.push_back(
          std::string(path) + ":" +
          std::to_string(1 + std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
          ": cleans a text: what has entered is clean, SingleLine puts it on one line");
  return found;
}

std::vector<std::string> MisplacedCleanings(std::string_view path, std::string_view text) {
  const auto& places = CleaningPlaces();
  const bool may = std::any_of(places.begin(), places.end(), [&](const auto& p) { return p.path == path; });
  // The command line is where a person's words enter, and a terminal where all kinds of them leave.
  if (may || path.substr(0, 8) != "harness/" || path.substr(0, 12) == "harness/cli/") return {};
  return Cleanings(path, text);
}

}  // namespace cudnn_ci
