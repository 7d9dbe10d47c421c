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

# fullbore_guest(TARGET): a library that is loaded into other people's processes. It needs libc alone, so the C driver
# links it and nothing of the C++ run time may creep in; tests read its NEEDED entries. Its folder says
# set(CMAKE_CXX_IMPLICIT_LINK_LIBRARIES ""), else CMake hands the C++ run time (and a sanitizer's, which is then always
# "needed") to the C driver.
function(fullbore_guest target)
  target_link_libraries(${target} PRIVATE fullbore_options)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-asynchronous-unwind-tables
                         -fno-sanitize=all)
  target_link_options(${target} PRIVATE -Wl,-z,now -Wl,--as-needed -fno-sanitize=all)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C LIBRARY_OUTPUT_DIRECTORY ${FULLBORE_PACKAGE_DIR}/lib)
endfunction()
