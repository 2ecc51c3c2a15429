# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
#
# links.sh: functions of scenarios.sh and samples.sh. Ends the script without nvcc, nvlink or python3. Sets $ORILINK,
# $samples, $python, and the folder $work, in which all commands run.
ORILINK=${ORIOPT%/*}/orilink
samples=$root/samples/link
needs "$ORILINK"
have nvcc && have nvlink && have python3 || {
    skip "no nvcc, nvlink or python3"
    finish
}
make_work
cd "$work" || exit 2
python="$(python3 -c 'import sys; print(sys.executable)') -B -E -S" # a wrapper takes longer than the scripts
targets='-gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90'

# -- Files -----------------------------------------------------------------------------------------------------------

# starts COMMAND...: runs a command beside the one before or after it. compiled() reports the failed ones.
started=0
starts() {
    started=$((started + 1))
    { "$@" >"log.$started" 2>&1 || echo "$*: $(head -n 1 "log.$started")" >>not_compiled; } &
    [ $((started % 2)) = 1 ] || wait
}
compiled() {
    wait
    name='compilation'
    [ ! -e not_compiled ] && ok || bad "$(cat not_compiled)"
}
# object NAME FILE OPTIONS...: makes the host object NAME.o of a file of $samples.
object() {
    object=$1 file=$2
    shift 2
    nvcc -rdc=true -c -o "$object.o" "$@" "$samples/$file.cu"
}
# cubins NAME FILE OPTIONS...: makes NAME.fatbin with cubins for all targets. They are extracted to NAME.SM.cubin, as
# those of objects that are not compressed.
cubins() {
    object=$1 file=$2
    shift 2
    # shellcheck disable=SC2086
    nvcc -rdc=true -fatbin -no-compress $targets -o "$object.fatbin" "$@" "$samples/$file.cu"
}
extract() { $python "$root/tests/link/cubin.py" --extract "$@"; }

# -- Links -----------------------------------------------------------------------------------------------------------

# links NAME KERNELS VARIABLES ONLY FILES...: rewrites files for the target $sm and links them in the folder `small`.
# nvlink's link of the originals with the same kernels is the same, but for the functions ONLY that it has, too; for
# these, --why-live tells that nothing that is live refers to them. Another rewriting changes nothing. KERNELS may be
# `host`: those of host information, or `all`. VARIABLES `-`: no list. ONLY `any`: any functions. FILES without a suffix
# are cubins.
links() {
    name="$1, sm_$sm" variables=${3#-} only=$4
    case $2 in
    host) roots=--use-host-info ;;
    all) roots=--ignore-host-info ;;
    *) roots=--kernels-used=$2 ;;
    esac
    shift 4
    for file; do
        shift
        case $file in
        *.*) set -- "$@" "$file" ;;
        *) set -- "$@" "$file.$sm.cubin" ;;
        esac
    done
    rm -rf small again
    if ! "$ORILINK" -arch sm_$sm -o small "$roots" ${variables:+"--variables-used=$variables"} "$@" >out 2>err; then
        bad "$(head -n 1 err)"
    elif grep -q 'stays as it is' err; then
        bad "$(head -n 1 err)"
    elif ! (cd small && "$ORILINK" -arch sm_$sm -o ../again "$roots" ${variables:+"--variables-used=$variables"} "$@") \
        >out 2>err; then
        bad "again: $(head -n 1 err)"
    elif ! diff -r small again >out 2>&1; then
        bad "again: $(head -n 1 out)"
    elif ! (cd small && nvlink -arch=sm_$sm -o linked "$@") >log 2>&1; then
        bad "nvlink: $(head -n 1 log)"
    elif ! nvlink -arch=sm_$sm "$roots" -o reference "$@" >log 2>&1; then
        bad "nvlink, originals: $(head -n 1 log)"
    elif ! $python "$root/tests/link/sections.py" small reference "$@" >out 2>&1; then
        bad "$(head -n 3 out | cut -c1-300)"
    elif [ "$only" != any ] && [ "$(sed -n 's/^only: //p' out)" != "$only" ]; then
        bad "nvlink keeps '$(sed -n 's/^only: //p' out)', expected '$only'"
    elif [ "$only" != any ] && ! are_dead $only -arch sm_$sm "$roots" ${variables:+"--variables-used=$variables"} "$@"; then
        bad "--why-live does not tell that '$only' are dead"
    else
        ok
    fi
}
# are_dead FUNCTIONS... -arch OPTIONS...: nothing that is live refers to functions.
are_dead() {
    count=0 list=
    while [ "$1" != -arch ]; do
        list="$list --why-live=$1" count=$((count + 1))
        shift
    done
    [ $count = 0 ] || [ "$("$ORILINK" $list "$@" 2>err | grep -c 'is dead: nothing that is live refers to it')" = $count ]
}
# builds FILES...: nvcc makes a program of the objects that links() has rewritten.
builds() {
    name="$name, a program"
    if (cd small && nvcc -arch=sm_$sm -o program "$@") >log 2>&1; then ok; else bad "$(head -n 1 log)"; fi
}
