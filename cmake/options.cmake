# The one target that carries language level, warnings and sanitizers for all of our own code.
option(OOMPLAN_TESTS "Build the tests" ON)
option(OOMPLAN_BENCH "Build the programs in bench/" ON)
include(CMakeDependentOption)
cmake_dependent_option(OOMPLAN_WATCH "Build `oomplan run`, which needs Linux" ON "CMAKE_SYSTEM_NAME STREQUAL Linux" OFF)
option(OOMPLAN_WERROR "Make warnings errors; the presets do" OFF)
option(OOMPLAN_PCH "Precompile the standard library's headers" ON)
option(OOMPLAN_BATCHES "Compile a stage's files several at a time (batches.cmake)" ON)
option(OOMPLAN_FUZZ "Build the fuzz targets with libFuzzer (needs clang)" OFF)
set(OOMPLAN_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (address,undefined)")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
include(GNUInstallDirs)

add_library(oomplan_options INTERFACE)
target_compile_features(oomplan_options INTERFACE cxx_std_20)
target_compile_options(oomplan_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       $<$<BOOL:${OOMPLAN_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Its -Wrestrict sees an overlap in any optimized "literal" + std::string (GCC bug 105651), and
  # -Wmaybe-uninitialized a use of members not yet made on the way out of an exception in an aggregate's initializer.
  target_compile_options(oomplan_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
  if(OOMPLAN_PCH)
    # The same overlap by other names, where string's code comes out of a precompiled header.
    target_compile_options(oomplan_options INTERFACE -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  endif()
endif()
if(OOMPLAN_BATCHES)
  # What one file of a batch defines is no other file's: a class may have members of private ones, and a local variable the
  # name of another file's constant.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(oomplan_options INTERFACE -Wno-subobject-linkage -Wno-shadow -Wshadow=local)
  else()
    target_compile_options(oomplan_options INTERFACE -Wno-shadow)
  endif()
endif()
if(EMSCRIPTEN OR APPLE)
  # Their libc++ may be older than the code (docs/page.md).
  target_compile_options(oomplan_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include\ ${PROJECT_SOURCE_DIR}/cmake/libcxx.hpp>)
endif()
if(EMSCRIPTEN)
  # Exceptions as browsers know them.
  target_compile_options(oomplan_options INTERFACE -fwasm-exceptions)
  target_link_options(oomplan_options INTERFACE -fwasm-exceptions -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=8MB)
endif()
if(OOMPLAN_SANITIZE)
  target_compile_options(oomplan_options INTERFACE -fsanitize=${OOMPLAN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(oomplan_options INTERFACE -fsanitize=${OOMPLAN_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND OOMPLAN_SANITIZE MATCHES "address" AND NOT OOMPLAN_FUZZ)
    # One runtime for programs and for the module that a Python without sanitizers loads.
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                    OUTPUT_VARIABLE OOMPLAN_ASAN_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(folder "${OOMPLAN_ASAN_RUNTIME}" DIRECTORY)
    target_link_options(oomplan_options INTERFACE -shared-libasan "LINKER:-rpath,${folder}")
  endif()
endif()
if(OOMPLAN_FUZZ)
  target_compile_options(oomplan_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
