// One <testcase> and what stands in it. Internal to the JUnit reporter.
#ifndef CUDNN_CI_REPORT_FORMATS_JUNIT_CASE_H_
#define CUDNN_CI_REPORT_FORMATS_JUNIT_CASE_H_

#include <set>
#include <string>

#include "model/verdict/summary.h"

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

// <properties> around what is added, written when it goes. Names are cleaned, and each stands once: of a
// second "x" the name is "x.2", since xunitparser refuses a file with two.
class PropertyList {
 public:
  explicit PropertyList(tinyxml2::XMLPrinter* out);
  ~PropertyList();
  PropertyList(const PropertyList&) = delete;
  PropertyList& operator=(const PropertyList&) = delete;
  void Add(const std::string& name, const std::string& value);

 private:
  tinyxml2::XMLPrinter* out_;
  std::set<std::string> names_;
};

// Captured text must not add attachments: dashboards obey the marker wherever it stands.
std::string WithoutMarkers(std::string text);

// The element with its children. The names are cleaned and unique already.
void PrintCase(tinyxml2::XMLPrinter* out, const Summary& summary, const CaseRecord& record,
               const std::string& classname, const std::string& name, bool strict);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_JUNIT_CASE_H_
