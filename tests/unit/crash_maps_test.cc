// Addresses to files by the process's own maps, in bounded memory.
#include "worker/crash_maps.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "scratch.h"

namespace cudnn_ci::worker {
namespace {

uint64_t AddressOf(const void* at) { return reinterpret_cast<uint64_t>(at); }

// One page of a new file, mapped until the process ends.
uint64_t MappedPage(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
  EXPECT_TRUE(file.valid()) << path.size();
  EXPECT_EQ(ftruncate(file.get(), 8192), 0);
  void* page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file.get(), 4096);
  EXPECT_NE(page, MAP_FAILED);
  return AddressOf(page);
}

TEST(CrashMapsTest, AnAddressIsAFileAndAnOffset) {
  const Scratch scratch;
  static CrashMaps maps;
  maps.Add(MappedPage(scratch.File("a b")) + 5);
  maps.Add(0);
  maps.SetExtra(MappedPage(scratch.File("other")));
  maps.Resolve();
  ASSERT_EQ(maps.count(), 2u);
  EXPECT_EQ(maps.At(0).module, scratch.File("a b"));
  EXPECT_EQ(maps.At(0).offset, 4096u + 5);
  EXPECT_STREQ(maps.At(1).module, "");
  EXPECT_EQ(maps.ExtraModule(), scratch.File("other"));
}

// A process that is told to go on after a crash in a thread of its own may resolve more than once.
TEST(CrashMapsTest, NoDescriptorStaysOpen) {
  static CrashMaps maps;
  maps.Resolve();
  const int before = dup(STDOUT_FILENO);
  close(before);
  maps.Resolve();
  const int after = dup(STDOUT_FILENO);
  close(after);
  EXPECT_EQ(after, before);
}

// Not the next frame's fault.
TEST(CrashMapsTest, APathForWhichThereIsNoRoomIsOfNobody) {
  const Scratch scratch;
  std::string folder = scratch.path();
  while (folder.size() < 3600) folder += "/" + std::string(200, 'x');
  std::filesystem::create_directories(folder);
  static CrashMaps maps;
  for (int i = 0; i < 6; ++i) maps.Add(MappedPage(folder + "/" + std::to_string(i)));
  maps.Resolve();
  int kept = 0, unkept = 0;
  for (size_t i = 0; i < maps.count(); ++i) {
    if (std::string(maps.At(i).module) == kUnkeptModule)
      ++unkept;
    else if (maps.At(i).module == folder + "/" + std::to_string(i))
      ++kept;
  }
  EXPECT_EQ(kept + unkept, 6);
  EXPECT_GE(kept, 4);
  EXPECT_GE(unkept, 1);
}

}  // namespace
}  // namespace cudnn_ci::worker
