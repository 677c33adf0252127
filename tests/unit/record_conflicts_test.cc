// Files that two packages have recorded, and recorded files that are gone.
#include "image/packages/record_conflicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image/packages/python_metadata.h"
#include "image/packages/python_requirements.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As RECORD has them: printf one | openssl dgst -sha256 -binary | base64.
constexpr char kOne[] = "sha256=dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z_0Me0",
               kTwo[] = "sha256=P8TM_nRYcOLA2Z9x8w_wZWyN7dQcwdfT03aw2-aF4vM";

class RecordConflictsTest : public SubjectTree {
 protected:
  RecordConflicts Conflicts() const { return FindRecordConflicts(PythonPackagesIn(root_ + "/site")); }
};

TEST_F(RecordConflictsTest, TheHashOfAFileTellsWhoWroteItLast) {
  File("/site/x/_ext.so", "one");
  File("/site/a-1.0.dist-info/RECORD", std::string("x/_ext.so,") + kOne + ",3\n");
  File("/site/b-2.0.dist-info/RECORD", std::string("\"x/_ext.so\",") + kTwo + ",3\n");
  const RecordConflicts first = Conflicts();
  ASSERT_THAT(first.replaced, SizeIs(1));
  EXPECT_EQ(first.replaced[0].loser.Text(), "b 2.0");
  EXPECT_EQ(first.replaced[0].winner.Text(), "a 1.0");
  EXPECT_THAT(first.replaced[0].files, ElementsAre(root_ + "/site/x/_ext.so"));
  File("/site/x/_ext.so", "two");
  const RecordConflicts then = Conflicts();
  ASSERT_THAT(then.replaced, SizeIs(1));
  EXPECT_EQ(then.replaced[0].loser.Text(), "a 1.0");
  // Neither's, and both's.
  File("/site/x/_ext.so", "sie");
  EXPECT_THAT(Conflicts().replaced, IsEmpty());
  File("/site/x/_ext.so", "one");
  File("/site/b-2.0.dist-info/RECORD", std::string("x/_ext.so,") + kOne + ",3\n");
  EXPECT_THAT(Conflicts().replaced, IsEmpty());
}

TEST_F(RecordConflictsTest, SourcesAndDocumentsOverlap) {
  File("/site/x/__init__.py", "one");
  File("/site/a-1.0.dist-info/RECORD", std::string("x/__init__.py,") + kOne + ",3\n");
  File("/site/b-2.0.dist-info/RECORD", std::string("x/__init__.py,") + kTwo + ",3\n");
  EXPECT_THAT(Conflicts().replaced, IsEmpty());
}

// Each file that is gone costs a look at the disk.
TEST_F(RecordConflictsTest, OfFilesThatAreGoneSomeAreLookedFor) {
  std::string record;
  for (int i = 0; i < 30000; ++i) record += "x/lib" + std::to_string(i) + ".so," + kOne + ",3\n";
  File("/site/a-1.0.dist-info/RECORD", record);
  const RecordConflicts conflicts = Conflicts();
  ASSERT_THAT(conflicts.gone, SizeIs(1));
  EXPECT_EQ(conflicts.gone[0].count, 20000U);
  EXPECT_THAT(conflicts.gone[0].files, SizeIs(1000));
}

TEST_F(RecordConflictsTest, ARecordedLibraryThatIsGone) {
  File("/site/x/libthere.so", "one");
  File("/site/a-1.0.dist-info/RECORD", std::string("x/libthere.so,") + kOne + ",3\nx/libgone.so.1," + kTwo +
                                           ",3\nx/gone.py," + kTwo + ",3\nx/libgone.a," + kTwo + ",3\n");
  const RecordConflicts conflicts = Conflicts();
  ASSERT_THAT(conflicts.gone, SizeIs(1));
  EXPECT_THAT(conflicts.gone[0].files, ElementsAre(root_ + "/site/x/libgone.so.1"));
  EXPECT_EQ(conflicts.gone[0].there, 1U);
}

TEST_F(RecordConflictsTest, HostileRecordsAreNone) {
  File("/site/x/_ext.so", "one");
  File("/site/a-1.0.dist-info/RECORD",
       "x/_ext.so,sha256=,x\nx/_ext.so,md5=abc,3\n\"x/_ext.so\n,,\n\"\",\"\",\"\"\n");
  File("/site/b-2.0.dist-info/RECORD",
       std::string("x/_ext.so,sha256=") + std::string(43, '*') + ",99999999999999999999999\n");
  EXPECT_THAT(Conflicts().replaced, IsEmpty());
  EXPECT_THAT(Conflicts().gone, IsEmpty());
}

TEST(PythonRequirements, NamesVersionsAndExtras) {
  const auto exact = ParseRequirement("nvidia_cudnn.cu12==8.9.2.26; platform_system == \"Linux\"");
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->name, "nvidia-cudnn-cu12");
  EXPECT_EQ(exact->version, "8.9.2.26");
  EXPECT_FALSE(exact->optional);
  const auto extra = ParseRequirement("x (==1.0,<2) ; extra == 'y'");
  ASSERT_TRUE(extra);
  EXPECT_EQ(extra->version, "1.0");
  EXPECT_TRUE(extra->optional);
  for (const char* open : {"x>=1", "x==1.*", "x"}) EXPECT_EQ(ParseRequirement(open)->version, "") << open;
  EXPECT_FALSE(ParseRequirement(" ; ==1"));
}

}  // namespace
}  // namespace cudnn_ci
