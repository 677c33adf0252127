// The data of one case on the device: what was uploaded, and what became of it. Judges nothing; must not know
// the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_CASE_DATA_H_
#define CUDNN_CI_PLUGINS_COMPUTE_CASE_DATA_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/device_session.h"
#include "compute/candidate.h"
#include "compute/case_memory.h"
#include "compute/reference_data.h"

namespace cudnn_ci {

// Uploads only what is not there yet: the candidates of a sweep share their inputs. Functions throw NoMemory,
// and DriverError naming the driver's call.
class CaseData {
 public:
  // Both must outlive it.
  CaseData(DeviceSession* session, const CaseMemory& needs) : session_(*session), needs_(needs) {}

  // The exact inputs; everything else is filled anew.
  void Upload(const ReferenceData& data, std::size_t workspace_bytes);
  // The random ones, beside them.
  void UploadRandom();
  // The inputs may have been written to.
  void Forget();
  // For a run on the exact inputs, or on the random ones; where these have no room, the exact ones.
  VariantPack Pack(bool random) const;
  // Fills outputs and workspace again. With `other`, outputs get another word than at the upload.
  void FillAgain(bool other);
  // All outputs, each where CaseMemory::OutputOffset says, in the session's readback or in `to`; until the
  // next call of any function of this class.
  const unsigned char* Download();
  void Download(unsigned char* to) const;
  // "x changed at byte 12" for each of the exact inputs that is not as it was uploaded.
  std::vector<std::string> ChangedInputs() { return Changed(false); }
  // The same of those that a run on random data has.
  std::vector<std::string> ChangedRandomInputs() { return Changed(needs_.has_random()); }

 private:
  // The bytes of an input as it was uploaded.
  unsigned char* Original(std::size_t input);
  std::vector<std::string> Changed(bool random);
  std::size_t FirstChanged(std::size_t input);
  std::size_t FirstChangedRandom(std::size_t input);

  DeviceSession& session_;
  const CaseMemory& needs_;
  std::size_t workspace_bytes_ = 0;
  int times_given_back_ = 0;                        // of needs_, when the host buffers were filled
  std::vector<std::vector<unsigned char>> others_;  // of each input without a seed, as it was uploaded
  std::shared_ptr<const void> uploaded_;            // the owner of the inputs that the device holds
  bool random_uploaded_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_CASE_DATA_H_
