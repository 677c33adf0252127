// Matrices that come with cudnn-ci, by name: which file is meant, and what a wrong name is told.
#include <gmock/gmock.h>

#include <filesystem>

#include "golden_messages.h"
#include "matrix_files.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// Runs in a folder of its own, in which a name may be a file too.
class MatrixBuiltin : public ::testing::Test {
 protected:
  MatrixBuiltin() : before_(fs::current_path()) {
    fs::create_directory(scratch_.File("here"));
    fs::create_directory(scratch_.File("shipped"));
    fs::current_path(scratch_.File("here"));
    scratch_.Write("shipped/base.json", Named("base"));
    scratch_.Write("shipped/cu12.json",
                   R"({"schema":"cudnn-ci/matrix/1","name":"cu12","extends":"base.json"})");
    scratch_.Write("shipped/matrix.schema.json", "{}");
    scratch_.Write("shipped/table.json", R"({"schema":"a table"})");
    scratch_.Write("shipped/notes.txt", Named("notes"));
  }
  ~MatrixBuiltin() override { fs::current_path(before_); }

  static std::string Named(const std::string& name) {
    return R"({"schema":"cudnn-ci/matrix/1","name":")" + name + R"("})";
  }
  static std::string ChildOf(const std::string& parent) {
    return R"({"schema":"cudnn-ci/matrix/1","name":"child","extends":")" + parent + R"("})";
  }
  std::string Shipped() const { return scratch_.File("shipped"); }
  // What loading it says: the problems, without the folder, or the names of the matrix and of its files.
  std::string Loaded(const std::string& typed) {
    const auto loaded = LoadMatrix(typed, Shipped());
    std::vector<std::string> lines;
    if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
      for (const Problem& problem : *problems) lines.push_back(ToString(problem));
    } else {
      const auto& matrix = std::get<Matrix>(loaded);
      lines.push_back(matrix.path + " is " + matrix.name);
      for (const std::string& file : matrix.files) lines.push_back(fs::path(file).filename().string());
    }
    std::string text = Join(lines, " ");
    const std::string here = scratch_.File("here/");
    for (size_t at; (at = text.find(here)) != std::string::npos;) text.erase(at, here.size());
    if (std::holds_alternative<std::vector<Problem>>(loaded)) golden_.Row(typed, text);
    return text;
  }

  const Scratch scratch_;
  GoldenMessages golden_{"matrix_files.txt", {{Shipped(), "SHIPPED"}}};

 private:
  const fs::path before_;
};

TEST_F(MatrixBuiltin, IsFoundByNameAndCalledAsTyped) {
  EXPECT_EQ(Loaded("cu12"), "cu12 is cu12 base.json cu12.json");
  EXPECT_EQ(Loaded("builtin:cu12"), "builtin:cu12 is cu12 base.json cu12.json");
  const Matrix by_path = Load(Shipped() + "/cu12.json");
  const auto by_name = LoadMatrix("cu12", Shipped());
  EXPECT_EQ(std::get<Matrix>(by_name).sha256, by_path.sha256);
}

TEST_F(MatrixBuiltin, AFolderOfThatNameIsNoFile) {
  fs::create_directory("cu12");
  EXPECT_EQ(Loaded("cu12"), "cu12 is cu12 base.json cu12.json");
}

// The folder we are in may be the image's.
TEST_F(MatrixBuiltin, AFileOfThatNameMustBeNamedAsOne) {
  scratch_.Write("here/cu12", Named("mine"));
  EXPECT_THAT(Loaded("cu12"), Mentions("cu12:", "\"./cu12\"", "\"builtin:cu12\""));
  EXPECT_EQ(Loaded("./cu12"), "./cu12 is mine cu12");
  EXPECT_EQ(Loaded("builtin:cu12"), "builtin:cu12 is cu12 base.json cu12.json");
  // Another file without an ending is what it was.
  scratch_.Write("here/mine", Named("mine"));
  EXPECT_EQ(Loaded("mine"), "mine is mine mine");
}

// Nor may it step in for one that the installation has lost.
TEST_F(MatrixBuiltin, AFileDoesNotStandInForADamagedOne) {
  scratch_.Write("here/cu12", Named("mine"));
  scratch_.Write("shipped/cu12.json", "{");
  EXPECT_THAT(Loaded("cu12"), Mentions("cu12:", "\"./cu12\"", "\"builtin:cu12\""));
  fs::remove("cu12");
  EXPECT_NE(Loaded("cu12").find("cu12.json:1:"), std::string::npos) << Loaded("cu12");
  scratch_.Write("here/cu12", Named("mine"));
  EXPECT_TRUE(std::holds_alternative<std::vector<Problem>>(LoadMatrix("cu12", scratch_.File("none"))));
}

TEST_F(MatrixBuiltin, AFileCannotTakeTheExplicitName) {
  scratch_.Write("here/builtin:base", Named("mine"));
  EXPECT_EQ(Loaded("builtin:base"), "builtin:base is base base.json");
  EXPECT_EQ(Loaded("./builtin:base"), "./builtin:base is mine builtin:base");
}

TEST_F(MatrixBuiltin, AWrongNameIsToldTheRightOnes) {
  EXPECT_THAT(Loaded("cu13"), Mentions("cu13:", "\"cu13\"", "\"cu12\""));
  EXPECT_THAT(Loaded("builtin:cu13"), Mentions("builtin:cu13:", "\"cu13\"", "\"cu12\""));
  EXPECT_THAT(Loaded("builtin:../shipped/base"), Mentions("builtin:../shipped/base:", "\"../shipped/base\""));
  EXPECT_THAT(Loaded("builtin:table"), Mentions("builtin:table:", "\"table\""));
  EXPECT_THAT(Loaded("cu12.json"), Mentions("cu12.json:", "\"builtin:cu12\""));
  const auto loaded = LoadMatrix("builtin:cu12", scratch_.File("none"));
  EXPECT_EQ(std::get<std::vector<Problem>>(loaded).at(0).message,
            "this installation has no matrices: there are none in " + scratch_.File("none"));
}

TEST_F(MatrixBuiltin, IsAParent) {
  scratch_.Write("here/m.json", ChildOf("builtin:cu12"));
  EXPECT_EQ(Loaded("m.json"), "m.json is child base.json cu12.json m.json");
  // By the same names as --matrix takes.
  scratch_.Write("here/m.json", ChildOf("cu12"));
  EXPECT_EQ(Loaded("m.json"), "m.json is child base.json cu12.json m.json");
  scratch_.Write("here/m.json", ChildOf("cu12.json"));
  EXPECT_THAT(Loaded("m.json"), Mentions("m.json:1:56:", "\"cu12.json\"", "\"builtin:cu12\""));
  scratch_.Write("here/builtin:base", Named("mine"));
  scratch_.Write("here/m.json", ChildOf("./builtin:base"));
  EXPECT_EQ(Loaded("m.json"), "m.json is child builtin:base m.json");
}

// The folder of the file that says it counts, not the one we are in.
TEST_F(MatrixBuiltin, AFileOfTheParentsNameIsAmbiguousWhereTheChildLies) {
  fs::create_directory("team");
  scratch_.Write("here/team/m.json", ChildOf("cu12"));
  scratch_.Write("here/cu12", Named("mine"));
  EXPECT_EQ(Loaded("team/m.json"), "team/m.json is child base.json cu12.json m.json");
  fs::rename("cu12", "team/cu12");
  EXPECT_THAT(Loaded("team/m.json"),
              Mentions("team/m.json:1:56:", "\"cu12\"", "\"./cu12\"", "\"builtin:cu12\""));
  scratch_.Write("here/team/m.json", ChildOf("./cu12"));
  EXPECT_EQ(Loaded("team/m.json"), "team/m.json is child cu12 m.json");
  // Another file without an ending is what it was.
  fs::rename("team/cu12", "team/own");
  scratch_.Write("here/team/m.json", ChildOf("own"));
  EXPECT_EQ(Loaded("team/m.json"), "team/m.json is child own m.json");
  // Nothing is added to a name.
  fs::rename("team/own", "team/own.json");
  EXPECT_THAT(Loaded("team/m.json"), Mentions("team/m.json:1:56:", "\"own\"", "\"own.json\""));
}

TEST_F(MatrixBuiltin, AWrongParentIsReportedAtItsPlace) {
  scratch_.Write("here/m.json", ChildOf("builtin:cu21"));
  EXPECT_THAT(Loaded("m.json"), Mentions("m.json:1:56:", "\"builtin:cu21\"", "\"cu21\"", "\"cu12\""));
  scratch_.Write("here/m.json", ChildOf("builtin:../m"));
  EXPECT_THAT(Loaded("m.json"),
              Mentions("m.json:1:56:", "\"extends\"", "\"builtin:NAME\"", "\"builtin:../m\""));
}

TEST(ShippedMatrices, AreWhatCanBeNamed) {
  for (const auto& file : fs::directory_iterator(CUDNN_CI_MATRICES)) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".json" || name == "matrix.schema") continue;
    EXPECT_TRUE(std::holds_alternative<Matrix>(LoadMatrix("builtin:" + name, CUDNN_CI_MATRICES))) << name;
  }
  EXPECT_FALSE(std::holds_alternative<Matrix>(LoadMatrix("builtin:matrix.schema", CUDNN_CI_MATRICES)));
}

}  // namespace
}  // namespace cudnn_ci
