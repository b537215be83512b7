# cprof. `make` builds everything, `make offline` all but the recorder (no clang, bpftool, libbpf).
# SAN=1 builds with the address and undefined-behaviour sanitizers, into a directory of its own.

VERSION = 0.1
CC = gcc
CLANG = clang
BPFTOOL = bpftool
PREFIX = /usr/local
BUILD = $(if $(SAN),build/san,build)
BIN = $(BUILD)/bin

WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
CFLAGS = -O2 -g -fno-omit-frame-pointer
SANFLAGS = $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined)
comma = ,
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(SANFLAGS) -D_GNU_SOURCE -DCPROF_VERSION='"$(VERSION)"' -I. -MMD -MP
LDFLAGS =

# libiberty has no pkg-config file: try it.
have = $(shell printf '$(hash)include <$(1)>\nint main(void){return 0;}\n' | $(CC) -x c - -o /dev/null $(2) 2>/dev/null && echo 1)
hash = \#
IBERTY := $(call have,libiberty/demangle.h,-liberty)
LIBS = $(shell pkg-config --libs libelf libxxhash) $(if $(IBERTY),-liberty)
DEFS = $(shell pkg-config --cflags libelf libxxhash) $(if $(IBERTY),-DHAVE_LIBIBERTY)
BPF_LIBS = $(shell pkg-config --libs libbpf)
BPF_DEFS = $(shell pkg-config --cflags libbpf)

COMMON = $(wildcard common/*/*.c)
TOOLS = $(patsubst cmd/%.c,%,$(wildcard cmd/cprof-*.c))
RECORD = $(wildcard cmd/cprof-record/*.c)
PAGES = $(wildcard man/*.[1-9])

LIB = $(BUILD)/libcprof.a
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

all: offline $(if $(RECORD),$(BIN)/cprof-record)

offline: $(TOOLS:%=$(BIN)/%)

$(LIB): $(call obj,$(COMMON))
	@rm -f $@
	$(AR) rcs $@ $^

$(BIN)/cprof-%: $(BUILD)/obj/cmd/cprof-%.o $(BUILD)/obj/cmd/cli.o $(BUILD)/obj/cmd/filters.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(DEFS) -c -o $@ $<

# The kernel part: clang to an object, bpftool to a skeleton with the object's bytes in it.
SKELS = $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) -target bpf -D__TARGET_ARCH_$(ARCH) -O2 -g -Wall -Wextra -I. $(BPF_DEFS) \
		-idirafter /usr/include/$(shell uname -m)-linux-gnu -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@ $<

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@.tmp
	@mv $@.tmp $@

$(call obj,$(RECORD)): $(SKELS)
$(call obj,$(RECORD)): DEFS += -I$(BUILD) $(BPF_DEFS)

$(BIN)/cprof-record: $(call obj,$(RECORD)) $(BUILD)/obj/cmd/cli.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(BPF_LIBS) $(LIBS)

# Tests are TAP programs in tests/*.t; helpers that they need compiled are tests/*.c.
TEST_PROGRAMS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/*.c))

$(BUILD)/tests/%: tests/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(DEFS) -o $@ $< $(LIB) $(LIBS)

# Those of the recorder are linked with its modules that stand alone.
SIDE = $(call obj,$(patsubst %,cmd/cprof-record/%.c,cgroup diagnose elfid host jitmap kernel vdso))

$(BUILD)/tests/record-%: tests/record-%.c $(SIDE) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(DEFS) -o $@ $< $(SIDE) $(LIB) $(LIBS)

check: all $(TEST_PROGRAMS)
	BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) prove $(PROVEFLAGS) tests/

install: all
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(wildcard $(BIN)/cprof-*) $(DESTDIR)$(PREFIX)/bin
	for p in $(PAGES); do d=$(DESTDIR)$(PREFIX)/share/man/man$${p##*.}; \
		install -d $$d && install -m 644 $$p $$d || exit 1; done

clean:
	rm -rf build

.PHONY: all offline check install clean
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
