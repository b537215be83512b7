#include "common/folded/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "common/base/array.h"
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

bool folded_is_markup(struct slice s)
{
	if (has_prefix(s, "\xef\xbb\xbf"))
		s = (struct slice){ s.p + 3, s.n - 3 };
	while (s.n && memchr(" \t\r\n", s.p[0], 4))
		s = (struct slice){ s.p + 1, s.n - 1 };
	return has_prefix(s, "<!DOCTYPE") || has_prefix(s, "<?xml") || begins_element(s, "<html") ||
	       begins_element(s, "<svg");
}

bool folded_reader_init(struct folded_reader *r, int fd, struct slice taken, struct profile *p,
			unsigned int side)
{
	*r = (struct folded_reader){ .p = p, .side = side, .into = &r->held };
	if (!profile_init(&r->held) || !scan_init(&r->scan, fd, taken))
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
	scan_release(&r->scan);
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
	for (size_t i = 0; i < r->n_roots; i++) {
		if (slice_is(sanitize_root(stack), r->roots[i]))
			return true;
	}
	return r->n_roots == 0;
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
		scan_bad(&r->scan, "the counts add up to more than 64 bits");
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
		scan_bad(&r->scan, "the counts add up to more than 64 bits");
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
	while ((got = scan_next(&r->scan, &stack, &count)) > 0) {
		errno = ENOMEM; /* for callees that do not set it */
		if ((r->scan.single && r->into != r->p && !stop_holding(r)) || !add_line(r, stack, count) ||
		    !make_room(r))
			return -1;
	}
	if (got < 0)
		return got;
	errno = ENOMEM;
	r->two_columns = r->into != r->p && scan_two_columns(&r->scan);
	return r->two_columns || ((r->into == r->p || stop_holding(r)) && add_waiting(r)) ? 0 : -1;
}

/*
 * Order of lines. A name in a line is followed by a space or by `;`, and names that sort between the two
 * (`foo.part.0`) come between a function's own line and those of its callees. So the order of lines is
 * that of the keys "name " and "name;". They are sorted once for all names, and are numbers from then on.
 */
struct order_key {
	struct slice name;
	uint32_t number; /* label * 2 + below */
};

static uint8_t key_byte(const struct order_key *k, size_t i)
{
	return i < k->name.n ? k->name.p[i] : k->number & 1 ? ';' : '\0';
}

static int by_key(const void *a, const void *b)
{
	const struct order_key *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int differ = memcmp(x->name.p, y->name.p, n);

	if (differ == 0)
		differ = (int)key_byte(x, n) - (int)key_byte(y, n);
	if (differ == 0) /* one name continues where the other ends in `;`, which no name contains */
		differ = x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
	return differ;
}

/* Returns the rank in the order, by label * 2 + below. The caller frees the array. */
static uint32_t *rank_names(const struct intern *labels)
{
	size_t n = labels->n * 2;
	struct order_key *keys = malloc(n * sizeof(*keys));
	uint32_t *rank = malloc(n * sizeof(*rank));

	if (keys && rank) {
		for (size_t i = 0; i < n; i++)
			keys[i] = (struct order_key){ labels->items[i / 2], (uint32_t)i };
		qsort(keys, n, sizeof(*keys), by_key);
		for (size_t i = 0; i < n; i++)
			rank[keys[i].number] = (uint32_t)i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(keys);
	return rank;
}

static bool has_weight(const struct profile_node *node)
{
	return node->self[0] || node->self[1];
}

static bool push_entry(struct folded_writer *w, uint32_t node, bool below)
{
	if (!grow_array(&w->entries, &w->cap_entries, w->n_entries, sizeof(*w->entries)))
		return false;
	w->entries[w->n_entries++] =
		(struct folded_entry){ w->rank[w->p->nodes[node].label * 2 + below], node, below };
	return true;
}

static int by_rank(const void *a, const void *b)
{
	const struct folded_entry *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void sort_entries(struct folded_entry *e, size_t n)
{
	enum { FEW = 16 };

	if (n > FEW) {
		qsort(e, n, sizeof(*e), by_rank);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct folded_entry moving = e[i];
		size_t at = i;

		for (; at > 0 && e[at - 1].rank > moving.rank; at--)
			e[at] = e[at - 1];
		e[at] = moving;
	}
}

/* Goes down into the node: pushes its children's entries, in order. */
static bool push_level(struct folded_writer *w, uint32_t node)
{
	const struct profile_node *nodes = w->p->nodes;
	size_t first = w->n_entries;

	for (uint32_t child = nodes[node].first; child; child = nodes[child].next) {
		if ((has_weight(&nodes[child]) && !push_entry(w, child, false)) ||
		    (nodes[child].first && !push_entry(w, child, true)))
			return false;
	}
	if (w->n_entries > first) /* an empty profile has no entries at all */
		sort_entries(w->entries + first, w->n_entries - first);
	if (!grow_array(&w->levels, &w->cap_levels, w->n_levels, sizeof(*w->levels)))
		return false;
	w->levels[w->n_levels++] = (struct folded_level){ first, first, w->n_entries, w->line.n };
	return true;
}

bool folded_writer_init(struct folded_writer *w, const struct profile *p, unsigned int columns)
{
	*w = (struct folded_writer){ .p = p, .columns = columns, .rank = rank_names(&p->labels) };
	return w->rank && push_level(w, 0);
}

void folded_writer_release(struct folded_writer *w)
{
	free(w->rank);
	free(w->entries);
	free(w->levels);
	buf_release(&w->line);
	*w = (struct folded_writer){ 0 };
}

void folded_append_count(struct buf *out, uint64_t v)
{
	uint8_t digits[20];
	size_t n = sizeof(digits);

	do
		digits[--n] = (uint8_t)('0' + v % 10);
	while (v /= 10);
	buf_byte(out, ' ');
	buf_bytes(out, digits + n, sizeof(digits) - n);
}

bool folded_writer_next(struct folded_writer *w, struct slice *line)
{
	while (w->n_levels) {
		struct folded_level *level = &w->levels[w->n_levels - 1];
		const struct profile_node *node;
		struct folded_entry e;
		struct slice name;

		w->line.n = level->length;
		if (level->next == level->end) {
			w->n_entries = level->first;
			w->n_levels--;
			continue;
		}
		e = w->entries[level->next++];
		node = &w->p->nodes[e.node];
		name = profile_text(w->p, node->label);
		buf_bytes(&w->line, name.p, name.n);
		if (e.below) {
			buf_byte(&w->line, ';');
			if (!push_level(w, e.node))
				w->line.failed = true;
		} else {
			w->stack_bytes = w->line.n;
			for (unsigned int side = 0; side < w->columns; side++)
				folded_append_count(&w->line, node->self[side]);
			buf_byte(&w->line, '\n');
		}
		if (w->line.failed)
			return false;
		*line = buf_view(&w->line);
		w->node = e.node;
		if (!e.below)
			return true;
	}
	return false;
}

bool folded_pour(struct stack_sums *l, struct profile *p)
{
	struct folded_writer w;
	struct slice line;
	bool good = folded_writer_init(&w, p, 1);

	errno = ENOMEM;
	while (good && folded_writer_next(&w, &line))
		good = stack_sums_add(l, (struct slice){ line.p, w.stack_bytes }, p->nodes[w.node].self[0]);
	good = good && !w.line.failed;
	folded_writer_release(&w);
	return good && profile_empty(p);
}
