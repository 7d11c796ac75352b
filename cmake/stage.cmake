# oomplan_stage(NAME [LINKS stage...] [PRIVATE_LIBS lib...] [REGISTRY folder...] [EMBED folder [EXCEPT folder]])
# The target oomplan_NAME from every .cpp under src/NAME. Only stages in LINKS are on its include path, by their public
# headers in include/oomplan; a stage's own headers are on nobody else's.
# REGISTRY: each src/NAME/<folder>/<x>.cpp, or <x>/derive.cpp, defines `<folder>::<x>`; the generated
# registry/<folder>.inc lists them all.
# EMBED: every file of <folder> but those in its EXCEPT goes into the program (embed.cmake).
function(oomplan_stage name)
  cmake_parse_arguments(STAGE "" "EMBED;EXCEPT" "LINKS;PRIVATE_LIBS;REGISTRY" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
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
