#include "common/folded/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "common/base/array.h"
#include "common/base/glob.h"
#include "common/base/intern.h"
#include "common/profile/sanitize.h"

bool folded_looks_like(struct slice s)
{
	/* A stream begins with 0x89, has a zero in its first block's head, and so have most binaries. */
	return s.n && (s.p[0] >= 0x20 || s.p[0] == '\n' || s.p[0] == '\r') && s.p[0] < 0xf5 &&
	       !(s.p[0] >= 0x7f && s.p[0] < 0xc2) && !memchr(s.p, '\0', s.n) &&
	       !(s.n > 8 && memcmp(s.p, "segment ", 8) == 0);
}

static bool has_prefix(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && strncasecmp((const char *)s.p, with, n) == 0;
}

/* "<html>" and "<svg width=..."; but a function may be "<svg as Shape>::draw", or "<svg>::draw". */
static bool begins_element(struct slice s, const char *tag)
{
	struct slice rest = { s.p + strlen(tag), s.n - strlen(tag) };

	if (!has_prefix(s, tag) || !rest.n)
		return false;
	if (rest.p[0] == '>')
		return !has_prefix(rest, ">:") && !has_prefix(rest, ">;");
	return memchr(" \t\r\n", rest.p[0], 4) && !has_prefix(rest, " as ");
}

static struct slice skip_space(struct slice s)
{
	while (s.n && memchr(" \t\r\n", s.p[0], 4))
		s = (struct slice){ s.p + 1, s.n - 1 };
	return s;
}

bool folded_is_json(struct slice s)
{
	s = skip_space(s);
	return has_prefix(s, "{") && has_prefix(skip_space((struct slice){ s.p + 1, s.n - 1 }), "\"");
}

bool folded_is_markup(struct slice s)
{
	if (has_prefix(s, "\xef\xbb\xbf"))
		s = (struct slice){ s.p + 3, s.n - 3 };
	s = skip_space(s);
	return has_prefix(s, "<!DOCTYPE") || has_prefix(s, "<?xml") || begins_element(s, "<html") ||
	       begins_element(s, "<svg");
}

bool folded_reader_init(struct folded_reader *r, int fd, struct slice taken, struct profile *p,
			unsigned int side)
{
	*r = (struct folded_reader){ .p = p, .side = side, .into = &r->held };
	if (!profile_init(&r->held) || !folded_scan_init(&r->scan, fd, taken))
		return false;
	r->held.stack_max = p->stack_max;
	stack_sums_init(&r->waiting, 0);
	return true;
}

void folded_reader_release(struct folded_reader *r)
{
	stack_sums_release(&r->held_lines);
	stack_sums_release(&r->waiting);
	profile_release(&r->held);
	folded_scan_release(&r->scan);
	free(r->steps);
	free(r->labels);
	free(r->frames);
	buf_release(&r->last);
	buf_release(&r->text);
	*r = (struct folded_reader){ 0 };
}

static bool add_step(struct folded_reader *r, size_t end, uint32_t node)
{
	if (!grow_array(&r->steps, &r->cap_steps, r->n_steps, sizeof(*r->steps)))
		return false;
	r->steps[r->n_steps++] = (struct folded_step){ end, node };
	return true;
}

/*
 * Keeps in r->steps the leading frames that this stack shares with the previous one. Neighbours share most of
 * their frames in sorted text, and shared frames need no look-up.
 */
static void share_steps(struct folded_reader *r, struct slice stack)
{
	size_t same = slice_common(buf_view(&r->last), stack);

	while (r->n_steps) {
		size_t end = r->steps[r->n_steps - 1].end;

		if (end < same || (end == same && (end == stack.n || stack.p[end] == ';')))
			break;
		r->n_steps--;
	}
}

/* Splits the stack from a byte on into frames: r->frames has their texts, r->labels their labels. */
static bool split_stack(struct folded_reader *r, struct slice stack, size_t at, size_t *n)
{
	*n = 0;
	for (size_t length; at <= stack.n; at += length + 1, ++*n) {
		const uint8_t *p = stack.p + at, *semicolon = memchr(p, ';', stack.n - at);

		length = semicolon ? (size_t)(semicolon - p) : stack.n - at;
		if (!grow_array(&r->frames, &r->cap_frames, *n, sizeof(*r->frames)))
			return false;
		r->frames[*n] = (struct slice){ p, length };
	}
	return (!*n || grow_array(&r->labels, &r->cap_labels, *n - 1, sizeof(*r->labels))) &&
	       profile_labels(r->into, r->frames, *n, r->labels);
}

/* Adds a stack that sanitize_is_stack has accepted to the tree. */
static bool add_plain(struct folded_reader *r, struct slice stack, unsigned int side, uint64_t count)
{
	size_t at, n;
	uint32_t node;

	share_steps(r, stack);
	at = r->n_steps ? r->steps[r->n_steps - 1].end + 1 : 0;
	node = r->n_steps ? r->steps[r->n_steps - 1].node : 0;
	if (!split_stack(r, stack, at, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		at += r->frames[i].n;
		if (!profile_child(r->into, node, r->labels[i], &node) || !add_step(r, at++, node))
			return false;
	}
	buf_clear(&r->last);
	buf_bytes(&r->last, stack.p, stack.n);
	return !r->last.failed && profile_add_at(r->into, node, stack.n, side, count);
}

static void forget_steps(struct folded_reader *r)
{
	r->n_steps = 0;
	buf_clear(&r->last);
}

static bool add_labels(struct folded_reader *r, struct slice stack, unsigned int side, uint64_t count)
{
	size_t n;

	if (!split_stack(r, stack, 0, &n))
		return false;
	return profile_add(r->into, r->labels, n, side, count);
}

/* Adds any stack: cleans its names first, which may leave it too long for stack_max. */
static bool add_careful(struct folded_reader *r, struct slice stack, unsigned int side, uint64_t count)
{
	buf_clear(&r->text);
	sanitize_append_stack(&r->text, stack);
	if (r->text.failed)
		return false;
	if (r->lines && r->text.n <= r->p->stack_max)
		return stack_sums_add(r->lines_into, buf_view(&r->text), count);
	forget_steps(r);
	return add_labels(r, buf_view(&r->text), side, count);
}

static bool root_listed(const struct folded_reader *r, struct slice stack)
{
	return glob_lists(r->roots, r->n_roots, sanitize_root(stack));
}

static bool pour_lines(struct stack_sums *to, struct stack_sums *from)
{
	struct slice stack;
	uint64_t count;
	int got = stack_sums_sort(from) ? 1 : -1;

	while (got > 0 && (got = stack_sums_next(from, &stack, &count)) > 0) {
		if (!stack_sums_add(to, stack, count))
			return false;
	}
	return got == 0;
}

/* The text is not two columns: moves the held lines to where they belong. */
static bool stop_holding(struct folded_reader *r)
{
	bool good = true;

	if (!profile_claim(r->p, r->side, r->held.claimed[r->side]))
		folded_scan_bad(&r->scan, "the counts add up to more than 64 bits");
	else
		good = profile_pour(r->p, &r->held, NULL) && (!r->lines || pour_lines(r->lines, &r->held_lines));
	profile_release(&r->held);
	stack_sums_release(&r->held_lines);
	r->into = r->p;
	r->lines_into = r->lines;
	forget_steps(r);
	return good;
}

/* Returns whether the text has proved unsorted by now. A few lines out of place do not matter. */
static bool is_unordered(struct folded_reader *r, struct slice stack)
{
	enum { FEW = 64, PART = 16 };
	struct slice last = buf_view(&r->last);
	int differ = last.n ? memcmp(last.p, stack.p, last.n < stack.n ? last.n : stack.n) : 0;

	if (r->disorder * PART <= r->scan.lines + FEW && (differ > 0 || (differ == 0 && last.n > stack.n)))
		r->disorder++;
	return r->disorder * PART > r->scan.lines + FEW;
}

/* Adds the stacks in r->waiting to the tree. */
static bool add_waiting(struct folded_reader *r)
{
	struct slice stack;
	uint64_t count;
	int got = stack_sums_sort(&r->waiting) ? 1 : -1;

	while (got > 0 && (got = stack_sums_next(&r->waiting, &stack, &count)) > 0) {
		if (!add_plain(r, stack, r->side, count))
			return false;
	}
	stack_sums_release(&r->waiting);
	stack_sums_init(&r->waiting, 0);
	return got == 0;
}

static bool add_stack(struct folded_reader *r, struct slice stack, unsigned int side, uint64_t count)
{
	r->samples += count;
	if (r->root_only)
		stack = sanitize_root(stack);
	if (!sanitize_is_stack(stack))
		return add_careful(r, stack, side, count);
	if (r->lines && stack.n <= r->p->stack_max)
		return stack_sums_add(r->lines_into, stack, count);
	if (r->batch && !r->both && (r->waiting.total || is_unordered(r, stack)))
		return stack_sums_add(&r->waiting, stack, count) &&
		       (r->waiting.stacks.bytes < r->batch || add_waiting(r));
	return add_plain(r, stack, side, count);
}

static bool add_line(struct folded_reader *r, struct slice stack, uint64_t count)
{
	unsigned int other = !r->side;

	if (r->n_roots && !root_listed(r, stack))
		return true;
	if (!profile_claim(r->into, r->side, r->both ? r->scan.before : count) ||
	    (r->both && !profile_claim(r->into, other, count))) {
		folded_scan_bad(&r->scan, "the counts add up to more than 64 bits");
		return true;
	}
	if (r->both)
		return add_stack(r, stack, r->side, r->scan.before) && add_stack(r, stack, other, count);
	return add_stack(r, stack, r->side, count);
}

/* Calls full, which empties the tree, if the tree has grown beyond the budget. */
static bool make_room(struct folded_reader *r)
{
	enum { LOOK = 256 }; /* lines between two checks of the size: a few stacks more do not matter */

	if (!r->full || r->into != r->p || r->scan.lines % LOOK || profile_bytes(r->p) <= r->budget)
		return true;
	forget_steps(r);
	return r->full(r->p, r->context);
}

int folded_read(struct folded_reader *r)
{
	struct slice stack;
	uint64_t count;
	int got;

	if (r->lines)
		stack_sums_init(&r->held_lines, r->lines->budget);
	r->lines_into = &r->held_lines;
	r->scan.both = r->both;
	if (r->both)
		r->into = r->p;
	while ((got = folded_scan_next(&r->scan, &stack, &count)) > 0) {
		errno = ENOMEM; /* for callees that do not set it */
		if ((r->scan.single && r->into != r->p && !stop_holding(r)) || !add_line(r, stack, count) ||
		    !make_room(r))
			return -1;
	}
	if (got < 0)
		return got;
	errno = ENOMEM;
	r->two_columns = r->into != r->p && folded_scan_two_columns(&r->scan);
	return r->two_columns || ((r->into == r->p || stop_holding(r)) && add_waiting(r)) ? 0 : -1;
}
