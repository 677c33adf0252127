// The decoys of framework.*_decoy: libraries with nothing in them, and what the loader's log says of them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/empty_library.h"
#include "framework/loader_log.h"
#include "image/elf/elf_file.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FrameworkEmptyLibrary, IsOneThatTheLoaderTakes) {
  const Scratch scratch;
  const std::string path = scratch.Write("libcudnn_decoy.so.9", EmptyLibrary("libcudnn_decoy.so.9"));
  EXPECT_TRUE(ElfFile(path).loadable()) << ElfFile(path).error();
  EXPECT_THAT(ElfFile(path).Needed(), IsEmpty());
  void* library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  EXPECT_EQ(dlsym(library, "cudnnGetVersion"), nullptr);
  // By its own name, which no path has.
  void* again = dlopen("libcudnn_decoy.so.9", RTLD_NOW | RTLD_NOLOAD);
  EXPECT_EQ(again, library);
  if (again) dlclose(again);
  dlclose(library);
}

TEST(FrameworkLoaderLog, SaysWhatWasLookedForAndWhatWasLoaded) {
  const Scratch scratch;
  scratch.Write("loader.12",
                "      12:\tfind library=libcudnn.so.9 [0]; searching\n"
                "      12:\t search path=/decoy\t\t(LD_LIBRARY_PATH)\n"
                "      12:\t  trying file=/decoy/libcudnn.so.9\n"
                "      12:\t  trying file=/decoy/libcublas.so.13\n"
                "      12:\tcalling init: /own/lib/libcudnn_ops.so.9\n");
  scratch.Write("loader.13",
                "      13:\tcalling init: /usr/lib/libc.so.6\n      13:\tcalling init: /own/libcudnn.so.9");
  scratch.Write("loaders", "calling init: /other/libcudnn.so.9\n");
  const LoaderLog log = ReadLoaderLogs(scratch.path(), "loader");
  EXPECT_THAT(log.tried, ElementsAre("/decoy/libcudnn.so.9"));
  EXPECT_THAT(log.loaded, ElementsAre("/own/lib/libcudnn_ops.so.9", "/own/libcudnn.so.9"));
  EXPECT_THAT(ReadLoaderLogs(scratch.File("nowhere"), "loader").loaded, IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
