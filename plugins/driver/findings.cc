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
    cudnn_ci::kDriverLibraryOffPath, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the driver's library (libcuda.so.1) was mounted into this container, and the loader does not look there",
    "Put the folder that the detail names on the image's loader path: into LD_LIBRARY_PATH, or into a file "
    "of "
    "/etc/ld.so.conf.d followed by ldconfig, as the nvidia/cuda images do.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html")
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
CCI_FINDING_WITH_COMMAND(cudnn_ci::kFabricNotReady, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
                         "the GPUs' NVLink fabric is not initialised",
                         "Start nvidia-fabricmanager on the host, in the driver's own version.",
                         "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
                         CCI_WHERE_HOST, "systemctl enable --now nvidia-fabricmanager")
CCI_FINDING(cudnn_ci::kDeviceBusy, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER, "the GPU is busy or unavailable",
            "Another process holds the GPU in exclusive compute mode, or MIG is on without an instance: free "
            "the GPU, "
            "set the compute mode to default, or create an instance.",
            "https://docs.nvidia.com/deploy/nvidia-smi/index.html")
CCI_FINDING_WITH_COMMAND(
    cudnn_ci::kDriverUnknownError, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "the driver fails with an unknown error, most often because /dev/nvidia-uvm is unusable",
    "On the host run nvidia-modprobe -u -c=0 (or any CUDA program as root), then pass /dev/nvidia-uvm to the "
    "container.",
    "https://docs.nvidia.com/cuda/cuda-installation-guide-linux/index.html", CCI_WHERE_HOST,
    "nvidia-modprobe -u -c=0")
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
CCI_FINDING_WITH_COMMAND(
    cudnn_ci::kCanaryFailed, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "a trivial kernel does not run right on this GPU",
    "Take the GPU out of service: look at the host's kernel log for Xid lines and run dcgmi diag.",
    "https://docs.nvidia.com/deploy/xid-errors/index.html", CCI_WHERE_HOST, "dcgmi diag -r 3")
CCI_FINDING(
    cudnn_ci::kComputeCapabilityNotMounted, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "only the driver's management part (NVML) was mounted, not the part that computes (libcuda.so.1)",
    "Set NVIDIA_DRIVER_CAPABILITIES=compute,utility for this container, or leave the variable out.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(cudnn_ci::kDeviceNodeDenied, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "the GPU's device nodes are there and may not be opened",
            "Recreate the container. If it happens again while containers run: create the /dev/char links on "
            "the host (nvidia-ctk system create-dev-char-symlinks --create-all) or use CDI. As a user other "
            "than root: give it the group of the nodes.",
            "https://github.com/NVIDIA/nvidia-docker/issues/1730")
CCI_FINDING_WITH_COMMAND(
    cudnn_ci::kUvmNodeUnusable, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "/dev/nvidia-uvm, which CUDA needs beside the GPUs' nodes, is missing or cannot be used",
    "On the host run nvidia-modprobe -u -c=0 (or any CUDA program as root), then recreate the container "
    "with /dev/nvidia-uvm.",
    "https://docs.nvidia.com/cuda/cuda-installation-guide-linux/index.html", CCI_WHERE_HOST,
    "nvidia-modprobe -u -c=0")
CCI_FINDING(cudnn_ci::kMigWithoutInstance, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "MIG is on and no instance exists, so there is nothing to compute on",
            "Create GPU and compute instances on the host (nvidia-smi mig -cgi ... -C), or switch MIG off.",
            "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/index.html")
CCI_FINDING(cudnn_ci::kMpsUnreachable, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "the MPS server that CUDA is told to use does not accept this process",
            "Start nvidia-cuda-mps-control for this user, mount its pipe directory, or take "
            "CUDA_MPS_PIPE_DIRECTORY out of the environment.",
            "https://docs.nvidia.com/deploy/mps/index.html")
CCI_FINDING(cudnn_ci::kDeviceMemoryHeld, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
            "too little device memory is free for a context: other processes hold it",
            "End what holds the memory, give the job a GPU of its own, or run it when the GPU is free.",
            "https://docs.nvidia.com/deploy/nvidia-smi/index.html")
CCI_FINDING(
    cudnn_ci::kImageRequirementUnsatisfied, CCI_SEVERITY_ERROR, CCI_BLAME_RUNNER,
    "the host does not have what the image says it needs (NVIDIA_REQUIRE_...)",
    "Run the image on a host with a newer driver, or build it on a CUDA that this fleet's driver serves.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(
    cudnn_ci::kImageRequiresMore, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "the image asks for more of its host (NVIDIA_REQUIRE_...) than its toolkit needs",
    "A container runtime that looks at the variable starts no container on such a host. Set it to what the "
    "image "
    "needs.",
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html")
CCI_FINDING(cudnn_ci::kNewerThanVersionTable, CCI_SEVERITY_WARNING, CCI_BLAME_UNDETERMINED,
            "a release is newer than the version facts, and was judged without them",
            "Update cudnn-ci, or name a newer table with --compatibility.", "")
CCI_FINDING(
    cudnn_ci::kDriverCompatUnsupported, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "the cuda-compat library in use works here, over a host driver for which it is not supported",
    "Take the compat directory out of LD_LIBRARY_PATH and /etc/ld.so.conf.d, or update the host's driver.",
    "https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html")
CCI_FINDING(
    cudnn_ci::kVisibleDevicesCut, CCI_SEVERITY_WARNING, CCI_BLAME_RUNNER,
    "CUDA_VISIBLE_DEVICES names something that is not a GPU here; CUDA ignores that entry and all after it",
    "Correct the variable in the job.",
    "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables")
CCI_FINDING(cudnn_ci::kFabricWasSlow, CCI_SEVERITY_WARNING, CCI_BLAME_RUNNER,
            "the GPUs' NVLink fabric was not ready when the run began",
            "Start jobs only after nvidia-fabricmanager on the host is up.",
            "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html")
CCI_FINDING(cudnn_ci::kUncorrectedMemoryErrors, CCI_SEVERITY_WARNING, CCI_BLAME_RUNNER,
            "the GPU has counted memory errors that it could not correct",
            "Drain the host and reset the GPU; if they recur, have it replaced.",
            "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html")
CCI_FINDING(cudnn_ci::kMemoryRepairPending, CCI_SEVERITY_WARNING, CCI_BLAME_RUNNER,
            "a part of the GPU's memory is broken and not repaired yet",
            "Drain the host and reset the GPU; if a row cannot be remapped, have it replaced.",
            "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html")
CCI_FINDING(cudnn_ci::kXidLogged, CCI_SEVERITY_WARNING, CCI_BLAME_RUNNER,
            "the kernel's log has hardware errors of the GPU since the host started",
            "Look the numbers up, and drain the host if they recur.",
            "https://docs.nvidia.com/deploy/xid-errors/index.html")
CCI_FINDING_WITH_COMMAND(
    cudnn_ci::kPersistenceOff, CCI_SEVERITY_NOTE, CCI_BLAME_RUNNER,
    "persistence mode is off: the driver takes seconds to start whenever no program has been using it",
    "Run nvidia-persistenced on the host.", "https://docs.nvidia.com/deploy/driver-persistence/index.html",
    CCI_WHERE_HOST, "systemctl enable --now nvidia-persistenced")
CCI_FINDING(cudnn_ci::kExclusiveComputeMode, CCI_SEVERITY_NOTE, CCI_BLAME_RUNNER,
            "the GPU takes one process at a time (exclusive compute mode)",
            "Set the compute mode to default (nvidia-smi -i GPU -c 0; without -i of every GPU of the host) "
            "where several are wanted.",
            "https://docs.nvidia.com/deploy/nvidia-smi/index.html")
CCI_FINDING(cudnn_ci::kMigModePending, CCI_SEVERITY_NOTE, CCI_BLAME_RUNNER,
            "MIG will be switched at the GPU's next reset", "Reset the GPU when it is free.",
            "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/index.html")
CCI_FINDING(
    cudnn_ci::kDebuggingVariables, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "variables are set that are meant for debugging, and change how every program here uses CUDA or cuDNN",
    "Unset them in the image or the job unless they are intended. CUDA_FORCE_PTX_JIT breaks libraries "
    "without PTX, CUDA_DISABLE_PTX_JIT those without code for this GPU; the others cost time.",
    "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables")
CCI_FINDING(cudnn_ci::kComputeCacheUnusable, CCI_SEVERITY_NOTE, CCI_BLAME_RUNNER,
            "the driver cannot cache the kernels it compiles, and recompiles them in every program",
            "Set CUDA_CACHE_PATH to a folder that this user may write, or ignore this: only programs that "
            "bring no code for this GPU start more slowly.",
            "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables")
