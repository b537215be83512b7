#include "common/capture/jit_code.h"

#include "common/base/cursor.h"
#include "common/capture/capture_internal.h"
#include "common/capture/mappings.h"

static bool parse_hex(struct cursor *at, uint64_t *v)
{
	const uint8_t *begin;

	if (cursor_left(at) > 2 && at->p[0] == '0' && (at->p[1] | 0x20) == 'x')
		at->p += 2;
	begin = at->p;
	for (*v = 0; at->p < at->end; at->p++) {
		uint8_t digit = *at->p, letter = (digit | 0x20) - 'a';

		if (digit >= '0' && digit <= '9')
			*v = *v << 4 | (uint64_t)(digit - '0');
		else if (letter < 6)
			*v = *v << 4 | (uint64_t)(letter + 10);
		else
			break;
	}
	return at->p > begin && at->p - begin <= 16;
}

/* Parses "START SIZE NAME" in hexadecimal: new code in that range. Ignores lines of other forms. */
static bool apply_line(struct capture_process *p, struct cursor line)
{
	struct map m = { .file = p->epoch_seq };
	bool changed = false;
	uint64_t size;

	if (!parse_hex(&line, &m.start) || cursor_left(&line) == 0 || *line.p++ != ' ' || !parse_hex(&line, &size) ||
	    m.start + size < m.start)
		return true;
	m.end = m.start + size;
	return maps_add(&p->jitted, &m, &changed);
}

const char *jitmap_apply(struct capture *c, const struct record_jitmap *r)
{
	struct cursor data = cursor_over(r->data.p, r->data.n);
	struct capture_process *p;

	if (!DEFINED(c, processes, r->process))
		return "a perf map of an undefined process";
	p = &c->processes[r->process];
	epoch_begin(c, p, r->time);
	if (p->jit && r->generation != p->jit_generation) { /* a new map: the old one no longer holds */
		struct map all = { .end = UINT64_MAX, .file = p->epoch_seq };

		if (!maps_add(&p->jitted, &all, &(bool){ false }))
			return capture_no_memory;
	}
	p->jit = true;
	p->jit_generation = r->generation;
	while (cursor_left(&data)) {
		const uint8_t *end = memchr(data.p, '\n', cursor_left(&data));
		struct cursor line = { data.p, end ? end : data.end };

		if (!apply_line(p, line))
			return capture_no_memory;
		data.p = end ? end + 1 : data.end;
	}
	return NULL;
}

/* Marks the range as code of this epoch. */
static bool mark_jitted(struct capture_process *p, uint64_t start, uint64_t end)
{
	return maps_add(&p->jitted, &(struct map){ .start = start, .end = end, .file = p->epoch_seq }, &(bool){ false });
}

/*
 * Applies a jitdump's record of one piece of code. A record that comes late dates the code to the epoch in
 * which the record came. Marks divide the time before: after a mark, all code counts as new.
 */
const char *jitcode_apply(struct capture *c, const struct record_jitcode *r)
{
	struct capture_process *p;
	bool good;

	if (!DEFINED(c, processes, r->process))
		return "code of an undefined process";
	if (r->kind == JITCODE_CLOSE || r->kind >= JITCODE_KINDS)
		return NULL;
	if (r->kind != JITCODE_MARK &&
	    (r->size == 0 || r->address + r->size < r->address || r->old + r->size < r->old))
		return "code with an impossible range";
	p = &c->processes[r->process];
	epoch_begin(c, p, r->time);
	p->jit = true;
	good = r->kind == JITCODE_MARK ? mark_jitted(p, 0, UINT64_MAX) : mark_jitted(p, r->address, r->address + r->size);
	if (r->kind == JITCODE_MOVE)
		good = good && mark_jitted(p, r->old, r->old + r->size);
	return good ? NULL : capture_no_memory;
}
