# fullbore_library(NAME SOURCES a.cc ... DEPENDS b c): one folder of src/ as a static library.
function(fullbore_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(fullbore_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(fullbore_${name} PUBLIC fullbore_options ${ARG_DEPENDS})
endfunction()

# fullbore_test(NAME SOURCES a_test.cc ... DEPENDS x): the unit tests of one folder as one program, label "unit".
function(fullbore_test name)
  if(NOT FULLBORE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE FULLBORE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit)
endfunction()
