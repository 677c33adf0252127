// A matrix and its parents: which file a path means, what is merged, replaced and removed.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/text.h"
#include "golden_messages.h"
#include "matrix_files.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

TEST(MatrixExtends, MergesSectionsAppendsEntriesAndReplacesById) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.File("sub"));
  const std::string parent =
      R"({"schema":"cudnn-ci/matrix/1","name":"base","image":{"toolkit":">=12","cudnn":">=8"},
    "shapes":{"a":{"x":[1],"pad":3}},"checks":[{"id":"one","check":"p.one"},{"check":"p.two"}]})";
  const std::string child = R"({"schema":"cudnn-ci/matrix/1","name":"child","extends":"../base.json",
    "image":{"cudnn":">=9"},"shapes":{"a":{"x":[2]},"b":{}},
    "checks":[{"check":"p.three"},{"id":"one","check":"p.uno"}]})";
  scratch.Write("base.json", parent);
  const Matrix matrix = Load(scratch.Write("sub/child.json", child));
  EXPECT_EQ(matrix.name, "child");
  EXPECT_EQ(matrix.contract,
            (std::map<std::string, std::string>{{"image.toolkit", ">=12"}, {"image.cudnn", ">=9"}}));
  ASSERT_EQ(matrix.shapes.size(), 2u);
  EXPECT_EQ(matrix.shapes[0].fields.size(), 1u) << "a shape is replaced as a whole";
  ASSERT_EQ(matrix.entries.size(), 3u);
  EXPECT_EQ(matrix.entries[0].check, "p.uno");
  EXPECT_EQ(matrix.entries[1].check, "p.two");
  EXPECT_EQ(matrix.entries[2].check, "p.three");
  EXPECT_EQ(matrix.sha256, Sha256Hex(parent + child));
}

TEST(MatrixExtends, NamesTheCircle) {
  GoldenMessages golden("matrix_files.txt");
  const Scratch scratch;
  const auto file = [](const char* parent) {
    return std::string("{\"schema\":\"cudnn-ci/matrix/1\",\"name\":\"m\",\n\"extends\":\"") + parent + "\"}";
  };
  scratch.Write("b.json", file("c.json"));
  scratch.Write("c.json", file("./a.json"));
  EXPECT_THAT(Problems(scratch, scratch.Write("a.json", file("b.json")), &golden),
              Mentions("c.json:2:11:", "\"extends\"", "a.json -> b.json -> c.json -> a.json"));
}

TEST(MatrixExtends, AMissingParentIsReportedWhereItIsNamed) {
  GoldenMessages golden("matrix_files.txt");
  const Scratch scratch;
  EXPECT_THAT(
      Problems(scratch,
               scratch.Write("a.json", "{\"schema\":\"cudnn-ci/matrix/1\",\"extends\":\"base.json\"}"),
               &golden),
      Mentions("a.json:1:41:", "\"base.json\""));
}

// The path of a parent is looked up as the system does it, from the real folder of the file that names it.
// Whoever reads the matrix through a linked folder gets the same parent as everybody else.
TEST(MatrixExtends, ThroughALinkedFolderTheParentIsTheSame) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch.File("fleet/team"));
  const auto base = [](const char* name) {
    return std::string(R"({"schema":"cudnn-ci/matrix/1","name":")") + name + R"("})";
  };
  scratch.Write("fleet/base.json", base("right"));
  scratch.Write("base.json", base("wrong"));
  scratch.Write("fleet/team/m.json", R"({"schema":"cudnn-ci/matrix/1","extends":"../base.json"})");
  std::filesystem::create_directory_symlink(scratch.File("fleet/team"), scratch.File("link"));
  std::filesystem::create_symlink(scratch.File("fleet/team/m.json"), scratch.File("m.json"));
  EXPECT_EQ(Load(scratch.File("fleet/team/m.json")).name, "right");
  EXPECT_EQ(Load(scratch.File("link/m.json")).name, "right");
  EXPECT_EQ(Load(scratch.File("m.json")).name, "right");
  // The same holds for a folder that is a link inside the path of "extends".
  scratch.Write("n.json", R"({"schema":"cudnn-ci/matrix/1","extends":"link/../base.json"})");
  EXPECT_EQ(Load(scratch.File("n.json")).name, "right");
}

constexpr const char* kParent = R"({"schema":"cudnn-ci/matrix/1","name":"p","checks":[
  {"id":"one","check":"p.one"},{"id":"two","check":"p.two"},{"check":"p.three"}],
  "waivers":[{"id":"known","case":"*","slug":"s","reason":"r","owner":"o","expires":"2027-01-01"}]})";

std::string Child(const std::string& keys) {
  return "{\"schema\":\"cudnn-ci/matrix/1\",\"extends\":\"p.json\",\n" + keys + "}";
}

// As in a container that has files of another machine below a folder: paths are those of that machine.
TEST(MatrixExtends, BelowARootAllPathsAreReadAndToldWithoutIt) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch.File("root/team/ci"));
  const auto file = [](const std::string& parent) {
    return R"({"schema":"cudnn-ci/matrix/1","name":"m")" +
           (parent.empty() ? std::string() : ",\"extends\":\"" + parent + "\"") + "}";
  };
  scratch.Write("root/team/ci/m.json", file("../base.json"));
  scratch.Write("root/team/base.json", file("/abs.json"));
  scratch.Write("root/abs.json", file("builtin:own"));
  scratch.Write("own.json", file(""));
  auto loaded = LoadMatrix("/team/ci/m.json", scratch.File(""), scratch.File("root"));
  ASSERT_TRUE(std::holds_alternative<Matrix>(loaded))
      << ToString(std::get<std::vector<Problem>>(loaded).front());
  const std::vector<std::string> files = std::get<Matrix>(loaded).files;
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(std::vector<std::string>(files.begin() + 1, files.end()),
            (std::vector<std::string>{"/abs.json", "/team/base.json", "/team/ci/m.json"}));
  scratch.Write("root/abs.json", file("/nowhere.json"));
  loaded = LoadMatrix("/team/ci/m.json", scratch.File(""), scratch.File("root"));
  ASSERT_TRUE(std::holds_alternative<std::vector<Problem>>(loaded));
  EXPECT_EQ(ToString(std::get<std::vector<Problem>>(loaded).front()).rfind("/abs.json:1:", 0), 0u);
}

TEST(MatrixExtends, AParentsEntryAndWaiverCanBeRemoved) {
  const Scratch scratch;
  scratch.Write("p.json", kParent);
  const Matrix matrix = Load(
      scratch.Write("c.json", Child(R"("checks":[{"id":"four","check":"p.four"},{"id":"one","remove":true}],
      "waivers":[{"id":"known","remove":true}])")));
  ASSERT_EQ(matrix.entries.size(), 3u);
  EXPECT_EQ(matrix.entries[0].check, "p.two");
  EXPECT_EQ(matrix.entries[1].check, "p.three");
  EXPECT_EQ(matrix.entries[2].check, "p.four");
  EXPECT_TRUE(matrix.waivers.empty());
  // What the child removed, the grandchild may add again.
  const Matrix again = Load(scratch.Write(
      "g.json",
      R"({"schema":"cudnn-ci/matrix/1","extends":"c.json","checks":[{"id":"one","check":"p.uno"}]})"));
  ASSERT_EQ(again.entries.size(), 4u);
  EXPECT_EQ(again.entries[3].check, "p.uno");
}

TEST(MatrixExtends, AParentsWaiverIsReplacedById) {
  const Scratch scratch;
  scratch.Write("p.json", kParent);
  const Matrix matrix = Load(scratch.Write(
      "c.json",
      Child(
          R"("waivers":[{"id":"known","case":"*","slug":"s","reason":"r","owner":"me","expires":"2028-01-01"}])")));
  ASSERT_EQ(matrix.waivers.size(), 1u);
  EXPECT_EQ(matrix.waivers[0].waiver.owner, "me");
}

TEST(MatrixExtends, WhatCannotBeRemovedIsAProblem) {
  GoldenMessages golden("matrix_files.txt");
  const Scratch scratch;
  scratch.Write("p.json", kParent);
  const auto problems = [&](const std::string& keys) {
    return golden.Row(keys, Problems(scratch, scratch.Write("c.json", Child(keys))));
  };
  EXPECT_THAT(problems(R"("checks":[{"id":"tow","remove":true}])"),
              Mentions("c.json:2:11:", "\"tow\"", "\"two\""));
  EXPECT_THAT(problems(R"("checks":[{"id":"known","remove":true}])"),
              Mentions("c.json:2:11:", "\"known\"", "\"one\"", "\"two\""));
  EXPECT_THAT(problems(R"("checks":[{"id":"two","remove":true,"check":"p.two"}])"),
              Mentions("c.json:2:37:", "\"check\"", "\"remove\"", "\"id\""));
  EXPECT_THAT(problems(R"("checks":[{"id":"two","remove":false}])"), Mentions("c.json:2:32:", "\"remove\""));
  EXPECT_THAT(problems(R"("checks":[{"remove":true}])"), Mentions("c.json:2:11:", "\"remove\"", "\"id\""));
  EXPECT_THAT(Problems(scratch,
                       scratch.Write("alone.json",
                                     R"({"schema":"cudnn-ci/matrix/1","name":"m",
"checks":[{"id":"two","remove":true}]})"),
                       &golden),
              Mentions("alone.json:2:11:", "\"two\""));
}

// What the comment in cu12.json and cu13.json says to do for older GPUs.
TEST(ShippedMatrices, CanBeHadWithoutBfloat16) {
  const Scratch scratch;
  for (const char* name : {"cu12", "cu13"}) {
    const std::string path = std::string(CUDNN_CI_MATRICES) + "/" + name + ".json";
    const Matrix parent = Load(path);
    const Matrix child =
        Load(scratch.Write("old.json", R"({"schema":"cudnn-ci/matrix/1","extends":")" + path +
                                           R"(","runner":{"compute_capability":">=7.0"},
        "checks":[{"id":"conv-forward-bfloat16","remove":true}]})"));
    EXPECT_EQ(child.entries.size(), parent.entries.size() - 1);
    for (const Entry& entry : child.entries) EXPECT_NE(entry.id, "conv-forward-bfloat16");
    EXPECT_EQ(child.contract.at("runner.compute_capability"), ">=7.0");
  }
}

// The second would silently take the place of the first, and a check would be lost.
TEST(MatrixExtends, AnIdStandsOnceInAFile) {
  GoldenMessages golden("matrix_files.txt");
  const Scratch scratch;
  scratch.Write("p.json", kParent);
  const auto problems = [&](const std::string& keys) {
    return golden.Row(keys, Problems(scratch, scratch.Write("c.json", Child(keys))));
  };
  EXPECT_THAT(problems(R"("checks":[{"id":"one","check":"p.a"},{"id":"one","check":"p.b"}])"),
              Mentions("c.json:2:38:", "\"one\""));
  EXPECT_THAT(problems(R"("checks":[{"id":"one","remove":true},{"id":"one","check":"p.b"}])"),
              Mentions("c.json:2:38:", "\"one\""));
}

}  // namespace
}  // namespace cudnn_ci
