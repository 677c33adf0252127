// What is reported where a program could not be started at all, with a host that the test plays.
#include "common/shortage.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "mentions.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

int g_error = 0;
std::string g_slug, g_detail;

int RefuseChild(cci_case*, const cci_child*, cci_child_result*) {
  errno = g_error;
  return CCI_E_SYSTEM;
}
void KeepFinding(cci_case*, const char* slug, const char* detail) {
  g_slug = slug;
  g_detail = detail;
}

// Whether the case was ended.
bool Starts(int error) {
  g_error = error;
  g_slug.clear();
  cci_host host{};
  host.struct_size = sizeof host;
  host.run_child = RefuseChild;
  host.finding = KeepFinding;
  Context ctx(&host, nullptr);
  Shortage shortage;
  try {
    RunProgram(ctx, {"sh"}, {}, 1, &shortage);
  } catch (const detail::StopCheck&) {
    return false;
  }
  return true;
}

TEST(Shortage, OfProcessesAtTheStartIsTheRunners) {
  EXPECT_FALSE(Starts(EAGAIN));
  EXPECT_EQ(g_slug, "processes-refused");
  EXPECT_THAT(g_detail, Mentions("sh: " + std::string(strerror(EAGAIN)) + " ("));
}

TEST(Shortage, OfMemoryAtTheStartIsNamed) {
  EXPECT_FALSE(Starts(ENOMEM));
  EXPECT_EQ(g_slug, "out-of-memory");
  EXPECT_THAT(g_detail, HasSubstr("cgroup limit"));
}

TEST(Shortage, AnotherErrorIsNobodysShortage) {
  EXPECT_THROW(Starts(ECHILD), ChildNotStarted);
  EXPECT_EQ(g_slug, "");
}

TEST(Shortage, WordsOfAProgramAreTakenFromItsEnd) {
  EXPECT_THAT(WordsOfShortage("MemoryError\n"),
              AllOf(StartsWith("; "), Mentions("memory (\"MemoryError\")")));
  EXPECT_THAT(WordsOfShortage("sh: fork: Resource temporarily unavailable"),
              AllOf(StartsWith("; "), Mentions("threads (\"Resource temporarily unavailable\"): ")));
  EXPECT_EQ(WordsOfShortage("MemoryError" + std::string(3000, '.')), "");
  EXPECT_EQ(WordsOfShortage("CUDA out of memory"), "");
}

}  // namespace
}  // namespace cudnn_ci
