// What decides over the gate's own processes: the C library, what is preloaded, a machine that stops. And
// what a waiver stops.
#include <sys/stat.h>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

// These mounts, which leave no program but a static one.
Make WithoutPrograms(const std::string& mounts) {
  return [mounts](FaultTest& t) {
    if (kSanitized) return false;  // cudnn-ci is linked dynamically then
    return t.HideLoaderCache(mounts);
  };
}

// ld.so would wait for whoever writes into it.
bool PutFifoInPlaceOfTheCache(FaultTest& t) {
  const std::string fifo = t.gate().Path("fifo");
  return mkfifo(fifo.c_str(), 0666) == 0 && WithoutPrograms("mount --bind " + fifo + " /etc/ld.so.cache")(t);
}

Make Preloads(const std::string& library) {
  return [library](FaultTest& t) {
    if (kSanitized) return false;  // cudnn-ci is linked dynamically then
    t.Set("LD_PRELOAD", CUDNN_CI_FIXTURES "/preload/" + library);
    return true;
  };
}

bool PutFifoInTheLibraryPath(FaultTest& t) {
  if (kSanitized) return false;  // likewise
  return mkfifo((t.libraries() + "/libm.so.6").c_str(), 0666) == 0;
}

// What uses the GPU waits for its canary, whose failure is accepted.
void WaiveCanary(FaultTest& t) {
  t.Set("FAKE_WRONG_KERNEL", "cudnn_ci_canary");
  t.gate().Write("waivers.json", R"({"schema": "cudnn-ci/matrix/1", "name": "waivers", "checks": [],
    "waivers": [{"case": "driver.canary*", "slug": "canary-failed", "reason": "known", "owner": "us",
                 "expires": "2999-01-01"}]})");
  t.Extend("waivers.json");
}

bool MountsAPreload(FaultTest& t) {
  if (kSanitized || !WhyNoMounts().empty()) return false;
  t.gate().Write("libvgpu.so", "");
  const std::string place = t.gate().Path("libvgpu.so");
  t.gate().Before({"unshare", "-m", "bash", "-c",
                   "mount --bind " CUDNN_CI_FIXTURES "/preload/libpreload_exit.so " + place +
                       " && export LD_PRELOAD=" + place + " && exec \"$@\"",
                   "bash"});
  return true;
}

// As a filter of system calls does that somebody has written by hand.
void RefusePrctl(FaultTest& t) { t.gate().Before({CUDNN_CI_FIXTURES "/without", "prctl"}); }

// Stopped while a case runs, and continued.
void StopForAWhile(FaultTest& t) {
  t.gate().Before({"sh", "-c",
                   "\"$@\" & gate=$!; until grep -q AttemptStarted report/journal.jsonl 2>/dev/null; do "
                   "sleep 0.01; done; kill -STOP $gate; sleep 4; kill -CONT $gate; wait $gate",
                   "--"});
}

std::vector<Fault> Processes() {
  return Joined({
      Showing("no glibc",
              {Image("loader_missing", WithoutPrograms("mount -t tmpfs none \"$(readlink -f /lib64)\""),
                     "loader-missing", {"/lib64/ld-linux-x86-64.so.2"})}),
      Showing("C library that runs no program",
              {Image("fifo_in_place_of_the_loaders_cache", PutFifoInPlaceOfTheCache, "libc-unfit",
                     {"/etc/ld.so.cache", "FIFO"})}),
      Showing("library that is a FIFO or a device",
              {Image("fifo_in_the_library_path", PutFifoInTheLibraryPath, "library-not-a-file",
                     {"libm.so.6 is a FIFO, found through LD_LIBRARY_PATH"})}),
      Showing("preloaded library", {Image("preload_that_exits", Preloads("libpreload_exit.so"),
                                          "preload-breaks-processes", {"libpreload_exit.so"})}),
      Showing("another preloaded library",
              {Sound("preload_that_does_nothing", Preloads("libpreload_idle.so"), "preloaded")}),
      Showing("library that the cluster preloads and that cannot begin",
              {Runner("mounted_preload_that_exits", MountsAPreload, "runner-preload-breaks-processes",
                      {"libvgpu.so"})}),
      Showing("system calls that a filter refuses",
              {Runner("prctl_refused", Machine(RefusePrctl), "isolation-lost", {"prctl(PR_SET_DUMPABLE)"})}),
      Showing("run that was stopped", {Sound("stopped_and_continued", Machine(StopForAWhile), "run-paused")}),
      // At fault is whoever is of the waived failure.
      Showing("waived failure that others wait for",
              {Runner("cases_behind_a_waived_canary", Machine(WaiveCanary), "blocked-by-waived",
                      {"driver.canary", "runner.canary-failed"})}),
  });
}

INSTANTIATE_TEST_SUITE_P(Process, FaultTableTest, testing::ValuesIn(Processes()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
