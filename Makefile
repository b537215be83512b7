# cprof. `make` builds everything, `make offline` all but the recorder (no clang, bpftool, libbpf).
# `make help` lists all targets.
# V=1 shows the commands. SAN=1 builds with the address and undefined-behaviour sanitizers, STATIC=1 builds
# programs that need no library and are the same wherever they are built (make static). Each has a build
# directory of its own.
# CROSS=aarch64-linux-gnu- builds for another machine, in build/aarch64-linux-gnu. It uses the headers and
# libraries of SYSROOT, a directory with the target's usr/ (tests/arm64/root makes one there). Without SYSROOT
# it uses those that the compiler and pkg-config find for the target on this machine.

VERSION = 0.1
COMMIT := $(shell contrib/dist/commit)
FULL_VERSION = $(VERSION)$(COMMIT:%=+g%)
CC = $(CROSS)gcc
CXX = $(CROSS)g++
AR = $(CROSS)ar
OBJCOPY = $(CROSS)objcopy
CLANG = clang
# The machine that programs are built for, as x86_64-linux-gnu
MACHINE := $(shell $(CC) -dumpmachine)
PROCESSOR = $(firstword $(subst -, ,$(MACHINE)))
# bpftool may be outside PATH. Ubuntu's wrapper needs a package for the running kernel, so try the programs
# themselves too.
BPFTOOL = $(shell PATH=$$PATH:/usr/sbin; for b in bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do \
	$$b version >/dev/null 2>&1 && command -v $$b && exit; done; echo bpftool)
PREFIX = /usr/local
TOP = build$(if $(CROSS),/$(MACHINE))
BUILD = $(TOP)$(if $(SAN),/san,$(if $(STATIC),/static))
SYSROOT = $(if $(CROSS),$(abspath $(wildcard $(TOP)/sysroot)))
BIN = $(BUILD)/bin

WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
CFLAGS = -O2 -g -fno-omit-frame-pointer
SANFLAGS = $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined)
comma = ,
ROOTFLAGS = $(SYSROOT:%=--sysroot=%)
NO_PATHS = -ffile-prefix-map=$(CURDIR)=.
STATICFLAGS = $(if $(STATIC),-fPIE -DCPROF_STATIC $(NO_PATHS))
ALL_CFLAGS = -std=gnu11 $(ROOTFLAGS) $(WARN) $(CFLAGS) $(SANFLAGS) $(STATICFLAGS) -D_GNU_SOURCE -I. -MMD -MP
LDFLAGS = $(if $(STATIC),-static-pie -L$(BUILD)/elfutils)
# Bind symbols once, not again in each process that the recorder forks.
override LDFLAGS += -Wl,-z,relro,-z,now $(ROOTFLAGS)

# Use only the target's .pc files.
PKG_CONFIG = $(if $(CROSS),PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(MACHINE)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig) pkg-config

# libiberty has no pkg-config file: try it. Its header has a directory on Debian only.
have = $(shell printf '$(hash)include <$(1)>\nint main(void){return 0;}\n' | $(CC) -x c - -o /dev/null $(LDFLAGS) $(2) 2>/dev/null && echo 1)
hash = \#
IBERTY := $(or $(call have,libiberty/demangle.h,-liberty),$(call have,demangle.h,-liberty))
# Optional: without these there are no inlined frames and lines (libdw), and neither names from .gnu_debugdata
# nor .xz files (liblzma).
DW := $(call have,elfutils/libdw.h,-ldw -lelf)
BZ2 := $(if $(STATIC),$(call have,bzlib.h,-lbz2))
LZMA := $(call have,lzma.h,-llzma)
# Optional: it halves the time to read compressed DWARF.
DEFLATE := $(call have,libdeflate.h,-ldeflate)
# Optional: without zlib neither a flame graph's data nor pprof is compressed, and no .gz is read; without
# libzstd no .zst is.
ZLIB := $(call have,zlib.h,-lz)
ZSTD := $(call have,zstd.h,-lzstd)
# Optional: without these there is no JSON (jansson) and no pprof (protobuf-c, with the schema as Debian
# packages it).
JANSSON := $(call have,jansson.h,-ljansson)
PPROF_PROTO := $(wildcard /usr/share/gocode/src/github.com/google/pprof/proto/profile.proto)
PPROF := $(if $(and $(PPROF_PROTO),$(shell command -v protoc-c)),$(call have,protobuf-c/protobuf-c.h,-lprotobuf-c))
LIBS = $(if $(STATIC),-Wl$(comma)--start-group) -lm $(if $(DW),-ldw) $(shell $(PKG_CONFIG) --libs libelf libxxhash) $(if $(IBERTY),-liberty) $(if $(LZMA),-llzma) \
	$(if $(DEFLATE),-ldeflate) $(if $(ZLIB),-lz) $(if $(ZSTD),-lzstd) $(if $(JANSSON),-ljansson) \
	$(if $(PPROF),-lprotobuf-c) \
	$(if $(STATIC),$(filter-out $(if $(BZ2),,-lbz2),$(shell $(PKG_CONFIG) --static --libs libelf $(if $(DW),libdw))) -Wl$(comma)--end-group)
DEFS = $(shell $(PKG_CONFIG) --cflags libelf libxxhash) $(if $(IBERTY),-DHAVE_LIBIBERTY) $(if $(DW),-DHAVE_LIBDW) \
	$(if $(LZMA),-DHAVE_LIBLZMA) $(if $(DEFLATE),-DHAVE_LIBDEFLATE) $(if $(ZLIB),-DHAVE_ZLIB) \
	$(if $(ZSTD),-DHAVE_LIBZSTD) 	$(if $(JANSSON),-DHAVE_JANSSON) $(if $(PPROF),-DHAVE_PPROF)
BPF_LIBS = $(shell $(PKG_CONFIG) --libs libbpf)
BPF_DEFS = $(shell $(PKG_CONFIG) --cflags libbpf)

COMMON = $(wildcard common/*/*.c)
# A command is a file in cmd, or a folder with main.c and the command's other parts.
TOOLS = $(filter-out cprof-record,$(patsubst cmd/%.c,%,$(wildcard cmd/cprof.c cmd/cprof-*.c)) $(patsubst cmd/%/main.c,%,$(wildcard cmd/cprof-*/main.c)))
RECORD = $(wildcard cmd/cprof-record/*.c cmd/cprof-record/*/*.c)
# Sources that the commands share
SHARED = $(wildcard cmd/shared/*.c cmd/shared/*/*.c)
PAGES = $(wildcard man/*.[1-9])

# The shared part that the recorder links
SPEAK = $(call obj,cmd/shared/cli.c cmd/shared/command_line.c cmd/shared/version.c)

# say: what a rule prints in place of its command
say = $(if $(V),,@echo "  $(1)	$@";)

LIB = $(BUILD)/libcprof.a
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

all: offline $(if $(RECORD),$(BIN)/cprof-record)

offline: $(TOOLS:%=$(BIN)/%)

## all                  builds everything, into build/bin; the default
## offline              builds all but the recorder: needs no clang, bpftool or libbpf
## static               builds programs without shared libraries, into build/static/bin
## install              installs programs, pages, unit and completions below PREFIX, in DESTDIR
## install-strip        does the same without symbols
## uninstall            removes them
## clean                removes build/
## demo                 records a workload with a known profile and draws it
## check                runs all tests; T=NAME or TESTS="FILE ..." selects some
## lint                 checks pages and scripts with mandoc and shellcheck
## fuzz                 runs each fuzz target for FUZZ_SECONDS=60
## bench                runs all benchmarks, next to the peers found here
## soak                 records for SOAK_SECONDS=1800 with rotation, clock steps and kills
## soak-unwind          records starting and ending processes for SOAK_SECONDS=600
## verify-sym           compares names with a reference made from readelf
## verify-unwind        compares stacks of real programs, frame by frame, with libdwfl
## check-kernels        runs the recorder in emulated kernels KERNELS="5.10 6.1 6.12 newest"
## check-kernels-arm64  does the same in arm64 guests
## check-cpus           runs the recorder on many CPUs, in emulation; CPUS="ONLINE/POSSIBLE ..."
## check-bpf            loads the BPF objects of each clang that apt offers, in KERNELS
## check-bpf-here       loads those of four clangs in the running kernel
## check-languages      records known programs with interpreters of many versions, unpacked side by side
## check-distros        runs README's commands in roots of Debian's DISTROS="bookworm trixie sid"
## check-arm64          compares the output of the offline programs for arm64 and for this machine
## dist                 packs the source and the static programs, into build/dist
## deb                  makes a Debian package, in build/deb
## rpm                  makes an RPM of the static programs, in build/rpm
## container            collects the files of an image FROM scratch, in build/container
## check-dist           tests these packages as users get them
## help                 prints this list
help:
	@sed -n 's/^## //p' Makefile

.PHONY: help

$(LIB): $(call obj,$(COMMON)) $(if $(PPROF),$(BUILD)/obj/pprof/profile.pb-c.o)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

# Shared by several commands, or private to one that has more than one file: each links the members it uses.
$(BUILD)/libcmd.a: $(call obj,$(SHARED))
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

# The objects of one tool
parts = $(call obj,$(or $(wildcard cmd/$(1).c),$(wildcard cmd/$(1)/*.c)))

.SECONDEXPANSION:
$(TOOLS:%=$(BIN)/%): $(BIN)/%: $$(call parts,$$*) $(BUILD)/libcmd.a $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(DEFS) -c -o $@ $<

# Rewritten only if it differs, so a new commit compiles one file.
$(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(FULL_VERSION)' | cmp -s - $@ || echo '$(FULL_VERSION)' >$@

$(BUILD)/obj/cmd/shared/version.o: $(BUILD)/version
$(BUILD)/obj/cmd/shared/version.o: DEFS += -DCPROF_VERSION='"$(FULL_VERSION)"'

FORCE:
.PHONY: FORCE

# The object embeds the files of a flame graph's page.
$(BUILD)/obj/common/page/page.o $(BUILD)/fuzz/common/page/page.o: $(wildcard common/page/*.html common/page/*.css common/page/*.js)

# The kernel part: clang compiles an object, bpftool makes a skeleton that holds the object's bytes.
SKELS = $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
ARCH = $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(PROCESSOR)))

# A release has the skeletons built, valid only while their sources are unchanged.
PREBUILT := $(if $(wildcard prebuilt/$(ARCH)),$(shell sha256sum -c prebuilt/sources >/dev/null 2>&1 && echo prebuilt/$(ARCH)))

$(BUILD)/bpf/%.skel.h: $(PREBUILT)/%.skel.h
	@mkdir -p $(@D)
	@sed 's,.* ,$(@:.skel.h=.bpf.o): ,' prebuilt/sources >$(@:.skel.h=.bpf.d)
	@cp $< $@

# The processor's headers: clang does not look for them if the target is bpf.
TARGET_HEADERS = $(SYSROOT)/usr/include/$(PROCESSOR)-linux-gnu $(if $(CROSS),/usr/$(MACHINE)/include)

# v3 (Linux 5.1) has 32-bit operations: fewer instructions, and half as many for the verifier.
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -O2 -g $(NO_PATHS) -Wall -Wextra -I. $(BPF_DEFS) \
		$(ROOTFLAGS) $(addprefix -idirafter ,$(TARGET_HEADERS)) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@ $<

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,GEN)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@.tmp
	@mv $@.tmp $@

# For tests/kernels/bpf, which uses other compilers
bpf-objects: $(SKELS:.skel.h=.bpf.o)

$(call obj,$(RECORD)): $(SKELS)
$(call obj,$(RECORD)): DEFS += -I$(BUILD) $(BPF_DEFS)

$(BIN)/cprof-record: $(call obj,$(RECORD)) $(SPEAK) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(BPF_LIBS) $(LIBS)

# pprof's schema, as C
SCHEMA = $(if $(PPROF),$(BUILD)/pprof/profile.pb-c)

$(BUILD)/pprof/profile.pb-c.h: $(PPROF_PROTO)
	@mkdir -p $(@D)
	$(call say,GEN)protoc-c -I$(dir $<) --c_out=$(@D) $<

$(BUILD)/pprof/profile.pb-c.c: $(BUILD)/pprof/profile.pb-c.h

$(BUILD)/obj/pprof/profile.pb-c.o: $(BUILD)/pprof/profile.pb-c.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 $(ROOTFLAGS) -O2 -g $(SANFLAGS) $(STATICFLAGS) -c -o $@ $<

$(call obj,common/export/pprof.c) $(BUILD)/fuzz/common/export/pprof.o: $(SCHEMA:=.h)
$(call obj,common/export/pprof.c) $(BUILD)/fuzz/common/export/pprof.o: DEFS += -I$(BUILD)/pprof

# Tests are TAP programs in tests/*/*.t; helpers that they need compiled are tests/*/*.c.
# Two of them read x86-64's registers.
PROGRAM_ROOMS = lib unit cmd loads
TEST_PROGRAMS = $(addprefix $(BUILD)/tests/,$(filter-out $(if $(IS_X86),,unwind-golang-live),$(basename $(notdir \
	$(wildcard $(PROGRAM_ROOMS:%=tests/%/*.c) tests/verify/sym-reference.c)))) \
	$(foreach r,bench fuzz,$(patsubst tests/$(r)/%.c,$(r)-%,$(wildcard tests/$(r)/*.c))))
IS_X86 = $(filter x86_64,$(PROCESSOR))

# The source of a program: NAME.c in one of these rooms, or tests/ROOM/NAME.c for ROOM-NAME, as fuzz-jitdump.
room = $(firstword $(subst -, ,$(1)))
in_room = tests/$(room)/$(patsubst $(room)-%,%,$(1))
test_source = $(firstword $(wildcard $(patsubst %,tests/%/$(1).c,$(PROGRAM_ROOMS) verify) $(in_room).c) tests/unit/$(1).c)

.SECONDEXPANSION:

$(BUILD)/tests/%: $$(call test_source,$$*) $(LIB)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(DEFS) -o $@ $< $(LIB) $(LIBS)

$(BUILD)/tests/unwind-compare $(BUILD)/tests/unwind-golang: LIBS += -ldw

# Without sanitizers: workloads have known stacks, page faults and code.
$(patsubst tests/loads/%.c,$(BUILD)/tests/%,$(wildcard tests/loads/*.c)): private SANFLAGS =
# These look like interpreters, which export their symbols.
$(BUILD)/tests/lang-hostile $(BUILD)/tests/lang-hostile-java $(BUILD)/tests/lang-hostile-perl $(BUILD)/tests/phphostile: DEFS += -rdynamic -pthread

# Tests of the recorder link those of its modules that work alone.
SIDE = $(call obj,$(wildcard cmd/cprof-record/host/*.c cmd/cprof-record/helper/*.c) $(patsubst %,cmd/cprof-record/%.c, \
	config/memory_plan rings/queue rings/perf_ring rings/dither process/jit_budget process/jit_dumps \
	process/perf_maps process/perf_maps_file unwind/table_build unwind/table_queue unwind/table_worker))

$(BUILD)/tests/record-%: tests/unit/record-%.c $(SIDE) $(LIB)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(DEFS) -o $@ $< $(SIDE) $(MORE) $(LIB) $(BPF_LIBS) $(LIBS)

# These replace what their module asks others.
$(BUILD)/tests/record-silence: DEFS += -Wl,--wrap=opener_ask,--wrap=host_mono_ns
$(BUILD)/tests/record-silence: DEFS += -Wl,--wrap=table_worker_ask,--wrap=table_worker_take
$(BUILD)/tests/record-silence: private MORE = $(call obj,cmd/cprof-record/unwind/table_cache.c)
$(BUILD)/tests/record-silence: $(call obj,cmd/cprof-record/unwind/table_cache.c)

# This one names kernel functions itself.
$(BUILD)/tests/record-wakers: private SIDE = $(call obj,cmd/cprof-record/encode/wakers.c)
$(BUILD)/tests/record-wakers: $(call obj,cmd/cprof-record/encode/wakers.c)
$(BUILD)/tests/record-calltree: private SIDE = $(call obj,cmd/cprof-record/encode/calltree.c)
$(BUILD)/tests/record-calltree: $(call obj,cmd/cprof-record/encode/calltree.c)
$(BUILD)/tests/record-lockowner: private SIDE = $(call obj,cmd/cprof-record/encode/lock_owner.c)
$(BUILD)/tests/record-lockowner: $(call obj,cmd/cprof-record/encode/lock_owner.c)
$(BUILD)/tests/record-clear: private SIDE = $(call obj,cmd/cprof-record/programs/bpf_clear.c)
$(BUILD)/tests/record-clear: $(call obj,cmd/cprof-record/programs/bpf_clear.c)
$(BUILD)/tests/record-marks: private SIDE = $(call obj,$(patsubst %,cmd/cprof-record/lang/%.c, \
	runtimes_marks lang_codes lang_codes_javascript script_functions))
$(BUILD)/tests/record-marks: $(call obj,$(patsubst %,cmd/cprof-record/lang/%.c, \
	runtimes_marks lang_codes lang_codes_javascript script_functions))

TARGETS = $(patsubst %,cmd/cprof-record/%.c,process/targets process/proc_scan rings/sideband)
$(BUILD)/tests/record-exited: private SIDE += $(call obj,$(TARGETS))
$(BUILD)/tests/record-exited: $(call obj,$(TARGETS))

ROTATE = $(patsubst %,cmd/cprof-record/output/%.c,rotate file_name)
$(BUILD)/tests/record-fileage: private SIDE += $(call obj,$(ROTATE))
$(BUILD)/tests/record-fileage: $(call obj,$(ROTATE))

$(BUILD)/tests/record-images: private SIDE = $(call obj,cmd/cprof-record/lang/runtimes_images.c)
$(BUILD)/tests/record-images: $(call obj,cmd/cprof-record/lang/runtimes_images.c)

# This one chooses the users of processes, and answers for their memory.
JVMS = $(call obj,cmd/cprof-record/lang/java_procs.c cmd/cprof-record/helper/silent_users.c)
$(BUILD)/tests/record-jvms: private SIDE = $(JVMS)
$(BUILD)/tests/record-jvms: $(JVMS)

# The test chooses the hashes of rules.
$(BUILD)/tests/unwind-store: DEFS += -Wl,--wrap=hash_bytes

# The tests choose the users of processes.
$(BUILD)/tests/record-turns $(BUILD)/tests/record-blind: DEFS += -Wl,--wrap=nsfile_status

# The test chooses the users of processes, and answers for the opener.
$(BUILD)/tests/record-copies: DEFS += -Wl,--wrap=opener_ask,--wrap=host_mono_ns,--wrap=nsfile_status

# In this test no file is local, and some lookups do not end.
$(BUILD)/tests/record-remote: DEFS += -Wl,--wrap=mounts_kind,--wrap=mounts_is_local_there,--wrap=nsfile_find

SERIES = $(call obj,$(wildcard cmd/cprof-record/output/*.c)) $(BUILD)/libcmd.a
$(BUILD)/tests/record-series: private MORE = $(SERIES)
$(BUILD)/tests/record-series: $(SERIES)

$(BUILD)/tests/record-readings: DEFS += -Wl,--wrap=nsfile_status
$(BUILD)/tests/record-readings: private MORE = $(call obj,cmd/cprof-record/process/readings.c)
$(BUILD)/tests/record-readings: $(call obj,cmd/cprof-record/process/readings.c)

# The test sets the clock of the process that reads, and gives it an older kernel.
REREAD = $(call obj,$(patsubst %,cmd/cprof-record/process/%.c,reread readings procs procs_exes proc_scan))
$(BUILD)/tests/record-reread: DEFS += -Wl,--wrap=host_mono_ns,--wrap=ioctl
$(BUILD)/tests/record-reread: private MORE = $(REREAD)
$(BUILD)/tests/record-reread: $(REREAD)

# The test says when there is room for questions.
EXES = $(call obj,$(patsubst %,cmd/cprof-record/process/%.c,readings procs procs_exes proc_scan))
$(BUILD)/tests/record-identity: DEFS += -Wl,--wrap=opener_ask,--wrap=opener_has_room,--wrap=host_mono_ns
$(BUILD)/tests/record-identity: private MORE = $(EXES)
$(BUILD)/tests/record-identity: $(EXES)

# The test acts before a file is locked, and fills the disk.
$(BUILD)/tests/record-parts: DEFS += -Wl,--wrap=flock,--wrap=fallocate,--wrap=unlinkat
$(BUILD)/tests/record-parts: private MORE = \
	$(call obj,$(patsubst %,cmd/cprof-record/output/%.c,rotate file_name))
$(BUILD)/tests/record-parts: $(call obj,$(patsubst %,cmd/cprof-record/output/%.c,rotate file_name))

# The test counts how often a unit is read.
$(BUILD)/tests/dwarf-lines: DEFS += -Wl,--wrap=unit_flatten

# The verifier of stacks: libdw provides the truth, the recorder's modules provide the states.
VERIFY = $(filter-out %/sym-reference.c,$(wildcard tests/verify/*.c))
VERIFY_WRAP = -Wl,--wrap=user_walk_finish,--wrap=options_parse

$(call obj,$(VERIFY)): $(SKELS)
$(call obj,$(VERIFY)): DEFS += -I$(BUILD) $(BPF_DEFS)
$(BUILD)/obj/tests/record-main.o: $(BUILD)/obj/cmd/cprof-record/main.o
	@mkdir -p $(@D)
	$(call say,GEN)$(OBJCOPY) --redefine-sym main=record_main $< $@

$(BUILD)/tests/unwind-verify: $(call obj,$(VERIFY)) $(BUILD)/obj/tests/record-main.o \
		$(filter-out %/main.o,$(call obj,$(RECORD))) $(SPEAK) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) $(VERIFY_WRAP) -o $@ $^ $(BPF_LIBS) -ldw $(LIBS)

# The programs it examines: without frame pointers, whatever CFLAGS says
FRAMELESS = $(patsubst tests/loads/frameless/%,$(BUILD)/frameless/%,$(basename $(wildcard tests/loads/frameless/*.c tests/loads/frameless/*.cc)))
FRAMELESS_FLAGS = $(ROOTFLAGS) -O2 -g0 -fomit-frame-pointer -fno-optimize-sibling-calls -pthread

$(BUILD)/frameless/plt: FRAMELESS_FLAGS += -fno-builtin -Wl,-z,lazy

$(BUILD)/frameless/%: tests/loads/frameless/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 $(WARN) $(FRAMELESS_FLAGS) -D_GNU_SOURCE -o $@ $< -ldl

$(BUILD)/frameless/victim: tests/loads/bench-victim.c

$(BUILD)/frameless/%: tests/loads/frameless/%.cc
	@mkdir -p $(@D)
	$(call say,CXX)$(CXX) -Wall -Wextra $(FRAMELESS_FLAGS) -o $@ $<

# Compares thousands of stacks of real programs, frame by frame, with libdwfl.
verify-unwind: $(BUILD)/tests/unwind-verify $(FRAMELESS)
	@BUILD=$(abspath $(BUILD)) tests/verify/unwind.sh

# Compares hundreds of thousands of names, address by address, with a reference made from readelf.
verify-sym: all $(BUILD)/tests/sym-reference
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/verify/sym.sh

# Starts and ends processes for ten minutes: does the recorder grow?
SOAK_SECONDS = 600

soak-unwind: all $(TEST_PROGRAMS) $(FRAMELESS)
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) SOAK_SECONDS=$(SOAK_SECONDS) tests/cmd/record-churn.t

# Runs the whole recorder as in permanent use, for half an hour: rotation, clock steps, kills.
soak: all $(TEST_PROGRAMS)
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) \
		SOAK_SECONDS=$(if $(filter command line environment,$(origin SOAK_SECONDS)),$(SOAK_SECONDS),1800) \
		tests/cmd/record-always.t

.PHONY: verify-unwind verify-sym soak-unwind soak

# Many tests record real work, and other load on the machine at the wrong moment leaves too few samples. So a
# file that failed is run once more, verbosely, and counts as failed only if it fails again.
PROVE = HARNESS_RULESFILE=tests/rules.yml BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) $(INTERPRETERS) prove -r --statefile=$(abspath $(BUILD))/prove $(PROVEFLAGS)

# T selects tests by name, as T=record-offcpu or T='top-* house-man' (tests/house/man.t); TESTS selects files
# and directories. AWK=gawk SH=bash uses another awk, or
# another shell as /bin/sh. MORE_TESTS adds scripts to those, as tests/distros/check.
TESTS = $(if $(T),$(foreach t,$(T),$(call tests_named,$(t))),$(TEST_ROOMS))
tests_named = $(or $(wildcard tests/*/$(1).t tests/$(1).t $(in_room).t),$(error there is no test $(1)))
# tests/dist is for `make check-dist`.
TEST_ROOMS = $(filter-out tests/dist,$(patsubst %/,%,$(sort $(dir $(wildcard tests/*/*.t)))))
INTERPRETERS = $(if $(AWK)$(SH),AWK="$(AWK)" SH="$(SH)" tests/lib/interpreters)

LOADERS = $(BUILD)/kernels/load $(BUILD)/kernels/root/bin/load

check: all $(TEST_PROGRAMS) $(if $(IS_X86),$(BUILD)/tests/unwind-verify) $(FRAMELESS) \
		$(if $(filter tests/kernels/bpf,$(MORE_TESTS)),$(LOADERS))
	@rm -f $(BUILD)/prove
	$(PROVE) --state=save $(TESTS) $(MORE_TESTS) || { [ -s $(BUILD)/prove ] && echo "== What failed, once more:" && $(PROVE) --state=failed -v; }

include contrib/dist/dist.mk

clean:
	rm -rf build

.PHONY: all offline check clean

# Records and draws a workload whose profile is known.
$(BUILD)/contrib/%: contrib/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 $(ROOTFLAGS) $(WARN) -O2 -g -fno-omit-frame-pointer \
		-D_GNU_SOURCE -o $@ $<

demo: all $(BUILD)/contrib/demo
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) sh contrib/demo.sh

# All benchmarks run; those that failed are listed at the end.
BENCHES = tests/bench/peers.sh $(filter-out tests/bench/peers.sh,$(sort $(wildcard tests/bench/*.sh)))

bench: all $(TEST_PROGRAMS) $(BUILD)/frameless/victim $(BUILD)/contrib/demo
	@failed=; for b in $(BENCHES); do echo "== $$b"; \
		BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) sh $$b || failed="$$failed $$b"; done; \
	[ -z "$$failed" ] || { echo "bench: failed:$$failed" >&2; exit 1; }

# Each fuzzer runs for FUZZ_SECONDS, from the small capture and the inputs in tests/fuzz/corpus; it keeps new
# findings.
FUZZ_SECONDS = 60
FUZZERS = $(patsubst tests/fuzz/%.c,fuzz-%,$(wildcard tests/fuzz/*.c))

FUZZ_CC = $(CLANG) $(ALL_CFLAGS) $(DEFS) -O1 -DFUZZING -fno-sanitize-recover=undefined
FUZZ_OBJECTS = $(COMMON:%.c=$(BUILD)/fuzz/%.o) $(if $(PPROF),$(BUILD)/obj/pprof/profile.pb-c.o)

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,FUZZ)$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined -c -o $@ $<

$(BUILD)/fuzz/fuzz-%: tests/fuzz/%.c $(FUZZ_OBJECTS)
	@mkdir -p $(@D)
	$(call say,FUZZ)$(FUZZ_CC) -MF $@.d -fsanitize=fuzzer,address,undefined -o $@ $< $(FUZZ_OBJECTS) $(LIBS)

fuzz: $(FUZZERS:%=$(BUILD)/fuzz/%) $(BIN)/cprof-dump
	@for f in $(FUZZERS); do d=$(BUILD)/fuzz/corpus-$$f; echo "== $$f, $(FUZZ_SECONDS) s"; mkdir -p $$d; \
		cp tests/data/small.txt $$d/; $(BIN)/cprof-dump -r tests/data/small.txt >$$d/small.bin || exit 1; \
		for c in tests/fuzz/corpus/$${f#fuzz-}-*; do [ ! -e $$c ] || cp $$c $$d/; done; \
		$(BUILD)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
			-artifact_prefix=$(BUILD)/fuzz/$$f- $$d || exit 1; done

# Runs the recorder in emulated kernels of other ages, and checks its captures; KERNELS says which ones. It is
# linked statically, because a guest has no libraries. The workloads are static PIEs, so that their addresses
# differ from those of the recorder, whose children they are until they execute.
KERNELS = 5.10 6.1 6.12 newest
GUEST = $(addprefix $(BUILD)/kernels/root/bin/,cprof-record load burn waits bpfmaps)
STATIC_LIBS = -Wl,--start-group $(shell $(PKG_CONFIG) --static --libs libbpf libelf libxxhash) $(if $(IBERTY),-liberty) -Wl,--end-group

$(BUILD)/kernels/root/bin/cprof-record: $(call obj,$(RECORD)) $(SPEAK) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -static $(LDFLAGS) -o $@ $^ $(STATIC_LIBS)

$(BUILD)/kernels/root/bin/load: tests/kernels/load.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(BPF_DEFS) -MF $(BUILD)/kernels/load.d -MT $@ -static -o $@ $< $(STATIC_LIBS)

# For the running kernel: only guests need static libraries.
$(BUILD)/kernels/load: tests/kernels/load.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(BPF_DEFS) -MF $(BUILD)/kernels/load-here.d -MT $@ -o $@ $< $(BPF_LIBS)

$(BUILD)/kernels/root/bin/%: $$(call test_source,$$*)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -MF $(BUILD)/kernels/$*.d -MT $@ -fPIE -static-pie -o $@ $<

guest: $(GUEST)

check-kernels: all guest $(BUILD)/frameless/deep
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/kernels/check $(KERNELS)

# The same in arm64 guests, with the libraries that tests/arm64/root installs
check-kernels-arm64: all
	@tests/arm64/root
	@$(MAKE) CROSS=aarch64-linux-gnu- guest
	@BIN=$(abspath $(BIN)) BUILD=$(abspath build/aarch64-linux-gnu) GUEST_ARCH=aarch64 tests/kernels/check $(KERNELS)

# Runs the recorder on many CPUs, in emulation, and with CPUs that go offline and come online. CPUS says how
# many CPUs are online, and out of how many possible ones. Takes minutes for 16 CPUs, more than half an hour
# for 128.
CPUS = 2/128 16 64 128

check-cpus: all guest
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/kernels/cpus $(CPUS)

# Loads the BPF objects of each clang that apt offers, in this kernel and in KERNELS, and counts the
# instructions verified.
CLANGS ?= all

check-bpf: $(BUILD)/kernels/load $(BUILD)/kernels/root/bin/load
	@CLANGS="$(CLANGS)" BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/kernels/bpf this $(KERNELS)

# The part of it that needs no emulation and few compilers
check-bpf-here: $(BUILD)/kernels/load
	@CLANGS="14 16 19 22" BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/kernels/bpf this

.PHONY: guest check-kernels check-kernels-arm64 check-cpus check-bpf check-bpf-here bpf-objects

# Downloads interpreters and checks their images, lines and recordings. Requires root.
check-languages: all $(TEST_PROGRAMS)
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/lang/check
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/lang/record
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/lang/programs
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/lang/programs-vm
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/lang/perf-maps
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/lang/torture

.PHONY: check-languages

# Runs the README's commands in bare roots of Debian's releases, made by debootstrap. Requires root.
DISTROS ?= bookworm trixie sid

check-distros:
	@BUILD=$(abspath $(BUILD)) tests/distros/check $(DISTROS)

.PHONY: check-distros

# Runs the offline tools built for arm64, under user emulation, and this machine's: their output must be the
# same bytes.
check-arm64: all $(addprefix $(BUILD)/tests/,burn waits)
	@BIN=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/arm64/check

.PHONY: check-arm64

# Checks pages and scripts with mandoc and shellcheck. SC1091: a sourced file is checked by itself; SC2046:
# words are meant to be split; SC2069: stdout goes elsewhere on purpose; SC2034, SC2154: a sourced file uses
# or sets the variable.
SCRIPTS = contrib/bootstrap contrib/push.sh contrib/query.sh contrib/workload contrib/demo.sh contrib/rows \
	$(wildcard contrib/hooks/* contrib/*/fold contrib/*/load \
	contrib/*/push contrib/*/query) .ci/run $(wildcard tests/bench/*.sh) \
	$(addprefix tests/arm64/,check root) tests/house/awks \
	$(addprefix tests/kernels/,apt.sh boot bpf check clangs cpus fetch guest.sh host init record) \
	$(addprefix tests/distros/,check root) $(addprefix tests/lang/,check fetch programs record torture) \
	tests/lib/interpreters \
	$(addprefix contrib/dist/,commit deb elfutils libraries pack rpm source)

lint:
	$(if $(PAGES),mandoc -T lint -W warning $(PAGES))
	shellcheck -S warning -e SC1091,SC2046,SC2034,SC2069,SC2154 $(SCRIPTS)

# contrib/bootstrap asks: is there a bpftool that runs?
bpftool:
	@$(BPFTOOL) version

.PHONY: demo bench fuzz lint bpftool
.SECONDARY:
# Not all of $(BUILD): it may hold system roots, which have files *.d of their own.
-include $(shell find $(addprefix $(BUILD)/,obj bpf tests fuzz) $(wildcard $(BUILD)/kernels/*.d) \
	-name '*.d' -type f 2>/dev/null)
