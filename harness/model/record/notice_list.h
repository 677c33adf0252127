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
  kKernelsNotTested,
  kKernelsNotCovered,
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
  kFoldersUnreadable,
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
     "no matrix was named: {matrix} was chosen ({because}), and {judged} is tested; cudnn-ci init writes a "
     "matrix that promises what this image has"},
    {NoticeCode::kVersionNotPromised, "version-not-promised",
     "the matrix does not promise {key}: the version of {what} is not tested"},
    {NoticeCode::kPromiseNotJudged, "promise-not-judged",
     "{key} {range} is promised, but no required check of this selection tests it{\"subjects: for the "
     "subject}"},
    {NoticeCode::kGpuNotUsed, "gpu-not-used",
     "{gpu} ({model}) is visible but was not used; --device all tests every GPU"},
    {NoticeCode::kCudnnNotUsed, "cudnn-not-used",
     "no subject uses cuDNN {version|of unknown version} at {path} ({origin}); a subject {\"subject} tests "
     "it"},
    {NoticeCode::kCudnnOfPackagesNotUsed, "cudnn-not-used",
     "no subject uses cuDNN {version|of unknown version} at {path} ({origin}); a subject \"python:PATH\" "
     "with the interpreter of these packages tests it"},
    {NoticeCode::kEnvironmentNotJudged, "environment-not-judged",
     "the Python environment {prefix} uses a GPU ({example}) but is not tested; a subject {\"subject} tests "
     "it"},
    {NoticeCode::kProgramNotJudged, "program-not-judged",
     "{path} uses a GPU ({example}) but is not tested; a subject {\"subject} tests it"},
    {NoticeCode::kKernelsNotTested, "kernels-not-tested",
     "the kernels of {packages} are not tested; cudnn-ci --matrix kernels tests them{others?; no adapter is "
     "for |}"},
    {NoticeCode::kKernelsNotCovered, "kernels-not-tested",
     "the kernels of {others} are not tested: no adapter is for this release"},
    {NoticeCode::kEnvironmentIdle, "environment-idle",
     "the Python environment of {interpreter} is active but has neither a CUDA library nor device code: it "
     "is not tested"},
    {NoticeCode::kPromiseNotHeld, "promise-not-held",
     "{key} is not tested for {subject}: it has no {what}, and nothing in it needs one"},
    {NoticeCode::kSpeedNotCompared, "speed-not-compared",
     "the speed of {cases:case} was not compared with the baseline: {why}"},
    {NoticeCode::kFilesNotInSbom, "files-not-in-sbom",
     "the image itself: {path} lists packages and their versions; no file was tested"},
    {NoticeCode::kChecksNotInSbom, "checks-not-in-sbom", "not covered by a bill of materials: {checks}"},
    {NoticeCode::kWaiverWithoutCase, "waiver-without-case",
     "{place}: the waiver for {\"pattern} matches no case"},
    {NoticeCode::kWaiverWithoutFinding, "waiver-without-finding",
     "{place}: the waiver names the finding {\"finding}, which no plugin declares{\"near?; did you mean |?}"},
    {NoticeCode::kWaiverBlame, "waiver-blame",
     "{place}: the waiver names the finding {\"finding}, which is never reported with that blame; it is "
     "{\"declared}"},
    {NoticeCode::kWaiversCut, "waivers-cut", "and {count} more such warnings about waivers"},
    {NoticeCode::kCaseGone, "case-gone", "{text}"},  // in records of 0.1.0
    {NoticeCode::kNoVersionTable, "no-version-table",
     "{path} is missing: versions are tested without the version table; repair the installation"},
    {NoticeCode::kKnowledgeReplaced, "knowledge-replaced",
     "{path} ({as_of}) replaces {earlier} ({earlier_as_of}) for {rows}"},
    {NoticeCode::kKnowledgeOutdated, "knowledge-outdated",
     "{path} ({as_of}) is older than {earlier} ({earlier_as_of}), which is used for {rows}"},
    {NoticeCode::kKnowledgeNotTaken, "knowledge-not-taken",
     "{path} has {rows}, which only the files that come with cudnn-ci may have: ignored"},
    {NoticeCode::kVariableRemoved, "variable-removed",
     "{variable} is set, which stops every program from starting: it was removed from the environment of "
     "every process"},
    {NoticeCode::kPluginWritable, "plugin-writable", "{path} is writable by others: run chmod go-w on it"},
    {NoticeCode::kPluginOwner, "plugin-owner",
     "{path} is owned by user {owner}, neither root nor user {user}"},
    {NoticeCode::kSubjectsFound, "subjects-found",
     "the matrix names no subjects, and the loader finds no cuDNN with a CUDA runtime; tested: {judged}. To "
     "keep it so, put this line into your matrix: {line}"},
    {NoticeCode::kEnvironmentsCut, "environments-cut",
     "\"subjects\": \"auto\": {found} Python environments and programs use a GPU, but only {judged} are "
     "tested; name those that matter"},
    {NoticeCode::kEnvironmentsNotSearched, "environments-cut",
     "\"subjects\": \"auto\": the image has more folders than are searched; name the subjects that matter"},
    {NoticeCode::kFoldersUnreadable, "folders-unreadable",
     "user {user} may not read {folders}: nothing there is tested; run as a user who may, or change the "
     "permissions"},
    {NoticeCode::kFolderNotSearched, "subject-cut",
     "subject {subject}: {folder} is not searched: its name has a separator, or the subject has too many "
     "folders"},
    {NoticeCode::kSubjectTooLarge, "subject-cut",
     "subject {subject}: its folders have more entries than are searched"},
    {NoticeCode::kImageUnidentified, "image-unidentified",
     "the image is unidentified, so the parts may have tested different images; give --subject-image"},
    {NoticeCode::kDriversDiffer, "drivers-differ", "the shards ran with different drivers: {drivers}"},
    {NoticeCode::kFiltered, "filtered", "filtered"},
    {NoticeCode::kShard, "shard", "shard {index}/{count}"},
    {NoticeCode::kNode, "node", "node {index}/{count}"},
    {NoticeCode::kStaticStage, "static-stage", "static stage"},
    {NoticeCode::kWithoutDisturb, "without-disturb", "without --disturb ({checks})"},
    {NoticeCode::kIsolationNone, "isolation-none", "isolation none"},
    {NoticeCode::kRerun, "rerun", "rerun of the cases that did not pass"},
    {NoticeCode::kSbom, "sbom", "bill of materials"},
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_NOTICE_LIST_H_
