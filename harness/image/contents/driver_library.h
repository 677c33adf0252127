// Whose driver library the loader takes where the host's is mounted, by files alone. Loads nothing: a library
// of the image could say what it likes.
#ifndef CUDNN_CI_IMAGE_CONTENTS_DRIVER_LIBRARY_H_
#define CUDNN_CI_IMAGE_CONTENTS_DRIVER_LIBRARY_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// What container runtimes leave of the host's driver.
struct MountedDriver {
  std::vector<std::string> files;  // mounted one by one: libcuda.so.580.95.05 and the like
  std::string module;              // the kernel module's version; empty: it is not known
};

// `root` is put before the paths of the kernel's files.
MountedDriver FindMountedDriver(const std::string& root = "");

// Why the file, links followed, is not the host's though that is there, as a finding's detail; empty: it is,
// or that cannot be told, or it is a compat package's or the toolkit's stub, which the driver's checks judge.
std::string DescribeForeignDriver(const std::string& file, const MountedDriver& driver);

struct ForeignDriver {
  std::string file;  // that the loader takes, links followed
  std::string why;   // DescribeForeignDriver
};

// Every libcuda.so.1 that processes with these values of LD_LIBRARY_PATH may take, or have preloaded, and
// that is not the host's.
std::vector<ForeignDriver> FindForeignDrivers(const std::vector<std::string>& library_paths,
                                              const std::vector<std::string>& preloaded);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_DRIVER_LIBRARY_H_
