/*
 * Compares Go's tables with other sources.
 *
 *	unwind-golang check N FILE TWIN		N random addresses of FILE's code against .debug_frame of TWIN
 *	unwind-golang same FILE FILE		checks that both give the same rules for the same code
 *	unwind-golang rules FILE		prints all rules
 *	unwind-golang at FILE ADDRESS		prints the rule at a linked address, in hexadecimal
 */
#include <elfutils/libdw.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/unit/unwind-golang.h"

static const char *const kinds[] = {
	"gap", "stop", "bad", "rsp", "rbp", "rbx", "reg", "deref-rsp", "deref-rbp", "plt", "signal", "ra-reg", "pushes",
	"pops", "switch",
};

static const struct elf_segment *code_of(const struct elf_file *f)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		if (f->segments[i].exec)
			return &f->segments[i];
	}
	return NULL;
}

static void print_rule(const struct unwind_rule *r)
{
	printf("%s %d", kinds[r->kind], r->cfa);
	if (r->bp == UNWIND_AT_CFA)
		printf(" rbp at %d", r->bp_at);
	if (r->bp == UNWIND_LOST)
		printf(" rbp lost");
}

static int rules(const char *path)
{
	struct table t;

	if (!table_open(&t, path))
		return 1;
	for (size_t i = 0; i < t.s.n; i++) {
		const struct span *s = &t.s.items[i];
		uint64_t vaddr = 0;

		elf_vaddr(t.f, s->start, &vaddr);
		printf("%llx %llx ", (unsigned long long)vaddr, (unsigned long long)(vaddr + s->length));
		print_rule(&t.s.rules[s->rule]);
		printf("\n");
	}
	printf("# %s: %zu spans, %zu rules\n", t.good ? "good" : "damaged", t.s.n, t.s.n_rules);
	table_close(&t);
	return fflush(stdout) != 0;
}

static int kind_at(const char *path, uint64_t vaddr)
{
	struct table t;

	if (!table_open(&t, path))
		return 1;
	for (size_t i = 0; i < t.f->n_segments; i++) {
		const struct elf_segment *seg = &t.f->segments[i];
		const struct span *s = table_find(&t, vaddr - seg->vaddr + seg->offset);

		if (seg->exec && vaddr - seg->vaddr < seg->filesz && s)
			printf("%s\n", kinds[t.s.rules[s->rule].kind]);
	}
	table_close(&t);
	return fflush(stdout) != 0;
}

static int same(const char *a, const char *b)
{
	struct table x, y;
	bool equal;

	if (!table_open(&x, a) || !table_open(&y, b))
		return 1;
	equal = x.good && y.good && x.s.n > 1000 && x.s.n == y.s.n && x.s.n_rules == y.s.n_rules &&
		memcmp(x.s.rules, y.s.rules, x.s.n_rules * sizeof(*x.s.rules)) == 0;
	for (size_t i = 0; equal && i < x.s.n; i++)
		equal = x.s.items[i].start == y.s.items[i].start &&
			x.s.items[i].length == y.s.items[i].length &&
			x.s.items[i].rule == y.s.items[i].rule;
	table_close(&x);
	table_close(&y);
	return !equal;
}

/* Finds .debug_frame's CFA as rsp + *cfa. Returns false if it has none there. */
static bool frame_cfa(Dwarf_CFI *cfi, uint64_t vaddr, int64_t *cfa)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;
	bool found = false;

	if (!cfi || dwarf_cfi_addrframe(cfi, vaddr, &frame) != 0)
		return false;
	if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == 7) {
		*cfa = (int64_t)ops[0].number2;
		found = true;
	} else if (n == 1 && ops[0].atom == DW_OP_breg7) {
		*cfa = (int64_t)ops[0].number;
		found = true;
	}
	free(frame);
	return found;
}

struct counts {
	size_t equal, neither, only_here, only_there, ends, moved, wrong;
};

static void compare(const struct table *t, Dwarf_CFI *cfi, uint64_t offset, uint64_t vaddr, struct counts *n)
{
	const struct span *s = table_find(t, offset);
	const struct unwind_rule *r = s ? &t->s.rules[s->rule] : NULL;
	int64_t cfa;
	bool there = frame_cfa(cfi, vaddr, &cfa);

	if (!r || !there) {
		n->neither += !r && !there;
		n->only_here += r && !there;
		n->only_there += !r && there;
		if (!r && there && getenv("SHOW"))
			printf("# %llx: only .debug_frame\n", (unsigned long long)vaddr);
		if (r && !there && getenv("SHOW"))
			printf("# %llx: only here\n", (unsigned long long)vaddr);
		return;
	}
	switch (r->kind) {
	case UNWIND_CFA_RSP:
		n->equal += r->cfa == cfa;
		n->wrong += r->cfa != cfa;
		if (r->cfa != cfa)
			printf("# %llx: rsp + %d here, rsp + %lld in .debug_frame\n", (unsigned long long)vaddr, r->cfa,
			       (long long)cfa);
		break;
	case UNWIND_STOP:
	case UNWIND_SIGNAL:
		n->ends++;
		break;
	default:
		n->moved++;
	}
}

static int check_frames(size_t wanted, const char *path, const char *twin)
{
	struct table t;
	struct counts n = { 0 };
	int fd = open(twin, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CFI *cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
	const struct elf_segment *code;

	if (!cfi || !table_open(&t, path) || !(code = code_of(t.f))) {
		fprintf(stderr, "%s: no .debug_frame\n", twin);
		return 1;
	}
	for (size_t i = 0; i < wanted; i++) {
		uint64_t at = random_below(code->filesz);

		compare(&t, cfi, code->offset + at, code->vaddr + at, &n);
	}
	printf("good=%d equal=%zu neither=%zu only_here=%zu only_there=%zu ends=%zu moved=%zu wrong=%zu\n", t.good, n.equal,
	       n.neither, n.only_here, n.only_there, n.ends, n.moved, n.wrong);
	table_close(&t);
	dwarf_end(dwarf);
	close(fd);
	return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "check") == 0)
		return check_frames(strtoul(argv[2], NULL, 10), argv[3], argv[4]);
	if (argc == 4 && strcmp(argv[1], "same") == 0)
		return same(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "rules") == 0)
		return rules(argv[2]);
	if (argc == 4 && strcmp(argv[1], "at") == 0)
		return argv[3][0] ? kind_at(argv[2], strtoull(argv[3], NULL, 16)) : 0;
	fprintf(stderr, "usage: unwind-golang check N FILE TWIN | same FILE FILE | rules FILE | at FILE ADDRESS\n");
	return 2;
}
