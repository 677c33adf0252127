// What cli makes of the subjects that it looks at: findings of what is missing, notices of what was not
// searched.
#include "cli/image_look.h"

#include <gmock/gmock.h>

#include <string>
#include <variant>

#include "model/record/notice_list.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ImageLookTest : public SubjectTree {
 protected:
  static SubjectLook Look(const std::string& spec) {
    return LookAtSubjects({{"mine", spec}}, {}, [](const std::string&) {});
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
