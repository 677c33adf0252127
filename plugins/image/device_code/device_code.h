// The device code in one file: for which architectures there is machine code (SASS), and PTX of which
// version. Libraries, programs, objects, archives of objects, and files of device code alone. Judges nothing;
// nothing of the file is loaded.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "image/device_code/fatbin.h"
#include "image/elf/byte_source.h"

namespace cudnn_ci {

// What code was compiled for: 90 and kArchitecture of "sm_90a".
struct CodeTarget {
  int architecture = 0;
  CodeVariant variant = CodeVariant::kGeneric;

  auto operator<=>(const CodeTarget&) const = default;  // NOLINT(modernize-use-nullptr): of clang-tidy 14
  // "90a".
  std::string Text() const;
};

// A version of PTX's instruction set: 8.7.
struct PtxVersion {
  int major = 0, minor = 0;
  auto operator<=>(const PtxVersion&) const = default;  // NOLINT(modernize-use-nullptr)
  std::string Text() const { return std::to_string(major) + "." + std::to_string(minor); }
};

// The modules of one kind for one target. A module may hold nothing that could run: nvcc makes such for
// source files without kernels, and for its own default architecture.
struct Modules {
  std::int64_t count = 0;
  bool hold_code = false;      // at least one holds a kernel or a function
  PtxVersion lowest, highest;  // of PTX that holds code
};

struct CodeTargets {
  std::map<CodeTarget, Modules> sass, ptx;
  // Of intermediate code that has to be linked at run time (LTO-IR): whatever the architecture.
  std::int64_t others = 0;

  // True if any of it could run.
  bool HoldCode() const;
};

struct DeviceCode {
  enum class Kind {
    kNone,     // no file that could hold any, or one that cannot be read
    kLibrary,  // a shared library or a program
    kObject,   // an object, or an archive of objects: to be linked yet
    kCode      // device code alone: .cubin, .fatbin, .ptx
  };
  Kind kind = Kind::kNone;
  CodeTargets code;      // what the CUDA runtime loads
  CodeTargets unlinked;  // relocatable code, which a device linker has to link first
  // There are sections for device code, whether or not they hold any.
  bool has_sections = false;
  // Why this may not be all, as a clause: "a fatbin is cut off". Empty: it is all.
  std::string problem;
};

// Reads the headers of the file and of its device code. Small bodies are unpacked to see whether they hold
// code. `name` tells PTX, which is text without a mark, from other text by its ending.
DeviceCode ReadDeviceCode(const ByteSource& bytes, const std::string& name);

// The same of a file, which must be a regular one.
DeviceCode ReadDeviceCode(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_H_
