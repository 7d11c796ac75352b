# Where pip builds: nanobind and pyarrow are those of the environment that it made for the build, and what is built needs
# no library of the system's but libc and its kin.
set(of_pip OFF)
if(SKBUILD)  # scikit-build-core says "2", which option() takes for OFF
  set(of_pip ON)
endif()
option(OOMPLAN_WHEEL "Build what a wheel has: the program and the Python package, and nothing that needs the system" ${of_pip})

# oomplan_find_module(NAME OUT): the folder of a Python package; "" where there is none.
function(oomplan_find_module name out)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "import importlib.util as u; s = u.find_spec('${name}'); print(s.submodule_search_locations[0] if s else '')"
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

if(OOMPLAN_WHEEL)
  find_package(Python 3.10 COMPONENTS Interpreter Development.Module REQUIRED)
  oomplan_find_module(nanobind nanobind)
  oomplan_find_module(pyarrow pyarrow)
  set(OOMPLAN_NANOBIND "${nanobind}/cmake" CACHE PATH "" FORCE)
  set(OOMPLAN_PYARROW "${pyarrow}" CACHE PATH "" FORCE)
  # The user's pyarrow has Arrow's libraries already.
  set(CMAKE_DISABLE_FIND_PACKAGE_Arrow ON)
  set(CMAKE_DISABLE_FIND_PACKAGE_Parquet ON)
  # What a module does not use of its libraries is left out of it.
  add_compile_options(-ffunction-sections -fdata-sections)
  if(APPLE)
    add_link_options(LINKER:-dead_strip)
  else()
    add_link_options(LINKER:--gc-sections)
  endif()
endif()
