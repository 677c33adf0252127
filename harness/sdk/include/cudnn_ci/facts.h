/* Keys of the facts that cudnn-ci itself reads. A plugin that reports one of them keeps to its unit and
 * format; other keys are the plugin's own business and only shown. What is not known is not reported: an
 * empty or made-up value would be believed. C99. */
#ifndef CUDNN_CI_FACTS_H_
#define CUDNN_CI_FACTS_H_

/* The driver. Versions are digits and dots. */
/* As NVML, else the kernel module, else the name of libcuda's file has it: "580.65.06". */
#define CCI_FACT_DRIVER_VERSION "driver.version"
#define CCI_FACT_DRIVER_CUDA "driver.cuda" /* highest CUDA version it supports, "13.0" */

/* The libraries of the subject. */
#define CCI_FACT_TOOLKIT_VERSION "toolkit.version" /* of the CUDA runtime, "13.0" */
#define CCI_FACT_CUDNN_VERSION "cudnn.version"     /* "9.14.0" */
#define CCI_FACT_CUDNN_CUDART "cudnn.cudart"       /* CUDA cuDNN was built for: "13", or "13.0" */
#define CCI_FACT_CUDNN_PATH "cudnn.path"           /* of libcudnn.so.N, links resolved */

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
/* "default", "exclusive_process", "prohibited", ... */
#define CCI_FACT_GPU_COMPUTE_MODE ".compute_mode"

#endif /* CUDNN_CI_FACTS_H_ */
