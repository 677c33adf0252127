// The loader that a program names.
#include "image/elf/elf_interpreter.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

TEST(MissingInterpreter, IsTheOneAnExecutableNamesAndTheSystemLacks) {
  EXPECT_EQ(MissingInterpreter("/proc/self/exe"), "");
  EXPECT_EQ(MissingInterpreter("/nosuch/program"), "");
  const Scratch scratch;
  std::string content = ReadSmallFile("/proc/self/exe");  // as much as tells
  const std::string loader = "/ld-linux-";
  const size_t at = content.find(loader);
  ASSERT_NE(at, std::string::npos);
  content.replace(at, loader.size(), "/ld-nosuch");
  EXPECT_NE(MissingInterpreter(scratch.Write("program", content)).find("/ld-nosuch"), std::string::npos);
  // Cut anywhere, it is no executable, and nothing is said of it.
  for (const size_t size : {0, 3, 63, 64, 100, 500}) {
    EXPECT_EQ(MissingInterpreter(scratch.Write("program", content.substr(0, size))), "") << size;
  }
}

}  // namespace
}  // namespace cudnn_ci
