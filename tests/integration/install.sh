# What cmake --install puts down is enough to build and run a program against, by pkg-config and by CMake.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"

passes cmake --install "$CAIRN_BUILD" --prefix "$PWD/prefix"
libdir=$(dirname "$(find prefix -name 'libcairn.so' | head -n 1)")
[ -n "$libdir" ] || fail "no libcairn.so was installed"
foreign=$(nm -D --defined-only "$libdir/libcairn.so" | awk '$3 !~ /^cairn_/ { print $3 }')
same "$foreign" ""
passes prefix/bin/cairn --version
contains "$out" "cairn "

cat >program.c <<'C'
#include "cairn.h"
int main(void)
{
    cairn_device *device = NULL;
    cairn_net *net = NULL;
    if (cairn_device_open("ref", &(cairn_device_options){0}, &device) != CAIRN_OK) return 1;
    if (cairn_model_create("lenet", NULL, 10, NULL, &net) != CAIRN_OK) return 1;
    printf("%s %s %lld\n", cairn_version(), cairn_device_backend_name(device), (long long)cairn_net_classes(net));
    cairn_net_destroy(net);
    cairn_device_close(device);
    return 0;
}
C
cat >CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.22)
project(program LANGUAGES C)
find_package(cairn REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE cairn::cairn)
C
export CMAKE_GENERATOR=Ninja # a fresh machine has no make
export PKG_CONFIG_PATH=$PWD/$libdir/pkgconfig
# shellcheck disable=SC2046 # flags are words
passes cc -std=c11 program.c $(pkg-config --cflags --libs cairn) -o by_pkg_config
LD_LIBRARY_PATH=$libdir passes ./by_pkg_config
contains "$out" "ref 10"
passes cmake -S . -B by_cmake "-DCMAKE_PREFIX_PATH=$PWD/prefix"
passes cmake --build by_cmake
passes by_cmake/program
contains "$out" "ref 10"

# A static libcairn comes with the libraries it stands on.
passes cmake -S "$CAIRN_SOURCE" -B static -DBUILD_SHARED_LIBS=OFF -DCAIRN_TESTS=OFF
contains "$(cat static/cairn.pc)" "Requires: jansson"
contains "$(cat static/cairn.pc)" "-lcairn -ldnnl -fopenmp"
finish
