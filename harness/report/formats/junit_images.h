// Many images as JUnit XML: a case for each, by its name.
#ifndef CUDNN_CI_REPORT_FORMATS_JUNIT_IMAGES_H_
#define CUDNN_CI_REPORT_FORMATS_JUNIT_IMAGES_H_

#include <string>
#include <vector>

namespace cudnn_ci {

struct JunitImage {
  std::string name;
  int exit_code = 0;    // 0: passed; 1, the image's own fault: <failure>; another: <error>
  std::string type;     // "image.wrong-value"; empty: none is known
  std::string message;  // of what is not passed
};

// The whole document. Names are unique in it: a second "a" is "a~2".
std::string RenderImagesJunit(const std::vector<JunitImage>& images);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_JUNIT_IMAGES_H_
