// Uploads, and a look at what was uploaded.
#include "compute/case_data.h"

#include <algorithm>
#include <cstdint>

#include "common/numeric/fill.h"
#include "common/numeric/repeat.h"
#include "common/numeric/same_bytes.h"

namespace cudnn_ci {

unsigned char* CaseData::Original(std::size_t input) {
  const Operand& operand = needs_.operands().inputs[input];
  if (operand.seed) return session_.input(input).Get(operand.Bytes());
  others_.resize(needs_.operands().inputs.size());
  others_[input].resize(operand.Bytes());
  return others_[input].data();
}

void CaseData::Upload(const ReferenceData& data, std::size_t workspace_bytes) {
  const std::vector<Operand>& inputs = needs_.operands().inputs;
  DeviceBuffers& memory = session_.memory();
  needs_.Reserve(&session_, workspace_bytes);
  workspace_bytes_ = workspace_bytes;
  if (!memory.inputs_kept() || times_given_back_ != needs_.times_given_back()) Forget();
  times_given_back_ = needs_.times_given_back();
  // Every run is followed by a look at its inputs: what lies there is what was uploaded.
  if (uploaded_ != data.owner()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].Bytes() == 0) continue;
      data.Encode(i, Original(i));
      memory.Upload(needs_.InputPlace(i), Original(i));
    }
    uploaded_ = data.owner();
  }
  // The fills are asynchronous; the library may use streams of its own that do not wait for them.
  session_.Synchronize();
}

void CaseData::UploadRandom() {
  if (random_uploaded_ || !needs_.has_random()) return;
  const std::vector<Operand>& inputs = needs_.operands().inputs;
  unsigned char* host = session_.readback.Get(needs_.ReadbackBytes());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].seed) continue;
    FillNormal(inputs[i].type, inputs[i].extent.Count(), *inputs[i].seed, host);
    session_.memory().Upload(needs_.RandomPlace(i), host);
  }
  random_uploaded_ = true;
  session_.Synchronize();
}

void CaseData::Forget() {
  uploaded_.reset();
  random_uploaded_ = false;
}

VariantPack CaseData::Pack(bool random) const {
  return needs_.Pack(session_.memory(), random, workspace_bytes_);
}

void CaseData::FillAgain(bool other) {
  const std::vector<Operand>& outputs = needs_.operands().outputs;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    session_.memory().FillAgain(needs_.OutputPlace(o),
                                other ? OtherUnwrittenWord(outputs[o].type) : UnwrittenWord(outputs[o].type));
  session_.memory().FillAgain(needs_.WorkspacePlace(), 0);
  session_.Synchronize();  // the library may use streams of its own that do not wait for a fill
}

const unsigned char* CaseData::Download() {
  unsigned char* host = session_.readback.Get(needs_.ReadbackBytes());
  Download(host);
  return host;
}

void CaseData::Download(unsigned char* to) const {
  const std::size_t outputs = needs_.operands().outputs.size();
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t end = needs_.OutputOffset(o) + needs_.operands().outputs[o].Bytes();
    session_.memory().Download(needs_.OutputPlace(o), to + needs_.OutputOffset(o));
    std::fill(to + end, to + needs_.OutputOffset(o + 1), 0);  // so that equal outputs are equal bytes
  }
}

std::vector<std::string> CaseData::Changed(bool random) {
  const std::vector<Operand>& inputs = needs_.operands().inputs;
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool beside = random && inputs[i].seed;
    const std::size_t bytes = inputs[i].Bytes();
    if (bytes == 0) continue;
    const std::size_t first = beside ? FirstChangedRandom(i) : FirstChanged(i);
    if (first < bytes)
      changed.push_back((beside ? "random " : "") + inputs[i].name + " changed at byte " +
                        std::to_string(first));
  }
  if (!changed.empty()) Forget();
  return changed;
}

std::size_t CaseData::FirstChanged(std::size_t input) {
  unsigned char* readback = session_.readback.Get(needs_.ReadbackBytes());
  session_.memory().Download(needs_.InputPlace(input), readback);
  return FirstDifference(readback, Original(input), needs_.operands().inputs[input].Bytes());
}

// The numbers come again after each period: the first of them are compared with what was uploaded, all others
// with those a period before.
std::size_t CaseData::FirstChangedRandom(std::size_t input) {
  const Operand& operand = needs_.operands().inputs[input];
  const std::int64_t count = std::min(operand.extent.Count(), NormalData::kPeriod);
  std::vector<unsigned char> original(static_cast<std::size_t>(count) * SizeOf(operand.type));
  FillNormal(operand.type, count, *operand.seed, original.data());
  unsigned char* readback = session_.readback.Get(needs_.ReadbackBytes());
  session_.memory().Download(needs_.RandomPlace(input), readback);
  const std::size_t period = original.size();
  const std::size_t first = FirstDifference(readback, original.data(), period);
  if (first < period) return first;
  return period + FirstDifference(readback + period, readback, operand.Bytes() - period);
}

}  // namespace cudnn_ci
