# oomplan_embed(TARGET NAMESPACE FOLDER EXCEPT): the data files (YAML, JavaScript, CSS) under FOLDER, but not in its folder EXCEPT, as string literals in TARGET, found again by their path.
# The generated source defines `oomplan::NAMESPACE::embedded_files` (include/oomplan/core/embedded.hpp).
function(oomplan_embed target namespace folder except)
  set(data yaml js css)
  list(TRANSFORM data PREPEND "${PROJECT_SOURCE_DIR}/${folder}/*.")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}" ${data})
  if(except)
    list(FILTER files EXCLUDE REGEX "^${except}/")
  endif()
  list(SORT files)
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/${folder}/" OUTPUT_VARIABLE paths)
  string(REPLACE "/" "_" name "${folder}")
  set(out "${PROJECT_BINARY_DIR}/generated/${target}/embedded_${name}.cpp")
  add_custom_command(
    OUTPUT "${out}"
    COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}/${folder}" "-DNAMESPACE=${namespace}" "-DFILES=${files}" "-DOUT=${out}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    DEPENDS ${paths} "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    COMMENT "Embedding ${folder}/"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
