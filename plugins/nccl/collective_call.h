// The call of a collective, on the buffers of one rank. Judges nothing; must not know the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_CALL_H_
#define CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_CALL_H_

#include <string>

#include "common/driver_api.h"
#include "nccl/collective_spec.h"
#include "nccl/nccl_api.h"

namespace cudnn_ci {

// What a library of this version, on a GPU of this compute capability, lacks for the collective, and from
// which release or GPU on it is there: "ncclAlltoAll, which NCCL has from 2.28.3 on". Empty: nothing.
std::string LacksFor(const CollectiveSpec& spec, const NcclApi& nccl, const std::string& compute_capability);

// Enqueues it on the stream, null: the default one. In place, the input is copied into the output before.
// The buffers are those of OperandsOf; null where they have no elements. Throws NcclError, DriverError or
// MissingSymbol.
void CallCollective(const CollectiveSpec& spec, int rank, const NcclApi& nccl, NcclApi::Comm comm,
                    const DriverApi& driver, const void* input, void* output, CUstream stream);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_CALL_H_
