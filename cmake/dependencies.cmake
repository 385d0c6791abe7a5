# Libraries Cairn stands on. Package names are Debian's and Ubuntu's; ./quickstart and ./check install them.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
find_package(dnnl REQUIRED CONFIG)                             # libdnnl-dev: convolution and matrix products on the CPU
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)    # libjansson-dev: JSON
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)   # libxxhash-dev: checksums
pkg_check_modules(inih REQUIRED IMPORTED_TARGET inih)          # libinih-dev: configuration files
pkg_check_modules(popt REQUIRED IMPORTED_TARGET popt)          # libpopt-dev: command lines
pkg_check_modules(exif REQUIRED IMPORTED_TARGET libexif)       # libexif-dev: orientation of photos
find_path(STB_INCLUDE_DIR stb/stb_image.h REQUIRED)            # libstb-dev: PNG, BMP, GIF, PNM
find_package(JPEG)                                             # libjpeg-dev (libjpeg-turbo): JPEG; stb_image where it is missing
find_package(ZLIB REQUIRED)                                    # zlib1g-dev: check sums of PNG chunks
