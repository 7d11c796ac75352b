# oomplan_embed(TARGET NAMESPACE FOLDER EXCEPT [BY_LINES REGEX]): the data files (YAML, JavaScript, CSS) under FOLDER, but not in
# its folder EXCEPT, as string literals in TARGET, found again by their path: YAML as what it says, but as it is written where the
# path below FOLDER matches REGEX.
# The generated source defines `oomplan::NAMESPACE::embedded_files` (include/oomplan/core/embedded.hpp).
function(oomplan_embed target namespace folder except)
  cmake_parse_arguments(EMBED "" "BY_LINES" "" ${ARGN})
  set(data yaml js css)
  list(TRANSFORM data PREPEND "${PROJECT_SOURCE_DIR}/${folder}/*.")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}" ${data})
  if(except)
    list(FILTER files EXCLUDE REGEX "^${except}/")
  endif()
  list(SORT files)
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/${folder}/" OUTPUT_VARIABLE paths)
  set(parsed ${files})
  list(FILTER parsed INCLUDE REGEX "[.]yaml$")
  if(EMBED_BY_LINES)
    list(FILTER parsed EXCLUDE REGEX "${EMBED_BY_LINES}")
  endif()
  set(written ${files})
  list(REMOVE_ITEM written ${parsed})
  string(REPLACE "/" "_" name "${folder}")
  set(out "${PROJECT_BINARY_DIR}/generated/${target}/embedded_${name}.cpp")
  get_filename_component(in "${out}" DIRECTORY)
  file(MAKE_DIRECTORY "${in}")
  if(NOT TARGET oomplan_embed_files)
    add_executable(oomplan_embed_files "${PROJECT_SOURCE_DIR}/cmake/embed_files.cpp")
    target_link_libraries(oomplan_embed_files PRIVATE oomplan_read oomplan_options)
    if(EMSCRIPTEN)
      target_link_options(oomplan_embed_files PRIVATE -sNODERAWFS=1 -sWASM_ASYNC_COMPILATION=0)  # Node runs it, on the disk.
    endif()
  endif()
  add_custom_command(
    OUTPUT "${out}"
    COMMAND oomplan_embed_files "${out}" ${namespace} "${PROJECT_SOURCE_DIR}/${folder}" ${parsed} -- ${written}
    DEPENDS ${paths} oomplan_embed_files
    COMMENT "Embedding ${folder}/"
    VERBATIM)
  set_source_files_properties("${out}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${out}")
endfunction()
