/*
 * Compares unwind tables with libdw at the same addresses.
 *
 *	unwind-compare N	paths on stdin: N random addresses in all; each must have libdw's rule
 *
 * How two rules are compared: registers and memory are given arbitrary values (a memory cell's is a hash of
 * its address), and a small DWARF machine here, which does not know the forms that the builder recognises,
 * computes libdw's answer. CFA, the return address, rbp and rbx must come out the same. Several such states
 * are tried, so that an accident cannot hide a difference.
 *
 * Accepted differences, each counted:
 * - filled: libdw has nothing for the address, which is among the 15 bytes after code that has a rule, and
 *   that rule holds there. Nothing runs in padding; a call at a function's very end returns there.
 * - popped: libdw says that a register is saved in a slot below rsp, the instruction that left it there is
 *   that register's pop, and the table says that the register is restored. It is: both hold the caller's
 *   value.
 * - unfollowed: rbx is not followed in files where no frame depends on it.
 * - unsaid: without a rule for rbx, libdw has it undefined, but not rax, which every function may change: its
 *   table of the ABI's preserved registers has rax's number for rbx's. Our table says unchanged (System V ABI
 *   AMD64, figure 3.4).
 * - refused: the table has UNWIND_BAD for a row that no rule can express, if libdw's answer is of one of
 *   these kinds: CFA by another expression than "[reg + n] + m" with reg rsp or rbp, or the linker's for
 *   stubs; the return address elsewhere than at CFA - 8 (and not undefined, nor in a register of a frame
 *   whose CFA is by rsp); the caller's rsp is not CFA.
 * - lost: the caller's rbp by an expression other than [rbp + n], in another register, or rbx so: the table
 *   says LOST.
 *
 * Addresses whose program libdw considers invalid are not compared but counted apart: DW_CFA_def_cfa_register
 * after an expression, in libgcrypt. gcc's unwinder and LLVM's give the register the last offset, and so does
 * the table. Go's code is not compared either: Go's own table is the source there, and has its own test.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/unit/unwind-machine.h"
#include "tests/unit/unwind-table.h"

/* Returns the value of CFA by our rule. */
static struct value our_cfa(const struct state *s, const struct unwind_rule *r)
{
	switch (r->kind) {
	case UNWIND_CFA_RSP:
	case UNWIND_RA_REG:
		return known(s->reg[RSP] + (uint64_t)(int64_t)r->cfa);
	case UNWIND_CFA_RBP:
		return known(s->reg[RBP] + (uint64_t)(int64_t)r->cfa);
	case UNWIND_CFA_RBX:
		return known(s->reg[RBX] + (uint64_t)(int64_t)r->cfa);
	case UNWIND_CFA_REG:
		return known(s->reg[r->reg] + (uint64_t)(int64_t)r->cfa);
	case UNWIND_DEREF_RSP:
	case UNWIND_DEREF_RBP:
		return known(memory(s, s->reg[r->kind == UNWIND_DEREF_RSP ? RSP : RBP] + (uint64_t)(int64_t)r->cfa) +
			     (uint64_t)(int64_t)(int16_t)r->mask);
	case UNWIND_PLT:
		return known(s->reg[RSP] + (uint64_t)(int64_t)r->cfa + ((s->reg[RIP] & 15) >= r->reg ? 8 : 0));
	case UNWIND_SIGNAL: /* the kernel's ucontext: 40 bytes, then r8..r15 rdi rsi rbp rbx rdx rax rcx rsp rip */
		return known(memory(s, s->reg[RSP] + 40 + 15 * 8));
	default:
		return (struct value){ UNKNOWN, 0 };
	}
}

/* Returns the value of rbp or rbx by our rule. */
static struct value our_save(const struct state *s, const struct unwind_rule *r, int reg)
{
	int64_t at = reg == RBP ? r->bp_at : r->bx_at;

	if (r->kind == UNWIND_SIGNAL)
		return known(memory(s, s->reg[RSP] + 40 + (reg == RBP ? 10 : 11) * 8));
	switch (reg == RBP ? r->bp : r->bx) {
	case UNWIND_SAME:
		return known(s->reg[reg]);
	case UNWIND_AT_CFA:
		return known(memory(s, s->cfa + (uint64_t)at));
	case UNWIND_AT_RBP:
		return known(memory(s, s->reg[RBP] + (uint64_t)at));
	case UNWIND_IS_CFA:
		return known(s->cfa + (uint64_t)at);
	default:
		return (struct value){ LOST, 0 };
	}
}

static struct value our_return(const struct state *s, const struct unwind_rule *r)
{
	if (r->kind == UNWIND_SIGNAL)
		return known(memory(s, s->reg[RSP] + 40 + 16 * 8));
	return known(r->kind == UNWIND_RA_REG ? s->reg[r->reg] : memory(s, s->cfa - 8));
}

/* A file to compare. */
struct subject {
	const char *path;
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *eh, *debug;
	struct unwind_table t;
	bool follows_rbx, is_go;
	GElf_Phdr code[64];
	size_t n_code;
	uint64_t code_bytes;
};

static struct counts {
	unsigned long files, all, gaps, filled, popped, unfollowed, unsaid, refused, lost, undecided, go, started, coded, wrong;
	unsigned long kinds[UNWIND_KINDS];
} counts;

static bool same(struct value a, struct value b)
{
	return a.what == b.what && (a.what != KNOWN || a.v == b.v);
}

static void close_subject(struct subject *s)
{
	unwind_table_release(&s->t);
	if (s->eh)
		dwarf_cfi_end(s->eh);
	if (s->dwarf)
		dwarf_end(s->dwarf);
	if (s->elf)
		elf_end(s->elf);
	if (s->fd >= 0)
		close(s->fd);
}

static bool has_section(Elf *elf, const char *wanted)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	while (elf_getshdrstrndx(elf, &names) == 0 && (scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

/* Returns false if the file cannot be compared. */
static bool open_subject(struct subject *s, const char *path)
{
	struct elf_file *f = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum unwind_built built;
	size_t n = 0;

	*s = (struct subject){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (fd < 0 || s->fd < 0 || elf_open(fd, &f) != ELF_OPENED)
		return false;
	built = unwind_build(f, &s->t);
	elf_close(f);
	if (built != UNWIND_BUILT)
		return false;
	s->follows_rbx = has_rbx(&s->t);
	s->elf = elf_begin(s->fd, ELF_C_READ_MMAP, NULL);
	s->dwarf = s->elf ? dwarf_begin_elf(s->elf, DWARF_C_READ, NULL) : NULL;
	s->eh = s->elf ? dwarf_getcfi_elf(s->elf) : NULL;
	s->is_go = s->elf && has_section(s->elf, ".gopclntab");
	s->debug = s->dwarf && !s->is_go ? dwarf_getcfi(s->dwarf) : NULL;
	elf_getphdrnum(s->elf, &n);
	for (size_t i = 0; i < n && s->n_code < 64; i++) {
		GElf_Phdr *p = &s->code[s->n_code];

		if (gelf_getphdr(s->elf, (int)i, p) && p->p_type == PT_LOAD && (p->p_flags & PF_X) && p->p_filesz) {
			s->code_bytes += p->p_filesz;
			s->n_code++;
		}
	}
	return s->n_code && (s->eh || s->debug);
}

/* Returns NULL if libdw has no frame. */
static Dwarf_Frame *ask_libdw(struct subject *s, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;

	if (s->eh && dwarf_cfi_addrframe(s->eh, pc, &frame) == 0)
		return frame;
	if (s->debug && dwarf_cfi_addrframe(s->debug, pc, &frame) == 0)
		return frame;
	return NULL;
}

/* Returns whether libdw has a frame that it considers invalid. */
static bool is_undecided(Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t n;

	return frame && dwarf_frame_cfa(frame, &ops, &n) != 0;
}

static void make_state(struct state *st, uint64_t pc)
{
	for (int i = 0; i < REGISTERS; i++)
		st->reg[i] = random_u64() & 0x7ffffffffff8;
	st->reg[RIP] = pc;
	st->salt = random_u64();
}

/* Returns the row in force at this offset, unchanged. */
static const struct unwind_rule *row_at(const struct unwind_table *t, uint64_t offset, uint64_t *start)
{
	const struct unwind_page *page = &t->pages[(offset >> UNWIND_PAGE_SHIFT) - t->first_page];
	uint32_t i = page->n;

	while (t->rows[page->first + --i] >> 16 > (offset & 0xffff))
		;
	*start = (offset & ~0xffffUL) + (t->rows[page->first + i] >> 16);
	return &t->rules[t->rows[page->first + i] & 0xffff];
}

/* Returns whether this is a run of pops, and the pop that empties the slot CFA + at is this register's. */
static bool was_popped(const struct subject *s, uint64_t offset, int reg, int64_t at)
{
	uint64_t start;
	const struct unwind_rule *row = row_at(&s->t, offset, &start);
	int64_t cfa = row->cfa;
	uint8_t code;

	if (row->kind != UNWIND_POPS)
		return false;
	for (unsigned int d = 0; d < 16; d++) {
		if (!(row->mask >> d & 1))
			continue;
		cfa -= 8;
		if (at == -cfa - 8)
			return start + d < offset && pread(s->fd, &code, 1, (off_t)(start + d)) == 1 &&
			       code == (reg == RBP ? 0x5d : 0x5b);
	}
	return false;
}

/* Finds a register's save slot in libdw, which is CFA + *at. */
static bool slot_of(Dwarf_Frame *frame, int reg, int64_t *at)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, mem, &ops, &n) != 0 || n == 0 || ops[0].atom != DW_OP_call_frame_cfa ||
	    n > 2 || (n == 2 && ops[1].atom != DW_OP_plus_uconst))
		return false;
	*at = n == 2 ? (int64_t)ops[1].number : 0;
	return true;
}

/* Returns whether the table is allowed to say LOST for this register. */
static bool may_be_lost(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op mem[3], *ops;
	size_t n;
	int64_t at;

	return dwarf_frame_register(frame, reg, mem, &ops, &n) == 0 && n > 0 && !slot_of(frame, reg, &at) &&
	       !(reg == RBP && n == 1 && ops[0].atom == DW_OP_breg6);
}

static bool compare_save(const struct subject *s, const struct state *st, Dwarf_Frame *frame, uint64_t offset,
			 const struct unwind_rule *r, int reg)
{
	struct value their = theirs(st, frame, reg), our = our_save(st, r, reg);
	int64_t at;

	if (same(their, our))
		return true;
	if (reg == RBX && !s->follows_rbx && our.what == LOST) {
		counts.unfollowed++;
		return true;
	}
	if (our.what == LOST && may_be_lost(frame, reg)) {
		counts.lost++;
		return true;
	}
	if (r->kind == UNWIND_CFA_RSP && (reg == RBP ? r->bp : r->bx) == UNWIND_SAME && slot_of(frame, reg, &at) &&
	    at < -(int64_t)r->cfa && was_popped(s, offset, reg, at)) {
		counts.popped++;
		return true;
	}
	if (reg == RBX && their.what == LOST && our.what == KNOWN && r->bx == UNWIND_SAME &&
	    theirs(st, frame, RAX).what != LOST) {
		counts.unsaid++;
		return true;
	}
	return false;
}

/* Returns whether the table is allowed to refuse this. */
static bool may_be_refused(const struct state *st, Dwarf_Frame *frame, struct value cfa)
{
	Dwarf_Op *ops;
	size_t n;
	int64_t at;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || cfa.what != KNOWN)
		return true;
	if (n > 3 || (n > 1 && (ops[1].atom != DW_OP_deref || (n == 3 && ops[2].atom != DW_OP_plus_uconst))))
		return true;
	if (n > 1 && ops[0].atom != DW_OP_breg6 && ops[0].atom != DW_OP_breg7)
		return true;
	if (!slot_of(frame, RIP, &at) || at != -8)
		return true;
	return !same(theirs(st, frame, RSP), known(st->cfa));
}

/* Compares one arbitrary state. */
static bool compare_state(const struct subject *s, Dwarf_Frame *frame, uint64_t pc, uint64_t offset,
			  const struct unwind_rule *r)
{
	struct state st;
	struct value cfa, rip;
	Dwarf_Op *ops;
	size_t n;

	make_state(&st, pc);
	cfa = dwarf_frame_cfa(frame, &ops, &n) == 0 && n ? compute(&st, ops, n, true) : (struct value){ UNKNOWN, 0 };
	st.cfa = cfa.v;
	rip = theirs(&st, frame, RIP);
	if (rip.what == LOST)
		return r->kind == UNWIND_STOP;
	if (r->kind == UNWIND_BAD) {
		counts.refused++;
		return may_be_refused(&st, frame, cfa);
	}
	return cfa.what == KNOWN && same(cfa, our_cfa(&st, r)) && same(rip, our_return(&st, r)) &&
	       compare_save(s, &st, frame, offset, r, RBP) && compare_save(s, &st, frame, offset, r, RBX);
}

static bool compare_frame(const struct subject *s, Dwarf_Frame *frame, uint64_t pc, uint64_t offset,
			  const struct unwind_rule *r)
{
	bool good = true;

	for (unsigned int i = 0; good && i < STATES; i++) {
		struct counts before = counts;

		good = compare_state(s, frame, pc, offset, r);
		if (i)
			counts = before;
	}
	return good;
}

/*
 * Code of gcc's start files has no tables. Returns the bytes on the stack, the return address among them,
 * found by the position relative to bytes that this code always has; 0: this is no such code.
 */
static int start_file_depth(const struct subject *s, uint64_t offset)
{
	static const uint8_t sub_8[] = { 0x48, 0x83, 0xec, 8 }, add_8[] = { 0x48, 0x83, 0xc4, 8, 0xc3 };
	static const uint8_t pushed[] = { 0x55, 0x48, 0x83, 0x3d }, popped[] = { 1, 0x5d, 0xc3 };
	enum { AROUND = 256 };
	uint8_t bytes[2 * AROUND];
	const uint8_t *here = bytes + AROUND;

	if (offset < AROUND || pread(s->fd, bytes, sizeof(bytes), (off_t)(offset - AROUND)) != sizeof(bytes))
		return 0;
	/*
	 * deregister_tm_clones and so on begin 0x70 bytes before __do_global_dtors_aux, and frame_dummy ends
	 * 0x49 after it; p is up to 13 bytes into it.
	 */
	for (const uint8_t *p = here - 0x3f; p < here + 0x80; p++) {
		if (memcmp(p, pushed, sizeof(pushed)) == 0 && memcmp(p + 37, popped, sizeof(popped)) == 0 && p[-9] == 0x80)
			return here > p && here < p + 39 ? 16 : 8;
	}
	/* .init or .fini: from its sub to its add. */
	for (const uint8_t *p = here; p < here + 64; p++) {
		if (memcmp(p, add_8, sizeof(add_8)) != 0 && p != here)
			continue;
		for (const uint8_t *q = here + 4; q > here - 64; q--) {
			if (memcmp(q, sub_8, sizeof(sub_8)) == 0)
				return here < q + sizeof(sub_8) || (*here == 0xc3 && memcmp(here - 4, add_8, sizeof(add_8)) == 0) ? 8 : 16;
		}
		break;
	}
	return 0;
}

/* Checks an address where libdw has nothing: a gap, padding, or code known by its bytes. */
static bool compare_gap(struct subject *s, uint64_t pc, uint64_t offset, const struct unwind_rule *r)
{
	if (r->kind == UNWIND_GAP) {
		counts.gaps++;
		return true;
	}
	if (r->kind == UNWIND_SIGNAL || r->kind == UNWIND_STOP) /* known by its bytes */
		return true;
	if (unwind_from_code(r)) { /* tests/unwind-code.t compares these where libdw does have something */
		counts.coded++;
		return true;
	}
	if (r->kind == UNWIND_CFA_RSP && r->cfa == start_file_depth(s, offset)) {
		counts.started++;
		return true;
	}
	for (uint64_t back = 1; back <= 15; back++) {
		Dwarf_Frame *frame = ask_libdw(s, pc - back);
		struct unwind_rule before = unwind_table_find(&s->t, offset - back);

		if (!frame && !start_file_depth(s, offset - back))
			continue;
		free(frame);
		counts.filled++;
		return memcmp(&before, r, sizeof(before)) == 0;
	}
	return false;
}

static void compare(struct subject *s, uint64_t pc, uint64_t offset)
{
	struct unwind_rule r = unwind_table_find(&s->t, offset);
	Dwarf_Frame *frame = ask_libdw(s, pc);
	bool undecided = is_undecided(frame), good = true;

	if (!frame && s->is_go) {
		counts.go++;
		return;
	}
	if (!undecided)
		good = frame ? compare_frame(s, frame, pc, offset, &r) : compare_gap(s, pc, offset, &r);
	counts.all += !undecided;
	counts.undecided += undecided;
	counts.kinds[r.kind]++;
	free(frame);
	if (good)
		return;
	if (counts.wrong++ < 20) {
		printf("# %s: address %#lx, offset %#lx: ", s->path, (unsigned long)pc, (unsigned long)offset);
		print_rule(&r, s->follows_rbx);
		printf("%s\n", frame ? "" : " where libdw has nothing");
	}
}

/* Compares addresses: half anywhere in the code, half near the start of a row. */
static void compare_some(struct subject *s, unsigned long n)
{
	const struct unwind_table *t = &s->t;

	for (unsigned long i = 0; i < n; i++) {
		uint64_t offset, at = random_below(s->code_bytes);
		size_t k = 0;

		while (at >= s->code[k].p_filesz)
			at -= s->code[k++].p_filesz;
		offset = s->code[k].p_offset + at;
		if (i & 1) {
			size_t page = random_below(t->n_pages), row;

			if (t->pages[page].n == 0)
				continue;
			row = t->pages[page].first + random_below(t->pages[page].n);
			offset = (t->first_page + page) << UNWIND_PAGE_SHIFT | t->rows[row] >> 16;
			offset += random_below(5) - 2;
		}
		for (k = 0; k < s->n_code; k++) {
			if (offset - s->code[k].p_offset < s->code[k].p_filesz) {
				compare(s, s->code[k].p_vaddr + (offset - s->code[k].p_offset), offset);
				break;
			}
		}
	}
}

static int run_check(unsigned long addresses)
{
	static char *paths[PATHS_MAX];
	size_t n = read_paths(paths);

	for (size_t i = 0; i < n; i++) {
		struct subject s;

		if (open_subject(&s, paths[i])) {
			counts.files++;
			compare_some(&s, addresses / n + 1);
		}
		close_subject(&s);
		free(paths[i]);
	}
	printf("# %lu files, %lu addresses: %lu gaps, %lu filled, %lu popped, %lu refused, %lu lost, "
	       "%lu with rbx unfollowed, %lu unsaid; "
	       "%lu more that libdw takes for invalid, %lu of Go, %lu of start files, %lu from code\n",
	       counts.files, counts.all, counts.gaps, counts.filled, counts.popped, counts.refused, counts.lost,
	       counts.unfollowed, counts.unsaid, counts.undecided, counts.go, counts.started, counts.coded);
	printf("# kinds:");
	for (int i = 0; i < UNWIND_KINDS; i++)
		printf(" %lu", counts.kinds[i]);
	printf("\n");
	printf("files=%lu addresses=%lu undecided=%lu wrong=%lu\n", counts.files, counts.all, counts.undecided,
	       counts.wrong);
	return counts.wrong != 0;
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	if (argc == 2)
		return run_check(strtoul(argv[1], NULL, 10));
	fprintf(stderr, "usage: unwind-compare N\n");
	return 2;
}
