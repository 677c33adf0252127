// Many images as JUnit XML. See junit_images.h.
#include "report/formats/junit_images.h"

#include <tinyxml2.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "report/formats/junit_case.h"
#include "report/record/own_reports.h"

namespace cudnn_ci {

std::string RenderImagesJunit(const std::vector<JunitImage>& images) {
  const auto count = [&](bool (*is)(int)) {
    return static_cast<int64_t>(
        std::count_if(images.begin(), images.end(), [&](const JunitImage& i) { return is(i.exit_code); }));
  };
  const int64_t failures = count([](int code) { return code == 1; });
  const int64_t errors = count([](int code) { return code > 1; });
  tinyxml2::XMLPrinter out;
  out.PushDeclaration("xml version=\"1.0\" encoding=\"UTF-8\"");
  out.PushComment(kJunitMark);
  for (const auto& [element, name] :
       {std::pair("testsuites", "cudnn-ci"), std::pair("testsuite", "cudnn-ci.images")}) {
    out.OpenElement(element);
    out.PushAttribute("name", name);
    out.PushAttribute("tests", static_cast<int64_t>(images.size()));
    out.PushAttribute("failures", failures);
    out.PushAttribute("errors", errors);
    out.PushAttribute("time", "0.000");
  }
  out.PushAttribute("skipped", 0);
  out.PushAttribute("timestamp", UtcTimestamp().c_str());
  std::set<std::string> names;
  for (const JunitImage& image : images) {
    const std::string wanted = SingleLine(image.name, 600);
    std::string name = wanted;
    for (int n = 2; !names.insert(name).second; ++n) name = wanted + "~" + std::to_string(n);
    out.OpenElement("testcase");
    out.PushAttribute("classname", "cudnn-ci.images");
    out.PushAttribute("name", name.c_str());
    out.PushAttribute("time", "0.000");
    if (image.exit_code != 0)
      PrintResult(&out, image.exit_code == 1 ? "failure" : "error", SingleLine(image.message, 2000),
                  SingleLine(image.type, 200), "");
    out.CloseElement();
  }
  out.CloseElement();
  out.CloseElement();
  return std::string(out.CStr(), static_cast<size_t>(out.CStrSize()) - 1) + "\n";
}

}  // namespace cudnn_ci
