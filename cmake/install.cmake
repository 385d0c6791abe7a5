# cmake --install: headers, library, program, a CMake package (find_package(cairn)) and a pkg-config file (pkg-config cairn).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/cairn)

target_include_directories(cairn PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${header_folder}>)
install(TARGETS cairn EXPORT cairn-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET cairn_program)
    install(TARGETS cairn_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# What cairn.h includes, folder by folder, and nothing else.
install(FILES cairn.h DESTINATION ${header_folder})
file(STRINGS cairn.h public_headers REGEX "^#include \"")
foreach(line ${public_headers})
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" header ${line})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${header} DESTINATION ${header_folder}/${folder})
endforeach()
install(FILES core/backend.h core/update_state.h DESTINATION ${header_folder}/core) # included by those

install(EXPORT cairn-targets NAMESPACE cairn:: DESTINATION ${package_folder})
configure_package_config_file(cmake/cairn-config.cmake.in ${PROJECT_BINARY_DIR}/cairn-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairn-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cairn-config.cmake ${PROJECT_BINARY_DIR}/cairn-config-version.cmake DESTINATION ${package_folder})

# A static libcairn brings nothing along: whoever links it links what it stands on.
if(BUILD_SHARED_LIBS)
    set(pc_requires "")
    set(pc_libs "")
else()
    set(pc_requires "jansson libxxhash libexif zlib")
    if(JPEG_FOUND)
        string(APPEND pc_requires " libjpeg")
    endif()
    set(pc_libs "-ldnnl ${OpenMP_C_FLAGS} -pthread ")
    foreach(library ${CMAKE_DL_LIBS})
        string(APPEND pc_libs "-l${library} ")
    endforeach()
    install(FILES cmake/dependencies.cmake DESTINATION ${package_folder})
endif()
file(RELATIVE_PATH prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}") # --prefix may put it elsewhere
configure_file(cmake/cairn.pc.in ${PROJECT_BINARY_DIR}/cairn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
