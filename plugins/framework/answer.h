// What the script said, as values. Lines of JSON, one for each thing as it became known: what a process that
// died had said before is whole. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_ANSWER_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_ANSWER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

// A framework by its metadata.
struct FrameworkPackage {
  std::string origin;                     // the file that would be imported
  std::string distribution;               // "torch", "jax-cuda13-plugin"; empty: no metadata
  std::string version;                    // "2.11.0+cu130"
  std::vector<std::string> requirements;  // of NVIDIA's packages: "nvidia-cudnn-cu13==9.19.0.56; ..."
  std::string cuda;                       // "13.0"; "none": built without; empty: unknown
  // Its library that needs CUDA's, where it leaves it to the loader to find them; empty: none.
  std::string native;
};

// A Python package of cuDNN.
struct CudnnPackageInfo {
  std::string name, version;  // "nvidia-cudnn-cu13", "9.19.0.56"
  std::string folder;         // of its libraries, links followed; empty: unknown
  std::optional<bool> own;    // whether the libraries there are still those that this package brought
};

struct Computed {
  std::string mode;  // "benchmark"
  std::map<std::string, std::vector<double>> arrays;
  std::string not_a_number;  // "dx[3] is nan"; empty: all are finite numbers
};

struct Answer {
  std::string problem;                               // why a line is no answer; empty: all are
  std::string python, executable;                    // "3.11.7"; empty: the script did not get that far
  std::string step;                                  // where it was last
  int steps = 0;                                     // how many it has begun
  bool ended = false;                                // it said that it had come to its end
  std::string absent;                                // the module that is not there
  std::map<std::string, FrameworkPackage> packages;  // of those that are there
  // The other frameworks of the interpreter, where this one's package is for the CPU by its name; else empty.
  std::map<std::string, FrameworkPackage> packages_beside;
  std::vector<CudnnPackageInfo> cudnn_packages;
  std::vector<std::string> library_folders;  // in which packages have libraries of CUDA

  std::optional<std::string> imported;  // the module's own version; none: it was not imported
  std::string built_cuda, built_cudnn;  // "13.0", "9.19.0"; empty: none, or not known
  bool built_hip = false;               // for AMD's GPUs
  std::string loaded_cudnn;             // by the framework's own words
  std::optional<int> devices;
  std::string device_name;
  bool preloaded = false;           // its libraries were found only after it was asked to load them
  std::string failed_at;            // the step of the last error
  std::vector<std::string> errors;  // exceptions with their causes: "ImportError: ... <- OSError: ..."
  std::vector<Computed> results;
  std::vector<std::string>
      refused;  // what the framework itself says that it cannot do: "attention, cudnn: ..."
  std::vector<std::string> mapped;        // libraries of NVIDIA in its memory
  std::string cudnn_file, cudnn_version;  // the cuDNN in its memory, by its own words: "9.19.0"
  int cudnn_cuda = 0;                     // the CUDA major that it was built for; 0: unknown

  std::string nccl_file;              // the NCCL in its memory; empty: none that is a library of its own
  int nccl_version = 0;               // as ncclGetVersion has it, 22809; 0: unknown
  std::string lacks;                  // what collectives need and it has not: "torch.distributed with NCCL"
  std::vector<std::string> left_out;  // collectives that its compiler has taken out
  std::map<int, int> rank_ends;       // of the leader of several: how a rank's process ended, signals below 0

  // Empty: none.
  std::string LastError() const { return errors.empty() ? "" : errors.back(); }
};

// Reads a file that the script wrote. Never fails: what cannot be read is `problem`. A last line that was cut
// off is no problem.
Answer ReadAnswer(const std::string& path);

// The same of its text.
Answer ParseAnswer(const std::string& text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_ANSWER_H_
