// From the merged document to a Matrix: the meaning of every key, and what is wrong with its value.
#include "model/matrix/matrix.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/json/json_bytes.h"
#include "model/json/value.h"
#include "model/matrix/builtin_matrices.h"
#include "model/matrix/matrix_contract.h"
#include "model/matrix/matrix_entry.h"
#include "model/matrix/matrix_extends.h"
#include "model/matrix/matrix_reader.h"
#include "model/record/version.h"

namespace cudnn_ci {

namespace {

using Problems = std::vector<Problem>;

bool IsLowerName(const std::string& text) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && lower(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return lower(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

// Subjects that are named by a file, and how.
constexpr std::pair<const char*, const char*> kSubjectsByPath[] = {{"python:", "/opt/venv/bin/python"},
                                                                   {"program:", "/opt/app/run"}};

void ReadSubjects(ObjectReader* top, Matrix* matrix) {
  const Json* json = top->Get("subjects");
  const auto* word = json == nullptr ? nullptr : std::get_if<std::string>(&json->value);
  if (json == nullptr || word != nullptr) {
    matrix->subjects = {{"system", "loader"}};
    matrix->automatic_subjects = word != nullptr;
    matrix->default_subjects = word == nullptr;
    if (word != nullptr && *word != "auto")
      top->WrongType("subjects", "an object such as {\"system\": \"loader\"}, or \"auto\"", *json);
    return;
  }
  const auto& object = std::get<Json::Object>(json->value);
  if (object.empty())
    top->Report(json->position, "\"subjects\" is empty; leave it out to test what the loader finds");
  if (object.size() > kMaxSubjects)
    top->Report(json->position, "there are more than " + std::to_string(kMaxSubjects) + " subjects");
  for (const Json::Member& member : object) {
    if (!IsLowerName(member.key)) {
      top->Report(member.position,
                  "the subject name " + Quote(member.key) +
                      " must be lower-case letters, digits and \"_\", and begin with a letter");
    }
    top->Limit("the subject name " + Quote(member.key), member.key, member.position, kMaxNameCharacters);
    const auto* spec = std::get_if<std::string>(&member.value.value);
    if (spec == nullptr) {
      top->WrongType("subjects." + member.key, "a text such as \"loader\" or \"python:PATH\"", member.value);
      continue;
    }
    top->Limit(Quote("subjects." + member.key), *spec, member.value.position, kMaxTextCharacters);
    const std::string reason = SubjectProblem(*spec);
    if (!reason.empty()) top->Report(member.value.position, "the subject " + Quote(*spec) + " " + reason);
    matrix->subjects.push_back({member.key, *spec});
  }
}

void ReadShapes(ObjectReader* top, Matrix* matrix) {
  const Json::Object* object = top->Object("shapes");
  if (object == nullptr) return;
  for (const Json::Member& member : *object) {
    if (!IsIdText(member.key)) {
      top->Report(member.position, "the shape name " + Quote(member.key) +
                                       " is part of case ids, so it must consist of " + kIdCharacters);
    }
    top->Limit("the shape name " + Quote(member.key), member.key, member.position, kMaxNameCharacters);
    const auto* fields = std::get_if<Json::Object>(&member.value.value);
    if (fields == nullptr) {
      top->WrongType("shapes." + member.key, "an object with the shape's fields", member.value);
      continue;
    }
    matrix->shapes.push_back({member.key, *fields, member.position});
  }
}

// A waiver's "slug", alone or as reports print it: "crashed", "image.crashed".
void ReadSlug(const Json::Object& object, ObjectReader* reader, Waiver* waiver) {
  std::string* slug = &waiver->slug;
  reader->RequiredString("slug", "name the finding that is accepted", slug);
  if (slug->empty()) return;
  const Position& position = Find(object, "slug")->position;
  if (const size_t dot = slug->find('.'); dot != std::string::npos) {
    const std::string word = slug->substr(0, dot);
    Blame blame;
    if (!Parse(word, &blame)) {
      std::vector<std::string> known;
      for (const Blame b :
           {Blame::kImage, Blame::kRunner, Blame::kHarness, Blame::kMatrix, Blame::kUndetermined}) {
        known.emplace_back(Name(b));
      }
      reader->Report(position, Quote(word) + " in " + Quote(*slug) + " is not a blame" + Hint(word, known));
      return;
    }
    waiver->blame = word;
    slug->erase(0, dot + 1);
  }
  const bool good = std::all_of(slug->begin(), slug->end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (good && !slug->empty()) return;
  reader->Report(position, "the slug " + Quote(*slug) + " must be lower-case letters, digits and \"-\"");
}

void ReadWaiver(const Json& json, Problems* problems, Matrix* matrix) {
  const auto* object = std::get_if<Json::Object>(&json.value);
  if (object == nullptr) {
    AddProblem(problems, json.position, "a waiver must be an object, found " + Describe(json));
    return;
  }
  ObjectReader reader(*object, json.position, "a waiver", problems);
  Waiver waiver;
  std::string id;  // for the merge alone, which has been done
  reader.String("id", &id);
  reader.RequiredString("case", "give a pattern of case ids", &waiver.case_pattern, kMaxTextCharacters);
  ReadSlug(*object, &reader, &waiver);
  reader.RequiredString("reason", "say why it is accepted", &waiver.reason, kMaxTextCharacters);
  reader.RequiredString("owner", "say who answers for it", &waiver.owner);
  reader.RequiredString("expires", "give its last day, as in \"2027-03-31\"", &waiver.expires);
  if (!waiver.expires.empty() && !IsDate(waiver.expires)) {
    reader.Report(
        Find(*object, "expires")->position,
        "\"expires\" must be a day of the calendar such as \"2027-03-31\", found " + Quote(waiver.expires));
  }
  reader.Finish();
  matrix->waivers.push_back({std::move(waiver), json.position});
}

// They travel together, in the journal's first line.
void ReadWaivers(const Json::Array& list, const Position& position, Problems* problems, Matrix* matrix) {
  for (const Json& waiver : list) ReadWaiver(waiver, problems, matrix);
  size_t bytes = 0;
  for (const auto& [waiver, unused] : matrix->waivers) {
    for (const std::string* text :
         {&waiver.case_pattern, &waiver.slug, &waiver.reason, &waiver.owner, &waiver.expires}) {
      bytes += JsonBytes(*text);
    }
  }
  if (list.size() > kMaxWaivers) {
    AddProblem(
        problems, position,
        "there are more than " + std::to_string(kMaxWaivers) + " waivers; a pattern may cover many cases");
  } else if (bytes > kMaxWaiverBytes) {
    AddProblem(
        problems, position,
        "the waivers' texts take more than " + std::to_string(kMaxWaiverBytes) + " bytes; shorten them");
  }
}

void ReadTop(const MergedDocument& document, Problems* problems, Matrix* matrix) {
  ObjectReader top(document.top, document.position, "the matrix", problems);
  top.RequiredString("name", "name the matrix, as in \"name\": \"cu12\"", &matrix->name);
  ReadContract("runner", {"driver", "gpus", "compute_capability"}, &top, matrix, problems);
  ReadContract("image", {"toolkit", "cudnn"}, &top, matrix, problems);
  ReadSubjects(&top, matrix);
  if (const Json::Object* defaults = top.Object("defaults")) {
    ObjectReader reader(*defaults, {}, "\"defaults\"", problems);
    reader.Timeout("timeout_s", &matrix->default_timeout_s);
    reader.Bool("required", &matrix->default_required);
    reader.Percent("max_slowdown_percent", &matrix->default_max_slowdown_percent);
    reader.Finish();
  }
  ReadCover(&top, document.top, &matrix->cover);
  ReadShapes(&top, matrix);
  if (const Json::Array* checks = top.List("checks")) {
    for (const Json& entry : *checks) ReadEntry(entry, *matrix, problems, &matrix->entries);
    for (const Entry& entry : matrix->entries)
      matrix->default_subjects = matrix->default_subjects && entry.subjects.empty();
  }
  if (const Json::Array* waivers = top.List("waivers")) {
    ReadWaivers(*waivers, Find(document.top, "waivers")->position, problems, matrix);
  }
}

}  // namespace

std::string SubjectProblem(const std::string& spec) {
  if (spec == "loader") return "";
  for (const auto& [prefix, example] : kSubjectsByPath) {
    const std::string begin = prefix;
    if (spec.rfind(begin + "/", 0) == 0) return "";
    if (spec.rfind(begin, 0) == 0) return "needs an absolute path, as in " + Quote(begin + example);
  }
  if (spec.rfind("path:", 0) != 0)
    return "must be \"loader\", \"path:DIR\", \"python:PATH\" or \"program:PATH\"";
  if (spec.find(';') != std::string::npos) return "has a ';', which the loader's path cannot have";
  const std::vector<std::string> folders = Split(spec.substr(5), ':');
  const auto relative = [](const std::string& folder) { return folder.empty() || folder[0] != '/'; };
  if (!std::any_of(folders.begin(), folders.end(), relative)) return "";
  if (folders.size() == 1) return "needs an absolute directory, as in \"path:/opt/cudnn/lib\"";
  return "needs absolute directories with a ':' between two, as in \"path:/opt/cudnn/lib:/opt/cublas/lib\"";
}

std::variant<Matrix, std::vector<Problem>> LoadMatrix(const std::string& path,
                                                      const std::string& builtin_folder,
                                                      const std::string& root) {
  const Result<std::string> file = FindMatrix(path, builtin_folder);
  if (!file) return Problems{{{path, 0, 0}, file.error()}};
  Problems problems;
  const MergedDocument document = ReadMerged(*file, builtin_folder, root, &problems);
  Matrix matrix;
  matrix.path = path;
  matrix.sha256 = document.sha256;
  matrix.files = document.files;
  // With a file missing, what it would have given would be reported as missing too.
  if (document.complete) ReadTop(document, &problems, &matrix);
  if (!problems.empty()) {
    std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
      return std::tie(a.position.file, a.position.line, a.position.column) <
             std::tie(b.position.file, b.position.line, b.position.column);
    });
    return problems;
  }
  return matrix;
}

}  // namespace cudnn_ci
