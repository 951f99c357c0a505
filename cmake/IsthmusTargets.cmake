# How every target of Isthmus is made: options, one function per kind of target, nothing globbed.
option(ISTHMUS_DEVELOPER_MODE "Tests, warnings as errors" OFF)
option(ISTHMUS_BUILD_TORCH "Build the PyTorch shim against the torch that Python finds" OFF)
option(ISTHMUS_CUDA "The CUDA device" OFF)
set(ISTHMUS_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (address,undefined or thread)")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(ISTHMUS_CUDA)
  message(FATAL_ERROR "ISTHMUS_CUDA=ON, but this version of Isthmus has no CUDA device: only CPU memory is supported. "
    "Configure without it (preset release).")
endif()

# Programs and libraries lie together, as in an installed tree: `isthmus` executes the `isthmus-lab` beside it.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(ISTHMUS_CCACHE ccache)
if(ISTHMUS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ISTHMUS_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ISTHMUS_CCACHE})
endif()

include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)
set(CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})

# The venv that scripts/build makes, so that `cmake --preset` by hand finds the same torch.
if(NOT Python3_EXECUTABLE AND EXISTS ${CMAKE_SOURCE_DIR}/.venv/bin/python)
  set(Python3_EXECUTABLE ${CMAKE_SOURCE_DIR}/.venv/bin/python)
endif()
if(ISTHMUS_DEVELOPER_MODE OR ISTHMUS_BUILD_TORCH)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
endif()

# What every target of ours shares. -ffp-contract=off: a result must have the same bytes on every instruction set.
# -ffile-prefix-map: neither messages nor the compiler cache depend on the folder of the checkout.
add_library(isthmus_build INTERFACE)
target_include_directories(isthmus_build INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
target_compile_options(isthmus_build INTERFACE -ffp-contract=off -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_link_libraries(isthmus_build INTERFACE Threads::Threads)
if(ISTHMUS_DEVELOPER_MODE)
  target_compile_options(isthmus_build INTERFACE -Wall -Wextra -Wpedantic -Werror
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wno-missing-field-initializers)
endif()
if(ISTHMUS_SANITIZE)
  target_compile_options(isthmus_build INTERFACE -fsanitize=${ISTHMUS_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  target_link_options(isthmus_build INTERFACE -fsanitize=${ISTHMUS_SANITIZE})
endif()

# Programs lie in bin/; in the wheel, among the scripts, which pip puts where the environment has its commands.
function(isthmus_install_program target)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(SKBUILD)
    install(TARGETS ${target} RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python EXCLUDE_FROM_ALL)
  endif()
endfunction()

# isthmus_library(NAME base SOURCES a.cc ... DEPENDS isthmus_base ...)  ->  static library isthmus_<NAME>
function(isthmus_library)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPENDS" ${ARGN})
  add_library(isthmus_${ARG_NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(isthmus_${ARG_NAME} PUBLIC isthmus_build ${ARG_DEPENDS})
endfunction()

# isthmus_test(NAME status_test SOURCES status_test.cc DEPENDS isthmus_base LABELS unit [TIMEOUT 60] [ARGS ...])
# One GoogleTest program, one ctest entry.
function(isthmus_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SOURCES;DEPENDS;LABELS;ARGS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(ISTHMUS_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 3")
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE isthmus_build ${ARG_DEPENDS} GTest::gtest_main GTest::gmock)
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} ${ARG_ARGS})
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  # Worlds of threads are what the sanitizers of scripts/test run: they reach every layer.
  if("world" IN_LIST ARG_LABELS)
    if(NOT TARGET thread_worlds)
      add_custom_target(thread_worlds)
    endif()
    add_dependencies(thread_worlds ${ARG_NAME})
  endif()
endfunction()

# isthmus_python_test(NAME ddp_test SOURCE ddp_test.py LABELS integration [TIMEOUT 60])
# One pytest file, one ctest entry, run by the Python that configuration found; -rs prints each skip's reason.
function(isthmus_python_test)
  cmake_parse_arguments(ARG "" "NAME;SOURCE;TIMEOUT" "LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${ARG_NAME}
    COMMAND ${Python3_EXECUTABLE} -m pytest -q -rs -p no:cacheprovider ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE})
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# isthmus_program_test(NAME lab_job_test SOURCE lab_job_test.py LABELS lab TIMEOUT 300 [ARGS soak])
# A Python program that runs ours: it finds them in CLI_PROGRAM, LAB_PROGRAM and BENCH_PROGRAM, and ends with 77, and its
# reason, where the machine has no TUN device or gives no namespaces. Those of the lab run one at a time: they measure.
function(isthmus_program_test)
  cmake_parse_arguments(ARG "" "NAME;SOURCE;TIMEOUT" "LABELS;ARGS" ${ARGN})
  add_test(NAME ${ARG_NAME} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE} ${ARG_ARGS})
  set(programs CLI_PROGRAM=$<TARGET_FILE:isthmus_cli> LAB_PROGRAM=$<TARGET_FILE:isthmus-lab>
    BENCH_PROGRAM=$<TARGET_FILE:isthmus-bench>)
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "${programs}")
  if("lab" IN_LIST ARG_LABELS)
    set_tests_properties(${ARG_NAME} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
