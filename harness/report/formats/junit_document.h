// The JUnit document as text: a pure function of the summary. Which dashboards read what is the reason for
// every element; files, times of writing and names of files are junit.h's.
#ifndef CUDNN_CI_REPORT_FORMATS_JUNIT_DOCUMENT_H_
#define CUDNN_CI_REPORT_FORMATS_JUNIT_DOCUMENT_H_

#include <functional>
#include <string>

#include "base/result.h"
#include "model/verdict/summary.h"
#include "report/formats/run_summary.h"

namespace cudnn_ci {

struct JunitOptions {
  // Without what junit-10.xsd (the Jenkins xunit plugin's schema) forbids: case properties, file, line.
  bool strict = false;
  std::string name = "cudnn-ci";  // product: root element and prefix of every class name
  size_t cases_per_file = 5000;   // at least 1; Buildkite refuses more than 5,000 results in a file
  RunSummaryOptions screen;       // for the verdict's body
};

// Renders the whole run, one document after the other, and hands each to `sink` with its number from 1; stops
// at the sink's first error. Memory: one document. While `final` is false the verdict reads "the run did not
// finish".
Status RenderJunit(const Summary& summary, const JunitOptions& options, bool final,
                   const std::function<Status(size_t number, const std::string& document)>& sink);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_JUNIT_DOCUMENT_H_
