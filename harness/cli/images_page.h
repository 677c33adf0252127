// One page of many images, from folders of reports, and the verdict on a list of images that there was to be.
#ifndef CUDNN_CI_CLI_IMAGES_PAGE_H_
#define CUDNN_CI_CLI_IMAGES_PAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "review/expected_images.h"

namespace cudnn_ci {

// Writes images.html to `output_dir` (empty: here) and prints what it holds. `places`: folders of reports, or
// single records. Without `expected` it is no verdict: returns 0 when the page is written, 2 when none of the
// places can be read. With it, also writes images.xml, JUnit XML with a case for each image, leaves out
// places that are not there, and returns the verdict's exit code: 0, 1, 3, 4, 5 or 6. Either returns 2 where
// a file of another is in the way, 5 where one cannot be written.
int MakeImagesPage(const std::vector<std::string>& places, const std::string& output_dir,
                   const std::optional<ExpectedImages>& expected);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_IMAGES_PAGE_H_
