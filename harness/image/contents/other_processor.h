// Libraries for GPUs that are built for another processor than this one, as of a wheel for aarch64 on x86-64:
// the loader passes over them, so that nothing else speaks of them. By headers alone; nothing is loaded.
#ifndef CUDNN_CI_IMAGE_CONTENTS_OTHER_PROCESSOR_H_
#define CUDNN_CI_IMAGE_CONTENTS_OTHER_PROCESSOR_H_

#include <string>

#include "base/package_names.h"
#include "base/variables.h"
#include "image/contents/subject.h"

namespace cudnn_ci {

// Why a resolved subject is not for this processor, in words that name at most four files; empty: it is, or
// it has no library for a GPU. A package of Python, a folder of NVIDIA's wheels, and all that "path:" or the
// loader leads to, are for another processor if each of their shared objects is and one of them is a library
// of CUDA or holds device code. Where one is for this processor, the others are variants that a program
// chooses from. What a program needs is found missing by other rules. `environment`: the variables that the
// subject's programs would see. `cuda`: which names are those of CUDA's libraries. At most 400,000 entries of
// folders are looked at.
std::string DescribeOtherProcessor(const SubjectInfo& subject, const Variables& environment,
                                   const CudaLibraries& cuda);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_OTHER_PROCESSOR_H_
