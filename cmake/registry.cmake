# Libraries that the system lacks, where pip builds, and all of a page's: headers and sources out of packages (registry.py,
# registry.json). Targets have the names that the rest of the build knows them by.
function(oomplan_fetch name out)
  execute_process(COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/registry.py" ${name} "${PROJECT_BINARY_DIR}/registry"
                  OUTPUT_VARIABLE folder RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${name} is not on this system, and its package cannot be fetched; what pip said stands above.")
  endif()
  message(STATUS "${name}: not on this system; taken from a package (cmake/registry.json)")
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

function(oomplan_headers_from_registry name target)
  oomplan_fetch(${name} folder)
  add_library(oomplan_registry_${name} INTERFACE)
  target_include_directories(oomplan_registry_${name} SYSTEM INTERFACE "${folder}")
  add_library(${target} ALIAS oomplan_registry_${name})
endfunction()

# Its static library is not made for modules. Every system that a wheel is for has libz.so.1 (the policy of manylinux counts
# on it), which takes the place of this one when the module is loaded.
function(oomplan_zlib_from_registry)
  if(EMSCRIPTEN)
    oomplan_fetch(zlib_sources folder)
    file(GLOB sources "${folder}/*.c")
    list(FILTER sources EXCLUDE REGEX "/gz[a-z]*[.]c$")  # of files, which are read by read
    add_library(oomplan_registry_zlib STATIC ${sources})
    target_include_directories(oomplan_registry_zlib SYSTEM PUBLIC "${folder}")
    add_library(PkgConfig::zlib ALIAS oomplan_registry_zlib)
    return()
  endif()
  if(APPLE)  # it is part of the system, with its header
    add_library(oomplan_registry_zlib INTERFACE)
    target_link_libraries(oomplan_registry_zlib INTERFACE z)
    add_library(PkgConfig::zlib ALIAS oomplan_registry_zlib)
    return()
  endif()
  oomplan_fetch(zlib folder)
  file(GLOB library "${folder}/lib*/libz.so.1")
  add_library(oomplan_registry_zlib INTERFACE)
  target_include_directories(oomplan_registry_zlib SYSTEM INTERFACE "${folder}/include")
  target_link_libraries(oomplan_registry_zlib INTERFACE "${library}")
  add_library(PkgConfig::zlib ALIAS oomplan_registry_zlib)
endfunction()

# Its sources: no package has it built, with headers.
function(oomplan_zstd_from_registry)
  oomplan_fetch(zstd folder)
  file(GLOB sources "${folder}/common/*.c" "${folder}/compress/*.c" "${folder}/decompress/*.c")
  add_library(oomplan_registry_zstd STATIC ${sources})
  target_compile_definitions(oomplan_registry_zstd PRIVATE ZSTD_DISABLE_ASM ZSTD_LEGACY_SUPPORT=0)
  set_target_properties(oomplan_registry_zstd PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  target_include_directories(oomplan_registry_zstd SYSTEM INTERFACE "${folder}")
  add_library(PkgConfig::zstd ALIAS oomplan_registry_zstd)
endfunction()

# Its sources, as a wheel's reader of datasets is to need no library of the system's. It is short loops, for speed.
function(oomplan_simdjson_from_registry)
  oomplan_fetch(simdjson folder)
  add_library(oomplan_registry_simdjson STATIC "${folder}/simdjson.cpp")
  target_compile_features(oomplan_registry_simdjson PRIVATE cxx_std_17)
  target_compile_options(oomplan_registry_simdjson PRIVATE -O2)
  set_target_properties(oomplan_registry_simdjson PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  target_include_directories(oomplan_registry_simdjson SYSTEM PUBLIC "${folder}")
  add_library(PkgConfig::simdjson ALIAS oomplan_registry_simdjson)
endfunction()

function(oomplan_xxhash_from_registry)
  oomplan_headers_from_registry(xxhash PkgConfig::xxhash)
endfunction()
