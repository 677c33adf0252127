// Whether folders hold something that uses a GPU, and what of CUDA it asks the loader for, by the headers of
// their shared libraries alone.
#ifndef CUDNN_CI_IMAGE_CONTENTS_GPU_USE_H_
#define CUDNN_CI_IMAGE_CONTENTS_GPU_USE_H_

#include <string>
#include <vector>

#include "base/package_names.h"

namespace cudnn_ci {

struct GpuUse {
  // The first file, by path, that is a library of CUDA, needs one, or holds device code; empty: there is
  // none.
  std::string example;
  // The CUDA major of the libraries that these files are or need, as libcudart.so.12 tells it; empty: none
  // tells one, or they tell several.
  std::string cuda;
  // Some file needs such a library (DT_NEEDED) in every process that loads it.
  bool asks_for_cudnn = false, asks_for_runtime = false, asks_for_nvrtc = false;
  bool complete = true;  // false: the folders hold more than is looked at

  bool operator==(const GpuUse&) const = default;
};

// What lies in and below the folders. Links to folders are not followed. At most 400,000 entries are looked
// at and 20,000 libraries read. `cuda`: which names are those of CUDA's libraries.
GpuUse FindGpuUse(const std::vector<std::string>& folders, const CudaLibraries& cuda);

// The same as whether FindGpuUse has an example, and ends at the first one that it comes upon. *cut is set
// where there is none in what was looked at, and that is not all.
bool HoldsGpuUse(const std::string& folder, const CudaLibraries& cuda, bool* cut = nullptr);

// The shared libraries in and below a folder, by their names alone, sorted; within the bound on entries.
std::vector<std::string> LibrariesBelow(const std::string& folder);

// What a program or library itself shows, without those that it needs.
GpuUse GpuUseOfFile(const std::string& file, const CudaLibraries& cuda);

// Whether the file is an ELF file with a section that nvcc puts device code into.
bool HoldsDeviceCode(const std::string& path);

// True for CUDA's runtime and NVRTC, which are installed beside a cuDNN only for what needs a runtime.
// cuBLAS alone is what CTranslate2 asks for, whose runtime is linked statically.
bool IsToolkitLibrary(const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_GPU_USE_H_
