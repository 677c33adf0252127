// The runs whose reports are golden files: between them every outcome, and every text that a report can hold.
#ifndef CUDNN_CI_TESTS_UNIT_CANONICAL_RUNS_H_
#define CUDNN_CI_TESTS_UNIT_CANONICAL_RUNS_H_

#include <cmath>
#include <string>

#include "model/record/notice_list.h"
#include "run_builder.h"

namespace cudnn_ci {

inline Finding Warned(const std::string& slug, Blame blame, const std::string& detail = "seen") {
  Finding finding = Wrong(slug, blame, detail);
  finding.severity = Severity::kWarning;
  return finding;
}

// Green, with what does not count: warnings, skips that are allowed, a waived and an optional failure.
inline RunBuilder PassingRun() {
  RunBuilder b;
  b.run.image = "host:5000/train@sha256:" + std::string(64, 'a');
  b.run.digest_from = "engine";
  b.run.compatibility = {"2026-11-20", "/t/compatibility.json", std::string(64, 'd')};
  b.run.knowledge = {
      {"cudnn-ci/packages/1", "2026-11-23", "/t/packages.json", std::string(64, 'e')},
      {"cudnn-ci/imports/1", "2026-12-01", "/team/imports.json", std::string(64, 'f'), "--knowledge"}};
  b.run.plugins = {{"conv", "1.0.0", "/p/conv.cci.so", "abc"}, {"unread", "1.0.0", "/p/unread.cci.so", ""}};
  b.run.not_gated = {OtherNotice("framework: the matrix promises none"),
                     OtherNotice("/opt/other/lib/libcudnn.so.8: found, but belongs to no subject")};
  b.waivers = {{"conv.*bfloat16*", "wrong-value", "NVBUG 1234567", "ana@example.org", "2026-06-30"}};
  b.Pass("driver.load").Pass("toolkit.version");
  for (const char* id : {"cudnn.version[subject=a]", "cudnn.version[subject=b]"}) {
    b.Plan(id, Layer::kCudnn);
    // Twice in one case: of two GPUs.
    b.End(id, Passed{},
          {Warned("known-regression", Blame::kImage, std::string("9.1.0 ") + id),
           Warned("known-regression", Blame::kImage, "9.1.0 on gpu1")});
  }
  for (const char* dtype : {"float16", "float32"}) {
    const std::string id =
        std::string("conv.forward[api=legacy,dtype=") + dtype + ",layout=nhwc,shape=resnet_stem]";
    b.Plan(id, Layer::kConvolution, "gpu0").entry = 9;
    b.End(CaseRef{id, "gpu0"}, Passed{});
  }
  for (const char* layout : {"nchw", "nhwc"}) {
    const std::string id = std::string("conv.forward[api=graph,dtype=fp8_e4m3,layout=") + layout + "]";
    CasePlanned& planned = b.Plan(id, Layer::kConvolution, "gpu0");
    planned.allow_skip = {SkipKind::kUnsupported};
    planned.entry = 9;
    b.End(CaseRef{id, "gpu0"},
          Skipped{SkipKind::kUnsupported, "compute capability 8.9", "compute capability 8.0"});
  }
  const CaseRef waived{"conv.forward[api=graph,dtype=bfloat16,layout=nchw]", "gpu0"};
  b.Plan(waived.id, Layer::kConvolution, "gpu0").entry = 9;
  b.End(waived, Failed{}, {Wrong("wrong-value", Blame::kImage, "1 of 4096 elements differ")});
  b.Plan("conv.optional").required = false;
  b.End("conv.optional", Failed{}, {Wrong("wrong-value", Blame::kImage)});
  return b;
}

// Three tries; the last one says all that a check can say.
inline void TryThreeTimes(RunBuilder* b, const std::string& id, const Outcome& last) {
  const CaseRef ref{id, ""};
  CasePlanned& planned = b->Plan(id);
  planned.allow_flaky = true;
  planned.params = {{"dtype", std::string("float16")},
                    {"pad", int64_t{0}},
                    {"shape", std::string("stem")},
                    {"shape.x", std::vector<int64_t>{1, 2}}};
  b->Attempt(ref, Errored{ErrorKind::kTimedOut, "60 s are over"},
             {Wrong("timed-out", Blame::kImage, "60 s are over")});
  b->Attempt(ref, Failed{}, {}, AttemptMode::kConfirm);
  b->Add(AttemptStarted{ref, 3, 3, AttemptMode::kRetry}).Add(StepReached{ref, "algo=1"});
  b->Add(ExpectationFailed{ref, "a.cc", 3, "x == 1"}).Add(ExpectationFailed{ref, "b.cc", 4, "y == 2"});
  b->Add(Measured{ref, "time", 1.25, "ms", "lower"});
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) b->Add(Measured{ref, "x", value, "", ""});
  b->Add(Attached{ref, "log", "text/plain", "attachments/1-log"});
  b->Add(AttemptFinished{ref, 3, 3, last, 0.5, "printed", "evidence"});
  b->Add(CaseFinished{ref, last, 1, {Flag::kSlow, Flag::kFlaky}});
}

// Red in every way that is the image's fault.
inline RunBuilder ImageAtFault() {
  RunBuilder b;
  b.run.compatibility = {"2026-11-20", "/t/compatibility.json", std::string(64, 'd')};
  b.run.plugins = {{"conv", "1.0.0", "/p/conv.cci.so", "abc"}};
  b.run.contract = {{"runner.driver", ">=525.60.13"}};
  b.run.devices.push_back({"gpu1", "GPU-1", "NVIDIA H200", "9.0"});
  b.run.not_gated = {{NoticeCode::kGpuNotUsed, {{"gpu", "gpu2"}, {"model", "NVIDIA H200"}}},
                     OtherNotice("new words")};
  const std::vector<std::string> drivers = {"1 (1/2)", "2 (2/2)"};
  b.run.warnings = {{NoticeCode::kWaiverWithoutCase, {{"place", "m.json:3:5"}, {"pattern", "conv.x*"}}},
                    {NoticeCode::kDriversDiffer, {{"drivers", drivers}}}};
  b.waivers = {{"conv.waived", "accepted", "known", "ana", "2026-12-31"}};
  b.Pass("driver.load").Pass("toolkit.version");
  Finding note = Warned("ecc-off", Blame::kRunner);
  note.severity = Severity::kNote;
  b.Plan("driver.devices", Layer::kDriver);
  b.End("driver.devices", Passed{}, {Warned("xid-logged", Blame::kRunner, ""), note});
  const CaseRef cudnn{"cudnn.versions[subject=system]", ""};
  b.Plan(cudnn.id, Layer::kCudnn);
  b.End(cudnn, Failed{},
        {{"cudnn-mixed-versions", Severity::kError, Blame::kImage,
          "libcudnn.so.9.1.0 is 9.1.0, but libcudnn_ops.so.9 is 9.2.1 (/usr/local/lib/libcudnn_ops.so.9.2.1)",
          "the cuDNN sub-libraries that load together are of different versions",
          "Image owner: remove the second copy from /usr/local/lib, or put the wanted one first "
          "in the loader's path.",
          "https://docs.nvidia.com/deeplearning/cudnn/?a=1&b=2", "RUN apt-get install --yes libcudnn9",
          Where::kImage},
         Warned("odd", Blame::kImage),
         Wrong("other", Blame::kImage, "3 differ \xff \x1b[31m\"<>")});
  const CaseRef crash{"conv.forward[api=legacy,dtype=float16,layout=nhwc,shape=resnet_stem]", "gpu0"};
  b.Plan(crash.id, Layer::kConvolution, "gpu0");
  const Errored error{ErrorKind::kCrashed, "SIGBUS in step algo=1", CrashSite::kImage};
  b.Add(AttemptStarted{crash, 1, 4, AttemptMode::kAlone}).Add(StepReached{crash, "algo=1"});
  b.Add(AttemptFinished{crash, 1, 4, error, 0.8, "loading engines\nBus error",
                        "signal 7 at 0x7f00deadbeef in libcudnn_cnn.so.9"});
  b.Add(CaseFinished{crash, error, 0.8, {}});
  for (const char* id : {"conv.dgrad", "conv.wgrad"}) b.Plan(id), b.End(id, Blocked{cudnn.id});
  TryThreeTimes(&b, "conv.flaky", Passed{});
  TryThreeTimes(&b, "conv.exited", Errored{ErrorKind::kExited, "exit status 3"});
  b.Plan("conv.second", Layer::kConvolution, "gpu1");
  b.End(CaseRef{"conv.second", "gpu1"}, Passed{}, {Wrong("context-broken", Blame::kImage)});
  for (const int64_t algo : {0, 1}) {
    const std::string id = "conv.table[algo=" + std::to_string(algo) + "]";
    CasePlanned& planned = b.Plan(id);
    planned.allow_skip = {SkipKind::kUnsupported};
    planned.params = {{"algo", algo}};
    b.End(id, algo == 0 ? Outcome(Passed{}) : Skipped{SkipKind::kUnsupported, "an engine", "none"});
  }
  b.Plan("conv.refused"), b.End("conv.refused", Skipped{SkipKind::kAbsent, "one", "none"});
  b.Fail("conv.waived", Wrong("accepted", Blame::kImage));
  b.Plan("conv.waits");
  b.Add(FindingReported{{}, Warned("of-the-run", Blame::kUndetermined)});
  return b;
}

inline RunBuilder RunnerAtFault() {
  RunBuilder b;
  b.run.devices.clear();
  b.run.facts["system"].erase("driver.version");
  b.run.partial = {{NoticeCode::kFiltered}};
  b.Fail("driver.load",
         {"driver-too-old", Severity::kError, Blame::kRunner,
          "the driver is 470.57.02, the fleet promises >=525.60.13",
          "the host's driver is older than the runner's contract",
          "Runner owner: update the driver of this machine.", ""},
         Layer::kDriver);
  b.Plan("cudnn.create[subject=system]"), b.End("cudnn.create[subject=system]", Blocked{"driver.load"});
  b.Plan("conv.forward"), b.End("conv.forward", Blocked{"cudnn.create[subject=system]"});
  return b;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_CANONICAL_RUNS_H_
