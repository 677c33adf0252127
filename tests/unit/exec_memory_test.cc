// How much memory is left and how many processes may be started, by what the kernel says in cgroup v2, v1,
// and without a limit.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/process_room.h"
#include "exec/system/memory_watch.h"
#include "golden_messages.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kMiB = 1 << 20;

class MemoryWatchTest : public testing::Test {
 protected:
  Scratch scratch_;
  const std::string& root_ = scratch_.path();

  MemoryWatchTest() {
    Put("/proc/meminfo", "MemTotal:       16000000 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n");
  }
  void Put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
};

TEST_F(MemoryWatchTest, WithoutALimitTheHostsMemoryCounts) {
  Put("/proc/self/cgroup", "0::/\n");
  const MemoryWatch watch(root_);
  EXPECT_EQ(watch.Room(), int64_t{8192} * kMiB);
  EXPECT_EQ(watch.Describe(), "no cgroup limit");
}

TEST_F(MemoryWatchTest, VersionTwoCountsItsPageCacheAsRoom) {
  Put("/proc/self/cgroup", "0::/pod/a\n");
  const std::string group = "/sys/fs/cgroup/pod/a";
  Put(group + "/memory.max", "536870912\n");
  Put(group + "/memory.current", "314572800\n");
  Put(group + "/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 52428800\n");
  Put(group + "/memory.events", "low 0\noom 3\noom_kill 2\n");
  const MemoryWatch watch(root_);
  EXPECT_EQ(watch.Room(), (512 - 300 + 100 + 50) * kMiB);
  EXPECT_EQ(watch.OomKills(), 2);
  EXPECT_EQ(watch.Describe(), "cgroup limit 512 MiB");
}

TEST_F(MemoryWatchTest, AnUnlimitedVersionTwoGroupHasTheHostsRoom) {
  Put("/proc/self/cgroup", "0::/\n");
  Put("/sys/fs/cgroup/memory.max", "max\n");
  Put("/sys/fs/cgroup/memory.current", "1048576\n");
  EXPECT_EQ(MemoryWatch(root_).Room(), int64_t{8192} * kMiB);
}

// A limit of a group above holds for all below it, with what the others there use.
TEST_F(MemoryWatchTest, TheGroupAboveMayHaveTheLeast) {
  Put("/proc/self/cgroup", "0::/slice/pod/a\n");
  for (const char* group : {"/slice", "/slice/pod", "/slice/pod/a"}) {
    const std::string folder = std::string("/sys/fs/cgroup") + group;
    Put(folder + "/memory.max", "max\n");
    Put(folder + "/memory.current", "314572800\n");
    Put(folder + "/memory.stat", "anon 1\ninactive_file 52428800\nactive_file 0\n");
  }
  EXPECT_EQ(MemoryWatch(root_).Room(), int64_t{8192} * kMiB);
  Put("/sys/fs/cgroup/slice/memory.max", "419430400\n");
  EXPECT_EQ(MemoryWatch(root_).Room(), (400 - 300 + 50) * kMiB);
  Put("/sys/fs/cgroup/slice/pod/memory.max", "367001600\n");
  EXPECT_EQ(MemoryWatch(root_).Room(), (350 - 300 + 50) * kMiB);
  EXPECT_EQ(MemoryWatch(root_).Describe(), "cgroup limit 350 MiB");
  Put("/sys/fs/cgroup/slice/pod/a/memory.max", "1073741824\n");
  EXPECT_EQ(MemoryWatch(root_).Room(), (350 - 300 + 50) * kMiB) << "whatever its own is";
  EXPECT_EQ(MemoryWatch(root_).Describe(), "cgroup limit 350 MiB");
  // The machine's own may be the least all the same.
  Put("/proc/meminfo", "MemAvailable:    51200 kB\n");
  EXPECT_EQ(MemoryWatch(root_).Room(), 50 * kMiB);
}

TEST_F(MemoryWatchTest, ReservesAShareOfTheLowestLimit) {
  Put("/proc/self/cgroup", "4:memory:/jobs/a\n");
  const std::string group = "/sys/fs/cgroup/memory/jobs";
  for (const std::string& folder : {group, group + "/a"}) {
    Put(folder + "/memory.limit_in_bytes", "1073741824\n");
    Put(folder + "/memory.usage_in_bytes", "134217728\n");
  }
  EXPECT_EQ(MemoryWatch(root_).Reserve(), 64 * kMiB);
  Put(group + "/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(MemoryWatch(root_).Reserve(), 32 * kMiB);
  EXPECT_EQ(MemoryWatch(root_).Room(), (512 - 128) * kMiB);
}

TEST_F(MemoryWatchTest, VersionOneIsReadFromItsOwnFiles) {
  Put("/proc/self/cgroup", "7:cpu:/x\n4:memory:/job\n0::/\n");
  const std::string group = "/sys/fs/cgroup/memory/job";
  Put(group + "/memory.limit_in_bytes", "268435456\n");
  Put(group + "/memory.usage_in_bytes", "134217728\n");
  Put(group + "/memory.stat", "cache 5\ntotal_inactive_file 1048576\ntotal_active_file 0\n");
  Put(group + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  const MemoryWatch watch(root_);
  EXPECT_EQ(watch.Room(), (256 - 128 + 1) * kMiB);
  EXPECT_EQ(watch.OomKills(), 1);
}

TEST_F(MemoryWatchTest, AVersionOneGroupWithoutALimitHasTheHostsRoom) {
  Put("/proc/self/cgroup", "4:memory:/\n");
  Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "134217728\n");
  EXPECT_EQ(MemoryWatch(root_).Room(), int64_t{8192} * kMiB);
}

TEST_F(MemoryWatchTest, LooksTheMoreOftenTheLessThereIs) {
  Put("/proc/self/cgroup", "0::/\n");
  const MemoryWatch watch(root_);
  EXPECT_LT(watch.IntervalNs(watch.Reserve() + 64 * kMiB), watch.IntervalNs(watch.Reserve() + 256 * kMiB));
  EXPECT_GT(watch.IntervalNs(0), 0);
  EXPECT_EQ(watch.IntervalNs(0), watch.IntervalNs(watch.Reserve()));
}

// ---- processes ----

using ProcessRoomTest = MemoryWatchTest;

TEST_F(ProcessRoomTest, TheLowestLimitOfVersionTwoAndAllRefusals) {
  Put("/proc/self/cgroup", "0::/slice/pod\n");
  for (const char* group : {"/sys/fs/cgroup/slice", "/sys/fs/cgroup/slice/pod"}) {
    Put(std::string(group) + "/pids.current", "63\n");
    Put(std::string(group) + "/pids.events", "max 2\n");
    Put(std::string(group) + "/pids.max", "max\n");
  }
  EXPECT_THAT(ProcessRoom(root_).Describe(), testing::Not(testing::HasSubstr("cgroup")));
  Put("/sys/fs/cgroup/slice/pids.max", "64\n");
  EXPECT_THAT(
      ProcessRoom(root_).Describe(),
      testing::AllOf(testing::HasSubstr("cgroup"), testing::HasSubstr(" 64 "), testing::HasSubstr(" 63 ")));
  const std::string text = ProcessRoom(root_).Describe();
  GoldenMessages("exec.txt").Row("64 allowed, 63 used", text.substr(0, text.find("; ulimit")));
  Put("/sys/fs/cgroup/slice/pod/pids.max", "100\n");
  const ProcessRoom room(root_);
  EXPECT_THAT(room.Describe(), testing::HasSubstr("allows 64"));
  EXPECT_EQ(room.Refusals(), 4);
}

TEST_F(ProcessRoomTest, VersionOneHasAHierarchyOfItsOwn) {
  Put("/proc/self/cgroup", "8:pids:/job\n4:memory:/elsewhere\n0::/\n");
  Put("/sys/fs/cgroup/pids/job/pids.current", "1\n");
  Put("/sys/fs/cgroup/pids/job/pids.max", "5\n");
  Put("/sys/fs/cgroup/pids/job/pids.events", "max 7\n");
  EXPECT_THAT(ProcessRoom(root_).Describe(), testing::HasSubstr("allows 5 "));
  EXPECT_EQ(ProcessRoom(root_).Refusals(), 7);
}

TEST_F(ProcessRoomTest, TheUsersLimitIsNamed) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NPROC, &old), 0);
  const rlimit low{4321, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NPROC, &low), 0);
  EXPECT_EQ(ProcessRoom(root_).Describe(), "ulimit -u is 4321");
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_NPROC, &none) == 0) {
    EXPECT_EQ(ProcessRoom(root_).Describe(), "no limit of processes is known");
  }
  setrlimit(RLIMIT_NPROC, &old);
}

}  // namespace
}  // namespace cudnn_ci
