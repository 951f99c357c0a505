# Install rules: the shared library, the public headers, the CMake package (find_package(isthmus), target
# isthmus::isthmus) and the pkg-config file. Components: runtime (what runs), development (what compiles), python.
include(CMakePackageConfigHelpers)

if(NOT TARGET isthmus)
  return()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/isthmus)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set_target_properties(isthmus PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  INSTALL_RPATH ""
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/isthmus.map)
target_link_options(isthmus PRIVATE LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/isthmus.map)

install(TARGETS isthmus EXPORT isthmus-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/bindings/c/include/isthmus ${ISTHMUS_GENERATED_INCLUDE}/isthmus
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN *.h)
# The wheel has the library beside the extension module, which looks for it there.
if(SKBUILD)
  install(TARGETS isthmus LIBRARY DESTINATION isthmus COMPONENT python NAMELINK_SKIP EXCLUDE_FROM_ALL)
endif()

install(EXPORT isthmus-targets NAMESPACE isthmus:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/isthmus-config.cmake.in
  ${CMAKE_BINARY_DIR}/isthmus-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/isthmus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/isthmus-config.cmake ${CMAKE_BINARY_DIR}/isthmus-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH ISTHMUS_PC_PREFIX /prefix/${pkgconfig_dir} /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/isthmus.pc.in ${CMAKE_BINARY_DIR}/isthmus.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/isthmus.pc DESTINATION ${pkgconfig_dir} COMPONENT development)
