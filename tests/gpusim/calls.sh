# What one step of `owt` asks of CUDA and its libraries, counted by the runtime double as the difference between a short run and a longer
# one: few calls, no allocation, nothing created, no wait. Channels are an eighth of the real net's; the calls are the same.
. "${CAIRN_SOURCE:?is set by CTest}/tests/support/cli.sh"
steps=3

# count FILE N PRECISION: a run of N measured steps leaves its counts in FILE. The precision is named, for auto may choose another each time.
count()
{
    passes env GPUSIM_COUNTS="$scratch/$1" "$CAIRN" bench --device cuda --preset owt --width-divisor 8 --batch 2 --untimed 2 --steps "$2" \
        --precision "$3"
}

# per_step KIND: calls of the kind in one step.
per_step()
{
    local short long
    short=$("$CAIRN_BUILD/tests/bin/json_value" "$scratch/short" "$1")
    long=$("$CAIRN_BUILD/tests/bin/json_value" "$scratch/long" "$1")
    echo $(((long - short) / steps))
}

for precision in fp32 fp16; do
    count short 1 $precision
    count long $((1 + steps)) $precision
    calls=0
    for kind in launch library copy fill event; do
        each=$(per_step $kind)
        printf '%s %-8s %s a step\n' $precision "$kind" "$each"
        calls=$((calls + each))
    done
    echo "$precision together $calls"
    holds "$calls > 0 && $calls < 70"
    for kind in malloc host create; do
        same "$kind: $(per_step $kind)" "$kind: 0"
    done
done
finish
