// Whose driver library the loader takes where the host's is mounted, by files alone. Loads nothing: a library
// of the image could say what it likes.
#ifndef CUDNN_CI_IMAGE_CONTENTS_DRIVER_LIBRARY_H_
#define CUDNN_CI_IMAGE_CONTENTS_DRIVER_LIBRARY_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// The driver's libraries that are asked about the host: the driver itself and NVML.
inline constexpr char kDriverLibrary[] = "libcuda.so.1";
inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1";

// What container runtimes leave of the host's driver.
struct MountedDriver {
  // Every mount called libcuda.so.* or libnvidia-ml.so.*, whatever is in it, and every file of such a name in
  // a mounted folder of the driver (Mounts::IsOfDriver).
  std::vector<std::string> traces;
  std::vector<std::string> files;  // of these the libcuda.so.* that can be loaded: libcuda.so.580.95.05
  std::vector<std::string> nvml;   // and the libnvidia-ml.so.*
  std::string module;              // the kernel module's version; empty: it is not known
};

// `root` is put before the paths of the kernel's files.
MountedDriver FindMountedDriver(const std::string& root = "");

// Why the file (libcuda's or NVML's), links followed, is not the host's although the host has one, as a
// finding's detail; empty: it is, or that cannot be told, or it is a compat package's libcuda or the
// toolkit's stub, which the driver's checks test.
std::string DescribeForeignDriver(const std::string& file, const MountedDriver& driver);

struct ForeignDriver {
  std::string file;  // that the loader takes, links followed
  std::string why;   // DescribeForeignDriver
};

// Every libcuda.so.1 and libnvidia-ml.so.1 that processes with these values of LD_LIBRARY_PATH may take, or
// have preloaded, and that is not the host's.
std::vector<ForeignDriver> FindForeignDrivers(const std::vector<std::string>& library_paths,
                                              const std::vector<std::string>& preloaded);

// What an NVML that was loaded says, and what else is known of the driver.
struct NvmlClaim {
  std::string file;     // links followed
  int status = 0;       // of nvmlInit
  std::string version;  // that it gives the driver; empty: none
  std::string libcuda;  // version in the name of libcuda's file, which is no compat package's; else empty
  MountedDriver driver;
};

// Why NVML's words are not to be believed of the host, as a finding's detail; empty: nothing speaks against
// them. A file that is mounted is the host's. Another is not, where the rest of the driver is mounted, where
// its words contradict its name, or where the version in its name or in its words is not that of the kernel
// module, with which libcuda agrees; where no kernel module can be seen, not the one in the name of libcuda's
// file. What cannot be seen contradicts nothing.
std::string NvmlContradiction(const NvmlClaim& claim);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_DRIVER_LIBRARY_H_
