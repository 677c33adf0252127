// Every notice: its code and its sentence. A further one is a line in each of the two lists here, and whoever
// gives it.
//
// A sentence names its arguments:
//   {path}           the value; of a list all, with commas
//   {"finding}       the same, each in quotes
//   {version|none}   "none" where it is empty
//   {near? or |?}    " or VALUE?"; nothing where it is empty
//   {cases:case}     "1 case", "2 cases"; of a list the noun and the values, nothing where it is empty
// Of several sentences of one name, the first that has all its arguments is said.
#ifndef CUDNN_CI_MODEL_RECORD_NOTICE_LIST_H_
#define CUDNN_CI_MODEL_RECORD_NOTICE_LIST_H_

#include "model/record/notice.h"

namespace cudnn_ci {

enum class NoticeCode : int {
  kOther,
  // What is not gated.
  kAutoTaken,
  kVersionNotPromised,
  kPromiseNotJudged,
  kGpuNotUsed,
  kCudnnNotUsed,
  kCudnnOfPackagesNotUsed,
  kEnvironmentNotJudged,
  kProgramNotJudged,
  kEnvironmentIdle,
  kPromiseNotHeld,
  kSpeedNotCompared,
  kFilesNotInSbom,
  kChecksNotInSbom,
  // Warnings.
  kWaiverWithoutCase,
  kWaiverWithoutFinding,
  kWaiverBlame,
  kWaiversCut,
  kCaseGone,
  kNoVersionTable,
  kKnowledgeReplaced,
  kKnowledgeOutdated,
  kKnowledgeNotTaken,
  kVariableRemoved,
  kPluginWritable,
  kPluginOwner,
  kSubjectsFound,
  kEnvironmentsCut,
  kEnvironmentsNotSearched,
  kFolderNotSearched,
  kSubjectTooLarge,
  kImageUnidentified,
  kDriversDiffer,
  // Why a run is partial.
  kFiltered,
  kShard,
  kNode,
  kStaticStage,
  kWithoutDisturb,
  kIsolationNone,
  kRerun,
  kSbom
};

struct NoticeText {
  NoticeCode code;
  const char* name;
  const char* sentence;
};

// In the order of the enumeration.
inline constexpr NoticeText kNotices[] = {
    {NoticeCode::kOther, "other", "{text}"},
    {NoticeCode::kAutoTaken, "auto-taken",
     "no matrix was named: {matrix} is taken ({because}), and {judged} is judged; cudnn-ci init writes one that "
     "promises what is here"},
    {NoticeCode::kVersionNotPromised, "version-not-promised",
     "{key} is not promised by the matrix: {what}'s version is not gated"},
    {NoticeCode::kPromiseNotJudged, "promise-not-judged",
     "{key} {range} is promised, and no required check of this selection judges it"
     "{\"subjects: for the subject}: it is not gated"},
    {NoticeCode::kGpuNotUsed, "gpu-not-used",
     "{gpu} ({model}) is visible and was not used; --device all judges every GPU"},
    {NoticeCode::kCudnnNotUsed, "cudnn-not-used",
     "cuDNN {version|of unknown version} at {path} ({origin}) is used by no subject; a subject "
     "{\"subject} judges it"},
    {NoticeCode::kCudnnOfPackagesNotUsed, "cudnn-not-used",
     "cuDNN {version|of unknown version} at {path} ({origin}) is used by no subject; a subject "
     "\"python:PATH\", the interpreter of these packages, judges it"},
    {NoticeCode::kEnvironmentNotJudged, "environment-not-judged",
     "the Python environment {prefix} uses a GPU ({example}) and is not judged; a subject {\"subject} judges "
     "it"},
    {NoticeCode::kProgramNotJudged, "program-not-judged",
     "{path} uses a GPU ({example}) and is not judged; a subject {\"subject} judges it"},
    {NoticeCode::kEnvironmentIdle, "environment-idle",
     "the Python environment of {interpreter} is activated, and holds neither a library of CUDA nor device "
     "code: it is not judged"},
    {NoticeCode::kPromiseNotHeld, "promise-not-held",
     "{key} is not judged for {subject}: it has no {what}, and nothing in it asks the loader for one"},
    {NoticeCode::kSpeedNotCompared, "speed-not-compared",
     "speed of {cases:case} held to the baseline, not compared: {why}"},
    {NoticeCode::kFilesNotInSbom, "files-not-in-sbom",
     "the image itself: {path} lists packages and their versions, no file of them was looked at"},
    {NoticeCode::kChecksNotInSbom, "checks-not-in-sbom", "not covered by a bill of materials: {checks}"},
    {NoticeCode::kWaiverWithoutCase, "waiver-without-case",
     "{place}: the waiver for {\"pattern} matches no case"},
    {NoticeCode::kWaiverWithoutFinding, "waiver-without-finding",
     "{place}: the waiver names the finding {\"finding}, which nobody declares{\"near?; did you mean |?}"},
    {NoticeCode::kWaiverBlame, "waiver-blame",
     "{place}: the waiver names the finding {\"finding}, which is never reported with that blame; it is "
     "{\"declared}"},
    {NoticeCode::kWaiversCut, "waivers-cut", "and {count} more such warnings about waivers"},
    {NoticeCode::kCaseGone, "case-gone", "{text}"},  // in records of 0.1.0
    {NoticeCode::kNoVersionTable, "no-version-table",
     "{path} is missing: versions are judged without a table; repair the installation"},
    {NoticeCode::kKnowledgeReplaced, "knowledge-replaced",
     "{path} ({as_of}) replaces what {earlier} ({earlier_as_of}) says of {rows}"},
    {NoticeCode::kKnowledgeOutdated, "knowledge-outdated",
     "{path} ({as_of}) is older than {earlier} ({earlier_as_of}), which holds for {rows}"},
    {NoticeCode::kKnowledgeNotTaken, "knowledge-not-taken",
     "{path} says of {rows} what only the files that come with cudnn-ci may say: not taken"},
    {NoticeCode::kVariableRemoved, "variable-removed",
     "{variable} is set, with which no program runs: taken out of every process's environment"},
    {NoticeCode::kPluginWritable, "plugin-writable", "{path} is writable by others: chmod go-w it"},
    {NoticeCode::kPluginOwner, "plugin-owner",
     "{path} is owned by user {owner}, neither root nor user {user}"},
    {NoticeCode::kSubjectsFound, "subjects-found",
     "the matrix names no subjects and the loader finds no cuDNN with a CUDA runtime; judged: {judged}. This "
     "line in a matrix of your own keeps it so: {line}"},
    {NoticeCode::kEnvironmentsCut, "environments-cut",
     "\"subjects\": \"auto\": {found} Python environments and programs use a GPU, of which {judged} are judged; "
     "name those that count"},
    {NoticeCode::kEnvironmentsNotSearched, "environments-cut",
     "\"subjects\": \"auto\": the image holds more folders than are looked at; name the subjects that count"},
    {NoticeCode::kFolderNotSearched, "subject-cut",
     "subject {subject}: {folder} is not searched: its name holds a separator, or more folders belong to the "
     "subject than fit"},
    {NoticeCode::kSubjectTooLarge, "subject-cut",
     "subject {subject}: its folders hold more entries than are looked at"},
    {NoticeCode::kImageUnidentified, "image-unidentified",
     "the image is unidentified: nobody knows whether all parts judged the same one; give --subject-image"},
    {NoticeCode::kDriversDiffer, "drivers-differ", "the shards ran with different drivers: {drivers}"},
    {NoticeCode::kFiltered, "filtered", "filtered"},
    {NoticeCode::kShard, "shard", "shard {index}/{count}"},
    {NoticeCode::kNode, "node", "node {index}/{count}"},
    {NoticeCode::kStaticStage, "static-stage", "static stage"},
    {NoticeCode::kWithoutDisturb, "without-disturb", "without --disturb ({checks})"},
    {NoticeCode::kIsolationNone, "isolation-none", "isolation none"},
    {NoticeCode::kRerun, "rerun", "rerun of what did not pass"},
    {NoticeCode::kSbom, "sbom", "bill of materials"},
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_NOTICE_LIST_H_
