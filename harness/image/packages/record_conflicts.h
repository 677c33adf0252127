// Whether the files that Python packages have recorded are theirs still: another package may have written the
// same path, and an uninstallation of one of two may have taken the files of the other
// (https://packaging.python.org/en/latest/specifications/recording-installed-packages/#the-record-file).
#ifndef CUDNN_CI_IMAGE_PACKAGES_RECORD_CONFLICTS_H_
#define CUDNN_CI_IMAGE_PACKAGES_RECORD_CONFLICTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "image/packages/package.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {

// Files with code of `loser` that have the contents which `winner` recorded for the same path.
struct ReplacedFiles {
  Package loser, winner;
  std::vector<std::string> files;  // sorted, at most 20
  std::size_t count = 0;           // of all
};

// Shared objects that a package has recorded and that are not there.
struct GoneFiles {
  Package package;
  std::vector<std::string> files;  // sorted, at most 1000
  std::size_t count = 0;           // of all, or of the first 20,000
  std::size_t there = 0;           // files with code of the package that are
};

// Files with code that are of another size than the only package that has recorded them says: patched or
// stripped behind its back, or written over by something that keeps no record.
struct ChangedFiles {
  Package package;
  std::vector<std::string> files;  // sorted, at most 20
  std::size_t count = 0;
};

struct RecordConflicts {
  std::vector<ReplacedFiles> replaced;
  std::vector<ChangedFiles> changed;
  std::vector<GoneFiles> gone;
};

// Whether a file is what a RECORD says of it: by its size, then by its hash; false where the record has none.
// Files of more than *may_read bytes are not; what was read is taken off that.
bool IsAsRecorded(const std::string& path, const RecordedFile& record, std::uintmax_t* may_read);

// Of these packages; those of other managers than Python's are passed over. Only files with native or device
// code count (HoldsCode), and only those with a recorded hash: overlapping sources, documents and licences
// are usual. A file that both recorded alike is no conflict. The size tells whose a file is, else its hash,
// of at most 512 MiB of files together.
RecordConflicts FindRecordConflicts(const std::vector<Package>& packages);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_RECORD_CONFLICTS_H_
