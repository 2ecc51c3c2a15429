# SPDX-License-Identifier: MIT
CC      ?= cc
CFLAGS  ?= -O2 -g
B       ?= build
WARN     = -std=c11 -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror)
FLAGS    = $(WARN) $(CFLAGS) $(SANITIZE) -I. -MMD -MP

LIB_SRC := $(wildcard ir/*/*.c phases/*.c) tools/options.c
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
PROGRAMS = $(B)/oriopt

all: $(PROGRAMS) $(B)/libori.a

$(B)/libori.a: $(LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

$(PROGRAMS): $(B)/%: $(B)/tools/%.o $(B)/libori.a
	$(CC) $(CFLAGS) $(SANITIZE) $^ -o $@

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -c $< -o $@

clean:
	rm -rf $(B)

.PHONY: all clean
-include $(LIB_OBJ:.o=.d) $(B)/tools/oriopt.d
