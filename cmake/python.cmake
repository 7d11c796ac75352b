# Whether oomplan._native, the Python module, is built: OOMPLAN_PYTHON.
set(OOMPLAN_NANOBIND "${PROJECT_SOURCE_DIR}/.deps/nanobind/cmake" CACHE PATH "The folder cmake/ of nanobind")
set(OOMPLAN_PYTHON OFF)
if(OOMPLAN_DATA AND OOMPLAN_ARROW_WHEEL AND EXISTS "${OOMPLAN_NANOBIND}/nanobind-config.cmake")
  if(NOT Python_EXECUTABLE)
    find_program(Python_EXECUTABLE python3)
  endif()
  find_package(Python 3.10 COMPONENTS Interpreter Development.Module QUIET)
  set(OOMPLAN_PYTHON ${Python_FOUND})
endif()
if(SKBUILD AND NOT OOMPLAN_PYTHON)
  message(FATAL_ERROR "The Python module needs Python 3.10 with its headers, and libsimdjson-dev, libxxhash-dev and "
                      "pkg-config (or run scripts/setup).")
elseif(NOT OOMPLAN_PYTHON)
  message(STATUS "The Python module is left out: it needs the pyarrow wheel, nanobind (${OOMPLAN_NANOBIND}) and "
                 "python3-dev. scripts/setup brings them.")
endif()
