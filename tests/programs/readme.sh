#!/bin/sh
# SPDX-License-Identifier: MIT
#
# readme.sh: runs the commands of README.md.
#
# Each line of a ```sh block runs by itself, in a folder with the files that the lines name: tenths.ptx and tenths.run (the
# sample of the page), k.cu (a kernel), emit-ptx (prints the sample), kernel.py (calls ptxas as Triton does). The programs
# come from a fresh `make install`, so the page and the installation agree. A line whose tool is missing is skipped. The
# right side of the example must be the instructions that oriopt prints, and the program in C must compile with ori.h.
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
sed 's,^file .*,file tenths.ptx,' "$root/samples/run/handwritten/tenths.run" >tenths.run
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

awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on && !/^#/ { sub(/  +#.*/, ""); print }' "$page" >commands
name=README.md
if [ -s commands ]; then ok; else bad "there are no commands"; fi
while read -r line; do
    name=$line
    missing=
    for tool in $(tools_of "$line"); do
        case $tool in
        clang-with-CUDA) clang -x cuda --cuda-gpu-arch=sm_80 --cuda-device-only -S k.cu -o k.s 2>err || missing=$tool ;;
        *) have "$tool" || missing=$tool ;;
        esac
    done
    if [ "$missing" ]; then
        skip "there is no $missing"
    elif $limit sh -c "set -e; $line" >out 2>err </dev/null; then
        ok
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
