// Notices as sentences. See notice_list.h for the form of a sentence.
#include "model/record/notice.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/json/json_tree.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

constexpr bool IsInOrder() {
  for (size_t i = 0; i < std::size(kNotices); ++i)
    if (static_cast<size_t>(kNotices[i].code) != i) return false;
  return true;
}
static_assert(IsInOrder());

constexpr char kText[] = "text";

const NoticeText& TextOf(NoticeCode code) {
  const auto index = static_cast<size_t>(code);
  return kNotices[index < std::size(kNotices) ? index : 0];
}

// One {...} of a sentence: an argument, and what stands around its value.
struct Field {
  std::string_view name;
  bool quoted = false;
  char form = ' ';  // '|', '?' or ':' as in notice_list.h
  std::string_view around;
};

Field FieldOf(std::string_view inside) {
  Field field;
  field.quoted = inside.starts_with('"');
  if (field.quoted) inside.remove_prefix(1);
  const size_t end = inside.find_first_of("|?:");
  field.name = inside.substr(0, end);
  if (end != std::string_view::npos) field.form = inside[end], field.around = inside.substr(end + 1);
  return field;
}

// The sentence in parts: words, and between two of them a field.
struct Sentence {
  explicit Sentence(std::string_view rest) {
    for (size_t open; (open = rest.find('{')) != std::string_view::npos;) {
      const size_t close = rest.find('}', open);
      between.push_back(rest.substr(0, open));
      fields.push_back(FieldOf(rest.substr(open + 1, close - open - 1)));
      rest.remove_prefix(close + 1);
    }
    between.push_back(rest);
  }
  std::vector<std::string_view> between;  // one more than fields
  std::vector<Field> fields;
};

const Value* Find(const Params& args, std::string_view name) {
  const auto place = args.find(std::string(name));
  return place == args.end() ? nullptr : &place->second;
}

std::string ValueText(const Value& value, bool quoted) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return quoted ? Quote(*text) : *text;
  std::vector<std::string> texts;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value))
    for (const std::string& text : *list) texts.push_back(quoted ? Quote(text) : text);
  return Join(texts, ", ");
}

bool IsEmpty(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? text->empty() : ValueText(value, false).empty();
}

std::string Counted(const Field& field, const Value& value) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  const std::string text = ValueText(value, field.quoted), noun(field.around);
  if (!list) return text + " " + noun + (text == "1" ? "" : "s");
  return noun + (list->size() == 1 ? " " : "s ") + text;
}

std::string FieldText(const Field& field, const Params& args) {
  const Value* value = Find(args, field.name);
  const bool empty = !value || IsEmpty(*value);
  if (field.form == '|' && empty) return std::string(field.around);
  if (empty) return "";
  if (field.form == ':') return Counted(field, *value);
  std::string text = ValueText(*value, field.quoted);
  if (field.form != '?') return text;
  const size_t bar = field.around.find('|');
  return std::string(field.around.substr(0, bar)) + text + std::string(field.around.substr(bar + 1));
}

bool HasAll(const NoticeText& notice, const Params& args) {
  const std::vector<Field> fields = Sentence(notice.sentence).fields;
  return std::all_of(fields.begin(), fields.end(), [&](const Field& f) {
    return f.form == '?' || f.form == ':' || Find(args, f.name) != nullptr;
  });
}

// Of a later version: neither its code nor its sentence is known.
bool IsUnknown(const Notice& notice) {
  return notice.code == NoticeCode::kOther && notice.args.count(kText) == 0;
}

}  // namespace

const char* Name(NoticeCode code) { return TextOf(code).name; }

Notice MakeNotice(const std::string& name, Params args) {
  for (const NoticeText& notice : kNotices)
    if (name == notice.name && (args.count(kText) > 0 || HasAll(notice, args)))
      return {notice.code, std::move(args)};
  return {NoticeCode::kOther, std::move(args)};
}

Notice OtherNotice(std::string sentence) { return {NoticeCode::kOther, {{kText, std::move(sentence)}}}; }

std::string SentenceOf(const Notice& notice) {
  if (const Value* text = Find(notice.args, kText)) return ValueText(*text, false);
  const Sentence sentence(TextOf(notice.code).sentence);
  std::string out(sentence.between[0]);
  for (size_t i = 0; i < sentence.fields.size(); ++i)
    out.append(FieldText(sentence.fields[i], notice.args)).append(sentence.between[i + 1]);
  return out;
}

std::vector<std::string> SentencesOf(const Notices& notices) {
  std::vector<std::string> sentences;
  for (const Notice& notice : notices) sentences.push_back(SentenceOf(notice));
  return sentences;
}

std::string PartialText(const Notices& partial) { return Join(SentencesOf(partial), ", "); }

bool TakeSentences(const std::vector<std::string>& sentences, Notices* notices) {
  if (sentences.size() != notices->size()) return false;
  for (size_t i = 0; i < sentences.size(); ++i)
    if (IsUnknown((*notices)[i])) (*notices)[i] = OtherNotice(sentences[i]);
  return true;
}

bool TakePartialText(const std::string& text, Notices* partial) {
  const bool has_unknown = std::any_of(partial->begin(), partial->end(), IsUnknown);
  if (text.empty() ? has_unknown : partial->empty()) return false;
  if (has_unknown) *partial = {OtherNotice(text)};
  return true;
}

std::vector<std::string> CodesOf(const Notices& notices) {
  std::vector<std::string> codes;
  for (const Notice& notice : notices) codes.emplace_back(Name(notice.code));
  return codes;
}

}  // namespace cudnn_ci
