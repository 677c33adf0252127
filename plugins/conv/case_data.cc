// Uploads, and a look at what was uploaded.
#include "conv/case_data.h"

#include <algorithm>
#include <utility>

#include "common/numeric/encode.h"
#include "common/numeric/repeat.h"
#include "common/numeric/same_bytes.h"
#include "conv/normal.h"

namespace cudnn_ci {

void CaseData::Upload(const std::shared_ptr<const Reference>& reference, std::size_t workspace_bytes) {
  const Problem& problem = needs_.problem();
  DeviceBuffers& memory = session_.memory();
  a_ = session_.a.Get(needs_.Bytes(problem.A()));
  b_ = session_.b.Get(needs_.Bytes(problem.B()));
  needs_.Reserve(&session_, workspace_bytes);
  workspace_bytes_ = workspace_bytes;
  if (!memory.inputs_kept() || times_given_back_ != needs_.times_given_back()) Forget();
  times_given_back_ = needs_.times_given_back();
  // Every run is followed by a look at its inputs: what lies there is what was uploaded.
  if (uploaded_ != reference) {
    EncodeData(reference->A(), problem.A().AsExtent(), needs_.type(), layout_, a_);
    EncodeData(reference->B(), problem.B().AsExtent(), needs_.type(), layout_, b_);
    memory.Upload(kA, a_);
    memory.Upload(kB, b_);
    UploadBias(reference->inputs.bias);
    uploaded_ = reference;
  }
  // The fills are asynchronous; cuDNN may use streams of its own that do not wait for them.
  session_.Synchronize();
}

void CaseData::UploadBias(const std::vector<std::int8_t>& bias) {
  bias_.resize(needs_.BiasBytes());
  if (bias_.empty()) return;
  EncodeData({bias.data()}, needs_.problem().Bias().AsExtent(), BiasTypeOf(needs_.type()), layout_,
             bias_.data());
  session_.memory().Upload(kBias, bias_.data());
}

void CaseData::UploadRandom() {
  if (random_uploaded_ || !needs_.has_random()) return;
  const Problem& problem = needs_.problem();
  unsigned char* host = session_.readback.Get(needs_.ReadbackBytes());
  FillNormal(needs_.type(), problem.A().Count(), kSeedOfA, host);
  session_.memory().Upload(kRandomA, host);
  FillNormal(needs_.type(), problem.B().Count(), kSeedOfB, host);
  session_.memory().Upload(kRandomB, host);
  random_uploaded_ = true;
  session_.Synchronize();
}

void CaseData::Forget() {
  uploaded_.reset();
  random_uploaded_ = false;
}

DevicePointers CaseData::Pointers(bool random) const {
  const DeviceBuffers& memory = session_.memory();
  const bool beside = random && needs_.has_random();
  return {memory.Pointer(beside ? kRandomA : kA),
          memory.Pointer(beside ? kRandomB : kB),
          memory.Pointer(kY),
          memory.Pointer(kWorkspace),
          workspace_bytes_,
          bias_.empty() ? nullptr : memory.Pointer(kBias)};
}

const unsigned char* CaseData::Download() {
  unsigned char* host = session_.readback.Get(needs_.ReadbackBytes());
  session_.memory().Download(kY, host);
  return host;
}

std::vector<std::string> CaseData::ChangedInputs() {
  std::vector<std::string> changed;
  const Tensor a = needs_.problem().A(), b = needs_.problem().B();
  AddIfChanged(kA, a.name, needs_.Bytes(a), a_, &changed);
  AddIfChanged(kB, b.name, needs_.Bytes(b), b_, &changed);
  return WithBias(std::move(changed));
}

std::vector<std::string> CaseData::ChangedRandomInputs() {
  if (!needs_.has_random()) return ChangedInputs();
  std::vector<std::string> changed;
  AddIfRandomChanged(kRandomA, needs_.problem().A(), kSeedOfA, &changed);
  AddIfRandomChanged(kRandomB, needs_.problem().B(), kSeedOfB, &changed);
  return WithBias(std::move(changed));
}

std::vector<std::string> CaseData::WithBias(std::vector<std::string> changed) {
  if (!bias_.empty()) AddIfChanged(kBias, needs_.problem().Bias().name, bias_.size(), bias_.data(), &changed);
  if (!changed.empty()) Forget();
  return changed;
}

// The numbers come again after each period: the first of them are compared with what was uploaded, all others
// with those a period before.
void CaseData::AddIfRandomChanged(Buffer buffer, const Tensor& tensor, std::uint64_t seed,
                                  std::vector<std::string>* changed) {
  const std::int64_t count = std::min(tensor.Count(), NormalData::kPeriod);
  std::vector<unsigned char> original(static_cast<std::size_t>(count) * SizeOf(needs_.type()));
  FillNormal(needs_.type(), count, seed, original.data());
  unsigned char* readback = session_.readback.Get(needs_.ReadbackBytes());
  session_.memory().Download(buffer, readback);
  const std::size_t period = original.size(), bytes = needs_.Bytes(tensor);
  std::size_t first = FirstDifference(readback, original.data(), period);
  if (first == period) first += FirstDifference(readback + period, readback, bytes - period);
  if (first < bytes)
    changed->push_back(std::string("random ") + tensor.name + " differs from byte " + std::to_string(first));
}

std::size_t CaseData::InputBytes() const {
  return needs_.Bytes(needs_.problem().A()) + needs_.Bytes(needs_.problem().B());
}

void CaseData::AddIfChanged(Buffer buffer, const char* name, std::size_t bytes, const unsigned char* original,
                            std::vector<std::string>* changed) {
  unsigned char* readback = session_.readback.Get(needs_.ReadbackBytes());
  session_.memory().Download(buffer, readback);
  const std::size_t first = FirstDifference(readback, original, bytes);
  if (first == bytes) return;
  changed->push_back(std::string(name) + " differs from byte " + std::to_string(first));
}

}  // namespace cudnn_ci
