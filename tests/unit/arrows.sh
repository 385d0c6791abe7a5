#!/bin/bash
# Reads every #include of the source tree and fails on an arrow that points up, on a system header outside core/os_posix*.c, on a device's
# name where none belongs, and on a file over 500 lines. Then seeds one fault of each kind into a small tree and sees it caught.
set -euo pipefail
export LC_ALL=C

rules=$(cat <<'AWK'
function fault(text) { print file ":" FNR ": " text; faults++ }
function starts(text, list,   i, n, part) {
    n = split(list, part, " ")
    for (i = 1; i <= n; i++) if (index(text, part[i]) == 1) return 1
    return 0
}
BEGIN {
    # What a room may include by quotes, besides files of its own. A program (cli, tests) may include anything.
    may["core"] = "core/"
    may["optim"] = "core/ optim/"
    may["data"] = "core/ data/"
    may["layers"] = "core/ layers/"
    may["models"] = "core/ layers/ models/"
    may["train"] = "core/ layers/ models/ optim/ data/ train/"
    may["backends"] = "core/ backends/backends.h"
    may["samples"] = "cairn.h"
    # Headers in angle brackets: C11's, and those of the libraries in cmake/dependencies.cmake.
    n = split("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic " \
              "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype", c11, " ")
    for (i = 1; i <= n; i++) standard[c11[i] ".h"] = 1
    libraries = "jansson.h xxhash.h ini.h popt.h jpeglib.h jerror.h zlib.h libexif/ stb/"
    devices = "oneapi/ dnnl omp.h immintrin.h cpuid.h cuda cudnn cublas nvrtc nvml"
}
FNR == 1 {
    file = substr(FILENAME, 3)
    room = file ~ /\// ? substr(file, 1, index(file, "/") - 1) : ""
    own = ""
    allowed = room in may ? may[room] : ""
    if (room == "backends" && split(file, part, "/") > 2) { # backends/<name>/... : also its own folder
        own = part[1] "/" part[2] "/"
        allowed = allowed " " own
    } else if (room == "backends")
        allowed = allowed " backends/cuda_hardware.h" # what the plug-in's place in the table asks of the machine
    c = file ~ /\.(c|h|cu|cuh)$/
}
FNR == 501 { fault("more than 500 lines: a file is one noun") }
!c { next }
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    if (room in may && !starts(part[2], allowed)) fault("\"" part[2] "\" is an arrow that " (own ? own : room "/") " may not have")
}
/^[ \t]*#[ \t]*include[ \t]*</ {
    header = $0
    sub(/^[^<]*</, "", header)
    sub(/>.*/, "", header)
    if (file ~ /^core\/os_posix(_[a-z]+)?\.c$/ || header in standard || starts(header, libraries)) next
    if (own != "" && starts(header, devices)) next
    if (starts(header, devices)) fault("<" header "> belongs in a backend's own folder")
    else fault("<" header "> is neither C11 nor a known library: the system is asked through core/os.h only")
}
room ~ /^(layers|models|optim|data|train)$/ {
    word = toupper($0)
    if (word ~ /^[ \t]*#[ \t]*(IF|IFDEF|IFNDEF|ELIF)[ \t].*(CUDA|CUDNN|CUBLAS|ONEDNN|DNNL|GPU|_CPU|BACKEND)/)
        fault("a device's name in a condition of the preprocessor")
    if (word ~ /CAIRN_BACKEND_(REF|CPU|CUDA)/) fault("a backend by name")
}
END { exit faults > 0 }
AWK
)

# All sources under the folder $1, faults on stdout.
read_tree() {
    (cd "$1" && find . -path './build*' -prune -o -path './.git' -prune -o -path './tests/*/data' -prune -o -path './tests/data' -prune -o \
        -type f \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.py' -o -name '*.cmake' -o -name CMakeLists.txt \) \
        -print0 | sort -z | xargs -0 awk "$rules")
}

status=0
read_tree "$CAIRN_SOURCE" || status=1

tree=$CAIRN_BUILD/tests/scratch/arrows
# Puts the line $2 into the file $1 of a fresh tree and wants a fault with the text $3; with none, no fault at all.
seed() {
    rm -rf "$tree"
    mkdir -p "$tree/core" "$tree/layers" "$(dirname "$tree/$1")"
    printf '#include "core/status.h"\n#include <stdio.h>\n' >"$tree/core/status.c"
    printf '%b\n' "$2" >"$tree/$1"
    local said
    said=$(read_tree "$tree" || true)
    if [ -z "${3-}" ] && [ -z "$said" ]; then return; fi
    if [ -n "${3-}" ] && [[ $said == "$1:"*"$3"* ]]; then return; fi
    echo "FAILED: '$2' in $1 gave '${said}', want '${3-}'"
    status=1
}
seed core/a.c '#include "layers/net.h"' 'is an arrow that core/ may not have'
seed core/a.c '#  include\t"backends/backends.h"' 'is an arrow'
seed optim/a.c '#include "layers/net.h"' 'is an arrow'
seed data/a.h '#include "train/trainer.h"' 'is an arrow'
seed layers/a.c '#include "models/models.h"' 'is an arrow'
seed models/a.c '#include "optim/optimizer.h"' 'is an arrow'
seed train/a.c '#include "backends/backends.h"' 'is an arrow'
seed train/a.c '#include "cli/options.h"' 'is an arrow'
seed backends/cpu/a.c '#include "backends/ref/ops.h"' 'is an arrow that backends/cpu/ may not have'
seed backends/cpu/a.c '#include "layers/layer.h"' 'is an arrow'
seed backends/backends.c '#include "backends/cpu/cpu.h"' 'is an arrow'
seed samples/a.c '#include "core/tensor.h"' 'is an arrow'
seed data/a.c '#include <pthread.h>' 'neither C11 nor a known library'
seed tests/unit/a.c '#include <sys/stat.h>' 'neither C11 nor a known library'
seed layers/a.c '#include <oneapi/dnnl/dnnl.h>' "belongs in a backend's own folder"
seed layers/a.c '#ifdef CAIRN_CUDA' "a device's name"
seed train/a.c 'extern const cairn_backend cairn_backend_cpu;' 'a backend by name'
seed cli/a.c "$(printf 'x\\n%.0s' {1..501})" 'more than 500 lines'
seed core/os_posix.c '#include <unistd.h>'
seed core/os_posix_files.c '#include <unistd.h>'
seed backends/cpu/a.c '#include "backends/cpu/cpu.h"\n#include <omp.h>'
seed train/a.c '#include "models/models.h"\n#include <jansson.h>'
seed cli/a.c '#include "cairn.h"\n#include "backends/backends.h"'
seed samples/a.c '#include "cairn.h"\n#include <stb/stb_image.h>'
seed tests/unit/a.c "$(printf 'x\\n%.0s' {1..499})"
exit $status
