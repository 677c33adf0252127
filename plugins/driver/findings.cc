// What this plugin can find, with whose fault it is and what to do. Knows no way of finding it.
#include "driver/findings.h"

#include <cudnn_ci/check.hpp>

CCI_FINDING(
    cudnn_ci::kDriverLibraryMissing, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "no NVIDIA driver library (libcuda.so.1) in this container",
    "Start the container with --gpus all (Docker), the nvidia runtime class (Kubernetes) or CDI, and with "
    "NVIDIA_DRIVER_CAPABILITIES=compute,utility. Do not install libcuda in the image.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(
    cudnn_ci::kDriverStubLibrary, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the libcuda.so.1 that is loaded is the toolkit's link-time stub, not a driver",
    "Take the stubs directory out of LD_LIBRARY_PATH and /etc/ld.so.conf.d; for linking, LIBRARY_PATH is "
    "enough. Remove copies of the stub named libcuda.so.1.",
    "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html")
CCI_FINDING(
    cudnn_ci::kDriverLibraryUnloadable, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "libcuda.so.1 is there but cannot be loaded",
    "Reinstall the driver on the host, or repair what the container runtime mounts; the loader's message "
    "names the file.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html")
CCI_FINDING(cudnn_ci::kDriverBelowContract, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "the host's driver is outside what the matrix promises for its runners",
            "Update the driver of this runner, or take it out of the fleet.",
            "https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html")
CCI_FINDING(
    cudnn_ci::kDriverVersionUnknown, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "the matrix promises a driver version and nothing here tells which one runs",
    "Give the container the utility capability (NVIDIA_DRIVER_CAPABILITIES=compute,utility), which mounts "
    "libnvidia-ml.so.1.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(
    cudnn_ci::kDriverTooOldForToolkit, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the driver is of an older CUDA major than the image's toolkit",
    "Build the image on the CUDA major that the fleet's driver serves, raise runner.driver in the matrix and "
    "update the hosts, or (data-centre GPUs only) install the matching cuda-compat package.",
    "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html")
CCI_FINDING(cudnn_ci::kDriverModuleMismatch, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "the kernel module and the user-mode driver are of different versions",
            "Reboot the host or reload the nvidia modules, then recreate the container.",
            "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/index.html")
CCI_FINDING(
    cudnn_ci::kNoVisibleDevice, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER, "no GPU is visible to this process",
    "Correct CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES of the job, and pass the device nodes to the "
    "container.",
    "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables")
CCI_FINDING(
    cudnn_ci::kDriverCompatMismatch, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the user-mode driver in use does not fit the host's driver or GPU",
    "Remove the image's compat directory from LD_LIBRARY_PATH and /etc/ld.so.conf.d, or update the host's "
    "driver. Forward compatibility works on data-centre GPUs only, and never with a newer host driver.",
    "https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html")
CCI_FINDING(cudnn_ci::kFabricNotReady, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "the GPUs' NVLink fabric is not initialised",
            "Start nvidia-fabricmanager on the host, in the driver's own version.",
            "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html")
CCI_FINDING(cudnn_ci::kDeviceBusy, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER, "the GPU is busy or unavailable",
            "Another process holds the GPU in exclusive compute mode, or MIG is on without an instance: free "
            "the GPU, "
            "set the compute mode to default, or create an instance.",
            "https://docs.nvidia.com/deploy/nvidia-smi/index.html")
CCI_FINDING(
    cudnn_ci::kDriverUnknownError, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "the driver fails with an unknown error, most often because /dev/nvidia-uvm is unusable",
    "On the host run nvidia-modprobe -u -c=0 (or any CUDA program as root), then pass /dev/nvidia-uvm to the "
    "container.",
    "https://docs.nvidia.com/cuda/cuda-installation-guide-linux/index.html")
CCI_FINDING(
    cudnn_ci::kDriverInitFailed, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER, "the driver does not initialise",
    "Look up the code in the documentation of CUresult and the host's kernel log for NVRM and Xid lines.",
    "https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html")
CCI_FINDING(
    cudnn_ci::kTooFewGpus, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "fewer GPUs are visible than the matrix promises",
    "Run the job on a runner with enough GPUs, or request them from the scheduler.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(cudnn_ci::kComputeCapabilityOutsideContract, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "a GPU's compute capability is outside what the matrix promises",
            "Run the job on the promised GPUs, or change runner.compute_capability in the matrix.",
            "https://developer.nvidia.com/cuda-gpus")
CCI_FINDING(cudnn_ci::kCanaryFailed, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "a trivial kernel does not run right on this GPU",
            "Take the GPU out of service: look at the host's kernel log for Xid lines and run dcgmi diag.",
            "https://docs.nvidia.com/deploy/xid-errors/index.html")
