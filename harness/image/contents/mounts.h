// What is mounted here, by /proc/self/mountinfo. A container's image is layers below its root; a file or
// folder that is itself a mount was put there by whoever started the container. Read once for every
// result whose blame depends on it.
#ifndef CUDNN_CI_IMAGE_CONTENTS_MOUNTS_H_
#define CUDNN_CI_IMAGE_CONTENTS_MOUNTS_H_

#include <string>
#include <vector>

namespace cudnn_ci {

class Mounts {
 public:
  // Of this process. `root` is put before the path of the kernel's file. Reads 4 MiB at most; empty where
  // /proc cannot be read.
  static Mounts Read(const std::string& root = "");
  // From a text in the form of mountinfo (proc(5)). A line that has no mount point is passed over.
  static Mounts Parse(const std::string& text);

  // Mount points, in the kernel's order.
  const std::vector<std::string>& points() const { return points_; }
  // Whether the file itself, links followed, is mounted. A file in a mounted folder is not: that may be the
  // job's own workspace.
  bool IsPoint(const std::string& path) const;
  // Whether the host's driver brought the file: it is mounted itself, or lies in a folder for drivers alone
  // (driver_names::kFolders) that is mounted, as a whole or in parts.
  bool IsOfDriver(const std::string& path) const;

  // Whether the root is the layers of an image, by its type (overlay, where the processes are not the
  // machine's own) or podman's mark (/run/.containerenv): a file that is not mounted is the image's then.
  bool root_is_of_image() const { return root_is_of_image_; }

 private:
  std::vector<std::string> points_;
  bool root_is_of_image_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_MOUNTS_H_
