# SPDX-License-Identifier: MIT
#
#   make               build/oriopt and build/libori.a          make check      all tests
#   make asan          the tests under ASan and UBSan           make bench      figures (they judge nothing)
#   make debug         build-debug/: contracts of phases        make check P=X  the tests of one phase
#   make layers        includes point only downward             make format-check
#   make lexers        regenerate the lexers (re2c)             make WERROR=1   warnings are errors

CC      ?= cc
AR      ?= ar
CFLAGS  ?= -O2 -g
B       ?= build
WARN     = -std=c11 -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror)
FLAGS    = $(WARN) $(CFLAGS) $(SANITIZE) -I. -MMD -MP
RE2C     = re2c -W --tags --no-debug-info --no-generation-date

PROGRAMS = oriopt oricheck orirun
LIB_SRC  = $(wildcard ir/*/*.c knobs/*.c phases/*.c) tools/options.c tools/lang.c $(wildcard tools/run_*.c)
LIB_OBJ  = $(LIB_SRC:%.c=$B/%.o)
CHECK_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/check_*.c))
OPT_OBJ  = $(patsubst %.c,$B/%.o,$(wildcard tools/opt_*.c) tools/reproducer.c)
MAIN_OBJ = $(PROGRAMS:%=$B/tools/%.o) $(CHECK_OBJ) $(OPT_OBJ)
GEN_OBJ  = $(patsubst %.c,$B/%.o,$(wildcard tools/origen/*.c))
UNIT_SRC = $(wildcard tests/unit/*.c)
FORMATTED = $(filter-out %/lex.c,$(wildcard ir/*/*.[ch] knobs/*.[ch] phases/*.[ch] tools/*.[ch] tools/origen/*.[ch] tests/bench/*.[ch] tests/tools/*.[ch] tests/unit/*.[ch] tests/gpu/*.[ch]))

all: $(PROGRAMS:%=$B/%) $B/origen $B/libori.a

$B/libori.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$B/oricheck: $(CHECK_OBJ)
$B/oriopt: $(OPT_OBJ)
$(PROGRAMS:%=$B/%): $B/%: $B/tools/%.o $B/libori.a
	$(CC) $(CFLAGS) $(SANITIZE) $(filter %.o,$^) $B/libori.a -o $@

$B/origen: $(GEN_OBJ) $B/libori.a
	$(CC) $(CFLAGS) $(SANITIZE) $^ -o $@

$B/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -c $< -o $@

$B/unit: $(UNIT_SRC) $(wildcard tests/unit/*.h tests/exec/*.tbl) $B/libori.a
	$(CC) $(filter-out -MMD -MP,$(FLAGS)) $(UNIT_SRC) $B/libori.a -o $@

lexers:
	$(RE2C) -o ir/ptx/lex.c ir/ptx/lex.re
	$(RE2C) -o ir/text/lex.c ir/text/lex.re
	$(RE2C) -o knobs/lex.c knobs/lex.re

check: all $(if $P,,$B/unit)
	B=$B P=$P RE2C="$(RE2C)" tests/check.sh

# Debug builds verify after each phase and check its contract.
debug:
	$(MAKE) B=build-debug CFLAGS="-O0 -g -DORI_DEBUG" all

asan:
	$(MAKE) B=build-asan CFLAGS="-O1 -g -DORI_DEBUG" \
	  SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" check

bench: all
	tests/bench/bench.sh

layers:
	tests/layers.sh

format-check:
	@case "$$(clang-format --version 2>/dev/null)" in \
	*'version 14'*) clang-format --dry-run -Werror $(FORMATTED) ;; \
	*) echo "SKIP format-check: clang-format 14 is not here" ;; esac

clean:
	rm -rf build build-asan build-debug build-clang

.PHONY: all debug lexers check asan bench layers format-check clean
-include $(LIB_OBJ:.o=.d) $(MAIN_OBJ:.o=.d) $(GEN_OBJ:.o=.d)
