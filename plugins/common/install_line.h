// The one line of a Dockerfile that puts a package right. Pure functions over what is known of the package,
// but for PythonOf and CondaLine, which look at files. Whatever is not known, or would have to be quoted,
// leads to no line: one that is pasted must do what it says.
#ifndef CUDNN_CI_PLUGINS_COMMON_INSTALL_LINE_H_
#define CUDNN_CI_PLUGINS_COMMON_INSTALL_LINE_H_

#include <string>
#include <vector>

namespace cudnn_ci {

enum class Manager { kNone, kPip, kApt };

// A package, by the records of the manager that installed it.
struct InstalledPackage {
  Manager manager = Manager::kNone;
  std::string name, version;  // "nvidia-cudnn-cu13", "9.19.0.56"; "libcudnn9-cuda-13", "9.19.0.56-1"
  std::string python;         // of pip: the interpreter that has it; empty: not known, so there is no line
  bool pinned = false;  // of apt: another package asks for this very version, so there is none of another
};

// The same version again, all files of it:
// "RUN /opt/venv/bin/python -m pip install --force-reinstall --no-deps nvidia-cudnn-cu13==9.19.0.56".
std::string ReinstallLine(const InstalledPackage& package);

// The package of any version, with what it requires: "RUN /opt/venv/bin/python -m pip install nvidia-cublas".
std::string InstallLine(const InstalledPackage& package);

// The same of one version, or of those that begin alike, "8.*". Of pip alone.
std::string FreshLine(const InstalledPackage& package, const std::string& version);

// What the extras of a package bring, which stays of its version: "'onnxruntime-gpu[cuda,cudnn]==1.24.4'". Of
// pip alone.
std::string ExtrasLine(const InstalledPackage& package, const std::vector<std::string>& extras);

// Another release of the same major in its place, of which the packager's last number is not known: "9.20.0".
// None of an apt package whose versions name a CUDA too ("8.9.7.29-1+cuda12.2").
std::string ReleaseLine(const InstalledPackage& package, const std::string& release);

// Whatever lies in a range of the matrix, ">=9.12 <10". There is none for ranges of other forms and for those
// that leave the package's major; of apt, which knows no ranges, the lowest release of it.
std::string RangeLine(const InstalledPackage& package, const std::string& range);

// The package in the place of others that wrote into the same folder, which pip takes out first; with none of
// them it is installed as it is. Of pip alone.
std::string ReplaceLine(const InstalledPackage& package, const std::vector<std::string>& others);

// The package of conda-forge in a conda environment, of a version that may be the beginning of one; `again`:
// all files of it, though conda has it on record:
// "RUN /opt/conda/bin/conda install -y -p /opt/conda/envs/x -c conda-forge libcufft=11".
// The environment's own conda counts, then that of the installation around it; none without.
std::string CondaLine(const std::string& prefix, const std::string& name, const std::string& version,
                      bool again);

// The line, or one that does nothing else, followed by links ("libx.so.1.0 /y/libx.so.1", as of "ln -s") and
// by what makes the loader look into more folders:
// "RUN A && ln -s libx.so.1.0 /y/libx.so.1 && printf '%s\n' /z >> /etc/ld.so.conf.d/cuda-python.conf &&
// ldconfig".
std::string LineWithLinks(const std::string& line, const std::vector<std::string>& links,
                          const std::vector<std::string>& folders);

// "ENV NAME=VALUE".
std::string EnvironmentLine(const std::string& name, const std::string& value);

// The interpreter whose packages lie in this folder and which has pip: "/opt/venv/bin/python" of
// "/opt/venv/lib/python3.11/site-packages". Empty: there is none, or its packages are the distribution's to
// install. `root` is put before every path that is looked at.
std::string PythonOf(const std::string& site_packages, const std::string& root = {});

// A wheel of the folder "SITE-PACKAGES/nvidia/cudnn/lib"; `root` as of PythonOf.
InstalledPackage WheelIn(const std::string& folder, const std::string& name, const std::string& version,
                         const std::string& root = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_INSTALL_LINE_H_
