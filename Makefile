# SPDX-License-Identifier: MIT
#
#   make               build/oriopt and build/libori.a          make check      the tests, in six minutes
#   make check-quick   some of them, in a minute                make check-all  all of them, in hours
#   make asan          the tests under ASan and UBSan           make bench      figures (they judge nothing)
#   make fuzz          libFuzzer targets in build-fuzz/         tests/fuzz/fuzz.sh run|text|knobs runs one
#   make debug         build-debug/: contracts of phases        make check P=X  the tests of one phase
#   make layers        includes point only downward             make format-check
#   make lexers        regenerate the lexers (re2c)             make WERROR=1   warnings are errors
#   make quality       the code beside LLVM's and nvcc's        make quality Q=--nvcc, Q=--executed, Q='-m "--disable-phases=X"'
#   make install       into PREFIX (/usr/local), below DESTDIR  make uninstall  takes it away again

CC      ?= cc
AR      ?= ar
CFLAGS  ?= -O2 -g
B       ?= build
WARN     = -std=c11 -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror)
FLAGS    = $(WARN) $(CFLAGS) $(SANITIZE) -pthread -I. -MMD -MP
RE2C     = re2c -W --tags --no-debug-info --no-generation-date

# What is installed, and where.
PREFIX      = /usr/local
BINDIR      = $(PREFIX)/bin
LIBDIR      = $(PREFIX)/lib
INCLUDEDIR  = $(PREFIX)/include
DATADIR     = $(PREFIX)/share
MANDIR      = $(DATADIR)/man
BASHDIR     = $(DATADIR)/bash-completion/completions
ZSHDIR      = $(DATADIR)/zsh/site-functions
FISHDIR     = $(DATADIR)/fish/vendor_completions.d
INSTALL     = install

# ORI_VERSION_MAJOR, _MINOR and _PATCH of ori.h.
version_of = $(shell sed -n 's/^.define ORI_VERSION_$(1) \([0-9]*\)$$/\1/p' tools/lib/ori.h)
VERSION := $(call version_of,MAJOR).$(call version_of,MINOR).$(call version_of,PATCH)

PROGRAMS = oriopt oricheck orirun
LIB_SRC  = $(wildcard ir/*/*.c knobs/*.c phases/*.c phases/*/*.c phases/*/*/*.c sm/*.c tools/lib/*.c)
LIB_OBJ  = $(LIB_SRC:%.c=$B/%.o)
# What programs share and is nothing for a library: it reads command lines, and prints.
PROGRAM_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/options/*.c tools/orirun/run_*.c))
CHECK_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/oricheck/*.c))
OPT_OBJ  = $(patsubst %.c,$B/%.o,$(wildcard tools/oriopt/*.c))
RUN_OBJ  = $B/tools/orirun/orirun.o
MAIN_OBJ = $(CHECK_OBJ) $(OPT_OBJ) $(RUN_OBJ)
GEN_OBJ  = $(patsubst %.c,$B/%.o,$(wildcard tools/origen/*.c))
UNIT_SRC = $(wildcard tests/unit/*.c)
RULES_SRC = $(wildcard tests/proofs/*.c)
FORMATTED = $(filter-out %/lex.c,$(wildcard ir/*/*.[ch] knobs/*.[ch] phases/*.[ch] phases/*/*.[ch] phases/*/*/*.[ch] sm/*.[ch] tools/*/*.[ch] tests/*/*.[ch] tests/programs/embed/*.[ch] samples/embed/*.[ch] samples/embed/*.cpp))

INSTALLED = $(PROGRAMS) origen
DOCS     = $(INSTALLED:%=$B/docs/man/%.1) $(INSTALLED:%=$B/docs/bash/%) $(INSTALLED:%=$B/docs/zsh/_%) \
           $(INSTALLED:%=$B/docs/fish/%.fish)

all: $(INSTALLED:%=$B/%) $B/libori.a $(DOCS)

$B/libori.a: $(LIB_OBJ)
$B/programs.a: $(PROGRAM_OBJ)
$B/libori.a $B/programs.a:
	@rm -f $@
	$(AR) rcs $@ $^

$B/oricheck: $(CHECK_OBJ)
$B/oriopt: $(OPT_OBJ)
$B/orirun: $(RUN_OBJ)
$(PROGRAMS:%=$B/%): $B/programs.a $B/libori.a
	$(CC) $(CFLAGS) $(SANITIZE) -pthread $(filter %.o,$^) $B/programs.a $B/libori.a -o $@

$B/origen: $(GEN_OBJ) $B/programs.a $B/libori.a
	$(CC) $(CFLAGS) $(SANITIZE) -pthread $^ -o $@

$B/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -c $< -o $@

$B/unit: $(UNIT_SRC) $(wildcard tests/unit/*.h tests/exec/*.tbl) $B/libori.a
	$(CC) $(filter-out -MMD -MP,$(FLAGS)) $(UNIT_SRC) $B/libori.a -o $@

$B/rules: $(RULES_SRC) tests/proofs/rules.h $B/libori.a
	$(CC) $(filter-out -MMD -MP,$(FLAGS)) $(RULES_SRC) $B/libori.a -o $@

$B/net: tests/net/net.c $B/programs.a $B/libori.a
	$(CC) $(filter-out -MMD -MP,$(FLAGS)) $^ -o $@

# The programs print their man pages and completions.
GENERATE = @mkdir -p $(@D) && $< --generate=$(1) >$@.new && mv $@.new $@
$B/docs/man/%.1: $B/%
	$(call GENERATE,man)
$B/docs/bash/%: $B/%
	$(call GENERATE,bash)
$B/docs/zsh/_%: $B/%
	$(call GENERATE,zsh)
$B/docs/fish/%.fish: $B/%
	$(call GENERATE,fish)

# Written again only when it changes: an installation as another user leaves the build folder alone.
IN_PREFIX = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
$B/docs/ori.pc: tools/lib/ori.pc.in FORCE
	@mkdir -p $(@D)
	@text="$$(sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(call IN_PREFIX,$(LIBDIR))|' \
	  -e 's|@INCLUDEDIR@|$(call IN_PREFIX,$(INCLUDEDIR))|' -e 's|@VERSION@|$(VERSION)|' $<)" && \
	{ [ "$$text" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$text" >$@; }
FORCE:

# install FILES of a MODE into a folder below DESTDIR
PUT = $(INSTALL) -d "$(DESTDIR)$(3)" && $(INSTALL) -m $(1) $(2) "$(DESTDIR)$(3)"
install: all $B/docs/ori.pc
	$(call PUT,755,$(INSTALLED:%=$B/%),$(BINDIR))
	$(call PUT,644,$B/libori.a,$(LIBDIR))
	$(call PUT,644,$B/docs/ori.pc,$(LIBDIR)/pkgconfig)
	$(call PUT,644,tools/lib/ori.h,$(INCLUDEDIR))
	$(call PUT,644,$(INSTALLED:%=$B/docs/man/%.1),$(MANDIR)/man1)
	$(call PUT,644,$(INSTALLED:%=$B/docs/bash/%),$(BASHDIR))
	$(call PUT,644,$(INSTALLED:%=$B/docs/zsh/_%),$(ZSHDIR))
	$(call PUT,644,$(INSTALLED:%=$B/docs/fish/%.fish),$(FISHDIR))

uninstall:
	rm -f $(INSTALLED:%="$(DESTDIR)$(BINDIR)"/%) "$(DESTDIR)$(LIBDIR)/libori.a" \
	  "$(DESTDIR)$(LIBDIR)/pkgconfig/ori.pc" "$(DESTDIR)$(INCLUDEDIR)/ori.h" \
	  $(INSTALLED:%="$(DESTDIR)$(MANDIR)/man1"/%.1) $(INSTALLED:%="$(DESTDIR)$(BASHDIR)"/%) \
	  $(INSTALLED:%="$(DESTDIR)$(ZSHDIR)"/_%) $(INSTALLED:%="$(DESTDIR)$(FISHDIR)"/%.fish)

lexers:
	$(RE2C) -o ir/ptx/lex.c ir/ptx/lex.re
	$(RE2C) -o ir/text/lex.c ir/text/lex.re
	$(RE2C) -o knobs/lex.c knobs/lex.re

# The tests in three layers (tests/README.md), each with all that it runs.
CHECKED = all $(if $P,,$B/unit $B/rules $B/net)
CHECK = @$(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j2) $(CHECKED) && \
  B=$B P=$P CC="$(CC)" MAKE="$(MAKE)" RE2C="$(RE2C)" SANITIZE="$(SANITIZE)" tests/check.sh
check-quick:
	$(CHECK) quick
check:
	$(CHECK) check
check-all:
	$(CHECK) all

# Notes as proven what was proven here: the next checks look only briefly at it.
proven: $B/rules
	$B/rules -p $B/proven -p tests/proofs/proven

# Debug builds verify after each phase and check its contract.
debug:
	$(MAKE) B=build-debug CFLAGS="-O0 -g -DORI_DEBUG" all

ASAN = build-asan
asan:
	$(MAKE) B=$(ASAN) CFLAGS="-O1 -g -DORI_DEBUG" \
	  SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" check

# libFuzzer targets, each with a runner: tests/fuzz/fuzz.sh TARGET.
FUZZ_TARGETS = run text knobs
FUZZ_SANITIZE = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
fuzz:
	@mkdir -p build-fuzz && echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n);' \
	  'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return !d || !n; }' >build-fuzz/probe.c; \
	if clang -fsanitize=fuzzer,address,undefined build-fuzz/probe.c -o build-fuzz/probe 2>build-fuzz/probe.log; then \
	  $(MAKE) CC=clang B=build-fuzz CFLAGS="-O1 -g" SANITIZE="$(FUZZ_SANITIZE)" $(FUZZ_TARGETS:%=build-fuzz/fuzz-%); \
	else echo "SKIP fuzz: clang with libFuzzer is not here (Debian: apt-get install clang libclang-rt-dev)"; fi

$B/fuzz-%: $B/tests/fuzz/%.o $B/tests/fuzz/common.o $B/libori.a
	$(CC) $(CFLAGS) $(SANITIZE) -fsanitize=fuzzer -pthread $^ -o $@

bench: all
	tests/bench/bench.sh

quality: all
	ORIOPT=$B/oriopt tests/bench/quality.sh $Q
	$(if $Q,,ORIOPT=$B/oriopt tests/bench/quality.sh --executed)

layers:
	tests/layers.sh

format-check:
	@case "$$(clang-format --version 2>/dev/null)" in \
	*'version 14'*) clang-format --dry-run -Werror $(FORMATTED) ;; \
	*) echo "SKIP format-check: clang-format 14 is not here" ;; esac

clean:
	rm -rf build build-asan build-asan-clang build-debug build-clang build-fuzz

.PHONY: all install uninstall FORCE debug lexers check check-quick check-all proven asan fuzz bench quality layers format-check clean
-include $(LIB_OBJ:.o=.d) $(PROGRAM_OBJ:.o=.d) $(MAIN_OBJ:.o=.d) $(GEN_OBJ:.o=.d)
