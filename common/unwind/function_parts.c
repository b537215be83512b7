#include "common/unwind/function_parts.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/elf/unwind_sections.h"
#include "common/unwind/insn.h"

/* Bytes of code read; interpreters' loops have up to 90 KB. */
enum { PART_MAX = 1 << 20, CANDIDATES = 64 };

struct search {
	const struct elf_file *f;
	const struct function_list *l;
	const struct code_map *code;
	struct function_range whole;
	struct function_range candidates[CANDIDATES];
	size_t n;
};

typedef bool jump_visit(struct search *s, uint64_t target);

/*
 * Calls visit for each jump of the code until it returns false. Bytes that are not an instruction are
 * skipped.
 */
static bool visit_jumps(struct search *s, const struct function_range *r, jump_visit *visit)
{
	uint64_t offset, left, n = r->end - r->start;
	uint8_t *bytes;
	struct insn i;
	bool on = true;

	if (n > PART_MAX || !code_map_offset(s->code, r->start, &offset, &left) || left < n)
		return true;
	bytes = malloc((size_t)n);
	if (!bytes || pread(s->f->fd, bytes, (size_t)n, (off_t)offset) != (ssize_t)n)
		n = 0;
	for (uint64_t at = 0; on && at < n; at += i.length) {
		if (!insn_decode((struct slice){ bytes + at, (size_t)(n - at) }, &i)) {
			i.length = 1;
			continue;
		}
		if ((i.kind == INSN_JUMP || i.kind == INSN_BRANCH) && i.has_target)
			on = visit(s, r->start + at + i.length + (uint64_t)i.value);
	}
	free(bytes);
	return on;
}

static bool add_candidate(struct search *s, uint64_t target)
{
	size_t i;

	if ((target >= s->whole.start && target < s->whole.end) || !functions_find(s->l, target, &i))
		return true;
	for (size_t k = 0; k < s->n; k++) {
		if (s->candidates[k].start == s->l->items[i].start)
			return true;
	}
	s->candidates[s->n++] = s->l->items[i];
	return s->n < CANDIDATES;
}

/* Stops at a jump to the middle of the function. */
static bool stop_at_return(struct search *s, uint64_t target)
{
	return target <= s->whole.start || target >= s->whole.end;
}

static int compare_parts(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;
	uint64_t nx = x->end - x->start, ny = y->end - y->start;

	return (nx < ny) - (nx > ny);
}

size_t function_parts(const struct elf_file *f, const struct function_list *l, uint64_t start,
		      struct function_range *parts, size_t most)
{
	struct search s = { .f = f, .l = l };
	struct code_map code;
	size_t i, n = 0;

	if (!functions_find(l, start, &i) || l->items[i].start != start || !code_map_init(&code, f))
		return 0;
	s.code = &code;
	s.whole = l->items[i];
	visit_jumps(&s, &s.whole, add_candidate);
	for (i = 0; i < s.n; i++) {
		if (!visit_jumps(&s, &s.candidates[i], stop_at_return))
			s.candidates[n++] = s.candidates[i];
	}
	code_map_release(&code);
	qsort(s.candidates, n, sizeof(s.candidates[0]), compare_parts);
	for (i = 0; i < n && i < most; i++)
		parts[i] = s.candidates[i];
	return i;
}
