// One <testcase> and what stands in it. Internal to the JUnit reporter.
#ifndef CUDNN_CI_REPORT_JUNIT_CASE_H_
#define CUDNN_CI_REPORT_JUNIT_CASE_H_

#include <string>

#include "model/summary.h"

namespace tinyxml2 {
class XMLPrinter;
}

namespace cudnn_ci {

// Which one child a case has.
enum class JunitState { kPassed, kFailure, kError, kSkipped };
JunitState JunitStateOf(const CaseRecord& record);

// `element` with message, type (left out when empty) and a body that begins with the message.
void PrintResult(tinyxml2::XMLPrinter* out, const char* element, const std::string& message,
                 const std::string& type, const std::string& body);
void PrintProperty(tinyxml2::XMLPrinter* out, const std::string& name, const std::string& value);

// Captured text must not bring attachments of its own: dashboards obey the marker wherever it stands.
std::string WithoutMarkers(std::string text);

// The element with its children. The names are cleaned and unique already.
void PrintCase(tinyxml2::XMLPrinter* out, const Summary& summary, const CaseRecord& record,
               const std::string& classname, const std::string& name, bool strict);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_JUNIT_CASE_H_
