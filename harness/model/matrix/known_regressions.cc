#include "model/matrix/known_regressions.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "base/text.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

using Words = std::vector<std::string>;

constexpr size_t kMaxValues = 100;  // of one list
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

// What a row can say of the cases that it hits. A plugin that does not know one of these takes the row for no
// case's (plugins/conv/known_shapes.h, plugins/common/attention_faults.h).
struct Predicate {
  enum class Kind { kWords, kNumbers, kFlag, kNumber, kVersion };
  const char* key;
  Kind kind;
  Words words = {};                 // the only ones
  int64_t low = 0, high = kMaxInt;  // of numbers
};

const std::vector<Predicate>& Predicates() {
  using Kind = Predicate::Kind;
  static const std::vector<Predicate> kPredicates = {
      {"operation",
       Kind::kWords,
       {"forward", "backward_data", "backward_filter", "attention_forward", "attention_backward", "matmul",
        "grouped_matmul", "norm", "elementwise", "collective", "compile"}},
      {"api", Kind::kWords, {"legacy", "graph"}},
      {"dtype",
       Kind::kWords,
       {"float32", "float16", "bfloat16", "float64", "int8", "float8_e4m3", "float8_e5m2", "nvfp4"}},
      {"output_dtype",
       Kind::kWords,
       {"float32", "float16", "bfloat16", "float64", "int8", "int32", "float8_e4m3", "float8_e5m2"}},
      {"layout", Kind::kWords, {"nchw", "nhwc"}},
      {"math", Kind::kWords, {"default", "fma", "tensor"}},
      {"algo",
       Kind::kWords,
       {"implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "algo_0", "algo_1", "algo_3", "fft",
        "fft_tiling", "winograd", "winograd_nonfused"}},
      {"engine", Kind::kNumbers, {}, 0, 9999},
      {"algorithm", Kind::kNumbers, {}, 0, 9999},
      {"dims", Kind::kNumbers, {}, 1, 3},
      {"uneven_pads", Kind::kFlag},
      {"strided", Kind::kFlag},
      {"stride_over_kernel", Kind::kFlag},
      {"dilated", Kind::kFlag},
      {"pointwise", Kind::kFlag},
      {"grouped", Kind::kFlag},
      {"depthwise", Kind::kFlag},
      {"fused", Kind::kFlag},
      {"wide_span", Kind::kFlag},
      {"empty_group", Kind::kFlag},
      {"additions_min", Kind::kNumber, {}, 1},
      {"batch_min", Kind::kNumber, {}, 1},
      {"mask",
       Kind::kWords,
       {"none", "causal", "causal_bottom_right", "sliding_window", "padding", "bias", "bias_causal",
        "bias_padding"}},
      {"queries", Kind::kNumbers, {}, 1},
      {"keys_mod_128", Kind::kNumbers, {}, 0, 127},
      {"keys_min", Kind::kNumber, {}, 1},
      {"log_sum_below_88", Kind::kFlag},
      {"large_logits", Kind::kFlag},
      {"different_head_sizes", Kind::kFlag},
      {"reduction", Kind::kWords, {"sum", "product", "min", "max", "average"}},
      {"ranks", Kind::kNumbers, {}, 1},
      {"symmetric_memory", Kind::kFlag},
      {"gpus_min", Kind::kNumber, {}, 1},
      {"hosts_min", Kind::kNumber, {}, 1},
      {"processor", Kind::kWords, {"x86_64", "aarch64"}},
      {"compute_capability_min", Kind::kVersion},
      {"compute_capability_max", Kind::kVersion},
      {"cublaslt_min", Kind::kVersion},
  };
  return kPredicates;
}

bool IsVersion(const Json& json) {
  const auto* text = std::get_if<std::string>(&json.value);
  return text != nullptr && ParseVersion(*text).has_value();
}

// One value of a list, or the only one, as text; empty: it is none of those that are allowed.
std::string ValueOf(const Predicate& predicate, const Json& json) {
  if (const auto* text = std::get_if<std::string>(&json.value)) {
    const Words& words = predicate.words;
    return std::find(words.begin(), words.end(), *text) == words.end() ? "" : *text;
  }
  const auto* number = std::get_if<int64_t>(&json.value);
  const bool fits =
      predicate.words.empty() && number != nullptr && *number >= predicate.low && *number <= predicate.high;
  return fits ? std::to_string(*number) : "";
}

std::string Expected(const Predicate& predicate) {
  if (!predicate.words.empty()) return Join(predicate.words, ", ");
  return "numbers from " + std::to_string(predicate.low) + " to " + std::to_string(predicate.high);
}

class Row {
 public:
  Row(const Json::Object& object, const Position& position, std::vector<Problem>* problems)
      : reader_(object, position, "a row of \"known_regressions\"", problems),
        position_(position),
        problems_(problems) {}

  // Empty: it has none, which is reported.
  std::string Id();
  // All else, as entries by the end of their keys.
  std::map<std::string, std::string> Read(const ReadProvenance& provenance);

 private:
  std::string Library();
  std::string Word(const char* key, const Words& words);
  std::string Version(const char* key);
  void CheckOrder(const std::string& first, const std::string& last, const std::string& fixed);
  std::string Hits();
  std::string ReadPredicate(ObjectReader* hits, const Predicate& predicate);
  std::string ReadList(ObjectReader* hits, const Predicate& predicate, const Json& json);

  ObjectReader reader_;
  const Position position_;
  std::vector<Problem>* problems_;
};

std::string Row::Id() {
  std::string id;
  reader_.RequiredString("id", "give it a unique name", &id);
  const Json* json = reader_.Get("id");
  if (!id.empty() && id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    reader_.WrongType("id", "a name of small letters, digits and _", *json);
  return id;
}

// Which libraries there are is known of other files (model/knowledge).
std::string Row::Library() {
  std::string library;
  reader_.RequiredString("library", "name one of the libraries of cudnn-ci/packages/1", &library);
  if (library.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") == std::string::npos)
    return library;
  reader_.WrongType("library", "a name of small letters, digits and \"_.-\", as in \"nccl\"",
                    *reader_.Get("library"));
  return "";
}

std::string Row::Word(const char* key, const Words& words) {
  std::string word;
  const std::string choice = "one of " + Join(words, ", ");
  reader_.RequiredString(key, "write " + choice, &word);
  if (word.empty() || std::find(words.begin(), words.end(), word) != words.end()) return word;
  reader_.WrongType(key, choice, *reader_.Get(key));
  return "";
}

std::string Row::Version(const char* key) {
  const Json* json = reader_.Require(key, "write null if it is not known");
  if (json == nullptr || std::holds_alternative<std::nullptr_t>(json->value)) return "";
  if (IsVersion(*json)) return std::get<std::string>(json->value);
  reader_.WrongType(key, "a version such as \"9.14.0\", or null", *json);
  return "";
}

void Row::CheckOrder(const std::string& first, const std::string& last, const std::string& fixed) {
  // Whether `b` is told and comes before `a`, or is the same where that is wrong.
  const auto wrong = [](const std::string& a, const std::string& b, int least) {
    return !a.empty() && !b.empty() && Compare(*ParseVersion(b), *ParseVersion(a)) < least;
  };
  if (wrong(first, last, 0))
    reader_.Report(position_, "\"first\" " + first + " is later than \"last\" " + last);
  for (const auto& [key, version] : {std::pair{"first", first}, std::pair{"last", last}})
    if (wrong(version, fixed, 1))
      reader_.Report(position_, "\"fixed\" " + fixed + " is not later than " + Quote(key) + " " + version);
}

std::string Row::ReadList(ObjectReader* hits, const Predicate& predicate, const Json& json) {
  const auto* list = std::get_if<Json::Array>(&json.value);
  if (list == nullptr || list->empty() || list->size() > kMaxValues) {
    hits->WrongType(predicate.key, "a list of 1 to 100 of these: " + Expected(predicate), json);
    return "";
  }
  Words values;
  for (const Json& item : *list) {
    values.push_back(ValueOf(predicate, item));
    if (values.back().empty())
      hits->Report(item.position, Quote(predicate.key) + " must be a list of " + Expected(predicate) +
                                      ", found " + Describe(item) + " in it");
  }
  return Join(values, ",");
}

std::string Row::ReadPredicate(ObjectReader* hits, const Predicate& predicate) {
  using Kind = Predicate::Kind;
  const Json* json = hits->Get(predicate.key);
  if (json == nullptr) return "";
  std::string value;
  switch (predicate.kind) {
    case Kind::kWords:
    case Kind::kNumbers:
      return ReadList(hits, predicate, *json);
    case Kind::kFlag:
      if (const bool* flag = std::get_if<bool>(&json->value)) return *flag ? "true" : "false";
      hits->WrongType(predicate.key, "true or false", *json);
      return "";
    case Kind::kNumber:
      value = ValueOf(predicate, *json);
      if (value.empty())
        hits->WrongType(predicate.key, "a number of at least " + std::to_string(predicate.low), *json);
      return value;
    case Kind::kVersion:
      if (IsVersion(*json)) return std::get<std::string>(json->value);
      hits->WrongType(predicate.key, "a version such as \"9.0\"", *json);
  }
  return "";
}

std::string Row::Hits() {
  const Json* json = reader_.Require("hits", "write what it hits, {} for every convolution");
  const Json::Object* object = json == nullptr ? nullptr : reader_.Object("hits");
  if (object == nullptr) return "";
  ObjectReader hits(*object, json->position, "\"hits\"", problems_);
  Words words;
  for (const Predicate& predicate : Predicates())
    if (const std::string value = ReadPredicate(&hits, predicate); !value.empty())
      words.push_back(std::string(predicate.key) + "=" + value);
  hits.Finish();
  return Join(words, " ");
}

std::map<std::string, std::string> Row::Read(const ReadProvenance& provenance) {
  const std::string library = Library();
  std::map<std::string, std::string> entries;
  reader_.RequiredString("what", "say in words what it hits", &entries[CCI_COMPATIBILITY_KNOWN_WHAT]);
  entries[CCI_COMPATIBILITY_KNOWN_EFFECT] =
      Word("effect", {"wrong", "overwrite", "crash", "hang", "failure", "refused", "slow", "memory"});
  const std::string first = Version("first"), last = Version("last"), fixed = Version("fixed");
  CheckOrder(first, last, fixed);
  entries[CCI_COMPATIBILITY_KNOWN_FIRST] = first;
  entries[CCI_COMPATIBILITY_KNOWN_LAST] = last;
  entries[CCI_COMPATIBILITY_KNOWN_FIXED] = fixed;
  // A plugin that knows cuDNN's rows alone finds a predicate it does not know, and no case that is hit.
  const bool other = !library.empty() && library != "cudnn";
  entries[CCI_COMPATIBILITY_KNOWN_HITS] = (other ? "library=" + library + " " : "") + Hits();
  entries[CCI_COMPATIBILITY_KNOWN_SOURCE] = provenance(&reader_);
  if (const Json* json = reader_.Get("confidence"))  // checked with the source
    if (const auto* text = std::get_if<std::string>(&json->value))
      entries[CCI_COMPATIBILITY_KNOWN_CONFIDENCE] = *text;
  reader_.Finish();
  return entries;
}

}  // namespace

void ReadKnownRegressions(const Json::Array& rows, const ReadProvenance& provenance,
                          std::vector<Problem>* problems, std::map<std::string, std::string>* entries,
                          std::map<std::string, Position>* positions) {
  std::set<std::string> ids;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto* object = std::get_if<Json::Object>(&rows[i].value);
    if (object == nullptr) {
      AddProblem(problems, rows[i].position,
                 "a row of \"known_regressions\" must be an object, found " + Describe(rows[i]));
      continue;
    }
    Row row(*object, rows[i].position, problems);
    const std::string id = row.Id(), prefix = CCI_COMPATIBILITY_KNOWN + std::to_string(i);
    if (!id.empty() && !ids.insert(id).second)
      AddProblem(problems, rows[i].position, "two rows of \"known_regressions\" are called " + Quote(id));
    (*positions)[prefix] = rows[i].position;
    (*entries)[prefix + CCI_COMPATIBILITY_KNOWN_ID] = id;
    for (const auto& [key, value] : row.Read(provenance))
      if (!value.empty()) (*entries)[prefix + key] = value;
  }
}

}  // namespace cudnn_ci
