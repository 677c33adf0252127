#include "model/record/old_words.h"

#include <string_view>

#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

struct Words {
  NoticeCode code;
  std::string_view words;
};

// What tells a sentence from others.
constexpr Words kSentences[] = {
    {NoticeCode::kVersionNotPromised, " is not promised by the matrix: "},
    {NoticeCode::kPromiseNotJudged, " is promised, and no required check of this selection judges it"},
    {NoticeCode::kGpuNotUsed, " is visible and was not used"},
    {NoticeCode::kCudnnNotUsed, " is used by no subject"},
    {NoticeCode::kSpeedNotCompared, " held to the baseline, not compared: "},
    {NoticeCode::kWaiverWithoutCase, " matches no case"},
    {NoticeCode::kWaiverWithoutFinding, ", which nobody declares"},
    {NoticeCode::kWaiverBlame, ", which is never reported with that blame; it is "},
    {NoticeCode::kWaiversCut, " more such warnings about waivers"},
    {NoticeCode::kCaseGone, " of the earlier run is gone from the plan"},
    {NoticeCode::kNoVersionTable, " is missing: versions are judged without a table"},
    {NoticeCode::kVariableRemoved, " is set, with which no program runs"},
    {NoticeCode::kPluginWritable, " is writable by others: "},
    {NoticeCode::kPluginOwner, ", neither root nor user "},
    {NoticeCode::kAutoElsewhere, "--auto: the loader finds no cuDNN; judged: "},
    {NoticeCode::kEnvironmentsCut, "\"subjects\": \"auto\": "},
    {NoticeCode::kFolderNotSearched, " is not searched: "},
    {NoticeCode::kSubjectTooLarge, "its folders hold more entries than are looked at"},
    {NoticeCode::kImageUnidentified, "the image is unidentified: "},
    {NoticeCode::kDriversDiffer, "the shards ran with different drivers: "}};

// How a reason of a partial run begins.
constexpr Words kReasons[] = {{NoticeCode::kFiltered, "filtered"},
                              {NoticeCode::kShard, "shard "},
                              {NoticeCode::kStaticStage, "static stage"},
                              {NoticeCode::kWithoutDisturb, "without --disturb ("},
                              {NoticeCode::kIsolationNone, "isolation none"},
                              {NoticeCode::kRerun, "rerun of what did not pass"}};

Notice InWords(NoticeCode code, std::string sentence) { return {code, {{"text", std::move(sentence)}}}; }

Notice NoticeInWords(const std::string& sentence) {
  for (const Words& known : kSentences)
    if (sentence.find(known.words) != std::string::npos) return InWords(known.code, sentence);
  return OtherNotice(sentence);
}

Notice ReasonInWords(const std::string& reason) {
  for (const Words& known : kReasons)
    if (reason.starts_with(known.words)) return InWords(known.code, reason);
  return OtherNotice(reason);
}

// Where the reason that begins at `begin` ends: at the next comma outside of brackets.
size_t EndOfReason(const std::string& text, size_t begin) {
  bool inside = false;
  for (size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == ')') inside = text[at] == '(';
    if (!inside && text.compare(at, 2, ", ") == 0) return at;
  }
  return text.size();
}

}  // namespace

Resource MemoryInWords(const std::string& need, const std::string& seen) {
  const std::string words = need + "\n" + seen;
  const auto says = [&](const char* memory) { return words.find(memory) != std::string::npos; };
  return says("host memory") && !says("device memory") ? Resource::kHostMemory : Resource::kDeviceMemory;
}

void CompleteOld(Skipped* skipped) {
  if (skipped->kind == SkipKind::kMemory && skipped->resource == Resource::kNone)
    skipped->resource = MemoryInWords(skipped->need, skipped->seen);
}

void CompleteOld(const std::vector<std::string>& sentences, Notices* notices) {
  if (notices->empty())
    for (const std::string& sentence : sentences) notices->push_back(NoticeInWords(sentence));
  // Of a later version: its words are all that is known.
  for (size_t i = 0; i < notices->size() && i < sentences.size(); ++i)
    if (Notice& notice = (*notices)[i]; notice.code == NoticeCode::kOther && notice.args.count("text") == 0)
      notice = OtherNotice(sentences[i]);
}

void CompleteOldPartial(const std::string& text, Notices* partial) {
  std::vector<std::string> reasons;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = EndOfReason(text, begin);
    reasons.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  if (partial->empty())
    for (const std::string& reason : reasons) partial->push_back(ReasonInWords(reason));
  CompleteOld(reasons, partial);
}

// "subject NAME: /opt/cudnn: no such folder"
void CompleteOld(Finding* finding) {
  constexpr std::string_view kHead = "subject ";
  if (finding->slug != "subject-missing" || !finding->subject.empty()) return;
  const size_t colon = finding->detail.find(": ");
  if (colon != std::string::npos && finding->detail.starts_with(kHead))
    finding->subject = finding->detail.substr(kHead.size(), colon - kHead.size());
}

}  // namespace cudnn_ci
