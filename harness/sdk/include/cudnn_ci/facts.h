/* Keys of the facts that cudnn-ci itself reads. A plugin that reports one of them keeps to its unit and
 * format; other keys are the plugin's own business and only shown. What is not known is not reported: an
 * empty or made-up value would be believed. C99. */
#ifndef CUDNN_CI_FACTS_H_
#define CUDNN_CI_FACTS_H_

/* The driver. Versions are digits and dots. */
/* As NVML, else the kernel module, else the name of libcuda's file has it: "580.65.06". */
#define CCI_FACT_DRIVER_VERSION "driver.version"
#define CCI_FACT_DRIVER_CUDA "driver.cuda"             /* highest CUDA version it supports, "13.0" */
#define CCI_FACT_DRIVER_SOURCE "driver.version.source" /* who told the version, in words: "NVML" */
#define CCI_FACT_DRIVER_LIBRARY "driver.library.path"  /* of libcuda.so.1, links resolved */
#define CCI_FACT_DRIVER_MODULE "driver.module_version" /* of the kernel module that is loaded */
#define CCI_FACT_DRIVER_NVML "driver.nvml.path"        /* of libnvidia-ml.so.1, links resolved */
/* Whole seconds for which the GPUs' fabric was waited for; not reported where it was ready. */
#define CCI_FACT_DRIVER_FABRIC_WAIT "driver.fabric_wait_s"

/* The libraries of the subject. */
#define CCI_FACT_TOOLKIT_VERSION "toolkit.version"   /* of the CUDA runtime, "13.0" */
#define CCI_FACT_TOOLKIT_PATH "toolkit.runtime.path" /* of the CUDA runtime, links resolved */
/* Every CUDA runtime that the loader finds: "13.0 PATH, 12.8 PATH", in words. */
#define CCI_FACT_TOOLKIT_ALL "toolkit.runtime.all"
#define CCI_FACT_CUDNN_VERSION "cudnn.version"     /* "9.14.0" */
#define CCI_FACT_CUDNN_CUDART "cudnn.cudart"       /* CUDA cuDNN was built for: "13", or "13.0" */
#define CCI_FACT_CUDNN_LIBRARIES "cudnn.libraries" /* "jit": a JIT-only package, without the legacy API */
#define CCI_FACT_CUDNN_PATH "cudnn.path"           /* of libcudnn.so.N, links resolved */
/* Every cuDNN in the image, numbered from 0: CCI_FACT_CUDNN_COPY, the number, and one of the following. One
 * that lies in no subject's directory of CCI_FACT_CUDNN_PATH is listed as not gated. */
#define CCI_FACT_CUDNN_COPY "cudnn.copy."
#define CCI_FACT_CUDNN_COPY_PATH ".path"       /* "DIR/libcudnn.so.9", DIR with links resolved */
#define CCI_FACT_CUDNN_COPY_VERSION ".version" /* "9.14.0" */
#define CCI_FACT_CUDNN_COPY_ORIGIN ".origin"   /* "Python package nvidia-cudnn-cu13 9.14.0.64", in words */
#define CCI_FACT_CUDNN_COPIES "cudnn.copies"   /* why there may be more of them, in words */

/* Before the name of an environment variable that may be shown: "env.LD_LIBRARY_PATH". */
#define CCI_FACT_ENVIRONMENT "env."

/* The visible GPUs, numbered from 0 in PCI order. */
#define CCI_FACT_GPU_COUNT "gpu.count" /* 0 to 256, each with a UUID; "0" when none can be used */
#define CCI_FACT_GPU_ERROR "gpu.error" /* why none can be used, one line */
/* CCI_FACT_GPU, the number, and one of the following: "gpu.0.uuid". */
#define CCI_FACT_GPU "gpu."
#define CCI_FACT_GPU_UUID ".uuid" /* as CUDA_VISIBLE_DEVICES takes it: "GPU-..." or "MIG-..." */
#define CCI_FACT_GPU_NAME ".name" /* the product's name */
#define CCI_FACT_GPU_COMPUTE_CAPABILITY ".compute_capability" /* "9.0" */
#define CCI_FACT_GPU_PCI_BUS_ID ".pci_bus_id"                 /* "0000:18:00.0" */
#define CCI_FACT_GPU_MEMORY_BYTES ".memory_bytes"             /* in all, decimal */
#define CCI_FACT_GPU_MEMORY_FREE_BYTES \
  ".memory_free_bytes" /* free before the run began, decimal; not inside MIG */
/* What holds its clocks down before the run begins, in words: "heat (software)". Not reported: nothing, or
 * unknown. */
#define CCI_FACT_GPU_SLOWED_BY ".slowed_by"
/* "default", "exclusive_process", "prohibited", ... */
#define CCI_FACT_GPU_COMPUTE_MODE ".compute_mode"

/* The specifications of all subjects of the run, each followed by a line's end. The harness tells them. */
#define CCI_FACT_RUN_SUBJECTS "run.subjects"

/* What a process may count on while several processes use one GPU. The harness tells them to such a
 * process and to no other; what a plugin reports under these keys is not passed on to it. */
#define CCI_FACT_SHARE_PROCESSORS "share.processors"       /* at least 1, decimal */
#define CCI_FACT_SHARE_DEVICE_MEMORY "share.device_memory" /* bytes, decimal */
#define CCI_FACT_SHARE_HOST_MEMORY "share.host_memory"     /* bytes, decimal */

/* Keys of the table of version facts, for host->compatibility. Versions are digits and dots. What the table
 * does not know has no entry; a release newer than the newest one that it knows is no fault. */
#define CCI_COMPATIBILITY_AS_OF "as_of" /* the day of the facts, "2026-11-20" */
/* Before a CUDA major: the lowest driver on which every toolkit of it runs, "driver_floor.12" -> "525.60.13"
 */
#define CCI_COMPATIBILITY_DRIVER_FLOOR "driver_floor."
/* Before a toolkit's version: the driver that comes with it, "toolkit_driver.13.0.2" -> "580.95.05" */
#define CCI_COMPATIBILITY_TOOLKIT_DRIVER "toolkit_driver."
#define CCI_COMPATIBILITY_DRIVER_BRANCHES "driver_branches" /* all that are known, rising: "450 455 460" */
/* Before a driver branch: the newest CUDA that it supports, "driver_branch.580" -> "13.0" */
#define CCI_COMPATIBILITY_DRIVER_BRANCH "driver_branch."
/* Before a cuda-compat package's version: the host's driver branches that it supports, "forward.13-0" -> "535
 * 570", or "none" */
#define CCI_COMPATIBILITY_FORWARD "forward."
/* Before a compute capability: the first toolkit that compiles for it, "first_toolkit.9.0" -> "11.8" */
#define CCI_COMPATIBILITY_FIRST_TOOLKIT "first_toolkit."
/* Compute capabilities of cards that servers have, rising: "7.0 7.5 8.0" */
#define CCI_COMPATIBILITY_CARDS "cards"
/* Before a CUDA version: the newest PTX ISA that it compiles, "ptx_isa.12.8" -> "8.7" */
#define CCI_COMPATIBILITY_PTX_ISA "ptx_isa."
/* Before a CUDA major, a dot, a number that counts from 0, and one of the following: "cudnn.cu12.0.from" */
#define CCI_COMPATIBILITY_CUDNN "cudnn.cu"
#define CCI_COMPATIBILITY_CUDNN_FROM ".from"         /* the first release of the row, "9.10.0" */
#define CCI_COMPATIBILITY_CUDNN_TO ".to"             /* the last one, "9.10.2" */
#define CCI_COMPATIBILITY_CUDNN_TOOLKITS ".toolkits" /* that they support, "12.8 12.9" */
#define CCI_COMPATIBILITY_CUDNN_DRIVER ".driver"     /* the lowest one */
#define CCI_COMPATIBILITY_CUDNN_LOWEST ".compute_capability_min"
#define CCI_COMPATIBILITY_CUDNN_HIGHEST ".compute_capability_max" /* with its own kernels */
/* Before a soname: the first cuDNN that has the library, "cudnn_library.libcudnn_ext.so.9" -> "9.22.0" */
#define CCI_COMPATIBILITY_CUDNN_LIBRARY "cudnn_library."
/* Regressions of libraries that are known: a number that counts from 0, and one of the following:
 * "known.0.id" */
#define CCI_COMPATIBILITY_KNOWN "known."
#define CCI_COMPATIBILITY_KNOWN_ID ".id"
/* How messages call the library, "NCCL", of other libraries than cuDNN, which .hits names too */
#define CCI_COMPATIBILITY_KNOWN_LIBRARY ".library"
#define CCI_COMPATIBILITY_KNOWN_WHAT ".what"     /* what it hits, in words */
#define CCI_COMPATIBILITY_KNOWN_EFFECT ".effect" /* wrong, overwrite, crash, failure, ... */
#define CCI_COMPATIBILITY_KNOWN_FIRST ".first"   /* the first release that has it; none: not known */
/* The last one that is known to have it, and the first one without it. Neither: all from the first on. */
#define CCI_COMPATIBILITY_KNOWN_LAST ".last"
#define CCI_COMPATIBILITY_KNOWN_FIXED ".fixed"
/* What it hits: "operation=forward dtype=float16,bfloat16 pointwise=false"; none: every convolution. One that
 * says what its reader does not know hits nothing. */
#define CCI_COMPATIBILITY_KNOWN_HITS ".hits"
#define CCI_COMPATIBILITY_KNOWN_SOURCE ".source"         /* an address, or words */
#define CCI_COMPATIBILITY_KNOWN_CONFIDENCE ".confidence" /* sure, likely, unsure */
#define CCI_COMPATIBILITY_NEWEST_TOOLKIT "newest.toolkit"
#define CCI_COMPATIBILITY_NEWEST_CUDNN "newest.cudnn"

/* What is known of packages, for host->compatibility: one of these and a number that counts from 0. The value
 * is the row as a JSON object in ASCII, with the fields that knowledge/README.md describes, in the order in
 * which rows count. */
#define CCI_KNOWLEDGE_LIBRARY "library."
#define CCI_KNOWLEDGE_PACKAGE "package."
#define CCI_KNOWLEDGE_FILE "file."
#define CCI_KNOWLEDGE_GPU_LIBRARY "gpu_library."
#define CCI_KNOWLEDGE_DRIVER_LIBRARY "driver_library."
#define CCI_KNOWLEDGE_FRAMEWORK "framework."
#define CCI_KNOWLEDGE_IMPORT "import."
#define CCI_KNOWLEDGE_FEATURE "feature."
#define CCI_KNOWLEDGE_USER "user."
#define CCI_KNOWLEDGE_NEED "need."
/* Its "code" is the text of the adapter, Python for an interpreter of the image. */
#define CCI_KNOWLEDGE_ADAPTER "adapter."
#define CCI_KNOWLEDGE_IMPLEMENTATION "implementation."
#define CCI_KNOWLEDGE_KERNEL_FAULT "kernel_fault."

#endif /* CUDNN_CI_FACTS_H_ */
