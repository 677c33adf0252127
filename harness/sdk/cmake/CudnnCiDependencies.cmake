# Third-party packages, by find_package first. Used in .cc files only.
include_guard(GLOBAL)
set(CUDNN_CI_HEADERS_DIR "" CACHE PATH "headers of nlohmann_json, CLI11, utf8cpp and Boost, instead of the system's packages")
if(CUDNN_CI_HEADERS_DIR)
  # For another C library than the system's: beside a package's headers in /usr/include lie those of the system's own.
  foreach(library nlohmann_json::nlohmann_json CLI11::CLI11 utf8::cpp Boost::headers)
    add_library(${library} INTERFACE IMPORTED)
    target_include_directories(${library} SYSTEM INTERFACE ${CUDNN_CI_HEADERS_DIR})
  endforeach()
else()
  find_package(nlohmann_json 3.11 REQUIRED)
  find_package(CLI11 2.1 REQUIRED)
  find_package(utf8cpp 3.2 REQUIRED)
  find_package(Boost 1.74 REQUIRED)   # headers only: Boost.DLL, Boost.Stacktrace
endif()
find_package(Threads REQUIRED)

# CUDA and cuDNN give headers only; their libraries are found at run time, by the checks. Without a toolkit the headers
# that ci/cuda-headers fetched serve.
set(fetched_headers $ENV{HOME}/.cache)
if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(fetched_headers $ENV{XDG_CACHE_HOME})
endif()
set(fetched_frontend ${fetched_headers}/cudnn-ci/cudnn-frontend/include)
string(APPEND fetched_headers /cudnn-ci/cuda-headers/include)
find_path(CUDNN_CI_CUDA_INCLUDE_DIR cuda.h HINTS ENV CUDA_HOME PATHS /usr/local/cuda ${fetched_headers} PATH_SUFFIXES include)
find_path(CUDNN_CI_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDNN_CI_CUDA_INCLUDE_DIR} PATHS /usr/include ${fetched_headers})
if(NOT CUDNN_CI_CUDA_INCLUDE_DIR OR NOT CUDNN_CI_CUDNN_INCLUDE_DIR)
  message(FATAL_ERROR "The plugins need the headers of a CUDA toolkit (cuda.h: ${CUDNN_CI_CUDA_INCLUDE_DIR}) and of "
    "cuDNN (cudnn.h: ${CUDNN_CI_CUDNN_INCLUDE_DIR}). Install them or set CUDA_HOME, "
    "CUDNN_CI_CUDA_INCLUDE_DIR, CUDNN_CI_CUDNN_INCLUDE_DIR.")
endif()
# Headers alone, of the release that ci/cuda-headers --frontend names.
find_path(CUDNN_CI_FRONTEND_INCLUDE_DIR cudnn_frontend.h PATHS ${fetched_frontend} NO_DEFAULT_PATH)
if(NOT CUDNN_CI_FRONTEND_INCLUDE_DIR)
  message(FATAL_ERROR "The attention plugin needs cudnn-frontend's headers, which are not in ${fetched_frontend}. "
    "Run ci/deps or ci/cuda-headers --frontend, or set CUDNN_CI_FRONTEND_INCLUDE_DIR.")
endif()
add_library(cudnn_ci_cuda_headers INTERFACE)
target_include_directories(cudnn_ci_cuda_headers SYSTEM INTERFACE
  ${CUDNN_CI_CUDA_INCLUDE_DIR} ${CUDNN_CI_CUDNN_INCLUDE_DIR})

# Libraries that are compiled from their sources, which ci/deps unpacks into .deps: Debian packages tinyxml2 as a shared
# library only, and lz4 and zstd for this processor and this C library only. The tree we install must need none.
foreach(library tinyxml2:tinyxml2.cpp lz4:lz4.c zstd:zstd.h)
  string(REPLACE ":" ";" library ${library})
  list(GET library 0 name)
  list(GET library 1 file)
  string(TOUPPER ${name} upper)
  set(CUDNN_CI_${upper}_DIR ${PROJECT_SOURCE_DIR}/.deps/${name} CACHE PATH "directory of ${file} and what belongs to it")
  if(NOT EXISTS ${CUDNN_CI_${upper}_DIR}/${file})
    message(FATAL_ERROR "${name}'s sources are not in ${CUDNN_CI_${upper}_DIR}. Run ci/deps, or set CUDNN_CI_${upper}_DIR.")
  endif()
endforeach()
add_library(cudnn_ci_tinyxml2 STATIC EXCLUDE_FROM_ALL ${CUDNN_CI_TINYXML2_DIR}/tinyxml2.cpp)
target_compile_definitions(cudnn_ci_tinyxml2 PRIVATE _LARGEFILE64_SOURCE)   # fseeko64, which musl has only so
target_include_directories(cudnn_ci_tinyxml2 SYSTEM PUBLIC ${CUDNN_CI_TINYXML2_DIR})

# Decoders for plugins and for what the executable carries: no name of theirs is seen from outside, as the image may bring its own.
file(GLOB zstd_sources ${CUDNN_CI_ZSTD_DIR}/common/*.c ${CUDNN_CI_ZSTD_DIR}/decompress/*.c)
add_library(cudnn_ci_decoders STATIC EXCLUDE_FROM_ALL ${CUDNN_CI_LZ4_DIR}/lz4.c ${zstd_sources})
target_compile_definitions(cudnn_ci_decoders PRIVATE ZSTD_DISABLE_ASM ZSTD_LEGACY_SUPPORT=0)
# Every run of the single file waits for it.
target_compile_options(cudnn_ci_decoders PRIVATE $<$<CONFIG:Release>:-O2>)
target_include_directories(cudnn_ci_decoders SYSTEM PUBLIC ${CUDNN_CI_LZ4_DIR} ${CUDNN_CI_ZSTD_DIR})
set_target_properties(cudnn_ci_decoders PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)

if(CUDNN_CI_BUILD_TESTS)
  find_package(GTest 1.11 REQUIRED)
endif()
