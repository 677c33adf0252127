// The subjects of a matrix: how each is named, and what every mistake is answered with.
#include <gtest/gtest.h>

#include "golden_file.h"
#include "matrix_files.h"

namespace cudnn_ci {
namespace {

const char* const kMistakes[] = {
    R"("subjects":{"t":"python:python3"})",
    R"("subjects":{"t":"program:"})",
    R"("subjects":{"t":"wheel:/opt"})",
    R"("subjects":{"t":"path:/opt;/srv"})",
    R"("subjects":{"t":"path:/opt:lib"})",
    R"("subjects":{"t":3})",
    R"("subjects":"all")",
    R"("subjects":[])",
    R"("subjects":"auto","checks":[{"check":"a.b","subjects":["system"]}])",
    R"("subjects":{"t":"path:lib"})",
};

// Each with its place, what is wrong and what is expected.
TEST(SubjectMistakes, AreAnsweredAsTheGoldenFileHasIt) {
  std::string text;
  for (const char* mistake : kMistakes) text += GoldenRow(mistake, ProblemsOf(mistake));
  ExpectGolden("messages/subjects.txt", text);
}

TEST(MatrixSubjects, EveryKindIsTakenAsItStands) {
  const Scratch scratch;
  const Matrix matrix = Load(scratch.Write("m.json", R"({"schema":"cudnn-ci/matrix/1","name":"m","subjects":{
    "a":"loader","b":"path:/opt/a","c":"path:/opt/a:/opt/b","d":"python:/opt/my env:1/bin/python","e":"program:/a"}})"));
  EXPECT_EQ(matrix.subjects, (std::vector<SubjectInfo>{{"a", "loader"},
                                                       {"b", "path:/opt/a"},
                                                       {"c", "path:/opt/a:/opt/b"},
                                                       {"d", "python:/opt/my env:1/bin/python"},
                                                       {"e", "program:/a"}}));
  EXPECT_FALSE(matrix.automatic_subjects);
}

TEST(MatrixSubjects, AutoIsAWord) {
  const Scratch scratch;
  const Matrix matrix =
      Load(scratch.Write("m.json", R"({"schema":"cudnn-ci/matrix/1","name":"m","subjects":"auto"})"));
  EXPECT_TRUE(matrix.automatic_subjects);
  EXPECT_EQ(matrix.subjects, (std::vector<SubjectInfo>{{"system", "loader"}})) << "what is found joins it";
}

TEST(MatrixSubjects, AutoAndNamesTakeEachOthersPlace) {
  const Scratch scratch;
  scratch.Write("auto.json", R"({"schema":"cudnn-ci/matrix/1","name":"m","subjects":"auto"})");
  scratch.Write("named.json", R"({"schema":"cudnn-ci/matrix/1","name":"m","subjects":{"a":"loader"}})");
  const Matrix named = Load(scratch.Write(
      "1.json", R"({"schema":"cudnn-ci/matrix/1","extends":"auto.json","subjects":{"b":"path:/opt"}})"));
  EXPECT_FALSE(named.automatic_subjects);
  EXPECT_EQ(named.subjects, (std::vector<SubjectInfo>{{"b", "path:/opt"}}));
  const Matrix automatic = Load(
      scratch.Write("2.json", R"({"schema":"cudnn-ci/matrix/1","extends":"named.json","subjects":"auto"})"));
  EXPECT_TRUE(automatic.automatic_subjects);
}

}  // namespace
}  // namespace cudnn_ci
