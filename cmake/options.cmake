# The one target that carries language level, warnings and sanitizers for all of our own code.
option(OOMPLAN_TESTS "Build the tests" ON)
option(OOMPLAN_BENCH "Build the programs in bench/" ON)
option(OOMPLAN_FUZZ "Build the fuzz targets with libFuzzer (needs clang)" OFF)
set(OOMPLAN_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (address,undefined)")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(oomplan_options INTERFACE)
target_compile_features(oomplan_options INTERFACE cxx_std_20)
target_compile_options(oomplan_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Its -Wrestrict sees an overlap in any optimized "literal" + std::string (GCC bug 105651), and
  # -Wmaybe-uninitialized a use of members not yet made on the way out of an exception in an aggregate's initializer.
  target_compile_options(oomplan_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(OOMPLAN_SANITIZE)
  target_compile_options(oomplan_options INTERFACE -fsanitize=${OOMPLAN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(oomplan_options INTERFACE -fsanitize=${OOMPLAN_SANITIZE})
endif()
if(OOMPLAN_FUZZ)
  target_compile_options(oomplan_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
