# <isthmus/version.h>, generated from project(VERSION): the only place where the version is written.
# Whoever includes it links isthmus_version; it is installed beside the other public headers.
set(ISTHMUS_GENERATED_INCLUDE ${CMAKE_BINARY_DIR}/generated/include)
configure_file(${CMAKE_SOURCE_DIR}/cmake/version.h.in ${ISTHMUS_GENERATED_INCLUDE}/isthmus/version.h @ONLY)
add_library(isthmus_version INTERFACE)
target_include_directories(isthmus_version INTERFACE $<BUILD_INTERFACE:${ISTHMUS_GENERATED_INCLUDE}>)
