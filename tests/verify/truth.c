#include "tests/verify/truth.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A Dwfl is expensive, and a starting process's images differ by one mapping each: keeps a few. */
enum { KEPT = 16, BELOW_MAX = 8 };

/* One image in libdwfl. */
struct session {
	Dwfl *dwfl;
	size_t image;
	uint64_t used;
};

struct truth {
	const struct states *all;
	struct session kept[KEPT];
	uint64_t clock;
	/* for the current state */
	const struct state *state;
	struct true_chain *chain;
	enum { ON, TOP, SWITCH } go; /* how to go on after the last frame */
	uint64_t refused, refused_ever;
	struct { uint64_t address, value; } below[BELOW_MAX];
	size_t n_below;
};

static int no_debuginfo(Dwfl_Module *m, void **userdata, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **found)
{
	(void)m, (void)userdata, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static int no_elf(Dwfl_Module *m, void **userdata, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	(void)m, (void)userdata, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static const Dwfl_Callbacks callbacks = { .find_elf = no_elf, .find_debuginfo = no_debuginfo };

/*
 * Finds the linked address for this offset of the file, by the executable segments alone: a page of the file
 * may belong to two segments. Written a second time on purpose, so as not to depend on the code under test.
 */
static bool linked_address(int fd, uint64_t offset, uint64_t *address, bool *fixed)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr eh;
	size_t n = 0;
	bool found = false;

	if (elf && elf_getphdrnum(elf, &n) != 0)
		n = 0;
	*fixed = elf && gelf_getehdr(elf, &eh) && eh.e_type == ET_EXEC;
	for (size_t i = 0; i < n && !found; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    offset < (ph.p_offset & ~0xfffull) || offset >= ph.p_offset + ph.p_filesz)
			continue;
		*address = ph.p_vaddr + offset - ph.p_offset;
		found = true;
	}
	elf_end(elf);
	return found;
}

/*
 * Computes the difference between mapped and linked address. node maps a part of itself a second time:
 * libdwfl knows a program that was linked for a fixed address only there.
 */
static bool bias_of(const struct states *all, const struct map *m, uint64_t *bias)
{
	uint64_t address;
	bool fixed;

	if (!(m->prot & 4) || !m->file || all->files[m->file].truth_fd < 0 ||
	    !linked_address(all->files[m->file].truth_fd, m->offset, &address, &fixed))
		return false;
	*bias = m->start - address;
	return !fixed || *bias == 0;
}

/* Reports only the first of a file's pieces: libdwfl drops a module that is reported again. */
static void report(struct truth *t, Dwfl *dwfl, const struct maps *maps, const struct map *m)
{
	const struct code_file *f = &t->all->files[m->file];
	uint64_t bias, other;
	int fd;

	if (!bias_of(t->all, m, &bias))
		return;
	for (const struct map *o = maps_from(maps, 0); o != m; o = maps_from(maps, o->end)) {
		if (o->file == m->file && bias_of(t->all, o, &other) && other == bias)
			return;
	}
	fd = dup(f->truth_fd);
	if (fd >= 0 && !dwfl_report_elf(dwfl, f->path, f->path, fd, bias, true))
		close(fd);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	const struct truth *t = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return (pid_t)t->state->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
	struct truth *t = arg;

	(void)dwfl;
	if (state_read(t->all, t->state, address, result, sizeof(*result)))
		return true;
	for (size_t i = 0; i < t->n_below; i++) {
		if (t->below[i].address == address) {
			*result = t->below[i].value;
			return true;
		}
	}
	t->refused = t->refused_ever = address;
	return false;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct truth *t = arg;
	Dwarf_Word regs[UNWIND_REGISTERS];

	for (int i = 0; i < UNWIND_REGISTERS; i++)
		regs[i] = t->state->regs[i];
	return dwfl_thread_state_registers(thread, 0, UNWIND_REGISTERS, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread, .get_thread = get_thread, .memory_read = memory_read,
	.set_initial_registers = set_registers,
};

static Dwfl *begin(struct truth *t, size_t image)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	const struct maps *maps = &t->all->images[image].maps;

	if (!dwfl)
		die("dwfl_begin: %s", dwfl_errmsg(-1));
	dwfl_report_begin(dwfl);
	for (const struct map *m = maps_from(maps, 0); m; m = maps_from(maps, m->end))
		report(t, dwfl, maps, m);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!dwfl_attach_state(dwfl, NULL, 1, &thread_callbacks, t)) {
		dwfl_end(dwfl); /* no file is known at all */
		return NULL;
	}
	return dwfl;
}

/* Returns the session of this image, creating it if needed. */
static Dwfl *session(struct truth *t, size_t image)
{
	struct session *oldest = t->kept;

	for (size_t i = 0; i < KEPT; i++) {
		struct session *s = &t->kept[i];

		if (s->used && s->image == image) {
			s->used = ++t->clock;
			return s->dwfl;
		}
		if (s->used < oldest->used)
			oldest = s;
	}
	if (oldest->dwfl)
		dwfl_end(oldest->dwfl);
	*oldest = (struct session){ begin(t, image), image, ++t->clock };
	return oldest->dwfl;
}

/* Returns the CFI row at pc, or NULL; the caller frees it. .eh_frame first, as in libdw. */
static Dwarf_Frame *row_at(Dwfl *dwfl, uint64_t pc, Dwarf_Addr *bias)
{
	Dwfl_Module *m = dwfl_addrmodule(dwfl, pc);
	Dwarf_Frame *row = NULL;
	Dwarf_CFI *cfi = m ? dwfl_module_eh_cfi(m, bias) : NULL;

	if (cfi && dwarf_cfi_addrframe(cfi, pc - *bias, &row) == 0)
		return row;
	cfi = m ? dwfl_module_dwarf_cfi(m, bias) : NULL;
	return cfi && dwarf_cfi_addrframe(cfi, pc - *bias, &row) == 0 ? row : NULL;
}

/* Computes CFA if it is a register and an offset. */
static bool simple_cfa(Dwarf_Frame *row, const uint64_t *regs, uint64_t *cfa)
{
	Dwarf_Op *ops;
	size_t n;
	unsigned int reg;

	if (dwarf_frame_cfa(row, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx)
		reg = (unsigned int)ops[0].number;
	else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
		reg = ops[0].atom - DW_OP_breg0;
	else
		return false;
	if (reg >= UNWIND_REGISTERS)
		return false;
	*cfa = regs[reg] + (ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
	return true;
}

/*
 * In an epilogue, CFI still says that a popped register is saved, now below rsp (compilers write no
 * DW_CFA_restore there). The copy of the stack begins at rsp, but the value below is known: the pop put it
 * into the register.
 */
static void learn_below(struct truth *t, Dwfl *dwfl)
{
	static const int saved[] = { 3, 6, 12, 13, 14, 15 };
	const uint64_t *regs = t->state->regs;
	Dwarf_Op memory[3], *ops;
	Dwarf_Addr bias;
	Dwarf_Frame *row = row_at(dwfl, regs[UNWIND_RIP], &bias);
	uint64_t cfa;
	size_t n;

	t->n_below = 0;
	if (row && simple_cfa(row, regs, &cfa)) {
		for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++) {
			if (dwarf_frame_register(row, saved[i], memory, &ops, &n) != 0 || n != 2 ||
			    ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_plus_uconst ||
			    cfa + ops[1].number >= regs[UNWIND_RSP])
				continue;
			t->below[t->n_below].address = cfa + ops[1].number;
			t->below[t->n_below++].value = regs[saved[i]];
		}
	}
	free(row);
}

/* Returns whether a Go linker's table of functions belongs to the module. Checks each module once. */
static bool is_go(Dwfl_Module *m)
{
	void **known;
	Dwarf_Addr bias;
	Elf *elf;
	Elf_Scn *section = NULL;
	size_t names;
	static char yes, no;

	dwfl_module_info(m, &known, NULL, NULL, NULL, NULL, NULL, NULL);
	if (*known)
		return *known == &yes;
	*known = &no;
	elf = dwfl_module_getelf(m, &bias);
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(section, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strcmp(name, ".gopclntab") == 0)
			*known = &yes;
	}
	return *known == &yes;
}

/*
 * Go's .debug_frame has the size of each function's frame, but does not say that a function is the outermost
 * or was entered from another stack. Its runtime knows (runtime/asm_amd64.s, TOPFRAME; runtime/traceback.go,
 * gentraceback). libdwfl goes on from there with whatever is above.
 */
static int go_end(Dwfl *dwfl, uint64_t pc)
{
	static const struct { const char *name; int end; } ends[] = {
		{ "runtime.goexit", TOP }, { "runtime.mstart", TOP }, { "runtime.rt0_go", TOP },
		{ "runtime.mcall", SWITCH }, { "runtime.morestack", SWITCH }, { "runtime.systemstack", SWITCH },
		{ "runtime.asmcgocall", SWITCH },
		/* They align rsp for the vDSO. */
		{ "runtime.nanotime1", SWITCH }, { "runtime.walltime", SWITCH }, { "time.now", SWITCH },
	};
	Dwfl_Module *m = dwfl_addrmodule(dwfl, pc);
	const char *name = m && is_go(m) ? dwfl_module_addrname(m, pc) : NULL;

	for (size_t i = 0; name && i < sizeof(ends) / sizeof(*ends); i++) {
		size_t n = strlen(ends[i].name);

		if (strncmp(name, ends[i].name, n) == 0 && (name[n] == '\0' || name[n] == '.')) /* .abi0 */
			return ends[i].end;
	}
	return ON;
}

static int each_frame(Dwfl_Frame *frame, void *arg)
{
	struct truth *t = arg;
	struct true_chain *c = t->chain;
	struct true_frame *f = &c->frames[c->n];
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
	Dwarf_Addr bias, pc;
	Dwarf_Frame *row;

	if (c->n == TRUTH_FRAMES || t->go != ON)
		return DWARF_CB_ABORT;
	t->refused = 0;
	if (!dwfl_frame_pc(frame, &pc, &f->activation))
		return DWARF_CB_ABORT;
	f->pc = pc;
	row = row_at(dwfl, pc - !f->activation, &bias);
	f->has_cfi = row != NULL;
	free(row);
	t->go = go_end(dwfl, pc - !f->activation);
	c->n++;
	return DWARF_CB_OK;
}

/*
 * elfutils (0.188) means to say in its x86-64 defaults that calls preserve rbx, but says it of rax: if no
 * frame below has saved rbx, a CFA by rbx (ld.so's _dl_runtime_resolve) is not available, and libdwfl takes
 * that for the end of the stack.
 */
static bool wants_rbx(Dwfl *dwfl, const struct true_frame *f)
{
	Dwarf_Addr bias;
	Dwarf_Frame *row = row_at(dwfl, f->pc - !f->activation, &bias);
	Dwarf_Op *ops;
	size_t n;
	bool by_rbx = row && dwarf_frame_cfa(row, &ops, &n) == 0 && n == 1 &&
		      (ops[0].atom == DW_OP_breg3 || (ops[0].atom == DW_OP_bregx && ops[0].number == UNWIND_RBX));

	free(row);
	return by_rbx;
}

/* Returns how a walk with this result ended. */
static enum truth_end end_of(struct truth *t, Dwfl *dwfl, struct true_chain *c, int got)
{
	const struct true_frame *last = &c->frames[c->n - 1];

	if (c->n == TRUTH_FRAMES)
		return TRUTH_LIMIT;
	if (t->go != ON)
		return t->go == TOP ? TRUTH_COMPLETE : TRUTH_SWITCH;
	if (got == 0 && c->n > 0 && wants_rbx(dwfl, last)) {
		c->error = "libdw does not follow rbx";
		return TRUTH_FAILED;
	}
	if (got == 0)
		return t->refused ? TRUTH_DUMP : TRUTH_COMPLETE; /* libdwfl takes an unread return address for an undefined one */
	if (c->n > 0 && !last->has_cfi)
		return TRUTH_NO_CFI;
	return c->refused ? TRUTH_DUMP : TRUTH_FAILED;
}

void truth_unwind(struct truth *t, const struct state *s, struct true_chain *c)
{
	Dwfl *dwfl;
	int got;

	t->state = s;
	t->chain = c;
	t->refused = t->refused_ever = 0;
	t->go = ON;
	c->n = 0;
	c->error = NULL;
	dwfl = session(t, s->image);
	if (!dwfl) {
		c->frames[c->n++] = (struct true_frame){ s->regs[UNWIND_RIP], true, false };
		c->end = TRUTH_NO_CFI;
		return;
	}
	learn_below(t, dwfl);
	dwfl_errno();
	got = dwfl_getthread_frames(dwfl, (pid_t)s->tid, each_frame, t);
	if (got == -1)
		c->error = dwfl_errmsg(-1);
	c->refused = t->refused ? t->refused : t->refused_ever;
	c->end = end_of(t, dwfl, c, got);
}

static void print_ops(FILE *out, const char *what, const Dwarf_Op *ops, size_t n)
{
	fprintf(out, " %s", what);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%c%02x,%" PRId64, i ? ' ' : '=', ops[i].atom, (int64_t)ops[i].number);
}

static void print_row(Dwarf_Frame *row, FILE *out)
{
	static const struct { int reg; const char *name; } saved[] = {
		{ 16, "ra" }, { 6, "rbp" }, { 3, "rbx" }, { 7, "rsp" },
	};
	Dwarf_Op memory[3], *ops;
	bool is_signal = false;
	size_t n;

	if (dwarf_frame_cfa(row, &ops, &n) == 0)
		print_ops(out, "cfa", ops, n);
	for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++) {
		if (dwarf_frame_register(row, saved[i].reg, memory, &ops, &n) != 0)
			continue;
		if (n == 0 && ops == memory)
			fprintf(out, " %s=undefined", saved[i].name);
		else if (n == 0)
			fprintf(out, " %s=same", saved[i].name);
		else
			print_ops(out, saved[i].name, ops, n);
	}
	if (dwarf_frame_info(row, NULL, NULL, &is_signal) >= 0 && is_signal)
		fprintf(out, " signal frame");
}

void truth_describe(struct truth *t, const struct state *s, uint64_t pc, bool exact, FILE *out)
{
	Dwfl *dwfl = session(t, s->image);
	Dwfl_Module *m = dwfl ? dwfl_addrmodule(dwfl, pc - !exact) : NULL;
	GElf_Sym sym;
	GElf_Off offset = 0;
	const char *name = m ? dwfl_module_addrinfo(m, pc - !exact, &offset, &sym, NULL, NULL, NULL) : NULL;
	Dwarf_Addr bias;
	Dwarf_Frame *row = dwfl ? row_at(dwfl, pc - !exact, &bias) : NULL;

	fprintf(out, "%s", state_place(t->all, s, pc));
	if (name)
		fprintf(out, " %s+0x%" PRIx64, name, (uint64_t)offset + !exact);
	if (row)
		print_row(row, out);
	else
		fprintf(out, " no CFI");
	free(row);
}

struct truth *truth_open(const struct states *all)
{
	struct truth *t = calloc(1, sizeof(*t));

	if (!t || elf_version(EV_CURRENT) == EV_NONE)
		die("libelf does not begin");
	t->all = all;
	return t;
}

void truth_close(struct truth *t)
{
	for (size_t i = 0; i < KEPT; i++) {
		if (t->kept[i].dwfl)
			dwfl_end(t->kept[i].dwfl);
	}
	free(t);
}
