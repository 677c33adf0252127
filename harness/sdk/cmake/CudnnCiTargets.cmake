# Settings of our own targets. Third-party code never gets them.
include_guard(GLOBAL)

function(cudnn_ci_configure target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wimplicit-fallthrough
    # GCC 12 sees overlapping copies in "literal" + std::string (its bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<BOOL:${CUDNN_CI_WERROR}>:-Werror>)
  if(CUDNN_CI_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

# Sources of the current folder whose file-local names are also those of other sources of their target: CUDNN_CI_UNITY
# compiles them one at a time.
function(cudnn_ci_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# One static library per layer: cudnn_ci_add_layer(model SOURCES a.cc b.cc LINK cci_base nlohmann_json::nlohmann_json)
# creates cci_model. Headers are included as "model/plan/plan.h".
function(cudnn_ci_add_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(cci_${name} STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_include_directories(cci_${name} PUBLIC ${PROJECT_SOURCE_DIR}/harness)
  target_link_libraries(cci_${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE})
  cudnn_ci_configure(cci_${name})
endfunction()

# What names no symbols carries no demangler.
add_library(cudnn_ci_no_demangler OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/harness/base/no_demangler.cc)
set_target_properties(cudnn_ci_no_demangler PROPERTIES POSITION_INDEPENDENT_CODE ON)
cudnn_ci_configure(cudnn_ci_no_demangler)

# The harness loads nothing, so that nothing of the image can run inside it: neither its libraries nor what
# LD_PRELOAD names. A sanitizer's runtime cannot be linked so.
function(cudnn_ci_static target)
  if(CUDNN_CI_SANITIZE)
    return()
  endif()
  target_link_libraries(${target} PRIVATE cudnn_ci_no_demangler)
  target_link_options(${target} PRIVATE -static-pie -Wl,--fatal-warnings -Wl,--gc-sections -Wl,-z,relro,-z,now)
endfunction()

# Worker and plugins run inside images whose libstdc++ may be missing, older or replaced: they
# carry their own and need only glibc's libraries. A sanitizer's runtime brings the shared libstdc++
# and must be visible to the plugins, so a sanitized build does without.
function(cudnn_ci_self_contained target)
  if(CUDNN_CI_SANITIZE)
    return()
  endif()
  target_link_libraries(${target} PRIVATE cudnn_ci_no_demangler)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/harness/sdk/cmake/executable.map -Wl,--gc-sections -Wl,-z,relro,-z,now)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/harness/sdk/cmake/executable.map)
endfunction()

# A plugin that is shipped: cudnn_ci_add_plugin's arguments; built into the stage and installed with the tree. It declares
# the findings of knowledge/findings/NAME.json, whose ids are in NAME/findings.h.
function(cudnn_ci_add_shipped_plugin name)
  cudnn_ci_add_plugin(${name} ${ARGN})
  set(made ${CUDNN_CI_GENERATED}/plugins/${name})
  cudnn_ci_findings(${name} ${made}/findings.h ${made}/findings.cc)
  target_sources(${name}_plugin PRIVATE ${made}/findings.cc)
  target_include_directories(${name}_plugin PRIVATE ${CUDNN_CI_GENERATED}/plugins)
  cudnn_ci_configure(${name}_plugin)
  if(NOT CUDNN_CI_SANITIZE)
    target_link_options(${name}_plugin PRIVATE -Wl,--gc-sections)
  endif()
  if(NOT "cudnn_ci_compute" IN_LIST ARGN)  # which names kernels
    target_link_libraries(${name}_plugin PRIVATE cudnn_ci_no_demangler)
  endif()
  set_target_properties(${name}_plugin PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CUDNN_CI_STAGE}/plugins)
  install(TARGETS ${name}_plugin LIBRARY DESTINATION plugins)
endfunction()
