# Cross compiling with zig's clang, its libc++ and its C libraries. From ci/bundle: CUDNN_CI_ZIG_FOLDER, which holds the
# wrappers zig-cc, zig-c++, zig-ar and zig-ranlib, and CUDNN_CI_ZIG_ARCH.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CUDNN_CI_ZIG_ARCH})
set(CMAKE_C_COMPILER ${CUDNN_CI_ZIG_FOLDER}/zig-cc)
set(CMAKE_CXX_COMPILER ${CUDNN_CI_ZIG_FOLDER}/zig-c++)
set(CMAKE_AR ${CUDNN_CI_ZIG_FOLDER}/zig-ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${CUDNN_CI_ZIG_FOLDER}/zig-ranlib CACHE FILEPATH "")
# Nothing of the machine that compiles may be found by chance: headers come from the folders that ci/bundle names.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CUDNN_CI_ZIG_FOLDER CUDNN_CI_ZIG_ARCH)
# CMake's own trials would link, for which zig compiles its libraries once more, and they would not be run anyway.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
