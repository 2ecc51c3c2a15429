#!/bin/sh
# SPDX-License-Identifier: MIT
#
# readme.sh: runs the commands of README.md.
#
# Each line of a ```sh block runs by itself, with the variables that earlier lines of the block set. The first block runs in
# a folder like that of a clone after `make`; the others in one with the files that they name: tenths.ptx (the sample of the
# page), k.cu (a kernel), emit-ptx (prints the sample), kernel.py and the package triton (which call ptxas as Triton does).
# The programs come from a fresh `make install`, so the page and the installation agree. A line whose tool is missing is
# skipped. The right side of the example must be the instructions that oriopt prints, the last line of the first command
# what --stats prints, the numbers of slots those of --list-phases, and the program in C must compile with ori.h.
#
# Prints each failure; ends in `N passed, N failed, N skipped`. Environment: ORIOPT, B (the build folder), CC.
. "$(dirname "$0")/../lib.sh"
[ $# -eq 0 ] || usage readme.sh
needs "$ORIOPT"
make_work
page=$root/README.md
B=${B:-${ORIOPT%/*}}

cd "$root" || exit 2
made B="$B" PACKAGE_DIR="$work/package" install PREFIX="$work/prefix"
cd "$work" || exit 2
PATH=$work/prefix/bin:$work/bin:$PATH
PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
export PATH PKG_CONFIG_PATH

# -- Files of the commands ---------------------------------------------------------------------------------------------

cp "$root/samples/handwritten/tenths.ptx" .
mkdir -p clone triton/backends/nvidia/bin
ln -s "$B" clone/build
ln -s "$root/samples" clone/samples
: >triton/__init__.py
ln -s "$(command -v ptxas)" triton/backends/nvidia/bin/ptxas
PYTHONPATH=$work
export PYTHONPATH
cat >k.cu <<'END'
extern "C" __attribute__((global)) void k(int *p) { p[0] = p[1] * 3; }
END
mkdir bin
printf '#!/bin/sh\ncat %s/tenths.ptx\n' "$work" >bin/emit-ptx
cat >kernel.py <<'END'
import os, subprocess
ptxas = os.environ["TRITON_PTXAS_PATH"]
assert "release" in subprocess.run([ptxas, "--version"], check=True, capture_output=True, text=True).stdout
subprocess.run([ptxas, "-lineinfo", "-v", "--gpu-name=sm_80", "tenths.ptx", "-o", "t.cubin"], check=True)
END
chmod +x bin/emit-ptx

# -- Commands ----------------------------------------------------------------------------------------------------------

# Prints the tools that a line needs in addition to the programs of the tree.
tools_of() {
    case $1 in
    *nvcc*) echo nvcc ptxas ;;
    *clang*) echo clang-with-CUDA ptxas ;;
    *python3*) echo python3 ptxas ;;
    *ptxas*) echo ptxas ;;
    esac
}

awk '/^```sh$/ { on = 1; block++; next } /^```/ { on = 0 } on && !/^#/ { sub(/  +#.*/, ""); print block, $0 }' "$page" >commands
name=README.md
if [ "$(sed -n '$s/ .*//p' commands)" -ge 2 ]; then ok; else bad "there are not two blocks of commands"; fi
last=
while read -r block line; do
    name=$line
    [ "$block" = "$last" ] || vars=:
    last=$block
    folder=$work
    [ "$block" -gt 1 ] || folder=$work/clone
    missing=
    for tool in $(tools_of "$line"); do
        case $tool in
        clang-with-CUDA) clang -x cuda --cuda-gpu-arch=sm_80 --cuda-device-only -S k.cu -o k.s 2>err || missing=$tool ;;
        *) have "$tool" || missing=$tool ;;
        esac
    done
    if [ "$missing" ]; then
        skip "there is no $missing"
    elif (cd "$folder" && $limit sh -c "set -e; $vars; $line") >out 2>err </dev/null; then
        ok
        case $line in [A-Z]*=[!\ ]*\ [a-z]*) ;; [A-Z]*=* | export\ *) vars="$vars; $line" ;; esac
    else
        bad "exit $?: $(head -n 3 err)"
    fi
done <commands

# -- The example -------------------------------------------------------------------------------------------------------

name='the first command'
command=$(sed -n 's/^ *make -j2 && //p' "$page")
if (cd "$root" && PATH=$(dirname "$B"):$PATH && sh -c "$(printf %s "$command" | sed "s,^build/,$B/,")") >out 2>err; then ok; else bad "$(head -n 2 err)"; fi
name='the right side'
awk '/^```$/ { on = !on } on && /^[a-z.0-9]+ .*;/ { print substr($0, 37) }' "$page" | sed '/^ *$/d' |
    awk '/^[a-z]+\./' >right
awk '/^```$/ { on = !on } on && /^ +[a-z]+\./' "$page" >>right
[ "$(wc -l <right)" -ge 7 ] && ok || bad "$(wc -l <right) instructions"
tr -s '[:blank:]' ' ' <out | sed 's/^ //' >printed
while read -r line; do
    name="printed: $line"
    if grep -qxF -e "$line" printed; then ok; else bad "not in the output"; fi
done <right

name='the last line of the first command'
grep -qF "$(tr '\n' ' ' <"$page" | sed -n 's/.*The last line is `\([^`]*\)`.*/\1/p')" err && ok || bad "$(tail -n 1 err)"
name='numbers of slots'
"$ORIOPT" --list-phases | awk '$1 < 159 { n[$4]++ } END {
    print n["implemented"] + n["off"], "of the 159 slots are implemented, and", n["not-yet"], "are not yet. The others stay empty:",
        n["machine"], "are at machine level and left to ptxas,", n["hook"], "are hooks of backends (sm_30 to sm_90) without a body,",
        n["graphics"], "are for shaders, and", n["bookkeeping"], "refresh data" }' >numbers
tr '\n' ' ' <"$page" | grep -qF "$(cat numbers)" && ok || bad "$(cat numbers)"
name='number of sources'
grep -q "^samples/ *$(find "$root/samples" -maxdepth 1 -name '*.cu' | wc -l) CUDA sources" "$page" && ok || bad "samples/*.cu"

# -- The library -------------------------------------------------------------------------------------------------------

name='the program in C'
{
    cat <<'END'
#include <stddef.h>
#include <string.h>
typedef struct Image { char *text; } Image;
int cuModuleLoadData(void **module, const void *image);
END
    awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on && (/^#/ || /^static/)' "$page" | cat
    echo 'int run(const char *ptx, Image image, void *module);'
    echo 'int run(const char *ptx, Image image, void *module) {'
    awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on && !/^#/ && !/^static/' "$page"
    echo 'return 0; }'
} >program.c
if "$CC" -I"$work/prefix/include" -fsyntax-only program.c 2>err; then ok; else bad "$(head -n 3 err)"; fi
finish
