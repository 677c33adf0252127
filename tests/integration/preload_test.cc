// What the image has the loader put into the checks' processes: no library of it may decide what they say.
#include <gmock/gmock.h>

#include <filesystem>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

// ---- what the image preloads ----

std::string PreloadDetail(const GateResult& result) {
  for (const json& e : result.Events("Finding"))
    if (e["finding"]["slug"] == "preload-breaks-processes") return e["finding"]["detail"];
  return "";
}

TEST(Preload, ThatEndsEveryProcessIsTheImagesFaultAndNamed) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  for (const std::string kind : {"exit", "crash"}) {
    GateRun run;
    run.Matrix(Entry("fixture.pass"));
    const std::string library = CUDNN_CI_FIXTURES "/preload/libpreload_" + kind + ".so";
    for (const std::string variable : {"LD_PRELOAD", "LD_AUDIT"}) {
      run.Set("LD_PRELOAD", "");
      run.Set("LD_AUDIT", "");
      run.Set(variable, library);
      const GateResult result = run.Run();
      EXPECT_EQ(result.exit_code, 1) << variable << result.out << result.err;
      EXPECT_THAT(PreloadDetail(result), HasSubstr(variable + "=" + library)) << result.out;
      EXPECT_THAT(result.junit, ContainsRegex("<(error|failure)"));
    }
  }
}

TEST(Preload, OfEveryProcessOfTheImageIsNamedToo) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  // The file is written by the shell itself: no further process would start.
  const std::string preload = CUDNN_CI_FIXTURES "/preload/libpreload_exit.so";
  run.Before({"unshare", "-m", "bash", "-c",
              "mount -t tmpfs none /etc && echo " + preload + " > /etc/ld.so.preload && exec \"$@\"",
              "bash"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(PreloadDetail(result), HasSubstr("/etc/ld.so.preload"));
}

// glibc takes the carriage return for a part of the name.
TEST(Preload, OfEveryProcessByANameWithACarriageReturnIsRed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  std::filesystem::copy_file(CUDNN_CI_FIXTURES "/preload/libinterpose_send.so", run.Path("cr.so\r"));
  run.Before({"unshare", "-m", "bash", "-c",
              "mount -t tmpfs none /etc && printf '#\\n" + run.Path("cr.so") +
                  "\\r\\n' > /etc/ld.so.preload && exec \"$@\"",
              "bash"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.report.dump(), HasSubstr("preload-interposes"));
}

// "error image.preload-interposes: DETAIL" of each finding about the run whose id has that word.
std::vector<std::string> PreloadFindings(const GateResult& result) {
  std::vector<std::string> found;
  for (const json& e : result.Events("Finding")) {
    const json& f = e["finding"];
    if (f["slug"].get<std::string>().find("preload") != std::string::npos)
      found.push_back(f["severity"].get<std::string>() + " " + f["blame"].get<std::string>() + "." +
                      f["slug"].get<std::string>() + ": " + f["detail"].get<std::string>());
  }
  return found;
}

// The ids of the findings about the run for which the runner is blamed.
std::vector<std::string> RunnerSlugs(const GateResult& result) {
  std::vector<std::string> slugs;
  for (const json& e : result.Events("Finding"))
    if (e["finding"]["blame"] == "runner") slugs.push_back(e["finding"]["slug"]);
  return slugs;
}

std::string CopyOfTheCLibrary(GateRun* run) {
  std::string copy = run->Path("libc.so.6");
  std::string from;
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64"})
    if (from.empty() && std::filesystem::exists(folder + std::string("/libc.so.6")))
      from = folder + std::string("/libc.so.6");
  std::filesystem::copy_file(from, copy);
  return copy;
}

// The worker's own word for "failed" does not reach the harness: what stands in the place of send() drops it.
TEST(Preload, ThatStandsInTheWorkersPlaceIsRed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  const std::string library = CUDNN_CI_FIXTURES "/preload/libinterpose_send.so";
  GateRun run;
  run.Matrix(Entry("fixture.fail"));
  for (const std::string& value : {library, ":" + library + " ", std::string("libinterpose_send.so")}) {
    run.Set("LD_PRELOAD", value);
    run.Set("LD_LIBRARY_PATH", CUDNN_CI_FIXTURES "/preload");
    const GateResult result = run.Run();
    EXPECT_EQ(result.Outcome("fixture.fail[i=0]"), "passed") << "the attack itself has failed";
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_THAT(PreloadFindings(result),
                testing::ElementsAre(testing::AllOf(HasSubstr("error image.preload-interposes: LD_PRELOAD "),
                                                    HasSubstr(library), HasSubstr(" send,"))));
    EXPECT_THAT(result.junit, ContainsRegex("<(error|failure)"));
  }
  run.Matrix(Entry("fixture.fail"), 20, R"(, "image": {"allow_preload": ["libinterpose_*.so"]})");
  const GateResult allowed = run.Run();
  EXPECT_EQ(allowed.exit_code, 0) << "a team that means it is believed: " << allowed.out;
  EXPECT_THAT(PreloadFindings(allowed),
              testing::ElementsAre(
                  testing::AllOf(HasSubstr("warning image.preloaded: "), HasSubstr("\"allow_preload\""))));
}

// As the loader reads the list, in names and folders that it takes and that look like something else.
TEST(Preload, ByAListThatTheLoaderReadsInItsWayIsRed) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  const std::string send = CUDNN_CI_FIXTURES "/preload/libinterpose_send.so";
  const struct {
    const char *what, *variable, *file, *library_path, *value, *detail;
  } rows[] = {
      {"a line's end in a name", "LD_PRELOAD", "a\nb.so", "", "FOLDER/a\nb.so", " defines send, which"},
      {"a blank in an audit's name", "LD_AUDIT", "a b.so", "", "FOLDER/a b.so", "sees and may change"},
      {"a word of the loader's in the folders", "LD_PRELOAD", "word.so", "/$ORIGIN", "word.so",
       "in LD_LIBRARY_PATH is not expanded"},
      {"a filter", "LD_PRELOAD", nullptr, "", CUDNN_CI_FIXTURES "/preload/libpreload_filter.so",
       "it is a filter"},
      {"an auxiliary filter", "LD_PRELOAD", nullptr, "", CUDNN_CI_FIXTURES "/preload/libpreload_auxiliary.so",
       "it is a filter"},
  };
  for (const auto& row : rows) {
    GateRun run;
    run.Matrix(Entry("fixture.pass"));
    if (row.file) std::filesystem::copy_file(send, run.Path(row.file));
    std::string value = row.value;
    if (value.rfind("FOLDER", 0) == 0) value = run.Path(row.file);
    run.Set("LD_LIBRARY_PATH", row.library_path);
    run.Set(row.variable, value);
    const GateResult result = run.Run();
    EXPECT_EQ(result.exit_code, 1) << row.what << result.out;
    EXPECT_THAT(PreloadFindings(result),
                testing::Contains(
                    testing::AllOf(HasSubstr("error image.preload-interposes: "), HasSubstr(row.detail))))
        << row.what;
  }
}

// Every process takes that file anyway; a copy of it elsewhere is another matter.
TEST(Preload, OfTheCLibrarysOwnFileIsNoFault) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  for (const char* name : {"libm.so.6", "libc.so.6"}) {
    run.Set("LD_PRELOAD", name);
    const GateResult result = run.Run();
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_THAT(
        PreloadFindings(result),
        testing::ElementsAre(testing::AllOf(HasSubstr("warning image.preloaded: "), HasSubstr("C library"))));
  }
  run.Set("LD_PRELOAD", CopyOfTheCLibrary(&run));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(PreloadFindings(result), testing::ElementsAre(HasSubstr("error image.preload-interposes: ")));
}

TEST(Preload, OfAnAuditLibraryIsRedWhateverItDefines) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Set("LD_AUDIT", CUDNN_CI_FIXTURES "/preload/libpreload_idle.so");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(PreloadFindings(result),
              testing::ElementsAre(HasSubstr("error image.preload-interposes: LD_AUDIT names ")));
}

// A program of the image may put the library there when the run has begun.
TEST(Preload, ThatComesDuringTheRunIsRedToo) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  GateRun run;
  run.Set("LD_PRELOAD", run.Path("late.so"));
  run.Before(
      {"sh", "-c",
       "(until grep -qs AttemptStarted report/journal.jsonl; do sleep 0.02; done; cp " CUDNN_CI_FIXTURES
       "/preload/libinterpose_send.so late.so) & exec \"$@\"",
       "--"});
  run.Matrix(Entry("fixture.slow", R"("params": {"ms": 2500})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(PreloadFindings(result),
              testing::ElementsAre(HasSubstr("loader ignores"), HasSubstr(" send,")));
}

TEST(Preload, ThatStandsInNobodysPlaceIsAWarning) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Set("LD_PRELOAD", CUDNN_CI_FIXTURES "/preload/libpreload_idle.so:/nonexistent.so:" CUDNN_CI_FAKES
                                          "/cudart13/libcudart.so.13");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(PreloadFindings(result),
              testing::ElementsAre(HasSubstr("no function"), HasSubstr("loader ignores"),
                                   HasSubstr(" CUDA for cuda")))
      << "what programs of the image take from it is said";
}

TEST(Preload, ThatDoesNoHarmIsNotMentioned) {
  GateRun run;
  run.WithoutFixture();
  run.AddPlugins(CUDNN_CI_FIXTURES "/broken/init_exit");
  run.Matrix(Entry("init_exit.check"));
  run.Set("LD_PRELOAD", CUDNN_CI_FAKES "/libcuda/libcuda.so.1");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.out;
  EXPECT_EQ(PreloadDetail(result), "");
}

// ---- what is mounted, and what the loader passes over ----

// A machine whose cluster mounts /etc/ld.so.preload with this line, before which these commands run.
GateResult WithMountedList(GateRun* run, const std::string& line, const std::string& commands = "true") {
  run->Write("list", line + "\n");
  run->Before({"unshare", "-m", "bash", "-c",
               "mount -t tmpfs none /etc && : > /etc/ld.so.preload && " + commands + " && mount --bind " +
                   run->Path("list") + " /etc/ld.so.preload && exec \"$@\"",
               "bash"});
  return run->Run();
}

TEST(MountedPreload, IsTheRunnersAndNotTheImages) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  const std::string send = CUDNN_CI_FIXTURES "/preload/libinterpose_send.so";
  GateResult result = WithMountedList(&run, send);
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_THAT(PreloadFindings(result),
              testing::ElementsAre(
                  testing::AllOf(HasSubstr("/etc/ld.so.preload "), HasSubstr(" mount"), HasSubstr("send"))));
  run.Matrix(Entry("fixture.pass"), 20, R"(, "image": {"allow_preload": ["libinterpose_*.so"]})");
  result = WithMountedList(&run, send);
  EXPECT_EQ(result.exit_code, 0) << result.out;
}

// Nobody who builds the image can take it away; where the image has one, too, nobody can say which it is.
TEST(MountedPreload, ThatEndsEveryProcessIsTheRunnersToo) {
  if (kSanitized) GTEST_SKIP() << "a sanitized cudnn-ci is linked dynamically";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Write("libvgpu.so", "");
  run.Before({"unshare", "-m", "bash", "-c",
              "mount --bind " CUDNN_CI_FIXTURES "/preload/libpreload_exit.so " + run.Path("libvgpu.so") +
                  " && export LD_PRELOAD=" + run.Path("libvgpu.so") + "$MORE && exec \"$@\"",
              "bash"});
  GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_EQ(result.report["root_cause"]["slug"], "runner-preload-breaks-processes");
  run.Set("MORE", ":" CUDNN_CI_FIXTURES "/preload/libpreload_idle.so");
  result = run.Run();
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(PreloadDetail(result),
              testing::AllOf(HasSubstr(run.Path("libvgpu.so") + " "), HasSubstr(" mount")));
}

// The list is the image's, and the library a mount over its placeholder.
TEST(MountedPreload, ByALibraryOverAPlaceholderIsTheRunnersToo) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  run.Write("libvgpu.so", "");
  run.Set("LD_PRELOAD", run.Path("libvgpu.so"));
  EXPECT_THAT(RunnerSlugs(run.Run()), testing::IsEmpty()) << "a placeholder is nobody's";
  run.Before({"unshare", "-m", "bash", "-c",
              "mount --bind " CUDNN_CI_FIXTURES "/preload/libinterpose_send.so " + run.Path("libvgpu.so") +
                  " && exec \"$@\"",
              "bash"});
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_THAT(RunnerSlugs(result), testing::ElementsAre("runner-preload-interposes"));
}

TEST(Preload, ThatTheLoaderPassesOverIsAWarning) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be the first library";
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  std::filesystem::create_directory(run.Path("folder.so"));
  run.Write("empty.so", "");
  run.Write("denied.so", "x");
  std::filesystem::permissions(run.Path("denied.so"), std::filesystem::perms::none);
  std::vector<std::string> names = {"folder.so", "empty.so"};
  if (access(run.Path("denied.so").c_str(), R_OK) != 0) names.emplace_back("denied.so");
  for (const std::string& name : names) {
    run.Set("LD_PRELOAD", run.Path(name));
    const GateResult result = run.Run();
    EXPECT_EQ(result.exit_code, 0) << name << result.out;
    EXPECT_THAT(PreloadFindings(result), testing::ElementsAre(HasSubstr("warning image.preloaded: ")))
        << name;
  }
}

// ---- whose driver library is taken ----

// "error: DETAIL" of what is said about libcuda.so.1, with the host's mounted as container runtimes do it.
std::string DriverLibrarySaid(GateRun* run, int* exit_code) {
  run->Write("libcuda.so.580.95.05", "");
  run->Before({"unshare", "-m", "bash", "-c",
               "mount --bind \"$(realpath " CUDNN_CI_FAKES "/libcuda/libcuda.so.1)\" " +
                   run->Path("libcuda.so.580.95.05") + " && exec \"$@\"",
               "bash"});
  const GateResult result = run->Run();
  *exit_code = result.exit_code;
  for (const json& e : result.Events("Finding"))
    if (e["finding"]["slug"].get<std::string>().rfind("driver-library", 0) == 0)
      return e["finding"]["severity"].get<std::string>() + ": " + e["finding"]["detail"].get<std::string>();
  return "";
}

TEST(DriverLibrary, OfTheImageIsRedWhereTheHostsIsMounted) {
  if (const std::string why = WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
  GateRun run;
  const auto put = [&run](const std::string& folder) {
    std::filesystem::create_directories(run.Path(folder));
    std::filesystem::copy_file(CUDNN_CI_FAKES "/libcuda/libcuda.so.1", run.Path(folder) + "/libcuda.so.1");
    run.Set("LD_LIBRARY_PATH", run.Path(folder));
  };
  int exit_code = 0;
  run.Matrix(Entry("fixture.pass"));
  for (const std::string folder : {"own", "own/glibc-hwcaps/x86-64-v2"}) {
    put(folder);
    run.Set("LD_LIBRARY_PATH", run.Path("own"));
    EXPECT_THAT(DriverLibrarySaid(&run, &exit_code),
                HasSubstr("error: " + run.Path(folder) + "/libcuda.so.1 is loaded, "));
    EXPECT_EQ(exit_code, 1);
  }
  run.Matrix(Entry("fixture.pass"), 20, R"(, "image": {"allow_driver_library": ["*/own/*"]})");
  EXPECT_THAT(DriverLibrarySaid(&run, &exit_code), HasSubstr("warning: "));
  EXPECT_EQ(exit_code, 0);
  run.Matrix(Entry("fixture.pass"));
  put("compat");
  EXPECT_EQ(DriverLibrarySaid(&run, &exit_code), "") << "a compat package is for driver.version to judge";
  std::filesystem::create_directories(run.Path("linked"));
  std::filesystem::create_symlink(run.Path("libcuda.so.580.95.05"), run.Path("linked/libcuda.so.1"));
  run.Set("LD_LIBRARY_PATH", run.Path("linked"));
  EXPECT_EQ(DriverLibrarySaid(&run, &exit_code), "") << "the host's own";
  EXPECT_EQ(exit_code, 0);
}

}  // namespace
}  // namespace cudnn_ci
