// Text as HTML, and the policy under which a page of ours is shown: nothing from elsewhere, no script but
// ours. All that runs and images say is data, and can neither be an element nor run.
#ifndef CUDNN_CI_REPORT_TEXT_HTML_TEXT_H_
#define CUDNN_CI_REPORT_TEXT_HTML_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cudnn_ci {

// Cleaned, on one line of at most `max_bytes`, with all that HTML knows escaped: for elements and for
// attributes in quotes.
std::string HtmlLine(std::string_view text, size_t max_bytes = 400);

// The same of many lines.
std::string HtmlText(std::string_view text, size_t max_bytes);

// A JSON text for a <script type="application/json">: what could end the element is escaped, and what a
// pipeline would obey.
std::string JsonInHtml(std::string_view json);

// An address of the web as a link; any other text as HtmlLine. Nothing else may be one: what a link does is
// not the run's to say.
std::string LinkHtml(std::string_view address);

// Bytes as a part of an address, after # or between slashes: as encodeURIComponent has them, and less.
std::string FragmentOf(std::string_view bytes);

// What may be the name of an anchor: all but letters, digits, point, dash and underline is an underline.
// report.js does the same.
std::string AnchorName(std::string_view text);

// The head of a page up to and with <body>: doctype, `mark` as a comment, policy, title and style. `script`
// is what the page runs; empty: nothing.
std::string HtmlHead(std::string_view mark, std::string_view title, std::string_view style,
                     std::string_view script);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_HTML_TEXT_H_
