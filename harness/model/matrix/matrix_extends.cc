#include "model/matrix/matrix_extends.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "model/json/json_parse.h"
#include "model/matrix/builtin_matrices.h"
#include "model/matrix/matrix_format.h"
#include "model/matrix/matrix_merge.h"

namespace cudnn_ci {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxLevels = 16;

enum class Kind { kString, kObject, kObjectOrWord, kList };
struct TopKey {
  const char* name;
  Kind kind;
};
constexpr TopKey kTopKeys[] = {
    {"$schema", Kind::kString},        {"schema", Kind::kString},   {"name", Kind::kString},
    {"extends", Kind::kString},        {"runner", Kind::kObject},   {"image", Kind::kObject},
    {"subjects", Kind::kObjectOrWord}, {"defaults", Kind::kObject}, {"cover", Kind::kString},
    {"shapes", Kind::kObject},         {"checks", Kind::kList},     {"waivers", Kind::kList}};

std::vector<std::string> TopKeyNames() {
  std::vector<std::string> names;
  for (const TopKey& key : kTopKeys) names.emplace_back(key.name);
  return names;
}

bool HasKind(const Json& json, Kind kind) {
  switch (kind) {
    case Kind::kString:
      return std::holds_alternative<std::string>(json.value);
    case Kind::kObject:
      return std::holds_alternative<Json::Object>(json.value);
    case Kind::kObjectOrWord:
      return HasKind(json, Kind::kObject) || HasKind(json, Kind::kString);
    case Kind::kList:
      return std::holds_alternative<Json::Array>(json.value);
  }
  return false;
}

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return "a string";
    case Kind::kObject:
      return "an object";
    case Kind::kObjectOrWord:
      return "an object or \"auto\"";
    case Kind::kList:
      return "a list";
  }
  return "a value";
}

// Where the files of a matrix lie: those with absolute paths below a root, but for the built-in ones.
class Places {
 public:
  Places(std::string builtin_folder, std::string root)
      : builtin_folder_(std::move(builtin_folder)), root_(std::move(root)) {}

  const std::string& builtin_folder() const { return builtin_folder_; }
  // The file that a path means.
  std::string At(const std::string& path) const {
    const bool builtin = path.rfind(builtin_folder_ + "/", 0) == 0;
    return path.rfind('/', 0) == 0 && !builtin ? root_ + path : path;
  }
  // What the links on the way to it lead to, as a path of the same kind.
  std::string Canonical(const std::string& path) const {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(At(path), error);
    return error ? path : Told(canonical.string());
  }
  // The same, for an existing file.
  std::string Real(const std::string& path) const {
    std::error_code error;
    const fs::path real = fs::canonical(At(path), error);
    return error ? path : Told(real.string());
  }

 private:
  std::string Told(const std::string& file) const {
    return !root_.empty() && file.rfind(root_ + "/", 0) == 0 ? file.substr(root_.size()) : file;
  }

  const std::string builtin_folder_, root_;
};

class Loader {
 public:
  Loader(Places places, std::vector<Problem>* problems) : places_(std::move(places)), problems_(problems) {}

  // The merged document; `asked_at` is the "extends" that asked for it, or null for the first file.
  std::optional<Json> Load(const std::string& path, const Position* asked_at);
  std::string sha256() const { return Sha256Hex(bytes_); }
  const std::vector<std::string>& files() const { return files_; }
  bool complete() const { return complete_; }

 private:
  void Add(const Position& position, std::string message) {
    AddProblem(problems_, position, std::move(message));
  }
  std::optional<Json> Read(const std::string& path, const Position* asked_at, std::string* text);
  void CheckTop(Json::Object* top, const Position& position);
  bool ClosesCycle(const std::string& path, const Position& asked_at);
  // The document that the file at `path` extends.
  std::optional<Json> LoadParent(const std::string& path, const Json& extends);
  std::string Remedy(const std::string& path, const Position* asked_at) const;

  // Where the parent lies: `extends` leads from the real folder of the file that says it, as the system
  // resolves links. Two paths to one file so mean one parent.
  std::string ParentPath(const std::string& path, const std::string& extends) const;

  const Places places_;
  std::vector<Problem>* problems_;
  std::vector<std::pair<std::string, std::string>> open_;  // canonical path and path as written, child first
  std::string bytes_;
  std::vector<std::string> files_;  // parents first
  bool complete_ = true;
};

// For a file that is not there: one beside it with nearly that name; empty: there is none.
std::string NearFile(const Places& places, const std::string& path, const Position* asked_at) {
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(places.At(folder.string()), error), end; !error && it != end;
       it.increment(error)) {
    const bool asker = asked_at != nullptr && it->path().filename() == fs::path(asked_at->file).filename();
    if (it->path().extension() == ".json" && !asker) names.push_back(it->path().filename().string());
  }
  const std::string near = DidYouMean(wanted.filename().string(), names);
  return near.empty() ? "" : (wanted.parent_path() / near).string();
}

// What to do about a file that is not there.
std::string Loader::Remedy(const std::string& path, const Position* asked_at) const {
  std::string instead = NearFile(places_, path, asked_at);
  if (instead.empty()) instead = BuiltinInPlaceOf(path, places_.builtin_folder());
  return instead.empty() ? "; check the path" : "; did you mean " + Quote(instead) + "?";
}

std::optional<Json> Loader::Read(const std::string& path, const Position* asked_at, std::string* text) {
  const std::string file = places_.At(path);
  Result<std::string> content = ReadFile(file, kMaxJsonBytes);
  if (!content) {
    std::string reason = content.error().substr(file.size() + 2);  // behind "FILE: "
    std::error_code error;
    if (!fs::exists(file, error)) {
      reason += Remedy(path, asked_at);
    } else if (fs::is_directory(file, error)) {
      reason += "; name the matrix file in it";
    } else if (fs::file_size(file, error) > kMaxJsonBytes && !error) {
      reason = "the file is larger than the limit of 4 MiB; split it, or let an axis make the cases";
    }
    if (asked_at == nullptr) {
      Add({path, 0, 0}, reason);
    } else {
      Add(*asked_at, "cannot extend " + Quote(path) + ": " + reason);
    }
    return std::nullopt;
  }
  *text = std::move(*content);
  auto parsed = ParseJson(*text, path);
  if (auto* found = std::get_if<std::vector<Problem>>(&parsed)) {
    problems_->insert(problems_->end(), found->begin(), found->end());
    return std::nullopt;
  }
  Json json = std::get<Json>(std::move(parsed));
  if (!std::holds_alternative<Json::Object>(json.value)) {
    Add(json.position, "a matrix must be an object in braces { }, found " + Describe(json));
    return std::nullopt;
  }
  return json;
}

// Reports what every file is held to by itself, and drops what could not be merged.
void Loader::CheckTop(Json::Object* top, const Position& position) {
  const std::vector<std::string> known = TopKeyNames();
  std::erase_if(*top, [&](const Json::Member& member) {
    for (const TopKey& key : kTopKeys) {
      if (member.key != key.name) continue;
      if (HasKind(member.value, key.kind)) return false;
      Add(member.value.position,
          Quote(member.key) + " must be " + KindName(key.kind) + ", found " + Describe(member.value));
      return true;
    }
    Add(member.position, "unknown key " + Quote(member.key) + " in the matrix" + Hint(member.key, known));
    return true;
  });
  const Json* schema = Find(*top, "schema");
  if (schema == nullptr) {
    Add(position, std::string("\"schema\" is missing; write \"schema\": \"") + kMatrixSchema + "\"");
  } else if (std::get<std::string>(schema->value) != kMatrixSchema) {
    Add(schema->position, "\"schema\" must be \"" + std::string(kMatrixSchema) + "\", found " +
                              Describe(*schema) + "; this version of cudnn-ci reads no other");
  }
}

bool Loader::ClosesCycle(const std::string& path, const Position& asked_at) {
  const std::string canonical = places_.Canonical(path);
  for (size_t i = 0; i < open_.size(); ++i) {
    if (open_[i].first != canonical) continue;
    std::string chain;
    for (size_t j = i; j < open_.size(); ++j) chain += open_[j].second + " -> ";
    Add(asked_at, "\"extends\" goes in a circle: " + chain + path + "; remove one of them");
    return true;
  }
  if (open_.size() < kMaxLevels) return false;
  Add(asked_at,
      "more than " + std::to_string(kMaxLevels) + " levels of \"extends\"; merge some of the files");
  return true;
}

std::string Loader::ParentPath(const std::string& path, const std::string& extends) const {
  const fs::path exact = fs::path(places_.Real(path)).parent_path() / extends;
  // Shorter in messages, where it means the same.
  std::string normal = (fs::path(path).parent_path() / extends).lexically_normal().string();
  return places_.Canonical(normal) == places_.Canonical(exact.string()) ? normal : exact.string();
}

std::optional<Json> Loader::LoadParent(const std::string& path, const Json& extends) {
  const auto& text = std::get<std::string>(extends.value);
  if (IsBuiltin(text) && !IsBuiltinName(text.substr(text.find(':') + 1))) {
    Add(extends.position, "\"extends\" must be a path or \"builtin:NAME\", found " + Describe(extends));
    return std::nullopt;
  }
  const std::string folder = fs::path(ParentPath(path, ".")).string();
  const Result<std::string> file = FindMatrix(text, places_.builtin_folder(), places_.At(folder));
  if (!file) {
    Add(extends.position, "cannot extend " + Quote(text) + ": " + file.error());
    return std::nullopt;
  }
  return Load(*file == text ? ParentPath(path, text) : *file, &extends.position);
}

std::optional<Json> Loader::Load(const std::string& path, const Position* asked_at) {
  if (asked_at != nullptr && ClosesCycle(path, *asked_at)) return std::nullopt;
  std::string text;
  std::optional<Json> json = Read(path, asked_at, &text);
  if (!json) return std::nullopt;
  auto& top = std::get<Json::Object>(json->value);
  CheckTop(&top, json->position);

  std::optional<Json> parent;
  if (const Json* extends = Find(top, "extends")) {
    open_.emplace_back(places_.Canonical(path), path);
    parent = LoadParent(path, *extends);
    if (!parent) complete_ = false;
    open_.pop_back();
  }
  bytes_ += text;
  files_.push_back(path);
  const bool extends = parent.has_value();
  if (!parent) parent = Json{Json::Object(), json->position};
  MergeFile(std::move(top), extends, complete_, &std::get<Json::Object>(parent->value), problems_);
  parent->position = json->position;
  return parent;
}

}  // namespace

MergedDocument ReadMerged(const std::string& path, const std::string& builtin_folder, const std::string& root,
                          std::vector<Problem>* problems) {
  Loader loader(Places(builtin_folder, root), problems);
  std::optional<Json> json = loader.Load(path, nullptr);
  if (!json) return {};
  return {std::get<Json::Object>(std::move(json->value)), loader.complete(), json->position, loader.sha256(),
          loader.files()};
}

}  // namespace cudnn_ci
