# Headers, library, program, CMake package and pkg-config file.
