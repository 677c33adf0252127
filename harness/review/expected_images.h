// Whether every image that was to be tested was: a list that does not come from the job matrix, held against
// the reports that its jobs left. A matrix that lost an image, or is empty, is green by itself.
#ifndef CUDNN_CI_REVIEW_EXPECTED_IMAGES_H_
#define CUDNN_CI_REVIEW_EXPECTED_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "review/page.h"

namespace cudnn_ci {

// More than any team has.
inline constexpr size_t kMostExpected = 10'000;

// An image, and the type of GPU that it is to be tested on.
struct ExpectedImage {
  std::string text;        // as it was given
  std::string repository;  // without the registry that docker supposes: "team/train", "debian"
  std::string tag;         // empty: any
  std::string digest;      // "sha256:..."; empty: any
  std::string gpu;         // words of a model, as in IsGpuType, or kNoGpu; empty: any, or none
};
inline constexpr char kNoGpu[] = "no-gpu";

// What was asked for: images by name, or how many different ones.
struct ExpectedImages {
  std::vector<ExpectedImage> images;
  size_t count = 0;  // 0: by name
};

// Of the arguments of --expect: each a number, or images with commas, NAME[:TAG][@sha256:...][@GPU]. Errors,
// in one line: no image at all, a word that is no image or type of GPU, one twice, a number beside anything
// else, more than kMostExpected.
Result<ExpectedImages> ParseExpected(const std::vector<std::string>& arguments);

// How an image stands.
struct ImageStanding {
  std::string name;   // as it was expected; of another as its report names it, else the report's folder
  int exit_code = 0;  // 0: tested, and may ship; else as of a run: 1, 3, 4 (image-not-judged too), 5, 6
  std::string word;   // "passed", "failed", "missing", ...
  std::string cause;  // "image.wrong-value: 3 elements differ"; empty: passed
};

struct ImagesVerdict {
  std::vector<ImageStanding> images;  // those expected, in their order, then the unexpected ones
  int exit_code = 0;                  // the first of 1, 5, 3, 6, 4 that an image has, else 0
};

// Pure. Only a whole run that ended and was gating counts as a test. Of several runs of one
// image the worst counts; but of two of the same image on GPUs of the same models, a later pass supersedes
// that the runner was at fault (3) or the fault was undetermined (6); a run that saw no GPU needs one on each
// of the models that other runs of the image saw. A row that could not be read is red, and no image's. Beside
// rows of a launcher, one that names no image is not counted.
ImagesVerdict VerdictOnImages(const std::vector<PageRow>& rows, const ExpectedImages& expected);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REVIEW_EXPECTED_IMAGES_H_
