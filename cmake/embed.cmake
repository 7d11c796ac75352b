# oomplan_embed(TARGET STAGE FOLDER EXCEPT): the files under FOLDER, but not in its folder EXCEPT, as string literals in TARGET, found again by their path.
# The generated source defines `oomplan::STAGE::embedded_files`, declared in src/STAGE/embedded.hpp.
function(oomplan_embed target stage folder except)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_SOURCE_DIR}/${folder}/*.yaml")
  if(except)
    list(FILTER files EXCLUDE REGEX "^${except}/")
  endif()
  list(SORT files)
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/${folder}/" OUTPUT_VARIABLE paths)
  string(REPLACE "/" "_" name "${folder}")
  set(out "${PROJECT_BINARY_DIR}/generated/${target}/embedded_${name}.cpp")
  add_custom_command(
    OUTPUT "${out}"
    COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}/${folder}" "-DSTAGE=${stage}" "-DFILES=${files}" "-DOUT=${out}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    DEPENDS ${paths} "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    COMMENT "Embedding ${folder}/"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
