// What may stand in the help of an option stands on the manual page as it is, and says nothing to roff.
#include "cli/manual.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;

TEST(Manual, HelpIsTextAndNoRequest) {
  CLI::App app{"what it does\nExit: 0 passed", "tool"};
  std::string value;
  app.add_option("--point", value, ".so /etc/passwd");
  app.add_option("--quote", value, "'so x' \\fB `a` -n ^~");
  const std::string page = ManPage(app, "1.2");
  EXPECT_THAT(page, HasSubstr("\n\\&.so /etc/passwd\n"));
  EXPECT_THAT(page, HasSubstr("\n\\(aqso x\\(aq \\efB \\(gaa\\(ga \\-n \\(ha\\(ti\n"));
  EXPECT_THAT(page, HasSubstr("\n.SH EXIT STATUS\n0 passed\n"));
}

}  // namespace
}  // namespace cudnn_ci
