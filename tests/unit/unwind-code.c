/*
 * Rules made from machine code, compared with those of .eh_frame.
 *
 *	unwind-code rows FILE	states of the code in .text, taken as one function
 *	unwind-code region FILE	states of the code in .text, taken as a region of unknown functions
 *	unwind-code check	paths on stdin: each function that has both a symbol and a table, byte by byte
 *	unwind-code check-region	paths on stdin: all of .text, as if there were neither symbols nor tables
 *	unwind-code lengths FILE	offset and length of each instruction in .text, one after the other; ends at one
 *				that is refused
 *	unwind-code random N	N times any bytes: only for crashes and sanitizers
 *
 * How a byte is compared: the state has the depth of the stack and what rbp holds, and the table's CFA must be what
 * these say, by whichever register the table has it. The caller's rbp must be where the table says, or in its register
 * still, or again: then both are right ("held").
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/unwind/build.h"
#include "common/unwind/code.h"
#include "common/unwind/functions.h"
#include "common/unwind/insn.h"
#include "common/elf/unwind_sections.h"
#include "tests/lib/check.h"

static struct counts {
	unsigned long functions, bytes, ruled, held, apart, outermost, cfa, rbp;
} counts;

/* The table has CFA by a register that the state knows nothing of, or the state none. */
static bool is_apart(const struct code_state *s, const struct unwind_rule *r)
{
	return r->kind == UNWIND_CFA_RSP ? !s->depth : r->kind != UNWIND_CFA_RBP;
}

static bool same_cfa(const struct code_state *s, const struct unwind_rule *r)
{
	if (r->kind == UNWIND_CFA_RSP)
		return s->depth == r->cfa;
	return s->rbp == CODE_RBP_FRAME && s->rbp_at == r->cfa;
}

static bool same_rbp(const struct code_state *s, const struct unwind_rule *r)
{
	if (r->bp == UNWIND_SAME || r->bp == UNWIND_LOST)
		return r->bp == UNWIND_LOST || s->rbp == CODE_RBP_CALLERS;
	if (s->rbp == CODE_RBP_CALLERS) {
		counts.held++;
		return true;
	}
	return r->bp == UNWIND_AT_CFA && s->saved == -r->bp_at;
}

static void print_state(const struct code_state *s)
{
	if (s->depth)
		printf(" rsp+%d", s->depth);
	if (s->rbp == CODE_RBP_FRAME)
		printf(" rbp+%d", s->rbp_at);
	else if (s->rbp == CODE_RBP_OTHER)
		printf(" rbp=other");
	if (s->saved)
		printf(" saved=[cfa-%d]", s->saved);
}

static void compare_byte(const char *path, uint64_t vaddr, const struct code_state *s, const struct unwind_rule *r)
{
	bool cfa, rbp = true;

	counts.ruled++;
	if (r->kind == UNWIND_STOP || r->kind == UNWIND_GAP || r->kind == UNWIND_BAD || is_apart(s, r)) {
		counts.outermost += r->kind == UNWIND_STOP;
		counts.apart += r->kind != UNWIND_STOP;
		return;
	}
	cfa = same_cfa(s, r);
	rbp = !cfa || same_rbp(s, r);
	counts.cfa += !cfa;
	counts.rbp += !rbp;
	if ((!cfa || !rbp) && counts.cfa + counts.rbp <= 40) {
		printf("# %s %#lx:", path, (unsigned long)vaddr);
		print_state(s);
		printf(", and the table: kind %u, cfa %d, rbp %u at %d\n", r->kind, r->cfa, r->bp, r->bp_at);
	}
}

struct subject {
	const char *path;
	struct elf_file *f;
	struct unwind_table t;
	struct code_map code;
	struct function_list functions;
};

static void compare_function(const struct subject *s, const struct function_range *range)
{
	uint64_t offset, left, n = range->end - range->start;
	struct code_rows rows = { 0 };
	uint8_t *bytes;

	if (!code_map_offset(&s->code, range->start, &offset, &left) || left < n || n > CODE_MAX ||
	    unwind_table_find(&s->t, offset).kind == UNWIND_GAP)
		return;
	bytes = malloc(n);
	if (!bytes || pread(s->f->fd, bytes, n, (off_t)offset) != (ssize_t)n || !code_rows((struct slice){ bytes, n }, &rows))
		abort();
	counts.functions++;
	counts.bytes += n;
	for (size_t i = 0; i < rows.n; i++) {
		for (uint32_t at = rows.items[i].start; at < rows.items[i].end; at++) {
			struct unwind_rule r = unwind_table_find(&s->t, offset + at);

			compare_byte(s->path, range->start + at, &rows.items[i].state, &r);
		}
	}
	code_rows_release(&rows);
	free(bytes);
}

/* All of .text, as if nothing were known of it. */
static void compare_region(const struct subject *s)
{
	struct section text;
	uint64_t offset, left;

	if (!section_find(s->f, ".text", &text))
		return;
	for (uint64_t done = 0; done < text.bytes.n; done += CODE_MAX) {
		struct slice part = { text.bytes.p + done, text.bytes.n - done < CODE_MAX ? text.bytes.n - done : CODE_MAX };
		struct code_rows rows = { 0 };

		if (!code_map_offset(&s->code, text.vaddr + done, &offset, &left))
			return;
		if (!code_region_rows(part, offset, &rows))
			abort();
		counts.bytes += part.n;
		for (size_t i = 0; i < rows.n; i++) {
			for (uint32_t at = rows.items[i].start; at < rows.items[i].end; at++) {
				struct unwind_rule r = unwind_table_find(&s->t, offset + at);

				compare_byte(s->path, text.vaddr + done + at, &rows.items[i].state, &r);
			}
		}
		code_rows_release(&rows);
	}
}

static void compare_file(const char *path, bool as_region)
{
	struct subject s = { .path = path };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || elf_open(fd, &s.f) != ELF_OPENED)
		return;
	if (unwind_build(s.f, &s.t) == UNWIND_BUILT && code_map_init(&s.code, s.f) &&
	    functions_of_symbols(s.f, &s.functions, NULL, NULL)) {
		if (as_region)
			compare_region(&s);
		for (size_t i = 0; !as_region && i < s.functions.n; i++)
			compare_function(&s, &s.functions.items[i]);
	}
	functions_release(&s.functions);
	code_map_release(&s.code);
	unwind_table_release(&s.t);
	elf_close(s.f);
}

static int run_check(bool as_region)
{
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		compare_file(line, as_region);
	}
	free(line);
	printf("functions=%lu bytes=%lu ruled=%lu held=%lu apart=%lu outermost=%lu cfa=%lu rbp=%lu\n", counts.functions,
	       counts.bytes, counts.ruled, counts.held, counts.apart, counts.outermost, counts.cfa, counts.rbp);
	return 0;
}

static void print_rows(struct slice text, bool as_region)
{
	struct code_rows rows = { 0 };
	uint32_t end = 0;

	if (!(as_region ? code_region_rows(text, 0, &rows) : code_rows(text, &rows)))
		abort();
	for (size_t i = 0; i < rows.n; i++) {
		if (rows.items[i].start > end)
			printf("%u none\n", end);
		printf("%u", rows.items[i].start);
		print_state(&rows.items[i].state);
		printf("\n");
		end = rows.items[i].end;
	}
	if (end < text.n)
		printf("%u none\n", end);
	code_rows_release(&rows);
}

static void print_function(struct slice text)
{
	print_rows(text, false);
}

static void print_region(struct slice text)
{
	print_rows(text, true);
}

static void print_lengths(struct slice text)
{
	struct insn insn;

	for (size_t at = 0; at < text.n; at += insn.length) {
		if (!insn_decode((struct slice){ text.p + at, text.n - at }, &insn))
			break;
		printf("%zx %u\n", at, insn.length);
	}
}

static int run_text(const char *path, void (*print)(struct slice text))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct section text;
	struct elf_file *f;

	if (fd < 0 || elf_open(fd, &f) != ELF_OPENED)
		return 1;
	if (section_find(f, ".text", &text))
		print(text.bytes);
	elf_close(f);
	return 0;
}

/* Each instruction is within its bytes, and rows are in order and within the function. */
static int run_random(unsigned long n)
{
	uint8_t bytes[256];

	for (unsigned long i = 0; i < n; i++) {
		struct slice code = { bytes, 1 + random_below(sizeof(bytes)) };
		struct code_rows rows = { 0 };
		uint32_t end = 0;
		uint8_t *exact = malloc(code.n); /* a sanitizer sees reads after its end */

		for (size_t k = 0; k < code.n; k++)
			bytes[k] = random_below(4) ? (uint8_t)random_u64() : "\x55\x5d\x48\x89\xe5\xec\x83\x50\x74\xeb"[random_below(10)];
		if (!exact)
			return 1;
		code.p = memcpy(exact, bytes, code.n);
		if (!(i & 1 ? code_region_rows(code, i, &rows) : code_rows(code, &rows)))
			return 1;
		for (size_t k = 0; k < rows.n; k++) {
			if (rows.items[k].start < end || rows.items[k].end <= rows.items[k].start || rows.items[k].end > code.n)
				return 1;
			end = rows.items[k].end;
		}
		code_rows_release(&rows);
		free(exact);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "check") == 0)
		return run_check(false);
	if (argc == 2 && strcmp(argv[1], "check-region") == 0)
		return run_check(true);
	if (argc == 3 && strcmp(argv[1], "rows") == 0)
		return run_text(argv[2], print_function);
	if (argc == 3 && strcmp(argv[1], "region") == 0)
		return run_text(argv[2], print_region);
	if (argc == 3 && strcmp(argv[1], "lengths") == 0)
		return run_text(argv[2], print_lengths);
	if (argc == 3 && strcmp(argv[1], "random") == 0)
		return run_random(strtoul(argv[2], NULL, 10));
	fprintf(stderr, "usage: unwind-code rows FILE | region FILE | check | check-region | lengths FILE | random N\n");
	return 2;
}
