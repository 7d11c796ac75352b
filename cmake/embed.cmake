# oomplan_embed(TARGET STAGE FOLDER): the files under FOLDER as string literals in TARGET, found again by their path.
# The generated source defines `oomplan::STAGE::embedded_files`, declared in src/STAGE/embedded.hpp.
function(oomplan_embed target stage folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_SOURCE_DIR}/${folder}/*.yaml")
  list(SORT files)
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/${folder}/" OUTPUT_VARIABLE paths)
  set(out "${PROJECT_BINARY_DIR}/generated/${target}/embedded_${folder}.cpp")
  add_custom_command(
    OUTPUT "${out}"
    COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}/${folder}" "-DSTAGE=${stage}" "-DFILES=${files}" "-DOUT=${out}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    DEPENDS ${paths} "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake"
    COMMENT "Embedding ${folder}/"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
