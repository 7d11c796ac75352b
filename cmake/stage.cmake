# oomplan_stage(NAME [LINKS stage...] [PRIVATE_LIBS lib...] [REGISTRY folder...] [EMBED folder [EXCEPT folder]]
#               [KIND kind...])
# The target oomplan_NAME from every .cpp under src/NAME. Only stages in LINKS are on its include path, by their public
# headers in include/oomplan; a stage's own headers are on nobody else's.
# REGISTRY: each src/NAME/<folder>/<x>.cpp, or <x>/derive.cpp, defines `<folder>::<x>`; the generated
# registry/<folder>.inc lists them all.
# EMBED: every file of <folder> but those in its EXCEPT goes into the program (embed.cmake).
# KIND: as oomplan_compiled_as has it.
# OOMPLAN_LEFT_OUT: files that this build goes without.
function(oomplan_stage name)
  cmake_parse_arguments(STAGE "" "EMBED;EXCEPT" "LINKS;PRIVATE_LIBS;REGISTRY;KIND" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
  foreach(path IN LISTS OOMPLAN_LEFT_OUT)
    list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/${path}")
  endforeach()
  if(NOT sources)
    # A stage that has no code yet must not stop the others from building.
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${name}/empty.cpp" CONTENT "" @ONLY)
    set(sources "${PROJECT_BINARY_DIR}/generated/${name}/empty.cpp")
  endif()
  add_library(oomplan_${name} STATIC ${sources})
  list(TRANSFORM STAGE_LINKS PREPEND oomplan_ OUTPUT_VARIABLE links)
  target_include_directories(oomplan_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include")
  target_include_directories(oomplan_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src/${name}")
  target_link_libraries(oomplan_${name} PUBLIC ${links} PRIVATE ${STAGE_PRIVATE_LIBS} oomplan_options)
  oomplan_compiled_as(oomplan_${name} "${STAGE_KIND}")
  oomplan_in_batches(${name} "${sources}")
  foreach(folder IN LISTS STAGE_REGISTRY)
    oomplan_registry(${name} ${folder})
  endforeach()
  if(STAGE_EMBED)
    oomplan_embed(oomplan_${name} ${name} ${STAGE_EMBED} "${STAGE_EXCEPT}")
  endif()
endfunction()

# Generates registry/<folder>.inc: one line `OOMPLAN_ENTRY(x)` a file, in the order of names.
function(oomplan_registry name folder)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/${folder}/*.cpp"
       "${PROJECT_SOURCE_DIR}/src/${name}/${folder}/*/derive.cpp")
  foreach(path IN LISTS OOMPLAN_LEFT_OUT)
    list(REMOVE_ITEM files "${PROJECT_SOURCE_DIR}/${path}")
  endforeach()
  set(lines "")
  foreach(path IN LISTS files)
    get_filename_component(entry "${path}" NAME_WE)
    if(entry STREQUAL "derive")
      get_filename_component(entry "${path}" DIRECTORY)
      get_filename_component(entry "${entry}" NAME)
    endif()
    string(APPEND lines "OOMPLAN_ENTRY(${entry})\n")
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${name}/registry/${folder}.inc" CONTENT "${lines}" @ONLY)
  target_include_directories(oomplan_${name} PRIVATE "${PROJECT_BINARY_DIR}/generated/${name}")
endfunction()

# The standard library's headers, read once for all targets that are compiled alike, not in each file, where they are half
# of the compiler's work.
set(OOMPLAN_PRECOMPILED <algorithm> <array> <charconv> <cstdint> <cstring> <functional> <map> <memory> <optional> <set>
                        <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)

# oomplan_compiled_as(TARGET KIND): how TARGET is compiled, by its KIND: a list of -O3 (in release builds, small ones too),
# QUICK (the same, but not in small ones), COLD (what runs little: fast to compile under the sanitizers, whose checks are
# what an optimizer works at longest) and TEST (fast to compile, and with GoogleTest's headers). Targets of one kind share
# what is precompiled.
function(oomplan_compiled_as target kind)
  if(NOT OOMPLAN_SANITIZE)
    list(REMOVE_ITEM kind COLD)
  endif()
  oomplan_compile_flags(${target} "${kind}")
  if(NOT OOMPLAN_PCH)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "oomplan_precompiled;${kind}" owner)
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${owner}.cpp" CONTENT "" @ONLY)
    add_library(${owner} OBJECT "${PROJECT_BINARY_DIR}/generated/${owner}.cpp")
    target_link_libraries(${owner} PRIVATE oomplan_options)
    oomplan_compile_flags(${owner} "${kind}")
    target_precompile_headers(${owner} PRIVATE ${OOMPLAN_PRECOMPILED})
    if("TEST" IN_LIST kind)
      target_link_libraries(${owner} PRIVATE GTest::gtest GTest::gmock)
      target_precompile_headers(${owner} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

function(oomplan_compile_flags target kind)
  if("-O3" IN_LIST kind)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,MinSizeRel>:-O3>)
    if(EMSCRIPTEN)
      target_compile_options(${target} PRIVATE -O2 -finline-functions)  # Its -Os inlines nothing.
    endif()
  elseif("QUICK" IN_LIST kind)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
  elseif("COLD" IN_LIST kind)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O0>)
  elseif("TEST" IN_LIST kind)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O0>)
    # No module links a test: programs and what is precompiled for them get the compiler's own default alike.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
endfunction()
