# SPDX-License-Identifier: MIT
#
#   make               programs and libraries, in build/        make check      the tests, in six minutes
#   make check-quick   some of them, in a minute                make check-all  all of them, in hours
#   make asan          the tests under ASan and UBSan           make bench      figures (they judge nothing)
#   make fuzz          libFuzzer targets in build-fuzz/         tests/fuzz/fuzz.sh run|text|knobs|link runs one
#   make debug         build-debug/: contracts of phases        make check P=X  the tests of one phase
#   make layers        includes point only downward             make format-check
#   make lexers        regenerate the lexers (re2c)             make WERROR=1   warnings are errors
#   make quality       the code beside LLVM's and nvcc's        make quality Q=--nvcc, Q=--executed, Q='-m "--disable-phases=X"'
#   make install       into PREFIX (/usr/local), below DESTDIR  make uninstall  takes it away again
#   make V=1           with the commands of the build
#   make dist          build/ori-VERSION.tar.gz, reproducible   make bench-count  instructions of each phase, with caps
#
# CC, AR, OBJCOPY, CPPFLAGS, CFLAGS and LDFLAGS are those of the environment or of the command line.

CC      ?= cc
AR      ?= ar
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
CFLAGS  ?= -O2 -g
B       ?= build
WARN     = -std=c11 -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror)
FLAGS    = $(WARN) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -pthread -I. -MMD -MP
LINK     = $(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -pthread
# Objects of the library serve programs, libori.a and libori.so: -fPIC costs no time where symbols are hidden. Archives
# hold machine code even if CFLAGS has -flto.
LIB_FLAGS = -fPIC -fvisibility=hidden -fno-lto
RE2C     = re2c -W -b --tags --no-debug-info --no-generation-date

# The folders of an installation. Debian reserves site-functions of /usr for its administrators.
PREFIX      = /usr/local
BINDIR      = $(PREFIX)/bin
LIBDIR      = $(PREFIX)/lib
INCLUDEDIR  = $(PREFIX)/include
DATADIR     = $(PREFIX)/share
MANDIR      = $(DATADIR)/man
BASHDIR     = $(DATADIR)/bash-completion/completions
ZSHDIR      = $(DATADIR)/zsh/$(if $(and $(filter /usr,$(PREFIX)),$(wildcard /etc/debian_version)),vendor-completions,site-functions)
FISHDIR     = $(DATADIR)/fish/vendor_completions.d
INSTALL     = install

# ORI_VERSION_MAJOR, _MINOR and _PATCH of ori.h.
version_of = $(shell sed -n 's/^.define ORI_VERSION_$(1) \([0-9]*\)$$/\1/p' tools/lib/ori.h)
VERSION := $(call version_of,MAJOR).$(call version_of,MINOR).$(call version_of,PATCH)
SONAME  := libori.so.$(call version_of,MAJOR)
PTXRUN  := libori-ptxrun.so.$(call version_of,MAJOR)

PROGRAMS = oriopt oricheck orirun ori-ptxas orilink
LIB_SRC  = $(wildcard ir/*/*.c knobs/*.c phases/*.c phases/*/*.c phases/*/*/*.c sm/*.c tools/lib/*.c)
LIB_OBJ  = $(LIB_SRC:%.c=$B/%.pic.o) $B/fold_tables.pic.o
PTXRUN_OBJ = $(patsubst %.c,$B/%.pic.o,$(wildcard tools/ptxrun/*.c))
# What programs share and is nothing for a library: it reads command lines, and prints.
PROGRAM_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/options/*.c tools/orirun/run_*.c))
CHECK_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/oricheck/*.c))
OPT_OBJ  = $(patsubst %.c,$B/%.o,$(wildcard tools/oriopt/*.c))
RUN_OBJ  = $B/tools/orirun/orirun.o
PTXAS_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/oriptxas/*.c))
LINK_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/orilink/*.c))
LINK_PARTS = $(filter-out %/orilink.o %/nvlink.o,$(LINK_OBJ))
MAIN_OBJ = $(CHECK_OBJ) $(OPT_OBJ) $(RUN_OBJ) $(PTXAS_OBJ) $(LINK_OBJ)
GEN_OBJ  = $(patsubst %.c,$B/%.o,$(wildcard tools/origen/*.c))
UNIT_SRC = $(wildcard tests/unit/*.c)
RULES_SRC = $(wildcard tests/proofs/*.c)
FORMATTED = $(filter-out %/lex.c,$(wildcard ir/*/*.[ch] knobs/*.[ch] phases/*.[ch] phases/*/*.[ch] phases/*/*/*.[ch] sm/*.[ch] tools/*/*.[ch] tests/*/*.[ch] tests/programs/embed/*.[ch] samples/embed/*.[ch] samples/embed/*.cpp))

INSTALLED = $(PROGRAMS) origen
DOCS     = $(INSTALLED:%=$B/docs/man/%.1) $(INSTALLED:%=$B/docs/bash/%) $(INSTALLED:%=$B/docs/zsh/_%) \
           $(INSTALLED:%=$B/docs/fish/%.fish) $B/docs/man/ori.h.3

# The tables of folding, from its rules. For another machine, FOLDGEN may be the foldgen of a native build.
FOLDGEN     = $B/foldgen
FOLDGEN_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tools/foldgen/*.c))

# A short line for each file that is made, or with V=1 its command. `make -s` prints neither.
SILENT = $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
SHOW   = $(if $(V)$(SILENT),,@echo '$(1) $@' &&)

all: $(INSTALLED:%=$B/%) $B/libori.a $B/libori.so $B/libori-ptxrun.so $(DOCS)

# For the programs and tests of the tree, which use more than ori.h declares.
$B/ori.a: $(LIB_OBJ)
$B/programs.a: $(PROGRAM_OBJ)
$B/libori.a: $B/ori.o
$B/ori.a $B/ir.a $B/programs.a $B/libori.a:
	@rm -f $@
	$(call SHOW,AR) $(AR) rcs $@ $^

# One object, in which only ori_* symbols are global.
$B/ori.o: $(LIB_OBJ)
	$(call SHOW,LD) $(CC) -r -nostdlib $^ -o $@
	$(if $(V),,@)$(OBJCOPY) --localize-hidden $@

# clang leaves the symbols of a sanitizer to the program.
NO_UNDEFINED = $(if $(findstring -fsanitize,$(CFLAGS) $(SANITIZE)),,-Wl,-z,defs)
# A shared library exports the names of the version script after its objects.
SHARED = $(LINK) -shared -Wl,-soname,$(@F) -Wl,--version-script=$(filter %.map,$^) $(NO_UNDEFINED) $(filter %.o,$^) -o $@
$B/$(SONAME): $(LIB_OBJ) tools/lib/ori.map
	$(call SHOW,LD) $(SHARED)
# The library whole, since a program may load it beside another version of libori.so.
$B/$(PTXRUN): $(LIB_OBJ) $(PTXRUN_OBJ) tools/ptxrun/ptxrun.map
	$(call SHOW,LD) $(SHARED)
$B/libori.so: $B/$(SONAME)
$B/libori-ptxrun.so: $B/$(PTXRUN)
$B/libori.so $B/libori-ptxrun.so:
	$(call SHOW,LN) ln -sf $(<F) $@

$B/oricheck: $(CHECK_OBJ)
$B/oriopt: $(OPT_OBJ)
$B/orirun: $(RUN_OBJ)
$B/ori-ptxas: $(PTXAS_OBJ)
$B/orilink: $(LINK_OBJ)
$(PROGRAMS:%=$B/%): $B/programs.a $B/ori.a
	$(call SHOW,LD) $(LINK) $(filter %.o,$^) $B/programs.a $B/ori.a -o $@

$B/ir.a: $(filter $B/ir/base/% $B/ir/core/%,$(LIB_OBJ))
$B/foldgen: $(FOLDGEN_OBJ) $B/ir.a
	$(call SHOW,LD) $(LINK) $^ -o $@
$B/fold_tables.c: $(FOLDGEN)
	$(call SHOW,GEN) $(FOLDGEN) >$@.new && mv $@.new $@
$B/fold_tables.pic.o: $B/fold_tables.c
	$(call SHOW,CC) $(CC) $(FLAGS) $(LIB_FLAGS) -c $< -o $@

$B/origen: $(GEN_OBJ) $B/programs.a $B/ori.a
	$(call SHOW,LD) $(LINK) $^ -o $@

$B/%.o: %.c
	@mkdir -p $(@D)
	$(call SHOW,CC) $(CC) $(FLAGS) -c $< -o $@

$B/%.pic.o: %.c
	@mkdir -p $(@D)
	$(call SHOW,CC) $(CC) $(FLAGS) $(LIB_FLAGS) -c $< -o $@

# From sources to a program.
BUILD = $(CC) $(filter-out -MMD -MP,$(FLAGS)) $(LDFLAGS)
$B/unit: $(UNIT_SRC) $(wildcard tests/unit/*.h tests/exec/*.tbl) $B/ori.a
	$(call SHOW,LD) $(BUILD) $(UNIT_SRC) $B/ori.a -o $@

$B/rules: $(RULES_SRC) tests/proofs/rules.h $B/ori.a
	$(call SHOW,LD) $(BUILD) $(RULES_SRC) $B/ori.a -o $@

# Parts of orilink alone, and damage to its inputs: tests/programs/link.sh and tests/link.
$B/link-units: tests/link/units.c tests/link/rewrite.h tests/link/random.h $(LINK_PARTS) $B/ori.a
$B/damage: tests/link/damage.c tests/link/rewrite.h tests/link/random.h $(LINK_PARTS) $B/ori.a
$B/link-layout: tests/link/layout.c tests/link/random.h $(LINK_PARTS) $B/ori.a
$B/link-units $B/link-layout $B/damage:
	$(call SHOW,LD) $(BUILD) $(filter-out %.h,$^) -o $@

$B/net: tests/net/net.c $B/programs.a $B/ori.a
	$(call SHOW,LD) $(BUILD) $^ -o $@

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

# The manual of the library is its header.
$B/docs/man/ori.h.3: tools/lib/ori_man.awk tools/lib/ori.h
	@mkdir -p $(@D)
	$(call SHOW,GEN) awk -v version=$(VERSION) -f $^ >$@.new && mv $@.new $@

# Files that name the folders of an installation. Each is written only if it changes, so an installation as another user
# leaves the build folder alone. Installations at the same time, into different folders, need a PACKAGE_DIR each.
PACKAGE_DIR = $B/docs
PACKAGE   = $(addprefix $(PACKAGE_DIR)/,ori.pc ori-ptxrun.pc ori-config.cmake ori-config-version.cmake)
$(PACKAGE): VARIABLE = prefix
$(PACKAGE_DIR)/ori-config.cmake: VARIABLE = _ori_prefix
IN_PREFIX = $(patsubst $(PREFIX)/%,$${$(VARIABLE)}/%,$(1))
# The prefix as seen from LIBDIR/cmake/ori: with `..` if LIBDIR is below it.
UP        = $(if $(filter $(PREFIX)/%,$(LIBDIR)),$(shell echo '$(LIBDIR:$(PREFIX)/%=%)/cmake/ori' | sed 's|[^/][^/]*|..|g'),$(PREFIX))
$(PACKAGE): $(PACKAGE_DIR)/%: tools/lib/%.in FORCE
	@mkdir -p $(@D)
	@text="$$(sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(call IN_PREFIX,$(LIBDIR))|' -e 's|@UP@|$(UP)|' \
	  -e 's|@INCLUDEDIR@|$(call IN_PREFIX,$(INCLUDEDIR))|' -e 's|@VERSION@|$(VERSION)|' -e 's|@SONAME@|$(SONAME)|' $<)" && \
	{ [ "$$text" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$text" >$@; }
FORCE:

# install FILES of a MODE into a folder below DESTDIR
PUT = $(INSTALL) -d "$(DESTDIR)$(3)" && $(INSTALL) -m $(1) $(2) "$(DESTDIR)$(3)"
install: all $(PACKAGE)
	$(call PUT,755,$(INSTALLED:%=$B/%),$(BINDIR))
	$(call PUT,644,$B/libori.a $B/$(SONAME) $B/$(PTXRUN),$(LIBDIR))
	ln -sf $(SONAME) "$(DESTDIR)$(LIBDIR)/libori.so"
	ln -sf $(PTXRUN) "$(DESTDIR)$(LIBDIR)/libori-ptxrun.so"
	$(call PUT,644,$(filter %.pc,$(PACKAGE)),$(LIBDIR)/pkgconfig)
	$(call PUT,644,$(filter %.cmake,$(PACKAGE)),$(LIBDIR)/cmake/ori)
	$(call PUT,644,tools/lib/ori.h tools/ptxrun/ptxrun.h,$(INCLUDEDIR))
	$(call PUT,644,$(INSTALLED:%=$B/docs/man/%.1),$(MANDIR)/man1)
	$(call PUT,644,$B/docs/man/ori.h.3,$(MANDIR)/man3)
	$(call PUT,644,$(INSTALLED:%=$B/docs/bash/%),$(BASHDIR))
	$(call PUT,644,$(INSTALLED:%=$B/docs/zsh/_%),$(ZSHDIR))
	$(call PUT,644,$(INSTALLED:%=$B/docs/fish/%.fish),$(FISHDIR))

uninstall:
	rm -f $(INSTALLED:%="$(DESTDIR)$(BINDIR)"/%) $(patsubst %,"$(DESTDIR)$(INCLUDEDIR)"/%,ori.h ptxrun.h) \
	  $(patsubst %,"$(DESTDIR)$(LIBDIR)"/%,libori.a libori.so $(SONAME) libori-ptxrun.so $(PTXRUN) \
	    $(patsubst $(PACKAGE_DIR)/%,pkgconfig/%,$(filter %.pc,$(PACKAGE)))) \
	  $(patsubst $(PACKAGE_DIR)/%,"$(DESTDIR)$(LIBDIR)/cmake/ori"/%,$(filter %.cmake,$(PACKAGE))) \
	  "$(DESTDIR)$(MANDIR)/man3/ori.h.3" \
	  $(INSTALLED:%="$(DESTDIR)$(MANDIR)/man1"/%.1) $(INSTALLED:%="$(DESTDIR)$(BASHDIR)"/%) \
	  $(INSTALLED:%="$(DESTDIR)$(ZSHDIR)"/_%) $(INSTALLED:%="$(DESTDIR)$(FISHDIR)"/%.fish)

dist:
	tools/lib/dist.sh $B/ori-$(VERSION).tar.gz

lexers:
	$(RE2C) -o ir/ptx/lex.c ir/ptx/lex.re
	$(RE2C) -o ir/text/lex.c ir/text/lex.re
	$(RE2C) -o knobs/lex.c knobs/lex.re

# The tests in three layers (tests/README.md), each with all that it runs.
CHECKED = all $(if $P,,$B/unit $B/rules $B/net $B/damage $B/link-units $B/link-layout)
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
FUZZ_TARGETS = run text knobs link
FUZZ_SANITIZE = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
fuzz:
	@mkdir -p build-fuzz && echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n);' \
	  'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return !d || !n; }' >build-fuzz/probe.c; \
	if clang -fsanitize=fuzzer,address,undefined build-fuzz/probe.c -o build-fuzz/probe 2>build-fuzz/probe.log; then \
	  $(MAKE) CC=clang B=build-fuzz CFLAGS="-O1 -g" SANITIZE="$(FUZZ_SANITIZE)" $(FUZZ_TARGETS:%=build-fuzz/fuzz-%); \
	else echo "SKIP fuzz: clang with libFuzzer is not here (Debian: apt-get install clang libclang-rt-dev)"; fi

$B/fuzz-link: $(LINK_PARTS)
$B/fuzz-%: $B/tests/fuzz/%.o $B/tests/fuzz/common.o $B/ori.a
	$(LINK) -fsanitize=fuzzer $(filter %.o,$^) $(filter %.a,$^) -o $@

bench: all $B/link-layout
	tests/bench/bench.sh
	ORIOPT=$B/oriopt tests/bench/growth.sh
	ORILINK=$B/orilink LAYOUT=$B/link-layout tests/bench/growth_link.sh

# Counts depend on the compiler and its options. LTO stays off: it saves 2 to 5 % of the instructions, but hides functions
# from the profile.
bench-count:
	@$(MAKE) -s B=build-count CC="$(CC)" CFLAGS="-O2 -g" SANITIZE= LDFLAGS= CPPFLAGS= build-count/oriopt
	@ORIOPT=$(CURDIR)/build-count/oriopt CC="$(CC)" tests/bench/count.py $(COUNT)

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
	rm -rf build build-count build-asan build-asan-clang build-debug build-clang build-fuzz

.PHONY: all install uninstall dist FORCE debug lexers check check-quick check-all proven asan fuzz bench bench-count quality layers format-check clean
-include $(LIB_OBJ:.o=.d) $(PTXRUN_OBJ:.o=.d) $(PROGRAM_OBJ:.o=.d) $(MAIN_OBJ:.o=.d) $(GEN_OBJ:.o=.d) $(FOLDGEN_OBJ:.o=.d)
