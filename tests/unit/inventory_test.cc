// From facts and finds to one picture: who uses which library, what fits a promise, what may be shown.
#include "model/inventory/inventory.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "golden_messages.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class InventoryTest : public ::testing::Test {
 protected:
  FactMap& Fact(const std::string& subject) { return input_.facts.by_subject[subject]; }
  void Subject(const std::string& name, const std::string& spec, bool judged = true) {
    input_.subjects.push_back({name, spec});
    if (judged) input_.judged.push_back(name);
    Fact(name);
  }
  Inventory Make() const { return MakeInventory(input_); }
  // "fits", "does not fit" or "not known", and what was found, of the one promise.
  std::string Promise(const std::string& promise, const std::string& range) {
    input_.contract = {{promise, range}};
    const std::vector<FoundPromise> promises = Make().promises;
    if (promises.size() != 1) return std::to_string(promises.size()) + " promises";
    const FoundPromise& p = promises[0];
    return std::string(!p.fits ? "not known: " : *p.fits ? "fits: " : "does not fit: ") + p.found;
  }

  InventoryInput input_;
};

TEST_F(InventoryTest, EachCopyOfCudnnHasItsUsersAndTheJudgedOnesComeFirst) {
  Subject("system", "loader", false);
  Subject("two", "python:/two/bin/python");
  for (const char* subject : {"system", "two"})
    Fact(subject) = {{"cudnn.copy.0.path", "/a/libcudnn.so.9"},
                     {"cudnn.copy.1.path", "/b/libcudnn.so.9"},
                     {"cudnn.copy.1.origin", "Python package nvidia-cudnn-cu12 9.10.2.21"},
                     {"cudnn.copy.1.version", "9.10.2"},
                     {"cudnn.copy.2.path", "/c/libcudnn.so.9"}};
  Fact("system")["cudnn.path"] = "/c/libcudnn.so.9.19.0";
  Fact("system")["cudnn.cudart"] = "13";
  Fact("two")["cudnn.path"] = "/b/libcudnn.so.9";
  const Inventory found = Make();
  ASSERT_EQ(found.cudnn.size(), 3u);
  EXPECT_EQ(found.cudnn[0].path, "/b/libcudnn.so.9");
  EXPECT_THAT(found.cudnn[0].used_by, ElementsAre("two"));
  EXPECT_TRUE(found.cudnn[0].gated);
  EXPECT_EQ(found.cudnn[0].cuda, "12") << "by the name of its package";
  EXPECT_EQ(found.cudnn[1].path, "/c/libcudnn.so.9");
  EXPECT_FALSE(found.cudnn[1].gated) << "its subject is not judged";
  EXPECT_EQ(found.cudnn[1].cuda, "13");
  EXPECT_EQ(found.cudnn[2].path, "/a/libcudnn.so.9");
  EXPECT_THAT(found.cudnn[2].used_by, IsEmpty());
  EXPECT_EQ(found.subjects[1].cudnn_cuda, "12");
}

TEST_F(InventoryTest, ACopyThatTheSearchDidNotFindIsAddedWhereASubjectUsesIt) {
  Subject("one", "python:/srv/one/bin/python");
  Subject("again", "path:/srv/one/lib");
  Fact("one") = Fact("again") = {{"cudnn.path", "/srv/one/lib/libcudnn.so.9"}, {"cudnn.version", "9.1.0"}};
  input_.environments = {{"one", "/srv/one/bin/python", "/srv/one", "/srv/one/lib", "12.4", {}}};
  const Inventory found = Make();
  ASSERT_EQ(found.cudnn.size(), 1u);
  EXPECT_EQ(found.cudnn[0].version, "9.1.0");
  EXPECT_EQ(found.cudnn[0].cuda, "12.4");
  EXPECT_EQ(found.cudnn[0].origin, "Python environment /srv/one");
  EXPECT_THAT(found.cudnn[0].used_by, ElementsAre("one", "again"));
  // A worker of its own subject finds it on the loader's path.
  Fact("one")["cudnn.copy.0.path"] = "/srv/one/lib/libcudnn.so.9";
  Fact("one")["cudnn.copy.0.origin"] = "loader path";
  EXPECT_EQ(Make().cudnn[0].origin, "Python environment /srv/one");
}

TEST_F(InventoryTest, PackagesOfTwoMajorsTellNone) {
  Subject("system", "loader");
  Fact("system") = {{"cudnn.copy.0.path", "/a/libcudnn.so.9"},
                    {"cudnn.copy.0.origin", "Python package nvidia-cudnn-cu12 9.1 and nvidia-cudnn-cu13 9.2"},
                    {"cudnn.copy.1.path", "/b/libcudnn.so.9"},
                    {"cudnn.copy.1.origin", "system package libcudnn9-cuda-12 9.1"}};
  const Inventory found = Make();
  EXPECT_EQ(found.cudnn[0].cuda, "");
  EXPECT_EQ(found.cudnn[1].cuda, "12");
}

TEST_F(InventoryTest, ToolkitsHaveThoseThatTakeThem) {
  Subject("system", "loader");
  Subject("one", "python:/one/bin/python");
  input_.toolkits = {{"12.8.1", "/usr/local/cuda-12.8", "toolkit", {"/usr/local/cuda-12.8/lib"}, {}},
                     {"13.0.2", "/usr/local/cuda-13.0", "toolkit", {"/usr/local/cuda-13.0/lib"}, {}}};
  Fact("system") = {
      {"toolkit.runtime.path", "/usr/local/cuda-13.0/lib/libcudart.so.13.0.96"},
      {"toolkit.version", "13.0"},
      {"toolkit.runtime.all",
       "13.0 /usr/local/cuda-13.0/lib/libcudart.so.13.0.96, 12.8 /odd, place/libcudart.so.12, 11.8 "
       "/z/libcudart.so.11.0"}};
  Fact("one") = {{"toolkit.runtime.path", "/one/lib/libcudart.so.12"}, {"toolkit.version", "12.4"}};
  const Inventory found = Make();
  std::vector<std::string> rows;
  for (const FoundToolkit& t : found.toolkits)
    rows.push_back(t.version + " " + t.folder + " " + (t.taken_by.empty() ? "-" : t.taken_by[0]));
  EXPECT_THAT(rows, ElementsAre("13.0.2 /usr/local/cuda-13.0 system", "12.4 /one/lib one",
                                "12.8.1 /usr/local/cuda-12.8 -", "12.8 /odd, place -", "11.8 /z -"));
}

TEST_F(InventoryTest, ARuntimeThatIsCalledAfterItsMajorTellsMore) {
  Subject("system", "loader");
  input_.toolkits = {{"13", "/usr/local/cuda", "toolkit", {"/usr/local/cuda/lib"}, {}}};
  Fact("system") = {{"toolkit.runtime.path", "/usr/local/cuda/lib/libcudart.so.13"},
                    {"toolkit.version", "13.0"}};
  EXPECT_EQ(Make().toolkits[0].version, "13.0");
  input_.toolkits[0].version = "13.0.2";
  EXPECT_EQ(Make().toolkits[0].version, "13.0.2");
}

TEST_F(InventoryTest, ADriverSaysWhoToldItsVersion) {
  Subject("system", "loader");
  Fact("system") = {{"driver.version", "580.65.06"},
                    {"driver.version.source", "the kernel module"},
                    {"driver.library.path", "/usr/local/cuda/compat/libcuda.so.580.95.05"}};
  EXPECT_EQ(Make().driver.source, "the kernel module");
  EXPECT_TRUE(Make().driver.compat);
  Fact("system")["driver.library.path"] = "/usr/lib/compatible/libcuda.so.1";
  EXPECT_FALSE(Make().driver.compat);
}

TEST_F(InventoryTest, PromisesOfTheImageAreHeldToEachJudgedSubject) {
  Subject("system", "loader", false);
  Subject("one", "path:/one");
  Subject("two", "path:/two");
  input_.contract = {{"image.cudnn", ">=9.12 <10"}};
  const std::vector<FoundPromise> promises = Make().promises;
  ASSERT_EQ(promises.size(), 2u);
  EXPECT_EQ(promises[0].subject, "one");
  EXPECT_EQ(promises[1].subject, "two");
}

TEST_F(InventoryTest, AVersionFitsOrDoesNot) {
  Subject("system", "loader");
  EXPECT_EQ(Promise("image.cudnn", ">=9.12 <10"), "does not fit: not found");
  EXPECT_EQ(Promise("image.cudnn", "absent"), "fits: not found");
  Fact("system") = {{"cudnn.path", "/a/libcudnn.so.9"}};
  EXPECT_EQ(Promise("image.cudnn", ">=9.12 <10"), "not known: unknown version at /a/libcudnn.so.9");
  EXPECT_EQ(Promise("image.cudnn", "absent"), "does not fit: unknown version at /a/libcudnn.so.9");
  Fact("system")["cudnn.version"] = "9.14.0";
  EXPECT_EQ(Promise("image.cudnn", ">=9.12 <10"), "fits: 9.14.0");
  EXPECT_EQ(Promise("image.cudnn", ">=9.15"), "does not fit: 9.14.0");
  EXPECT_EQ(Promise("image.cudnn", "absent"), "does not fit: 9.14.0");
  Fact("system")["toolkit.version"] = "13.0";
  EXPECT_EQ(Promise("image.toolkit", ">=13"), "does not fit: no CUDA runtime, NVRTC 13.0");
  Fact("system")["toolkit.runtime.path"] = "/a/libcudart.so.13";
  EXPECT_EQ(Promise("image.toolkit", ">=13"), "fits: 13.0");
}

TEST_F(InventoryTest, WhatTheRunnerHasIsUnknownWhereNobodyTellsIt) {
  Subject("system", "loader");
  EXPECT_EQ(Promise("runner.driver", ">=500"), "does not fit: no driver");
  EXPECT_EQ(Promise("runner.gpus", ">=1"), "not known: unknown");
  EXPECT_EQ(Promise("runner.compute_capability", ">=8.0"), "not known: no GPU");
  Fact("system") = {{"driver.library.path", "/x/libcuda.so.1"}, {"gpu.count", "0"}};
  EXPECT_EQ(Promise("runner.driver", ">=500"), "not known: a driver of unknown version");
  EXPECT_EQ(Promise("runner.gpus", ">=1"), "does not fit: 0");
  EXPECT_EQ(Promise("runner.compute_capability", ">=8.0"), "does not fit: no GPU");
  Fact("system") = {{"driver.version", "580.65.06"},
                    {"gpu.count", "2"},
                    {"gpu.0.uuid", "GPU-0"},
                    {"gpu.1.uuid", "GPU-1"},
                    {"gpu.0.compute_capability", "9.0"},
                    {"gpu.1.compute_capability", "7.5"}};
  EXPECT_EQ(Promise("runner.driver", ">=500"), "fits: 580.65.06");
  EXPECT_EQ(Promise("runner.gpus", ">=1"), "fits: 2");
  EXPECT_EQ(Promise("runner.compute_capability", ">=8.0"), "does not fit: 7.5, 9.0");
}

TEST_F(InventoryTest, OnlyWhatPluginsTellOfVariablesIsShown) {
  Subject("one", "path:/one");
  Fact("one") = {{"env.LD_LIBRARY_PATH", "/one:/mine"}, {"env.TOKEN", "set"}, {"env.GONE", "told"}};
  input_.variables = {{"LD_LIBRARY_PATH", "/mine"}, {"TOKEN", "a secret"}, {"OTHER", "another"}};
  EXPECT_THAT(Make().variables,
              ElementsAre(Pair("GONE", "told"), Pair("LD_LIBRARY_PATH", "/mine"), Pair("TOKEN", "set")));
  // The folders of a subject are no value of the user's.
  input_.variables.erase("LD_LIBRARY_PATH");
  EXPECT_EQ(Make().variables.count("LD_LIBRARY_PATH"), 0u);
}

TEST_F(InventoryTest, WhatCouldNotBeFoundOutIsSaidOnce) {
  Subject("one", "path:/one");
  Subject("two", "path:/two");
  for (const char* subject : {"one", "two"})
    Fact(subject) = {{"cudnn.copies", "incomplete"}, {"cudnn.path", "/a/libcudnn.so.9"}, {"gpu.count", "0"}};
  Fact("one")["driver.library.path"] = "/x/libcuda.so.1";
  input_.facts.problems = {{"driver", "two", "crashed", {ErrorKind::kCrashed, "SIGSEGV"}}};
  input_.unknown = {"before"};
  GoldenMessages("facts.txt")
      .Row("a subject without a driver, another whose plugin crashed", Join(Make().unknown, "\n"));
  EXPECT_THAT(Make().unknown,
              ElementsAre("before", HasSubstr("driver"), HasSubstr(" /a/libcudnn.so.9: "),
                          "copies of cuDNN: incomplete", "plugin driver, subject two: SIGSEGV"));
  Fact("one").erase("gpu.count");
  Fact("two").erase("gpu.count");
  EXPECT_THAT(Make().unknown, ::testing::Contains("GPUs: could not be counted"));
}

}  // namespace
}  // namespace cudnn_ci
