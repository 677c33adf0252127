// The parts of HTML pages that are the same in all: files of this folder, as texts.
#ifndef CUDNN_CI_REPORT_ASSETS_ASSETS_H_
#define CUDNN_CI_REPORT_ASSETS_ASSETS_H_

namespace cudnn_ci {

extern const char kPageStyle[];     // page.css: of every page
extern const char kReportScript[];  // report.js: of report.html
extern const char kPageScript[];    // page.js: of images.html

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_ASSETS_ASSETS_H_
