# cudnn_ci_add_plugin(conv SOURCES conv.cc ... [LINK targets...]) builds conv.cci.so: self-contained, exporting
# the plugin symbol alone.
include_guard(GLOBAL)
set(CUDNN_CI_PLUGIN_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/plugin.map)

function(cudnn_ci_add_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name}_plugin MODULE ${ARG_SOURCES})
  set_target_properties(${name}_plugin PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} SUFFIX ".cci.so" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${CUDNN_CI_PLUGIN_EXPORTS})
  target_link_libraries(${name}_plugin PRIVATE CudnnCi::sdk ${ARG_LINK} ${CMAKE_DL_LIBS})
  target_link_options(${name}_plugin PRIVATE -Wl,--version-script=${CUDNN_CI_PLUGIN_EXPORTS} -Wl,-z,relro,-z,now)
  if(NOT CUDNN_CI_SANITIZE)
    target_link_options(${name}_plugin PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  # check.hpp is C++17; a plugin in C, in a project without C++, is as welcome.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(CXX IN_LIST languages)
    target_compile_features(${name}_plugin PRIVATE cxx_std_17)
  endif()
endfunction()
