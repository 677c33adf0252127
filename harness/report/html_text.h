// Text as HTML, and the policy under which a page of ours is shown: nothing from elsewhere, no script but
// ours. All that runs and images say is data, and can neither be an element nor run.
#ifndef CUDNN_CI_REPORT_HTML_TEXT_H_
#define CUDNN_CI_REPORT_HTML_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cudnn_ci {

// Cleaned, on one line of at most `max_bytes`, with all that HTML knows escaped: for elements and for
// attributes in quotes.
std::string HtmlLine(std::string_view text, size_t max_bytes = 400);

// The same of many lines.
std::string HtmlText(std::string_view text, size_t max_bytes);

// A JSON text for a <script type="application/json">: what could end the element is escaped.
std::string JsonInHtml(std::string_view json);

// The head of a page up to and with <body>: doctype, `mark` as a comment, policy, title and style. `script`
// is what the page runs; empty: nothing.
std::string HtmlHead(std::string_view mark, std::string_view title, std::string_view style,
                     std::string_view script);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_HTML_TEXT_H_
