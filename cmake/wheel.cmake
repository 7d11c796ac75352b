# Where pip builds: pyarrow and nanobind are those of the environment that it made for the build.
function(oomplan_find_module name out)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "import importlib.util as u; print(u.find_spec('${name}').submodule_search_locations[0])"
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

if(SKBUILD)
  find_package(Python 3.10 COMPONENTS Interpreter Development.Module REQUIRED)
  oomplan_find_module(pyarrow pyarrow)
  oomplan_find_module(nanobind nanobind)
  set(OOMPLAN_PYARROW "${pyarrow}" CACHE PATH "" FORCE)
  set(OOMPLAN_NANOBIND "${nanobind}/cmake" CACHE PATH "" FORCE)
  # The user's pyarrow has Arrow's libraries already.
  set(CMAKE_DISABLE_FIND_PACKAGE_Arrow ON)
  set(CMAKE_DISABLE_FIND_PACKAGE_Parquet ON)
endif()
