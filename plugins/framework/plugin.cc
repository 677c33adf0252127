// The framework plugin: what the image's own PyTorch, TensorFlow, JAX, ONNX Runtime, CTranslate2 and CuPy see
// and compute, each asked by the image's interpreter in a process of its own.
#include <cudnn_ci/check.hpp>

#include "framework/findings.h"

CCI_FINDING(
    cudnn_ci::kFrameworkPythonUnusable, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the Python interpreter used to test a framework cannot run a script",
    "Image owner: start the interpreter in the image by hand; look at PYTHONHOME, LD_LIBRARY_PATH and the "
    "virtual environment's base, or correct \"python\" in the matrix.",
    nullptr)
CCI_FINDING(cudnn_ci::kFrameworkImportFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a framework is installed and cannot be imported",
            "Image owner: the detail quotes Python and the loader. Install the package whose library "
            "is missing "
            "in the version that the framework asks for, and keep foreign folders out of LD_LIBRARY_PATH and "
            "PYTHONPATH.",
            nullptr)
CCI_FINDING(
    cudnn_ci::kFrameworkNoGpu, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a framework sees no GPU, though the driver runs a kernel on one",
    "Image owner: install the framework's build for CUDA (PyTorch: the index of a cuNNN; JAX: jax[cuda13]; "
    "TensorFlow: tensorflow[and-cuda]; onnxruntime-gpu), or fix what the end of the detail names.",
    nullptr)
CCI_FINDING(cudnn_ci::kFrameworkCudnnUnfit, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the cuDNN that a framework gets is older than the one it was built with, or of another major",
            "Image owner: take the folder that the detail names out of LD_LIBRARY_PATH, or install there the "
            "cuDNN that "
            "the framework was built with or a later minor release.",
            "https://docs.nvidia.com/deeplearning/cudnn/backend/latest/developer/forward-compatibility.html")
CCI_FINDING(cudnn_ci::kFrameworkCudaMismatch, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a framework for one CUDA major gets a cuDNN that was built for another",
            "Image owner: install the package nvidia-cudnn-cuNN of the framework's CUDA major and remove the "
            "others: they "
            "put their files into the same folder. Frameworks for two CUDA majors need an environment each.",
            nullptr)
CCI_FINDING(
    cudnn_ci::kFrameworkCudnnMixed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a framework's process has libraries of two cuDNN versions",
    "Image owner: keep only one of the two folders named in the detail, or take the one that is not the "
    "framework's own out of LD_LIBRARY_PATH.",
    nullptr)
CCI_FINDING(cudnn_ci::kFrameworkCrashed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a framework's process crashed or exited before it answered",
            "Image owner: the evidence ends with where Python was. A cuDNN that is damaged, incomplete or "
            "mixed of two "
            "versions ends a process this way, and so does a missing cuBLAS.",
            nullptr)
CCI_FINDING(cudnn_ci::kFrameworkTimedOut, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a framework did not answer within its time",
            "Image owner: the detail names where it was. If kernels are compiled there for a GPU that the "
            "build does not "
            "know, install a build that does; if it is only slow, raise \"timeout_s\" of the parameters, and "
            "of the entry.",
            nullptr)
CCI_FINDING(cudnn_ci::kFrameworkFailed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a framework cannot compute on the GPU",
            "Image owner: the detail has the exception. A cuDNN that lacks a library or is mixed of two "
            "versions is the usual "
            "cause; the checks of the cudnn plugin name it.",
            nullptr)
CCI_FINDING(cudnn_ci::kFrameworkWrongResult, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a framework computed wrong numbers",
            "Image owner: check whether conv.forward is right on the same GPU. If it is, the framework's "
            "build or its cuDNN is at fault: install others. If not, follow what that check says.",
            nullptr)
CCI_FINDING(
    cudnn_ci::kFrameworkWrongAttention, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a framework's attention computed wrong numbers",
    "Image owner: the detail names the implementation and the cuDNN. If it is cudnn's, the detail names the "
    "releases with a known fault and the one to take; attention.forward and attention.backward ask "
    "cuDNN itself. Until another is installed, keep the framework from using it: "
    "torch.backends.cuda.enable_cudnn_sdp(False) in PyTorch, implementation=\"xla\" in JAX. If it is "
    "another, install another build of the framework.",
    nullptr)
CCI_FINDING(
    cudnn_ci::kFrameworkCudnnForeign, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "a framework uses another cuDNN than the one that its packages bring",
    "Image owner: it works as long as that one is no older. If it is not meant, take its folder out of "
    "LD_LIBRARY_PATH.",
    nullptr)
CCI_FINDING(
    cudnn_ci::kFrameworkLibrariesMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a framework's library for CUDA needs libraries that are nowhere in the image",
    "Image owner: install what the detail names, of that major: onnxruntime-gpu[cuda,cudnn], or "
    "nvidia-cublas-cuNN and nvidia-cudnn-cuNN, or the toolkit and cuDNN of the system. Without them ONNX "
    "Runtime computes on the CPU, and CTranslate2 fails.",
    "https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html")
CCI_FINDING(
    cudnn_ci::kFrameworkCudnnAbsent, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
    "a framework finds no cuDNN, which only some of its models need",
    "Image owner: a model without a convolution does without (CTranslate2: translation and text generation). "
    "For one that has some (Whisper, wav2vec 2.0) install nvidia-cudnn-cuNN of the major that the detail "
    "names, or the system's cuDNN, and let the loader find it: the program fails at the first convolution "
    "otherwise.",
    "https://opennmt.net/CTranslate2/installation.html")
CCI_FINDING(cudnn_ci::kFrameworkDriverTooOld, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a framework is built for a CUDA major that the driver does not serve",
            "Image owner: install the framework's build for the CUDA major that the fleet's driver serves "
            "(PyTorch: the "
            "index of that cuNNN; JAX: jax[cuda12]). Or the owner of the runner updates the driver to the "
            "one that the "
            "detail names, or later; on data-centre GPUs the matching cuda-compat package serves as well.",
            "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html")
CCI_FINDING(cudnn_ci::kFrameworkDecoyTaken, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "another cuDNN on the loader's path takes the place of a framework's own",
            "Image owner: nothing is wrong until another cuDNN comes onto the loader's path, through a "
            "folder mounted from the host or a module's LD_LIBRARY_PATH; then versions mix. The loader "
            "searches LD_LIBRARY_PATH before a DT_RUNPATH and after a DT_RPATH, and does not search for a "
            "library that the program has already loaded by its path. Use a release of the framework that "
            "loads all of cuDNN by path, load it that way before the import, or keep "
            "LD_LIBRARY_PATH out of the image's programs.",
            "https://github.com/pytorch/pytorch/issues/188892")
CCI_FINDING(cudnn_ci::kFrameworkNeedsPreload, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "a framework finds its CUDA libraries only where a program loads them first",
            "Image owner: put the folders of the libraries on the loader's path (LD_LIBRARY_PATH, or "
            "/etc/ld.so.conf.d and ldconfig). Else each program has to load them: by "
            "onnxruntime.preload_dlls(), or by an import of PyTorch before. A program that does not load "
            "them computes on the CPU with ONNX Runtime, and fails with CTranslate2.",
            "https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html")
CCI_FINDING(cudnn_ci::kFrameworkWithoutCudnn, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "a framework computed its convolution without cuDNN",
            "Nothing to do: the result was right. It says nothing about the image's cuDNN.", nullptr)

CCI_PLUGIN("framework", "0.1.0", "what the image's own frameworks see and compute")
