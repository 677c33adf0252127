// One page of many images: what became of each, how long ago, and where its report is. Its script sorts and
// filters; all that it shows is there without it.
#ifndef CUDNN_CI_REVIEW_PAGE_H_
#define CUDNN_CI_REVIEW_PAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "review/run_view.h"

namespace cudnn_ci {

// A run to be shown, or why there is none.
struct PageRow {
  std::string source;   // the folder
  RunView view;         // of its record; of none, what is known: image, verdict (one word), exit code
  std::string problem;  // why there is none; empty: it was read
  // Its report.html, as a path from the folder of the page; empty: there is none.
  std::string report;
  std::string
      typed_image;  // as the launcher was given it, with the tag that a digest replaces; empty: no launcher
};

// The whole document: red rows first, then by image. `now_s`: seconds since 1970, from which ages are
// counted.
std::string RenderPage(std::vector<PageRow> rows, int64_t now_s);

// The path of the report.html of the folder, from the folder `from`; "" when it is none of ours.
std::string ReportBeside(const std::string& folder, const std::string& from);

// Whether the file is such a page, of this version or another, or empty: nothing is lost with it.
bool IsOwnPage(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REVIEW_PAGE_H_
