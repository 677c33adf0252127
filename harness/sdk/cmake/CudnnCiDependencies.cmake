# Third-party packages, by find_package first. Used in .cc files only.
include_guard(GLOBAL)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(utf8cpp 3.2 REQUIRED)
find_package(Boost 1.74 REQUIRED)   # headers only: Boost.DLL
find_package(Threads REQUIRED)

# CUDA and cuDNN give headers only; their libraries are found at run time, by the checks.
find_path(CUDNN_CI_CUDA_INCLUDE_DIR cuda.h HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include)
find_path(CUDNN_CI_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDNN_CI_CUDA_INCLUDE_DIR} PATHS /usr/include)
if(NOT CUDNN_CI_CUDA_INCLUDE_DIR OR NOT CUDNN_CI_CUDNN_INCLUDE_DIR)
  message(FATAL_ERROR "The plugins need the headers of a CUDA toolkit (cuda.h: ${CUDNN_CI_CUDA_INCLUDE_DIR}) and of "
    "cuDNN (cudnn.h: ${CUDNN_CI_CUDNN_INCLUDE_DIR}). Install them or set CUDA_HOME, "
    "CUDNN_CI_CUDA_INCLUDE_DIR, CUDNN_CI_CUDNN_INCLUDE_DIR.")
endif()
add_library(cudnn_ci_cuda_headers INTERFACE)
target_include_directories(cudnn_ci_cuda_headers SYSTEM INTERFACE
  ${CUDNN_CI_CUDA_INCLUDE_DIR} ${CUDNN_CI_CUDNN_INCLUDE_DIR})

# tinyxml2: Debian packages a shared library only, and the tree we install must not need one. Its two
# source files are unpacked by ci/deps into .deps/tinyxml2.
set(CUDNN_CI_TINYXML2_DIR ${PROJECT_SOURCE_DIR}/.deps/tinyxml2 CACHE PATH "directory of tinyxml2.h and tinyxml2.cpp")
if(NOT EXISTS ${CUDNN_CI_TINYXML2_DIR}/tinyxml2.cpp)
  message(FATAL_ERROR "tinyxml2's sources are not in ${CUDNN_CI_TINYXML2_DIR}. Run ci/deps, or set CUDNN_CI_TINYXML2_DIR.")
endif()
add_library(cudnn_ci_tinyxml2 STATIC ${CUDNN_CI_TINYXML2_DIR}/tinyxml2.cpp)
target_include_directories(cudnn_ci_tinyxml2 SYSTEM PUBLIC ${CUDNN_CI_TINYXML2_DIR})

if(CUDNN_CI_BUILD_TESTS)
  find_package(GTest 1.11 REQUIRED)
endif()
