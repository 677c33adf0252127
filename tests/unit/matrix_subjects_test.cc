// The subjects of a matrix: how each is named, and what every mistake is answered with.
#include <gtest/gtest.h>

#include "matrix_files.h"

namespace cudnn_ci {
namespace {

struct Mistake {
  const char* text;
  const char* message;
};

class SubjectMistake : public testing::TestWithParam<Mistake> {};

TEST_P(SubjectMistake, IsNamedAtItsPlace) { EXPECT_EQ(ProblemsOf(GetParam().text), GetParam().message); }

const Mistake kMistakes[] = {
    {R"("subjects":{"t":"python:python3"})",
     "m.json:2:17: error: the subject \"python:python3\" needs an absolute path, as in "
     "\"python:/opt/venv/bin/python\""},
    {R"("subjects":{"t":"program:"})",
     "m.json:2:17: error: the subject \"program:\" needs an absolute path, as in \"program:/opt/app/run\""},
    {R"("subjects":{"t":"wheel:/opt"})",
     "m.json:2:17: error: the subject \"wheel:/opt\" is none of \"loader\", \"path:DIR\", \"python:PATH\" "
     "and \"program:PATH\""},
    {R"("subjects":{"t":"path:/opt;/srv"})",
     "m.json:2:17: error: the subject \"path:/opt;/srv\" holds a ';', which the loader's path cannot hold"},
    {R"("subjects":{"t":"path:/opt:lib"})",
     "m.json:2:17: error: the subject \"path:/opt:lib\" needs absolute directories with a ':' between two, "
     "as in \"path:/opt/cudnn/lib:/opt/cublas/lib\""},
    {R"("subjects":{"t":3})",
     "m.json:2:17: error: \"subjects.t\" must be a text such as \"loader\" or \"python:PATH\", "
     "found the integer 3"},
    {R"("subjects":"all")",
     "m.json:2:12: error: \"subjects\" must be an object such as {\"system\": \"loader\"}, or \"auto\", "
     "found the string \"all\""},
    {R"("subjects":[])",
     "m.json:2:12: error: \"subjects\" must be an object or \"auto\", found an empty list"},
    {R"("subjects":"auto","checks":[{"check":"a.b","subjects":["system"]}])",
     "m.json:2:56: error: \"system\" is no subject of the matrix, which takes those of the image "
     "(\"subjects\": \"auto\"); name them there to choose among them"},
    {R"("subjects":{"t":"path:lib"})",
     "m.json:2:17: error: the subject \"path:lib\" needs an absolute directory, as in "
     "\"path:/opt/cudnn/lib\""},
};
INSTANTIATE_TEST_SUITE_P(All, SubjectMistake, testing::ValuesIn(kMistakes));

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
