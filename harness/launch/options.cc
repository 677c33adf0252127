#include "launch/options.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/path.h"
#include "base/text.h"

namespace cudnn_ci::launch {
namespace {

using Problem = std::optional<std::string>;

const std::set<std::string, std::less<>> kAsking = {"facts",   "list", "plugins",
                                                    "explain", "init", "self-test"};
const std::set<std::string, std::less<>> kElsewhere = {"report",  "compare", "waive",
                                                       "copy-to", "manual",  "knowledge"};

template <class Names>
bool IsIn(const Names& names, const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool IsVariableName(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), fits);
}

// "0", "0:1" of MIG, "GPU-8f6a...", "MIG-...".
bool IsGpu(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789";
  const bool is_uuid = text.size() > 4 && (text.starts_with("GPU-") || text.starts_with("MIG-"));
  const auto fits = [&](char c) {
    return kDigits.find(c) != std::string_view::npos || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-' || c == '/';
  };
  if (is_uuid) return std::all_of(text.begin(), text.end(), fits);
  const std::vector<std::string> parts = Split(text, ':');
  return parts.size() <= 2 && std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
           return !part.empty() && part.find_first_not_of(kDigits) == std::string::npos;
         });
}

// The words before "--".
class Front {
 public:
  explicit Front(Options* o) : o_(o) {
    flags_ = {{"--no-gpu", [this] { o_->gpus.clear(); }},
              {"--keep-entrypoint", [this] { o_->keep_entrypoint = true; }},
              {"--dry-run", [this] { o_->dry_run = true; }},
              {"--attestation", [this] { o_->attestation = true; }},
              {"--summary", [this] { o_->summary = true; }}};
    values_ = {{"--engine", Into(&o_->engine)},
               {"--engine-arg", Add(&o_->engine_arguments)},
               {"--tool", Into(&o_->tool)},
               {"--output-dir", [this](const std::string& v) { return TakeOutput(v); }},
               {"--matrix", [this](const std::string& v) { return TakeMatrix(v); }},
               {"--mount", [this](const std::string& v) { return TakeMount(v); }},
               {"--gpus", [this](const std::string& v) { return TakeGpus(v); }},
               {"--gpu-way", [this](const std::string& v) { return TakeGpuWay(v); }},
               {"--user", Into(&o_->user)},
               {"--env", [this](const std::string& v) { return TakeVariable(v); }},
               {"--pull", [this](const std::string& v) { return TakePull(v); }},
               {"--grace", [this](const std::string& v) { return TakeGrace(v); }}};
  }

  // Takes words[*at], and what belongs to it; *at is then behind it.
  Problem Take(const std::vector<std::string>& words, size_t* at) {
    const std::string& word = words[(*at)++];
    if (word[0] != '-') return TakeImage(word);
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    if (const auto flag = flags_.find(name); flag != flags_.end()) {
      if (equals != std::string::npos) return name + " takes no value, but was given one: " + word;
      flag->second();
      if (name == "--no-gpu" || name == "--keep-entrypoint") o_->again.push_back(name);
      return {};
    }
    const auto value = values_.find(name);
    if (value == values_.end())
      return "unknown option " + name + Meant(name) + " (see --help; arguments for cudnn-ci come after --)";
    std::string given = equals == std::string::npos ? "" : word.substr(equals + 1);
    const bool is_next = equals == std::string::npos && *at < words.size();
    if (is_next) given = words[(*at)++];
    if (given.empty()) return name + " needs a value (see --help)";
    if (is_next) last_value_ = given + " is the value of " + name;
    if (name != "--output-dir" && name != "--grace") o_->again.insert(o_->again.end(), {name, given});
    return value->second(given);
  }

  bool TakesValue(const std::string& name) const { return values_.count(name) > 0; }

  // Why there is no image.
  std::string NoImage() const {
    return "no image given" + (last_value_.empty() ? "" : ": " + last_value_) +
           "; cudnn-ci without `run` tests the machine or container that it runs in (see --help)";
  }

 private:
  using Taker = std::function<Problem(const std::string&)>;

  // "; did you mean '--matrix'?"; empty: nothing is near.
  std::string Meant(const std::string& name) const {
    std::vector<std::string> known = {"--help"};
    for (const auto& [flag, take] : flags_) known.push_back(flag);
    for (const auto& [option, take] : values_) known.push_back(option);
    const std::string near = DidYouMean(name, known);
    return near.empty() ? "" : "; did you mean '" + near + "'?";
  }

  static Taker Into(std::string* place) {
    return [place](const std::string& v) {
      *place = v;
      return Problem();
    };
  }
  static Taker Add(std::vector<std::string>* list) {
    return [list](const std::string& v) {
      list->push_back(v);
      return Problem();
    };
  }
  Problem TakeImage(const std::string& word) {
    if (!o_->image.empty())
      return "two images: " + o_->image + " and " + word + " (arguments for cudnn-ci come after --)";
    // "report": an image of that name is "report:latest".
    if (kElsewhere.count(word) > 0) return word + " is a command that needs no `run`: type cudnn-ci " + word;
    if (kAsking.count(word) > 0)
      return word + " is a command: type cudnn-ci " + word + " to run it here, cudnn-ci run IMAGE -- " +
             word + " to run it in a container";
    o_->image = word;
    return {};
  }
  Problem TakeOutput(const std::string& v) {
    if (v == "-") return "--output-dir -: standard output is not a folder";
    o_->output_dir = v;
    return {};
  }
  Problem TakeMatrix(const std::string& v) {
    if (!o_->matrix.empty()) return "--matrix was given twice: " + o_->matrix + ", " + v;
    o_->matrix = v;
    return {};
  }
  Problem TakeMount(const std::string& v) {
    Result<std::string> folder = FolderToMount(v);
    if (!folder.ok()) return folder.error();
    o_->mounts.push_back(std::move(*folder));
    return {};
  }
  // Docker's own spellings too: device=0, "device=0,1".
  Problem TakeGpus(const std::string& v) {
    constexpr std::string_view kDevice = "device=";
    std::string_view list = v;
    if (list.size() > 1 && list.front() == '"' && list.back() == '"') list = list.substr(1, list.size() - 2);
    if (list.starts_with(kDevice)) list.remove_prefix(kDevice.size());
    const std::vector<std::string> gpus = Split(list, ',');
    if (list != "all" && !std::all_of(gpus.begin(), gpus.end(), IsGpu))
      return "--gpus " + v + ": all, or indices or UUIDs with commas (--no-gpu passes none)";
    o_->gpus = list;
    return {};
  }
  Problem TakeGpuWay(const std::string& v) {
    if (v != "gpus" && v != "cdi") return "--gpu-way " + v + ": gpus or cdi";
    o_->gpu_way = v == "cdi" ? GpuWay::kCdi : GpuWay::kGpus;
    return {};
  }
  Problem TakeVariable(const std::string& v) {
    if (!IsVariableName(v)) return "--env " + v + ": the name of a variable, without a value";
    o_->variables.push_back(v);
    return {};
  }
  Problem TakePull(const std::string& v) {
    if (v != "missing" && v != "always" && v != "never") return "--pull " + v + ": missing, always or never";
    o_->pull = v == "always" ? Pull::kAlways : v == "never" ? Pull::kNever : Pull::kMissing;
    return {};
  }
  Problem TakeGrace(const std::string& v) {
    if (v.size() > 4 || v.find_first_not_of("0123456789") != std::string::npos)
      return "--grace " + v + ": a whole number of seconds, at most 9999";
    o_->grace_s = atoi(v.c_str());
    return {};
  }

  Options* const o_;
  std::string last_value_;  // of an option, given after it as a separate word
  std::map<std::string, std::function<void()>, std::less<>> flags_;
  std::map<std::string, Taker, std::less<>> values_;
};

// What a container's gate must not be told, for the launcher does it, or its 0 would look like a pass.
Problem CheckArgument(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const bool has_value = name != word;
  constexpr const char* kPlaces[] = {"--output-dir", "--junit", "--json", "--html"};
  if (IsIn(kPlaces, name) || (has_value && (name == "--summary" || name == "--attestation")))
    return word + ": set the folder of the reports with --output-dir, before --";
  if (word == "--summary" || word == "--attestation") return word + ": give this option before --";
  if (name == "--rerun-failed")
    return word + ": the container has no reports of an earlier run; name the cases with --case";
  constexpr const char* kNoGate[] = {"--dry-run", "--help", "-h", "--version"};
  if (IsIn(kNoGate, word))
    return word + ": it tests nothing, and its exit 0 would look like a pass; to print the plan, use -- list";
  return {};
}

// The words behind "--", without those that the launcher has to know itself: the matrix, and the file of
// init.
class Back {
 public:
  explicit Back(Options* o) : o_(o) {}

  Problem Take(std::vector<std::string> words) {
    if (!words.empty() && words[0] == "run")
      words.erase(words.begin());
    else if (!words.empty() && kAsking.count(words[0]) > 0)
      o_->ask = words[0], words.erase(words.begin());
    if (o_->ask.empty()) {
      if (!words.empty() && kElsewhere.count(words[0]) > 0)
        return words[0] + " needs no container: type cudnn-ci " + words[0] + " here";
      for (const std::string& word : words)
        if (Problem p = CheckArgument(word)) return p;
    }
    for (size_t at = 0; at < words.size();)
      if (Problem p = o_->ask == "init" ? TakeOfInit(words, &at) : TakeWord(words, &at)) return p;
    return o_->ask == "init" ? FinishInit() : Problem();
  }

 private:
  Problem TakeWord(const std::vector<std::string>& words, size_t* at) {
    const std::string& word = words[(*at)++];
    const bool strict = word == "--junit-profile" && *at < words.size() && words[*at] == "strict";
    o_->strict_junit = o_->strict_junit || strict || word == "--junit-profile=strict";
    const bool takes_matrix = o_->ask.empty() || o_->ask == "list" || o_->ask == "facts";
    const std::string name = word.substr(0, word.find('='));
    if (!takes_matrix || name != "--matrix") {
      o_->arguments.push_back(word);
      return {};
    }
    std::string given = name == word ? "" : word.substr(name.size() + 1);
    if (name == word && *at < words.size()) given = words[(*at)++];
    if (given.empty()) return "--matrix needs a value (see --help)";
    if (!o_->matrix_behind.empty()) return "--matrix was given twice: " + o_->matrix_behind + ", " + given;
    o_->matrix_behind = std::move(given);
    return {};
  }

  Problem TakeOfInit(const std::vector<std::string>& words, size_t* at) {
    constexpr const char* kWithValue[] = {"--name", "--subject", "--plugin-dir", "--load-timeout"};
    const std::string& word = words[(*at)++];
    if (word == "-" || word[0] != '-') {
      if (!o_->init_file.empty()) return "init writes one file: " + o_->init_file + ", " + word;
      o_->init_file = word;
      return {};
    }
    o_->arguments.push_back(word);
    if (IsIn(kWithValue, word) && *at < words.size()) o_->arguments.push_back(words[(*at)++]);
    return {};
  }

  Problem FinishInit() {
    if (o_->init_file.empty()) o_->init_file = "cudnn-ci.json";
    o_->arguments.emplace_back("-");
    if (o_->init_file != "-" && Exists(o_->init_file))
      return o_->init_file + " already exists; name another file, or remove it first";
    return {};
  }

  Options* const o_;
};

}  // namespace

Result<std::string> FolderToMount(const std::string& path) {
  if (!IsFolder(path)) return Error{path + ": not a folder"};
  char* const real = realpath(path.c_str(), nullptr);
  const std::string absolute = real == nullptr ? "" : real;
  free(real);
  if (absolute.empty() || access(absolute.c_str(), X_OK) != 0) return Error{path + ": cannot be entered"};
  if (absolute.find(':') != std::string::npos)
    return Error{absolute + ": a path with a colon cannot be mounted"};
  return absolute;
}

std::variant<Options, Refusal> ParseOptions(const std::vector<std::string>& words) {
  Options options;
  Front front(&options);
  size_t at = 0;
  while (at < words.size() && words[at] != "--") {
    if (words[at] == "-h" || words[at] == "--help") return Refusal{"", true};
    if (words[at].empty()) return Refusal{front.NoImage()};
    if (const Problem p = front.Take(words, &at)) return Refusal{*p};
  }
  if (options.image.empty()) return Refusal{front.NoImage()};
  const auto behind = words.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1, words.size()));
  if (const Problem p = Back(&options).Take({behind, words.end()})) return Refusal{*p};
  if (!options.matrix.empty() && !options.matrix_behind.empty())
    return Refusal{"--matrix was given twice: " + options.matrix + ", " + options.matrix_behind};
  return options;
}

std::vector<std::string> FoldersForReports(const std::vector<std::string>& words) {
  Options options;
  const Front front(&options);
  const auto is_command = [](const std::string& word) {
    return kAsking.count(word) > 0 || kElsewhere.count(word) > 0;
  };
  std::vector<std::string> folders;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--dry-run" || is_command(word)) return {};
    if (word == "--" && at + 1 < words.size() && is_command(words[at + 1])) return {};
    if (word == "--") break;
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (!front.TakesValue(name)) continue;
    const bool is_next = equals == std::string::npos;
    if (is_next && ++at == words.size()) break;
    const std::string value = is_next ? words[at] : word.substr(equals + 1);
    if (name == "--output-dir" && !value.empty() && value != "-") folders.push_back(value);
  }
  if (folders.empty()) folders.push_back(options.output_dir);
  return folders;
}

}  // namespace cudnn_ci::launch
