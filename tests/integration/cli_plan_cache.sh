# Where timed choices of algorithms go: the user's cache by default, a folder that was named, or nowhere.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
bench=(bench --width-divisor 4 --batch 1 --steps 1 --untimed 1 --classes 10)

export XDG_CACHE_HOME=$PWD/cache
passes "$CAIRN" "${bench[@]}"
[ -s cache/cairn/plans ] || fail "nothing was remembered in \$XDG_CACHE_HOME/cairn"
passes "$CAIRN" "${bench[@]}" --plan-cache mine
[ -s mine/plans ] || fail "nothing was remembered in the folder that was named"
export XDG_CACHE_HOME=$PWD/other
passes "$CAIRN" "${bench[@]}" --plan-cache none
[ ! -e other ] || fail "--plan-cache none wrote into the user's cache"
[ ! -e auto ] || fail "--plan-cache auto was taken for a folder of that name"

# A named folder that can't be used costs time only, and is told.
touch file
passes "$CAIRN" "${bench[@]}" --plan-cache file/plans
contains "$err" "warning: --plan-cache: file: folder can't be made"
passes "$CAIRN" "${bench[@]}" --plan-cache /proc/cairn
contains "$err" "warning: --plan-cache: /proc/cairn"
finish
