# A wheel's reader of datasets: one library, which the module and the program oomplan-data share. All three lie in the
# package's folder, and find each other, and Arrow in the folder of pyarrow, from there, wherever the package is installed.
function(oomplan_beside_pyarrow target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../pyarrow" INSTALL_RPATH_USE_LINK_PATH OFF)
endfunction()

# What is used from outside has to be seen there; oomplan._core hides it again.
set_target_properties(oomplan_core oomplan_read oomplan_measure PROPERTIES CXX_VISIBILITY_PRESET default)
add_library(oomplan_reader SHARED $<TARGET_OBJECTS:oomplan_measure>)
target_link_libraries(oomplan_reader PRIVATE oomplan_measure oomplan_options)
# Named before the stages' own, so that of these only what it lacks is linked.
set(reader oomplan_reader)
target_link_libraries(oomplan-data PRIVATE ${reader})
foreach(target ${reader} oomplan-data)
  oomplan_beside_pyarrow(${target})
endforeach()
add_dependencies(oomplan_python oomplan-data)
install(TARGETS ${reader} oomplan-data LIBRARY DESTINATION oomplan RUNTIME DESTINATION oomplan)
