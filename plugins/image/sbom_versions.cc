// image.versions: are the installed packages of the versions that the matrix promises? By their records
// alone, so that a bill of materials can be judged; cudnn.version and toolkit.runtime ask the libraries
// themselves.
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <iterator>

#include "common/joined.h"
#include "common/judge.h"
#include "common/known_regressions.h"
#include "common/promise.h"
#include "image/findings.h"
#include "image/subject_components.h"

namespace cudnn_ci {
namespace {

// "9.19.0 (Python package nvidia-cudnn-cu13 9.19.0.56)" of each.
std::string Found(const std::vector<Component>& components) {
  std::vector<std::string> texts;
  for (const Component& component : components)
    texts.push_back((component.version.empty() ? "no version" : component.version) + " (" + component.origin +
                    ")");
  return Joined(texts);
}

struct PackageVersions {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the installed packages of cuDNN and the toolkit have the promised versions, by their records")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .TimeoutSeconds(120);
  }

  // Returns whether the promise was judged.
  static bool JudgePromise(Context& ctx, const char* key, const char* library,
                           const std::vector<Component>& all) {
    const std::string range = ctx.Contract(key);
    std::vector<Component> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const Component& c) { return c.library == library; });
    if (range.empty()) return false;
    if (range == "absent") {
      Judge(ctx, found.empty(), std::string("no package of ") + library, kPackageOutsideContract,
            [&] { return std::string(library) + " " + Found(found) + " is listed, absent promised"; });
      return true;
    }
    const auto has_version = [](const Component& c) { return !c.version.empty(); };
    if (std::none_of(found.begin(), found.end(), has_version)) {
      ctx.Finding(kPackageNotListed, std::string(key) + " " + range + ": " +
                                         (found.empty() ? std::string("no package of ") + library
                                                        : std::string(library) + " " + Found(found)));
      return false;
    }
    // An image may hold several majors and is judged by the one that is promised.
    const Promise promise = PromiseOf(ctx, key);
    const bool kept = std::any_of(found.begin(), found.end(), [&](const Component& c) {
      return has_version(c) && promise.Kept(c.version);
    });
    Judge(ctx, kept, std::string(library) + " is " + range, kPackageOutsideContract,
          [&] { return std::string(library) + " " + Found(found) + " is listed, " + range + " promised"; });
    return true;
  }

  static void Run(Context& ctx, const Params&) {
    const SubjectComponents subject = ComponentsOfSubject(ctx);
    const bool cudnn = JudgePromise(ctx, "image.cudnn", kCudnn, subject.components);
    const bool toolkit = JudgePromise(ctx, "image.toolkit", kToolkit, subject.components);
    if (!cudnn && !toolkit)
      ctx.Skip(CCI_SKIP_ABSENT,
               "image.cudnn or image.toolkit in the matrix, and a package of it with a version",
               "none among " + std::to_string(subject.packages) + " packages");
  }
};

CCI_REGISTER(PackageVersions, "versions")

}  // namespace
}  // namespace cudnn_ci
