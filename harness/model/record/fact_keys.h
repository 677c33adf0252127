// Keys of facts that reports show: those of the SDK (cudnn_ci/facts.h), for layers that do not know it.
#ifndef CUDNN_CI_MODEL_RECORD_FACT_KEYS_H_
#define CUDNN_CI_MODEL_RECORD_FACT_KEYS_H_

namespace cudnn_ci {

// kWithoutNvrtc is of the contract: see plugins/toolkit/contract.h.
extern const char kDriverVersionFact[], kDriverSourceFact[], kDriverLibraryFact[], kToolkitVersionFact[],
    kToolkitPathFact[], kCudnnVersionFact[], kCudnnPathFact[], kWithoutNvrtc[];

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_FACT_KEYS_H_
