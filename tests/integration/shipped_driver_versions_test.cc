// The driver plugin against fake drivers: its version, whoever tells it, against the table of version facts,
// compat libraries, and what an image says that it needs.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "driver_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class DriverVersions : public DriverTest {
 protected:
  // By the version alone: the machine may have a runtime of its own, and the newest soname is taken.
  void UseToolkit12() { Set("FAKE_CUDART_VERSION", "12080"); }
  // Puts the fake driver where a cuda-compat package lies, as that version.
  void UseCompat(const std::string& version) {
    fs::create_directories(libraries() + "/compat");
    fs::copy_file(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/compat/libcuda.so." + version);
    fs::create_symlink("compat/libcuda.so." + version, libraries() + "/libcuda.so.1");
  }
};

// ---- the version, whoever tells it ----

TEST_F(DriverVersions, WithoutNvmlAndFilesTheTableGivesTheDriversBranch) {
  UseFakes({"cudart13"});
  fs::copy_file(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/libcuda.so.1");
  Promise("runner.driver", ">=525.60.13");
  CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), IsEmpty());
  Set("FAKE_DRIVER_VERSION", "11040");
  r = Check("driver.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-below-contract"));
  EXPECT_THAT(r.Detail(), Mentions("470.42.01 to 494.999.99", "cuDriverGetVersion", "CUDA 11.4"));
  // A branch says too little of a range that begins inside it.
  Set("FAKE_DRIVER_VERSION", "13000");
  Promise("runner.driver", ">=580.65.06");
  r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  Promise("runner.driver", ">=580.95.05");
  r = Check("driver.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-version-unknown"));
  // Nor does it say whether a version in the middle is the one that is left out.
  Promise("runner.driver", ">=580.65.06 !=581.10");
  EXPECT_THAT(Check("driver.version").Slugs(), ElementsAre("driver-version-unknown"));
  // What cuInit says is the cause, and not that nobody tells the version.
  Set("FAKE_CUINIT", "999");
  r = Check("driver.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-unknown-error"));
}

TEST_F(DriverVersions, InsideAMajorTheFloorOfTheTableCounts) {
  Set("FAKE_NVML_DRIVER", "525.53");
  Set("FAKE_DRIVER_VERSION", "12000");
  UseToolkit12();
  Set("FAKE_CUINIT", "0");
  const CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-too-old-for-toolkit"));
  EXPECT_THAT(r.Detail(), Mentions("525.53", "CUDA 12.0", "12.8", "525.60.13", "version facts as of"));
}

// The driver that came with a toolkit may be older than the floor of its major.
TEST_F(DriverVersions, AToolkitNoNewerThanTheDriversCudaNeedsNoFloor) {
  Set("FAKE_NVML_DRIVER", "580.00");
  const CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), IsEmpty());
}

// The versions of Jetson's and WSL's drivers are others than the table's.
TEST_F(DriverVersions, DriversThatCountOtherwiseAreNotHeldToTheTable) {
  UseFakes({"nvml", "cudart13"});
  fs::copy_file(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/libcuda.so.1.1");
  fs::create_symlink("libcuda.so.1.1", libraries() + "/libcuda.so.1");
  Set("FAKE_NVML_DRIVER", "540.4.0");
  Set("FAKE_CUDART_VERSION", "13010");
  CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), IsEmpty());
  UseFakes({"cudart13"});
  Promise("runner.driver", ">=550");
  EXPECT_THAT(Check("driver.version").Slugs(), ElementsAre("driver-version-unknown"));
}

TEST_F(DriverVersions, AnotherTableIsAnotherFloor) {
  Set("FAKE_NVML_DRIVER", "580.65.06");
  Set("FAKE_CUDART_VERSION", "13010");
  std::ifstream file(CUDNN_CI_SOURCE_DIR "/knowledge/compatibility.json");
  std::string table(std::istreambuf_iterator<char>(file), {});
  const std::string floor = "\"driver\": \"580.65.06\", \"source\": \"minor-version\"";
  const size_t at = table.find(floor);
  ASSERT_NE(at, std::string::npos);
  table.replace(at, floor.size(), "\"driver\": \"580.99\", \"source\": \"minor-version\"");
  gate().Write("table.json", table);
  const CheckOutcome r = Check("driver.version", "", {"--compatibility", gate().Path("table.json")});
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-too-old-for-toolkit"));
  EXPECT_THAT(r.Detail(), Mentions("580.65.06", "580.99"));
  EXPECT_EQ(r.gate.report["judged"]["compatibility"]["path"], gate().Path("table.json"));
}

TEST_F(DriverVersions, WhatIsNewerThanTheTableIsAWarning) {
  Set("FAKE_NVML_DRIVER", "700.10.01");
  Set("FAKE_DRIVER_VERSION", "14000");
  fs::copy_file(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/libcuda.so.1");
  Promise("runner.driver", ">=580.65.06");
  const CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), ElementsAre("warning newer-than-version-table"));
  EXPECT_THAT(r.Detail(), AllOf(StartsWith("driver 700.10.01; "), Mentions("version facts as of")));
}

// ---- compat libraries ----

TEST_F(DriverVersions, CompatLibraryThatWorksWhereItIsNotSupportedIsAWarning) {
  UseCompat("580.65.06");
  Set("FAKE_NVML_DRIVER", "550.54.15");
  const CheckOutcome r = Check("driver.devices");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), ElementsAre("warning driver-compat-unsupported"));
  EXPECT_THAT(r.Detail(),
              Mentions("compat library 580.65.06", "driver 550.54.15", "cuda-compat-13-0", "535 570"));
}

TEST_F(DriverVersions, CompatLibraryOlderThanTheDriverIsNamed) {
  UseCompat("570.26");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_THAT(Said(r), ElementsAre("warning driver-compat-unsupported"));
  EXPECT_THAT(r.Detail(), Mentions("compat library 570.26", "older"));
}

TEST_F(DriverVersions, CompatLibraryThatDoesNotWorkIsTheCause) {
  UseCompat("570.26");
  Set("FAKE_NVML_DRIVER", "580.65.06");
  Set("FAKE_CUINIT", "803");
  const CheckOutcome r = Check("driver.devices");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-compat-mismatch"));
  EXPECT_THAT(r.Detail(), Mentions("/compat/libcuda.so.570.26", "LD_LIBRARY_PATH entry " + libraries(),
                                   "compat library 570.26", "driver 580.65.06", "older"));
}

TEST_F(DriverVersions, SupportedCompatLibraryServesTheNewerToolkit) {
  UseCompat("580.65.06");
  Set("FAKE_NVML_DRIVER", "570.26");
  for (const std::string check : {"driver.version", "driver.devices"}) {
    const CheckOutcome r = Check(check);
    if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
    EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
    EXPECT_THAT(Said(r), IsEmpty()) << check;
  }
}

// ---- NVIDIA_REQUIRE_* ----

TEST_F(DriverVersions, RequirementThatTheHostDoesNotKeepIsTheRunnersFault) {
  Set("FAKE_NVML_DRIVER", "570.26");
  Set("FAKE_DRIVER_VERSION", "12080");
  Set("NVIDIA_REQUIRE_CUDA", "cuda>=13.0 brand=geforce,driver>=535,driver<536");
  CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 3) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("image-requirement-unsatisfied"));
  EXPECT_THAT(r.Detail(), AllOf(Mentions("CUDA 12.8", "toolkit is 13.0"),
                                HasSubstr("NVIDIA_REQUIRE_CUDA='cuda>=13.0 brand=geforce")));
  // A fleet that promises such drivers is not to blame.
  Promise("runner.driver", ">=525.60.13");
  r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-too-old-for-toolkit"));
}

TEST_F(DriverVersions, RequirementOfMoreThanTheToolkitNeedsIsAWarning) {
  Set("FAKE_DRIVER_VERSION", "12020");
  Set("FAKE_NVML_DRIVER", "535.54.03");
  Set("FAKE_BRAND", "15");
  Set("NVIDIA_REQUIRE_CUDA", "cuda>=12.8 brand=tesla,driver>=535,driver<536");
  UseToolkit12();
  CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), ElementsAre("warning image-requires-more-than-it-needs"));
  // The alternative for this brand holds.
  Set("FAKE_BRAND", "2");
  EXPECT_THAT(Said(Check("driver.version")), IsEmpty());
  Set("FAKE_BRAND", "15");
  Set("NVIDIA_DISABLE_REQUIRE", "1");
  EXPECT_THAT(Said(Check("driver.version")), IsEmpty());
}

// No other toolkit would fix what a GPU or a driver lacks.
TEST_F(DriverVersions, RequirementOfAnotherGpuIsTheRunnersFaultBesideAToolkitThatIsServed) {
  Set("NVIDIA_REQUIRE_ARCH", "arch>=90.0");
  const CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 3) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("image-requirement-unsatisfied"));
  EXPECT_THAT(r.Detail(), HasSubstr("NVIDIA_REQUIRE_ARCH='arch>=90.0'"));
}

TEST_F(DriverVersions, RequirementAboveTheToolkitIsAWarningWhereItHolds) {
  Set("NVIDIA_REQUIRE_CUDA", "cuda>=12.9");
  UseToolkit12();
  const CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 0);
  EXPECT_THAT(Said(r), ElementsAre("warning image-requires-more-than-it-needs"));
  EXPECT_THAT(r.Detail(), Mentions("NVIDIA_REQUIRE_CUDA", "CUDA 12.9", "toolkit is 12.8"));
}

TEST_F(DriverVersions, ARequirementThatHoldsNoConditionsIsNotPrinted) {
  Set("FAKE_DRIVER_VERSION", "12080");
  Set("NVIDIA_REQUIRE_THING", "cuda>=13.0,hunter2");
  EXPECT_THAT(Check("driver.version").gate.report.dump(), Not(HasSubstr("hunter2")));
}

// ---- a witness that the image brings ----

class DriverWitness : public DriverVersions {
 protected:
  // A kernel module of this version, as its files tell it, and these mounts. False: this user cannot have
  // them.
  bool Boot(const std::string& module, const std::string& mounts = "true") {
    const std::vector<std::string> words =
        InMountNamespace("mount -t tmpfs none /sys/module && mkdir /sys/module/nvidia && echo " + module +
                         " >/sys/module/nvidia/version && " + mounts);
    gate().Before(words);
    return !words.empty();
  }
  // The fake as a file of the driver of this version, mounted over a placeholder.
  std::string Mount(const std::string& fake, const std::string& soname, const std::string& version) {
    const std::string place = libraries() + "/" + soname.substr(0, soname.rfind('.')) + "." + version;
    gate().Write("placeholder", "");
    fs::copy_file(gate().Path("placeholder"), place);
    fs::create_symlink(place, libraries() + "/" + soname);
    return "mount --bind " + FakeFile(fake, soname) + " " + place;
  }
};

TEST_F(DriverWitness, TheKernelsVersionCountsWhateverAnNvmlOfTheImageSays) {
  UseFakes({"nvml", "cudart13"});
  Set("FAKE_NVML_DRIVER", "580.95.05");
  Promise("runner.driver", ">=580.95");
  if (!Boot("580.65.06", Mount("libcuda", "libcuda.so.1", "580.65.06"))) GTEST_SKIP() << "no mounts here";
  const CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_THAT(Said(r), ElementsAre("warning nvml-of-image", "error driver-below-contract"));
  EXPECT_EQ(r.Fact("driver.version"), "580.65.06");
  EXPECT_EQ(r.Fact("driver.version.source"), "the kernel module");
}

TEST_F(DriverWitness, AnNvmlOfTheImageThatAnswersMismatchRebootsNoHost) {
  UseFakes({"nvml", "cudart13"});
  Set("FAKE_NVML_INIT", "18");
  if (!Boot("580.65.06", Mount("libcuda", "libcuda.so.1", "580.65.06"))) GTEST_SKIP() << "no mounts here";
  const CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_THAT(Said(r), ElementsAre("warning nvml-of-image"));
}

// Neither a mount nor a kernel module: whichever of the two is right, no promise is kept on their word.
TEST_F(DriverWitness, WhereNothingIsTheHostsTwoVersionsAreNoPass) {
  Promise("runner.driver", ">=580.65");
  for (const auto& [libcuda, nvml] :
       {std::pair("580.65.06", "580.95.05"), std::pair("580.95.05", "580.65.06")}) {
    UseFakes({"nvml", "cudart13"});
    fs::copy_file(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/libcuda.so." + libcuda);
    fs::remove(libraries() + "/libcuda.so.1");
    fs::create_symlink(libraries() + "/libcuda.so." + libcuda, libraries() + "/libcuda.so.1");
    Set("FAKE_NVML_DRIVER", nvml);
    const CheckOutcome r = Check("driver.version");
    if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
    EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out;
    EXPECT_THAT(Said(r), ElementsAre("error driver-libraries-disagree", "warning nvml-of-image"));
    EXPECT_EQ(r.Fact("driver.version.source"), "the name of libcuda's file, which may not be the host's");
  }
}

TEST_F(DriverWitness, WhereNothingIsTheHostsOneVersionIsSaidToBeUnproven) {
  UseFakes({"nvml", "cudart13"});
  fs::copy_file(FakeFile("libcuda", "libcuda.so.1"), libraries() + "/libcuda.so.580.65.06");
  fs::create_symlink(libraries() + "/libcuda.so.580.65.06", libraries() + "/libcuda.so.1");
  Set("FAKE_NVML_DRIVER", "580.65.06");
  Promise("runner.driver", ">=580.65");
  const CheckOutcome r = Check("driver.version");
  if (r.Fact("driver.module_version") != "(none)") GTEST_SKIP() << "this machine has a kernel module";
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(r.Fact("driver.version.source"), "NVML, which may not be the host's");
}

TEST_F(DriverWitness, AMountedNvmlIsTheHosts) {
  UseFakes({"cudart13"});
  Set("FAKE_NVML_INIT", "18");
  const std::string mounts = Mount("libcuda", "libcuda.so.1", "580.65.06") + " && " +
                             Mount("nvml", "libnvidia-ml.so.1", "580.65.06");
  if (!Boot("580.65.06", mounts)) GTEST_SKIP() << "no mounts here";
  CheckOutcome r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_THAT(Said(r), ElementsAre("error driver-module-mismatch"));
  // What it says of the version is held against the kernel, too.
  Set("FAKE_NVML_INIT", "0");
  Set("FAKE_NVML_DRIVER", "580.95.05");
  r = Check("driver.version");
  EXPECT_EQ(r.gate.exit_code, 3) << r.gate.out;
  EXPECT_THAT(Said(r), ElementsAre("error driver-module-mismatch"));
}

}  // namespace
}  // namespace cudnn_ci
