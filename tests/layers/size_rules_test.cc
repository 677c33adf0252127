// The rules themselves: what is a function, and what is too long.
#include "size_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "  x;\n";
  return text;
}

// "line:lines" of each function.
std::vector<std::string> Sizes(const std::string& text) {
  std::vector<std::string> sizes;
  for (const FunctionSize& f : FunctionsOf(text))
    sizes.push_back(std::to_string(f.line) + ":" + std::to_string(f.lines));
  return sizes;
}

TEST(CodeOf, BlanksCommentsAndLiterals) {
  EXPECT_EQ(CodeOf("a // {\nb"), "a     \nb");
  EXPECT_EQ(CodeOf("a /* {\n} */ b"), "a     \n     b");
  EXPECT_EQ(CodeOf("f(\"{\\\"{\", '{', '\\'')"), "f(      ,    ,     )");
  EXPECT_EQ(CodeOf("x = 10'000 + f('}');"), "x = 10'000 + f(   );");
  EXPECT_EQ(CodeOf("R\"a({ \" )a\" {"), "R           {");
}

TEST(FunctionsOf, FindsThemInNamespacesAndClasses) {
  EXPECT_THAT(
      Sizes(
          "namespace a {\nint F() {\n  return 1;\n}\nclass B : public C {\n  int G() { return 2; }\n};\n}\n"),
      ElementsAre("2:3", "6:1"));
}

TEST(FunctionsOf, CountsTheSignatureAndWhatStandsInside) {
  EXPECT_THAT(
      Sizes("int F(int a,\n      int b) {\n  auto g = [&] {\n    return a;\n  };\n  if (a) {\n  }\n}\n"),
      ElementsAre("1:8"));
  EXPECT_THAT(Sizes("extern \"C\" {\nint F() {\n}\n}\n"), ElementsAre("2:2"));
  EXPECT_THAT(Sizes("#define X {\nint F() {\n}\n"), ElementsAre("2:2"));
}

TEST(FunctionsOf, LooksPastAMacroWithoutSemicolon) {
  EXPECT_THAT(Sizes("REGISTER(1, 2)\n\nnamespace a {\nint F() {\n}\n}\n"), ElementsAre("4:2"));
}

TEST(FunctionsOf, KnowsWhatIsNone) {
  EXPECT_THAT(
      Sizes(
          "struct A {\n  int x{1};\n};\nenum B { kOne };\nconstexpr int kTable[] = {\n  1,\n};\nint F();\n"),
      IsEmpty());
}

TEST(FunctionsOf, SeesABodyBehindAListOfInitialisers) {
  EXPECT_THAT(Sizes("A::A(int x) : a_{x}, b_{2} {\n  F();\n  G();\n}\n"), ElementsAre("1:1", "1:1", "1:4"));
}

TEST(TooLong, HasALimitForFilesAndOneForThePolicy) {
  EXPECT_THAT(TooLong("harness/model/a.cc", Lines(400)), IsEmpty());
  EXPECT_THAT(TooLong("harness/model/a.cc", Lines(401)), ElementsAre(HasSubstr("a.cc: 401 lines,")));
  EXPECT_THAT(TooLong("harness/exec/a.cc", Lines(300)), IsEmpty());
  EXPECT_THAT(TooLong("harness/exec/a.cc", Lines(301)), ElementsAre(HasSubstr("a.cc: 301 lines,")));
}

TEST(TooLong, HasALimitForFunctions) {
  EXPECT_THAT(TooLong("plugins/a.cc", "int F() {\n" + Lines(58) + "}\n"), IsEmpty());
  EXPECT_THAT(
      TooLong("plugins/a.cc", "\nint F() {\n" + Lines(59) + "}\n"),
      ElementsAre(testing::AllOf(HasSubstr("a.cc:2: "), HasSubstr(" 61 lines,"), HasSubstr("int F() {"))));
}

}  // namespace
}  // namespace cudnn_ci
