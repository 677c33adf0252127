// The kernels plugin through the real gate: the real runner, run by a real Python, hands problems to a fake
// package whose implementations are right, wrong in one way each, refuse, crash and hang.
#include <sstream>

#include "environments_test.h"
#include "framework_test.h"
#include "small_group.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Words = std::vector<std::string>;

// The slug of a finding, and what its detail begins with, "PACKAGE, IMPLEMENTATION, PROBLEM, run N: ".
Words Head(const json& finding) {
  const std::string detail = finding["detail"];
  Words head = {finding["slug"]};
  std::istringstream words(detail.substr(0, detail.find(": ")));
  for (std::string word; std::getline(words >> std::ws, word, ',');) head.push_back(word);
  return head;
}

std::vector<Words> Heads(const CheckOutcome& r) {
  std::vector<Words> heads;
  for (const json& finding : r.record["findings"]) heads.push_back(Head(finding));
  return heads;
}

// What a detail has between this mark and the next one; empty: it has no such mark.
std::string Marked(const std::string& detail, const std::string& mark) {
  const size_t at = detail.find("; " + mark + " ");
  if (at == std::string::npos) return "";
  const size_t begin = at + mark.size() + 3;
  return detail.substr(begin,
                       std::min(detail.find("; known: ", begin), detail.find("; kernels: ", begin)) - begin);
}

const char kAcme[] = "Acme 1.4+cu130", kSmall[] = "product/float32_small";

class Kernels : public FrameworkTest {
 protected:
  Kernels() {
    UseFakes({"libcuda", "nvml", "cupti", "cudnn"});
    Set("PYTHONPATH", CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/packages");
  }
  CheckOutcome Package(const std::string& adapter, const std::string& params = "") {
    return Check("kernels.package", "\"params\": {\"adapter\": \"" + adapter + "\"" + params + "}",
                 adapters_);
  }

  // A case of each adapter, by its name.
  std::map<std::string, CheckOutcome> Packages(const std::string& adapters) {
    std::map<std::string, CheckOutcome> outcomes;
    const GateResult gate =
        Run(Entry("kernels.package", R"("axes": {"adapter": [)" + adapters + "]}"), adapters_);
    for (const json& c : gate.report["cases"])
      if (c["check"] == "kernels.package") outcomes[c["params"]["adapter"]] = {gate, c};
    return outcomes;
  }

  const std::vector<std::string> adapters_ = {
      "--knowledge", CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/adapters", "--allow-adapters"};
};

// Refusals that it may make are no fault: one is offered, one is promised for other cards. What refuses all
// that it offers is named.
TEST_F(Kernels, ThatAreRightOrMayRefusePass) {
  const CheckOutcome r = Package("acme");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Measured("right"), 2);
  EXPECT_EQ(r.Measured("refused"), 2);
  EXPECT_THAT(r.AllSlugs(), ElementsAre("kernels-not-covered"));
  EXPECT_THAT(Heads(r), ElementsAre(Words{"kernels-not-covered", kAcme, "refuses", kSmall, "run 1"}));
}

// Each implementation is wrong in the way that its name says.
TEST_F(Kernels, ThatAreWrongInOneWayAreNamedWithIt) {
  Set("FAKE_CUDNN_VERSION", "90200");
  const CheckOutcome r = Package("faulty");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_EQ(r.Measured("right"), 0);
  const auto head = [](const char* slug, const char* how, const char* problem = kSmall,
                       const char* run = "run 1") {
    return Words{slug, "Faulty 1.4+cu130", how, problem, run};
  };
  EXPECT_THAT(Heads(r),
              UnorderedElementsAre(head("kernels-refused", "raises"), head("kernels-refused", "refuses"),
                                   head("kernels-not-refused", "any sizes", "attention/sizes_differ"),
                                   head("kernels-not-on-gpu", "no launch"), head("kernels-not-on-gpu", "cpu"),
                                   head("kernels-not-on-gpu", "another's kernel"),
                                   head("kernels-wrong", "short sum"), head("kernels-wrong", "unwritten"),
                                   head("kernels-wrong", "not a number"), head("kernels-wrong", "one more"),
                                   head("kernels-wrong", "second run", kSmall, "run 2"),
                                   head("kernels-wrong", "shape"), head("kernels-wrong", "nothing"),
                                   head("kernels-wrong", "cut"), head("kernels-wrong", "type"),
                                   head("kernels-wrong", "of cudnn", "attention/bfloat16_far_negative")));
  std::map<std::string, std::string> details;
  for (const json& finding : r.record["findings"]) details[Head(finding).at(2)] = finding["detail"];
  // What is known of the release, and of the cuDNN in its process, is said with what to do.
  EXPECT_EQ(Marked(details["one more"], "known:"),
            "the first sum is 1 more (https://example.org/acme); take 1.5");
  EXPECT_EQ(Marked(details["short sum"], "known:"), "");
  EXPECT_THAT(details["type"], Mentions("float16", "float32"));
  EXPECT_EQ(Marked(details["of cudnn"], "with cuDNN"),
            "9.2.0 (" + std::filesystem::canonical(FakeFile("cudnn", "libcudnn.so.9")).string() + ")");
  EXPECT_NE(Marked(details["of cudnn"], "known:"), "");
}

TEST_F(Kernels, ThatCrashHangOrBreakTheGpuAreNamedWithTheirCall) {
  for (const char* fault : {"crash", "broken", "hang"}) {
    Set("FAKE_KERNELS", fault);
    const CheckOutcome r = Package("acme", fault == std::string("hang") ? ", \"timeout_s\": 2" : "");
    const char* slug = fault == std::string("hang") ? "kernels-timed-out" : "kernels-crashed";
    EXPECT_THAT(Heads(r), ElementsAre(Words{slug, kAcme, "fast", kSmall, "run 1"})) << fault;
  }
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

// All else that goes wrong beside others is asked again alone.
TEST_F(Kernels, ThatAreWrongOrNotRefusedCountBesideOthers) {
  const json plugins = json::parse(gate().Command({"plugins", "--json"}).out)["plugins"];
  std::vector<std::string> of_result, concurrent;
  for (const json& plugin : plugins) {
    for (const json& finding : plugin["findings"])
      if (finding["of_result"]) of_result.push_back(finding["slug"]);
    for (const json& check : plugin["checks"])
      if (check["concurrent"] && !check["shareable"]) concurrent.push_back(check["name"]);
  }
  EXPECT_THAT(of_result, UnorderedElementsAre("kernels-wrong", "kernels-not-refused"));
  EXPECT_THAT(concurrent, ElementsAre("kernels.package"));
}

// Two processes, whose calls are those of "stays" and "fails": whatever becomes of one, the other goes on.
class KernelsApart : public Kernels {
 protected:
  KernelsApart() { Set("CUDNN_CI_KERNEL_PROCESSES", "2"); }
  CheckOutcome Apart(const std::string& fault, const std::string& params = "") {
    Set("FAKE_KERNELS", fault);
    return Package("apart", params);
  }
};

const char kApart[] = "Apart 1.4+cu130";

TEST_F(KernelsApart, RunAtTheSameTime) {
  const CheckOutcome r = Package("meets");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Measured("right"), 2);
  EXPECT_EQ(r.Measured("processes"), 2);
  EXPECT_GT(r.Measured("wall"), 0);
  EXPECT_LT(r.Measured("wall"), r.Measured("first_runs") + 60);
}

// Each of them would wait in vain for the other.
TEST_F(KernelsApart, AreOneOnAGpuThatTakesOne) {
  Set("FAKE_COMPUTE_MODE", "3");
  const CheckOutcome r = Apart("");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Measured("processes"), 1);
  EXPECT_EQ(r.Measured("right"), 2);
  Set("FAKE_COMPUTE_MODE", "0");
  EXPECT_EQ(Apart("").Measured("processes"), 2);
}

TEST_F(KernelsApart, ThatCrashHangOrBreakTheGpuAreNamedWithTheirCall) {
  const std::pair<const char*, const char*> faults[] = {{"crash", "kernels-crashed"},
                                                        {"killed", "kernels-crashed"},
                                                        {"exit", "kernels-crashed"},
                                                        {"broken", "kernels-crashed"},
                                                        {"hang", "kernels-timed-out"}};
  for (const auto& [fault, slug] : faults) {
    const CheckOutcome r = Apart(fault, fault == std::string("hang") ? ", \"timeout_s\": 5" : "");
    EXPECT_THAT(Heads(r), ElementsAre(Words{slug, kApart, "fails", kSmall, "run 1"}))
        << fault << ::testing::PrintToString(r);
    EXPECT_EQ(r.Measured("right"), 1) << fault;
    EXPECT_THAT(r.Detail(), testing::Not(HasSubstr("still here"))) << "which another has written";
  }
  EXPECT_THAT(Apart("crash").Detail(), HasSubstr("signal 11"));
  EXPECT_THAT(Apart("killed").Detail(), Mentions("signal 9", "line: failing"));
  EXPECT_THAT(Apart("exit").Detail(), Mentions("exit status 7", "line: failing"));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

TEST_F(KernelsApart, AreAllNamedWhereTheOneThatWaitsForThemDies) {
  const CheckOutcome r = Apart("runner killed");
  EXPECT_THAT(Heads(r), testing::Contains(Words{"kernels-crashed", kApart, "fails", kSmall, "run 1"}));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

TEST_F(KernelsApart, ThatCannotImportAreRed) {
  const CheckOutcome once = Apart("import once");
  EXPECT_THAT(once.Slugs(), ElementsAre("kernels-import-failed")) << ::testing::PrintToString(once);
  EXPECT_EQ(once.Measured("right"), 1) << "by the other";
  // What all of them say is one finding.
  const CheckOutcome all = Apart("import");
  EXPECT_THAT(Heads(all), ElementsAre(Words{"kernels-import-failed", kApart, "its import"}));
  EXPECT_THAT(Heads(Apart("no-gpu")), ElementsAre(Words{"kernels-no-gpu", kApart}));
  EXPECT_THAT(Heads(Apart("dead")), ElementsAre(Words{"kernels-crashed", kApart, "its import"}));
}

TEST_F(KernelsApart, AnswerForTheirOwnCallsAlone) {
  const CheckOutcome claims = Apart("claims");
  EXPECT_THAT(claims.Slugs(), ElementsAre("kernels-python-unusable"));
  EXPECT_THAT(claims.Detail(), HasSubstr("another: "));
  EXPECT_THAT(Heads(Apart("silent")),
              UnorderedElementsAre(Words{"kernels-crashed", kApart, "stays", kSmall, "run 1"},
                                   Words{"kernels-crashed", kApart, "fails", kSmall, "run 1"}));
}

// The interpreter is a script here, whose two processes refuse and end soundly, before it ends itself.
TEST_F(KernelsApart, ThatEndSoundlyDoNotExcuseTheOneThatWaits) {
  const auto ended = [this](const std::string& status) {
    std::string lines = "{\"python\": {\"version\": \"3.11.7\"}}\\n";
    for (const std::string n : {"0", "1"})
      for (const std::string& said :
           {std::string(R"("device": {"count": 1})"),
            R"("refused": {"call": )" + n + R"(, "run": 1, "why": "no"})", std::string(R"("end": true)"),
            std::string(R"("left": {"signal": 0, "status": 0})")})
        lines += "{\"process\": " + n + ", " + said + "}\\n";
    Interpreter("case \"$*\" in *look.json*) exec " CUDNN_CI_PYTHON
                " -S \"$@\";; esac\nfor answer; do :; done\nprintf '" +
                lines + "' > \"$answer\"\nexit " + status);
    return Heads(Apart(""));
  };
  const Words refused = {"kernels-refused", kApart, "stays", kSmall, "run 1"};
  EXPECT_THAT(ended("0"), ElementsAre(refused));
  EXPECT_THAT(ended("3"), UnorderedElementsAre(refused, Words{"kernels-crashed", kApart}));
}

TEST_F(KernelsApart, ThatTheKernelEndsForMemoryRanOutOfMemory) {
  const SmallGroup group = SmallGroup::OfMemory(256 << 20);
  if (!group.why().empty()) GTEST_SKIP() << group.why();
  gate().Before(group.Words());
  const CheckOutcome r = Apart("memory");
  EXPECT_THAT(r.Slugs(), ElementsAre("out-of-memory")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), Mentions("python3", "1 process", "cgroup limit 256 MiB"));
}

TEST_F(Kernels, OfAPackageThatCannotBeUsedAreRed) {
  Set("FAKE_KERNELS", "import");
  EXPECT_THAT(Heads(Package("acme")), ElementsAre(Words{"kernels-import-failed", kAcme, "its import"}));
  Set("FAKE_KERNELS", "no-gpu");
  EXPECT_THAT(Heads(Package("acme")), ElementsAre(Words{"kernels-no-gpu", kAcme}));
  Set("FAKE_KERNELS", "lacks");
  const CheckOutcome r = Package("acme");
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_EQ(r.Skip("seen"), "PyTorch");
}

// Of packages that show nothing right, die outside their calls, lack memory or are not there.
TEST_F(Kernels, ThatAreNotJudgedAreNotGreen) {
  auto r = Packages(
      R"("shy", "for_others", "dead", "dies", "breaks_its_word", "exits", "hungry", "acme_old", "nowhere", "unknown")");
  EXPECT_THAT(Heads(r["dies"]),
              ElementsAre(Words{"kernels-crashed", "Dies 1.4+cu130", "dies", kSmall, "run 1"}));
  EXPECT_THAT(Heads(r["breaks_its_word"]),
              ElementsAre(Words{"kernels-refused", "Breaks its word 1.4+cu130", "raises", kSmall, "run 1"}));
  EXPECT_THAT(Heads(r["dead"]), ElementsAre(Words{"kernels-crashed", "Dead 1.4+cu130", "its import"}));
  EXPECT_THAT(Heads(r["exits"]),
              ElementsAre(Words{"kernels-crashed", "Exits 1.4+cu130", "exits", kSmall, "run 2"}));
  EXPECT_THAT(Heads(r["shy"]),
              ElementsAre(Words{"kernels-refused", "Shy 1.4+cu130", "refuses", kSmall, "run 1"}));
  EXPECT_EQ(r["shy"].Blame(), "image");
  EXPECT_EQ(r["for_others"].Skip("kind"), "version");
  EXPECT_EQ(r["for_others"].Skip("seen"), "compute capability 7.5");
  EXPECT_EQ(r["hungry"].Skip("kind"), "memory");
  EXPECT_EQ(r["acme_old"].Skip("kind"), "version");
  EXPECT_EQ(r["acme_old"].Skip("seen"), "acme-kernels 1.4+cu130");
  EXPECT_EQ(r["nowhere"].Skip("kind"), "absent");
  EXPECT_THAT(r["unknown"].Slugs(), ElementsAre("kernels-adapter-unknown"));
}

// That it refused every problem is said once, and not where memory or an answer was missing.
TEST_F(Kernels, ThatRefuseNotEveryProblemAreNotSaidTo) {
  constexpr char kPartly[] = "Partly 1.4+cu130";
  EXPECT_THAT(
      Heads(Package("partly")),
      UnorderedElementsAre(Words{"kernels-refused", kPartly, "refuses", kSmall, "run 1"},
                           Words{"kernels-crashed", kPartly, "dies of float64", "product/float64", "run 1"}));
}

// A package runs in the process that answers.
TEST_F(Kernels, OfWhichNothingIsSaidAreNotGreen) {
  Set("FAKE_KERNELS", "silent");
  EXPECT_THAT(Heads(Package("acme")),
              testing::Contains(Words{"kernels-crashed", kAcme, "fast", kSmall, "run 1"}));
  Set("FAKE_KERNELS", "second refused");
  EXPECT_THAT(Heads(Package("acme")),
              UnorderedElementsAre(Words{"kernels-refused", kAcme, "fast too", kSmall, "run 2"},
                                   Words{"kernels-not-covered", kAcme, "refuses", kSmall, "run 1"}));
  Set("FAKE_KERNELS", "untraced");
  const CheckOutcome r = Package("acme");
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_THAT(Heads(r),
              UnorderedElementsAre(Words{"kernels-untraced", kAcme},
                                   Words{"kernels-not-covered", kAcme, "refuses", kSmall, "run 1"}));
}

TEST_F(Kernels, ADamagedRecordHidesNoOtherPackage) {
  const std::string damaged = gate().Path("site/aaa-1.0.dist-info"),
                    mine = gate().Path("site/acme_kernels-1.4.dist-info");
  std::filesystem::create_directories(damaged);
  gate().Write("site/aaa-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: \xe9\n");
  std::filesystem::create_directories(gate().Path("site/acme_kernels-1.3.dist-info"));  // an older release's
  Set("PYTHONPATH", gate().Path("site") + ":" CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/packages");
  EXPECT_EQ(Package("acme").Outcome(), "passed");
  std::filesystem::rename(damaged, mine);
  EXPECT_EQ(Package("acme").Outcome(), "passed");  // a sound one lies behind it
  Set("PYTHONPATH", gate().Path("site"));
  std::string record = mine;
  for (const char* name :
       {"acme_kernels-1.4.dist-info", "acme-kernels-1.4.dist-info", "acme_kernels.egg-info"}) {
    std::filesystem::rename(record, gate().Path("site/") + name);
    record = gate().Path("site/") + name;
    const CheckOutcome r = Package("acme");
    EXPECT_THAT(r.Slugs(), ElementsAre("kernels-python-unusable")) << name;
    EXPECT_NE(r.Detail().find(record + ": "), std::string::npos) << r.Detail();
  }
  std::filesystem::rename(record, gate().Path("site/acme-kernels-more-1.4.dist-info"));  // another package's
  EXPECT_EQ(Package("acme").Skip("kind"), "absent");
}

// An image for JAX may have Transformer Engine without its part for PyTorch; whoever has that part uses it.
TEST_F(Kernels, OfAPartThatIsInstalledAndBrokenAreRed) {
  namespace fs = std::filesystem;
  fs::create_directories(gate().Path("site/transformer_engine/pytorch"));
  fs::create_directories(gate().Path("site/torch"));
  fs::create_directories(gate().Path("site/part-2.8.0.dist-info"));
  gate().Write("site/torch/__init__.py", "");
  gate().Write("site/transformer_engine/__init__.py", "");
  gate().Write("site/transformer_engine/pytorch/__init__.py",
               "raise FileNotFoundError('no shared object file for Transformer Engine torch lib.')\n");
  Set("PYTHONPATH", gate().Path("site"));
  for (const std::string name :
       {"transformer-engine-torch", "transformer_engine_torch", "transformer_engine"}) {
    std::string folder = name;
    std::replace(folder.begin(), folder.end(), '-', '_');
    fs::rename(gate().Path("site/part-2.8.0.dist-info"), gate().Path("site/" + folder + "-2.8.0.dist-info"));
    gate().Write("site/" + folder + "-2.8.0.dist-info/METADATA",
                 "Metadata-Version: 2.1\nName: " + name + "\nVersion: 2.8.0\n");
    const CheckOutcome r = Check("kernels.package", R"("params": {"adapter": "transformer_engine"})");
    if (name == "transformer_engine")
      EXPECT_EQ(r.Skip("kind"), "absent") << r.Detail();
    else
      EXPECT_THAT(r.Slugs(), ElementsAre("kernels-import-failed")) << name << r.Detail();
    fs::rename(gate().Path("site/" + folder + "-2.8.0.dist-info"), gate().Path("site/part-2.8.0.dist-info"));
  }
}

// Of hundreds of records only those are read whose names can be the package's.
TEST_F(Kernels, APackageIsFoundWhateverItsRecordIsCalled) {
  namespace fs = std::filesystem;
  const std::string site = gate().Path("site") + "/";
  fs::copy(CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/packages", site, fs::copy_options::recursive);
  Set("PYTHONPATH", site);
  std::string record = "acme_kernels-1.4.dist-info";
  fs::copy(site + record + "/METADATA", site + record + "/PKG-INFO");
  for (const char* name : {"acme-kernels-1.4.dist-info", "Acme.Kernels-1.4-py3.12.egg-info",
                           "acme_kernels.egg-info", "acme_kernels.dist-info"}) {
    fs::rename(site + record, site + name);
    record = name;
    EXPECT_EQ(Package("acme").Outcome(), "passed") << name;
  }
}

TEST_F(Kernels, ThatNoAdapterAsksAreListed) {
  const CheckOutcome r = Check("kernels.covered", "", adapters_);
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_THAT(r.AllSlugs(), ElementsAre("kernels-not-covered"));
  EXPECT_EQ(r.Detail(), "other-kernels 0.2 (no adapter)");
}

// The interpreter is a script here, which says that it got so far and then what it is told to.
TEST_F(Kernels, ThatCannotAllBeListedAreNotGreen) {
  const auto say = [this](const std::string& then, const std::string& params) {
    Interpreter("for answer; do :; done\necho '{\"python\": {\"version\": \"3.11.7\"}}' > \"$answer\"\n" +
                then);
    return Check("kernels.covered", params, adapters_);
  };
  const CheckOutcome cut = say("printf '{\"cut\": 5}\\n{\"end\": true}\\n' >> \"$answer\"", "");
  EXPECT_THAT(cut.AllSlugs(), ElementsAre("kernels-not-covered"));
  EXPECT_EQ(cut.Detail(), "5 more packages, not checked");
  const CheckOutcome late = say("exec sleep 60", R"("params": {"timeout_s": 1})");
  EXPECT_THAT(late.Slugs(), ElementsAre("kernels-python-unusable"));
  EXPECT_NE(late.Detail().find(" within 1 s"), std::string::npos) << late.Detail();
}

// The first python3 of PATH may be that of another subject.
TEST_F(Kernels, OfOneInterpreterAreAskedOnce) {
  UseSubjects(R"({"system": "loader", "mine": "python:)" + gate().Path("bin/python3") + R"("})");
  const CheckOutcome r = Package("acme");
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_EQ(r.Skip("seen"), "python:" + gate().Path("bin/python3"));
}

// What the loader finds and an environment beside it, each with an interpreter.
class KernelsOfEnvironments : public EnvironmentsTest {
 protected:
  KernelsOfEnvironments() {
    UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cupti", "cudnn"});
    MakeEnvironment("venv", {"acme_kernels-1.4"});
    Set("VIRTUAL_ENV", gate().Path("venv"));
    std::filesystem::create_directory(gate().Path("bin"));
    Script("bin/python3", "");
    Script("venv/bin/python3.11", "PYTHONPATH=" CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/packages ");
    const char* path = getenv("PATH");
    Set("PATH", gate().Path("bin") + ":" + (path ? path : ""));
    UseSubjects(R"("auto")");
  }
  void Script(const std::string& name, const std::string& environment) {
    gate().Write(name, "#!/bin/sh\n" + environment + "exec " CUDNN_CI_PYTHON " -S \"$@\"\n");
    std::filesystem::permissions(gate().Path(name), std::filesystem::perms(0755));
  }
  // "SUBJECT: OUTCOME" of each case of the check.
  static Words Outcomes(const GateResult& r, const std::string& check) {
    Words outcomes;
    for (const json& c : r.report["cases"])
      if (c["check"] == check)
        outcomes.push_back(c["subject"].get<std::string>() + ": " + c["outcome"].get<std::string>());
    return outcomes;
  }
  GateResult Ask(const std::string& entry) {
    return Run(entry,
               {"--knowledge", CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/adapters", "--allow-adapters"});
  }
};

// An entry without "allow_skip": one of the subjects has the package.
TEST_F(KernelsOfEnvironments, AreAskedWhereThePackageIs) {
  const GateResult r =
      Ask(Entry("kernels.package", R"("params": {"adapter": "acme"})") + "," + Entry("kernels.covered", ""));
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  for (const char* check : {"kernels.package", "kernels.covered"})
    EXPECT_THAT(Outcomes(r, check), UnorderedElementsAre("system: skipped", NameOf("venv") + ": passed"));
}

TEST_F(KernelsOfEnvironments, OfAPackageThatNoneHasAreNotGreen) {
  const GateResult r = Ask(Entry("kernels.package", R"("params": {"adapter": "nowhere"})"));
  EXPECT_EQ(r.exit_code, 4) << r.out << r.err;
  EXPECT_THAT(Outcomes(r, "kernels.package"),
              UnorderedElementsAre("system: skipped", NameOf("venv") + ": skipped"));
  for (const json& c : r.report["cases"]) {
    const bool asked = c["check"] == "kernels.package";
    EXPECT_EQ(c["reason_code"] == "skip-not-allowed", asked) << c["id"];
  }
}

// What the records of the environment say binds it: a package that its interpreter does not find is red.
TEST_F(KernelsOfEnvironments, OfAPackageThatIsRecordedAloneAreNotGreen) {
  Script("venv/bin/python3.11", "");
  const GateResult r = Ask(Entry("kernels.package", R"("params": {"adapter": "acme"})"));
  EXPECT_EQ(r.exit_code, 4) << r.out << r.err;
  EXPECT_THAT(Outcomes(r, "kernels.package"),
              UnorderedElementsAre("system: skipped", NameOf("venv") + ": skipped"));
}

// Adapters are code: they need a word of their own.
TEST_F(Kernels, TakeNoAdapterThatIsNotAllowed) {
  EXPECT_EQ(Check("kernels.covered", "", {adapters_[0], adapters_[1]}).gate.exit_code, 2);
}

}  // namespace
}  // namespace cudnn_ci
