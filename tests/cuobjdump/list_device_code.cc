// Prints the device code of files, as the plugin image reads it: for compare.py, and for whoever wants to
// look.
#include <cstdio>

#include "image/device_code/device_code.h"

namespace cudnn_ci {
namespace {

// "sass 90a 444 code", "ptx 120 188 code 9.0 9.0"; modules without code: "empty" in the place of "code".
void Print(const char* kind, const std::map<CodeTarget, Modules>& targets) {
  for (const auto& [target, modules] : targets) {
    std::printf("%s %s %lld %s", kind, target.Text().c_str(), static_cast<long long>(modules.count),
                modules.hold_code ? "code" : "empty");
    if (modules.highest != PtxVersion{})
      std::printf(" %s %s", modules.lowest.Text().c_str(), modules.highest.Text().c_str());
    std::printf("\n");
  }
}

void Print(const std::string& path) {
  const DeviceCode code = ReadDeviceCode(path);
  std::printf("file %s\n", path.c_str());
  for (const CodeTargets* targets : {&code.code, &code.unlinked}) {
    if (targets == &code.unlinked) std::printf("unlinked\n");
    Print("sass", targets->sass);
    Print("ptx", targets->ptx);
    if (targets->others > 0) std::printf("other - %lld code\n", static_cast<long long>(targets->others));
  }
  if (!code.problem.empty()) std::printf("problem %s\n", code.problem.c_str());
}

}  // namespace
}  // namespace cudnn_ci

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) cudnn_ci::Print(argv[i]);
  return 0;
}
