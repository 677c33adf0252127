// The data of one case on the device: what was uploaded, and what became of it. Judges nothing; must not know
// the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CONV_CASE_DATA_H_
#define CUDNN_CI_PLUGINS_CONV_CASE_DATA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/numeric/data_type.h"
#include "common/session.h"
#include "conv/candidate.h"
#include "conv/case_memory.h"
#include "conv/reference.h"

namespace cudnn_ci {

// Uploads only what is not there yet: the choices of a sweep share their inputs. Functions throw NoMemory,
// and DriverError naming the driver's call.
class CaseData {
 public:
  // Both must outlive it.
  CaseData(Session* session, const CaseMemory& needs, Layout layout)
      : session_(*session), needs_(needs), layout_(layout) {}

  // The exact inputs; everything else is filled anew.
  void Upload(const std::shared_ptr<const Reference>& reference, std::size_t workspace_bytes);
  // The random ones, beside them.
  void UploadRandom();
  // The inputs may have been written to.
  void Forget();
  // For a run on the exact inputs, or on the random ones; where these have no room, the exact ones.
  DevicePointers Pointers(bool random) const;
  // The result's bytes, until the next call of any function of this class.
  const unsigned char* Download();
  // "x differs from byte 12" for each of the exact inputs that is not as it was uploaded.
  std::vector<std::string> ChangedInputs();
  // The same of those that a run on random data has.
  std::vector<std::string> ChangedRandomInputs();
  // Of both operands.
  std::size_t InputBytes() const;

 private:
  void UploadBias(const std::vector<std::int8_t>& bias);
  // The operands' and, if it changed, the bias. None of them is what was uploaded then.
  std::vector<std::string> WithBias(std::vector<std::string> changed);
  void AddIfRandomChanged(Buffer buffer, const Tensor& tensor, std::uint64_t seed,
                          std::vector<std::string>* changed);
  void AddIfChanged(Buffer buffer, const char* name, std::size_t bytes, const unsigned char* original,
                    std::vector<std::string>* changed);

  Session& session_;
  const CaseMemory& needs_;
  const Layout layout_;
  std::size_t workspace_bytes_ = 0;
  int times_given_back_ = 0;                   // of needs_, when a_ and b_ were filled
  unsigned char *a_ = nullptr, *b_ = nullptr;  // the exact inputs as they were uploaded
  std::vector<unsigned char> bias_;            // likewise; the random ones are followed by the same
  std::shared_ptr<const Reference> uploaded_;  // whose inputs the device holds
  bool random_uploaded_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_CASE_DATA_H_
