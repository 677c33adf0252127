// What cli makes of the subjects that it looks at: findings of what is missing, notices of what was not
// searched.
#include "cli/image_look.h"

#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <variant>

#include "model/record/notice_list.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ImageLookTest : public SubjectTree {
 protected:
  static SubjectLook Look(const std::string& spec) {
    PackageNames names;
    names.cuda = CudaLibraries({"libcudart.so", "libcudnn.so"});
    return LookAtSubjects({{"mine", spec}}, names, [](const std::string&) {});
  }
  // An ELF file for a processor that no test runs on.
  void Foreign(const std::string& path) const {
    Copy("/proc/self/exe", path);
    std::fstream file(At(path), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(18).put(static_cast<char>(243));  // EM_RISCV
  }
};

TEST_F(ImageLookTest, AFolderThatIsNotSearchedIsANotice) {
  Python("opt/py");
  File(Site("opt/py") + "/nvidia/a:b/lib/libx.so");
  Wheel(Site("opt/py"));
  const SubjectLook look = Look("python:" + At("opt/py/bin/python3"));
  EXPECT_THAT(look.problems, IsEmpty());
  ASSERT_EQ(look.warnings.size(), 1U);
  EXPECT_EQ(look.warnings[0].code, NoticeCode::kFolderNotSearched);
  EXPECT_EQ(std::get<std::string>(look.warnings[0].args.at("subject")), "mine");
  EXPECT_EQ(std::get<std::string>(look.warnings[0].args.at("folder")),
            At(Site("opt/py") + "/nvidia/a:b/lib"));
}

TEST_F(ImageLookTest, WhatASubjectNamesAndTheImageLacksIsAFinding) {
  const SubjectLook look = Look("path:" + At("none"));
  ASSERT_EQ(look.problems.size(), 1U);
  EXPECT_EQ(look.problems[0].slug, "subject-missing");
  EXPECT_EQ(look.problems[0].subject, "mine");
  EXPECT_THAT(look.warnings, IsEmpty());
}

// An aarch64 wheel on x86-64. One of several variants, and what uses no GPU, is no fault.
TEST_F(ImageLookTest, LibrariesForGpusOfAnotherProcessorAreAFinding) {
  Python("opt/py");
  Foreign(Site("opt/py") + "/nvidia/cu13/lib/libcudart.so.13");
  Foreign(Site("opt/py") + "/nvidia/cudnn/lib/libcudnn.so.9");
  Copy("/proc/self/exe", Site("opt/py") + "/nvidia/cudnn/lib/libcudnn_graph.so.9");
  Foreign(Site("opt/py") + "/helper/libhelp.so");
  const SubjectLook look = Look("python:" + At("opt/py/bin/python3"));
  ASSERT_EQ(look.problems.size(), 1U);
  EXPECT_EQ(look.problems[0].slug, "subject-for-other-processor");
  EXPECT_EQ(look.problems[0].subject, "mine");
  EXPECT_THAT(look.problems[0].detail, HasSubstr("/nvidia/cu13/lib/libcudart.so.13"));
  EXPECT_THAT(look.problems[0].detail, Not(HasSubstr("libcudnn")));
  const std::string folder = "path:" + At(Site("opt/py") + "/nvidia/cu13/lib");
  ASSERT_EQ(Look(folder).problems.size(), 1U);
  EXPECT_EQ(Look(folder).problems[0].slug, "subject-for-other-processor");
  EXPECT_THAT(Look(folder + ":" + At(Site("opt/py") + "/nvidia/cudnn/lib")).problems, IsEmpty());
}

TEST_F(ImageLookTest, OfASoundSubjectThereIsNothingToSay) {
  Python("opt/py");
  Wheel(Site("opt/py"));
  const SubjectLook look = Look("python:" + At("opt/py/bin/python3"));
  EXPECT_THAT(look.problems, IsEmpty());
  EXPECT_THAT(look.warnings, IsEmpty());
  ASSERT_EQ(look.subjects.size(), 1U);
  EXPECT_THAT(Inside(look.subjects[0].folders), ElementsAre(Site("opt/py") + "/nvidia/cudnn/lib"));
}

}  // namespace
}  // namespace cudnn_ci
