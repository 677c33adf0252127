// Files of an image that pretend to hold device code: whatever the bytes, reading ends, touches nothing
// outside them, and what is found can be said and judged.
#include <string_view>

#include "fuzz_target.h"
#include "image/device_code/device_code.h"
#include "image/device_code/device_code_cover.h"
#include "image/device_code/ptx_text.h"

namespace cudnn_ci {
namespace {

void JudgeAll(const CodeTargets& code) {
  bool holds = code.others > 0;
  for (const auto* targets : {&code.sass, &code.ptx}) {
    for (const auto& [target, modules] : *targets) {
      Require(modules.count > 0, "a target has modules", target.Text());
      Require(modules.lowest <= modules.highest, "the lowest version is not above the highest",
              target.Text());
      holds = holds || modules.hold_code;
    }
  }
  Require(holds == code.HoldCode(), "code is held by targets", Describe(code));
  for (const Card card : {Card{8, 0}, Card{9, 0}, Card{12, 1}}) {
    const Cover cover = CoverOf(code, card, PtxVersion{9, 0});
    if (!holds) Require(cover == Cover::kMissing, "without code nothing runs", Describe(code));
  }
  Require(IsSpecialised(code) <= holds, "what is special holds code", Describe(code));
  Require(!Describe(code).empty(), "it can be said", "");
}

}  // namespace
}  // namespace cudnn_ci

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"libx.so", "x.ptx"}) {
    const cudnn_ci::DeviceCode code = cudnn_ci::ReadDeviceCode(cudnn_ci::ByteSource(bytes), name);
    cudnn_ci::JudgeAll(code.code);
    cudnn_ci::JudgeAll(code.unlinked);
  }
  const cudnn_ci::PtxHead head = cudnn_ci::ReadPtxHead(bytes);
  cudnn_ci::Require(!head.found || head.architecture >= 0, "an architecture is a number", "");
  return 0;
}
