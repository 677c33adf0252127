// The stack of a run as HTML: one chain of links, drawn by the page's style alone.
#ifndef CUDNN_CI_REPORT_FORMATS_HTML_CHAIN_H_
#define CUDNN_CI_REPORT_FORMATS_HTML_CHAIN_H_

#include <string>

#include "model/verdict/verdict.h"

namespace cudnn_ci {

// The chain. Of one subject it is a row of all links; of several it parts behind the driver, and from four on
// each subject is one line. At most 64 subjects, 16 checks of a link and 12 types of data are shown, and what
// is left out is counted. What has a data-find is looked for in the cases by the page's script.
std::string ChainHtml(const Summary& summary, const Verdict& verdict);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_HTML_CHAIN_H_
