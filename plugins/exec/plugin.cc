// The exec plugin: a check that is a command of the image, written in a matrix instead of C++.
#include <cudnn_ci/check.hpp>

#include "findings.h"

CCI_FINDING(
    cudnn_ci::kCommandMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the command of an exec check cannot be started",
    "Image owner: install the program, make it executable, or correct \"argv\" in the matrix. A file that "
    "is there and still cannot be started lacks its interpreter or is built for another processor.",
    nullptr)
CCI_FINDING(
    cudnn_ci::kCommandExitStatus, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the command of an exec check ended with an unexpected exit status",
    "Image owner: read the command's output in the evidence, and run the case alone with the line under "
    "\"reproduce\".",
    nullptr)
CCI_FINDING(
    cudnn_ci::kCommandKilled, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the command of an exec check was ended by a signal",
    "Image owner: read the command's output in the evidence. SIGSEGV, SIGBUS and SIGILL come from a fault in "
    "the program, or from a library that is truncated or of the wrong version; SIGABRT means that the "
    "program "
    "gave up. SIGKILL and SIGTERM come from outside: find out what sends them.",
    nullptr)
CCI_FINDING(
    cudnn_ci::kCommandTimedOut, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the command of an exec check did not end within its time",
    "Image owner: read the command's output in the evidence. If it is only slow, raise \"timeout_s\" of the "
    "parameters, and of the entry where that is not larger.",
    nullptr)
CCI_FINDING(cudnn_ci::kCommandOutput, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the command of an exec check did not print what was expected",
            "Image owner: compare the pattern with the command's output in the evidence.", nullptr)
CCI_FINDING(
    cudnn_ci::kCommandLibrary, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "the command of an exec check did not use a library that it should use",
    "Image owner: the detail names the files of that name which were mapped; look at LD_LIBRARY_PATH, the "
    "run paths and the packages that bring their own copy.",
    nullptr)

CCI_PLUGIN("exec", "0.1.0", "checks that are commands of the image")
