// What image.symbols may find: whose fault it is and what to do.
#include "image/symbols/symbols_findings.h"

#include <cudnn_ci/check.hpp>

namespace cudnn_ci {
namespace {

CCI_FINDING(kLibraryMissingId, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a library that an extension module or a library of the image needs is not there",
            "Image owner: install the package that the detail names, in the version that the asking package "
            "requires; where the library is there and not found, put its folder into LD_LIBRARY_PATH.",
            nullptr)
CCI_FINDING(
    kLibraryOtherMajorId, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "an extension or a library was built for another major release of a library than the image has",
    "Image owner: install the build of the asking package for the CUDA major that the image has, or the "
    "library of the major that it was built for.",
    nullptr)
CCI_FINDING(
    kLibraryDamagedId, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a library that the loader takes cannot be loaded: it is cut off, empty or no library",
    "Image owner: install the package of the file again; look for a layer or a copy that was cut off, and "
    "for git-lfs pointers.",
    nullptr)
CCI_FINDING(
    kSymbolMissingId, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a symbol that an extension or a library asks for is in no library of its process",
    "Image owner: the two packages that the detail names do not go together. Install releases that were "
    "built for one another, the library's at least as new as the asking package was built with; build an "
    "extension of PyTorch again for the PyTorch of the image.",
    nullptr)
CCI_FINDING(
    kSymbolVersionMissingId, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a library lacks a version of its symbols that another file needs",
    "Image owner: the library in the detail is too old for the file that asks. Take a newer base image "
    "(glibc), a newer libstdc++, or an older build of the asking package.",
    nullptr)
CCI_FINDING(
    kCxxAbiMismatchId, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "an extension was built with the other C++ ABI (_GLIBCXX_USE_CXX11_ABI) than the library that it needs",
    "Image owner: install the build of the extension for the library's C++ ABI, or build it again with the "
    "value of torch.compiled_with_cxx11_abi().",
    "https://gcc.gnu.org/onlinedocs/libstdc++/manual/using_dual_abi.html")
CCI_FINDING(kLibraryShadowedId, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "of two copies of a library the loader takes the one that lacks what is asked for",
            "Image owner: take the copy that the detail names first out of the loader's way: out of "
            "LD_LIBRARY_PATH, or remove its package.",
            nullptr)
CCI_FINDING(kLibraryTwoProvidersId, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "one process can meet two different copies of a library; which one it gets depends on the order",
            "Image owner: keep one of the two, or take the folder of the other out of LD_LIBRARY_PATH.",
            nullptr)
CCI_FINDING(kSymbolsUndecidedId, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE, "symbols could not be judged",
            "Image owner: the detail says of which files and why.", nullptr)
CCI_FINDING(kLibraryUnusedUnresolvedId, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "libraries that no import leads to lack something",
            "Image owner: nothing, if what they are for is not used; else install what the detail names.",
            nullptr)

}  // namespace
}  // namespace cudnn_ci
