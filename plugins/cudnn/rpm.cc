#include "cudnn/rpm.h"

#include "common/program.h"
#include "image/packages/cudnn_packages.h"
#include "image/packages/dpkg_records.h"
#include "image/packages/rpm_answer.h"

namespace cudnn_ci {
namespace {

constexpr double kRpmSeconds = 10;

}  // namespace

std::vector<Package> RpmPackagesOf(Context& ctx, const std::string& file) {
  if (!IsSystemFolder(file) || !HasRpmDatabase()) return {};
  if (const std::string why = LookupError("rpm"); !why.empty()) {
    ctx.Log("rpm's database is not read, because the program rpm is missing: " + why);
    return {};
  }
  const ChildResult answer = ctx.RunChild(
      {"rpm", "-qf", "--queryformat", "%{NAME} %{VERSION}-%{RELEASE}\\n", file}, {}, kRpmSeconds);
  if (answer.exit_status != 0) return {};
  return ParseRpmAnswer(answer.output);
}

}  // namespace cudnn_ci
