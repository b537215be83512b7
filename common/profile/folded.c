#include "common/profile/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/profile/label.h"

enum { INPUT_SIZE = 256 << 10 };

bool folded_looks_like(struct slice s)
{
	/* A stream begins with 0x89, has a zero in its first block's head, and so have most binaries. */
	return s.n && (s.p[0] >= 0x20 || s.p[0] == '\n' || s.p[0] == '\r') && s.p[0] < 0xf5 &&
	       !(s.p[0] >= 0x7f && s.p[0] < 0xc2) && !memchr(s.p, '\0', s.n) &&
	       !(s.n > 8 && memcmp(s.p, "segment ", 8) == 0);
}

bool folded_reader_init(struct folded_reader *r, int fd, struct slice taken, struct profile *p,
			unsigned int side)
{
	static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };

	*r = (struct folded_reader){ .fd = fd, .p = p, .side = side, .into = &r->held };
	r->cap = taken.n > INPUT_SIZE ? taken.n : INPUT_SIZE;
	r->in = malloc(r->cap);
	if (!profile_init(&r->held) || !r->in)
		return false;
	r->held.stack_max = p->stack_max;
	if (taken.n)
		memcpy(r->in, taken.p, taken.n);
	r->n = taken.n;
	if (taken.n >= sizeof(mark) && memcmp(taken.p, mark, sizeof(mark)) == 0)
		r->at = sizeof(mark);
	return true;
}

void folded_reader_release(struct folded_reader *r)
{
	profile_release(&r->held);
	free(r->in);
	free(r->steps);
	free(r->labels);
	buf_release(&r->text);
	*r = (struct folded_reader){ 0 };
}

static void bad_line(struct folded_reader *r, const char *why)
{
	if (r->bad++ == 0) {
		r->first_bad = r->lines;
		r->why = why;
	}
}

/* The digits at the end of the line, and the stack before the space before them. */
static const char *split_count(struct slice line, struct slice *stack, uint64_t *count)
{
	size_t at = line.n;
	uint64_t scale = 1, v = 0;

	while (at > 0 && line.p[at - 1] >= '0' && line.p[at - 1] <= '9') {
		uint64_t digit = (uint64_t)(line.p[--at] - '0');

		if (digit && (scale == 0 || __builtin_mul_overflow(digit, scale, &digit) ||
			      __builtin_add_overflow(v, digit, &v)))
			return "the count does not fit into 64 bits";
		scale = __builtin_mul_overflow(scale, (uint64_t)10, &scale) ? 0 : scale;
	}
	if (at == line.n || at == 0 || line.p[at - 1] != ' ')
		return "no count after the last space";
	while (at > 0 && line.p[at - 1] == ' ')
		at--;
	if (at == 0)
		return "no stack before the count";
	*stack = (struct slice){ line.p, at };
	*count = v;
	return NULL;
}

static bool add_step(struct folded_reader *r, size_t end, uint32_t node)
{
	if (!grow_array(&r->steps, &r->cap_steps, r->n_steps, sizeof(*r->steps)))
		return false;
	r->steps[r->n_steps++] = (struct folded_step){ end, node };
	return true;
}

/* How many bytes two texts have in common at their beginning. */
static size_t common_bytes(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n, i = 0;

	for (; i + 8 <= n; i += 8) {
		if (memcmp(a.p + i, b.p + i, 8) != 0)
			break;
	}
	while (i < n && a.p[i] == b.p[i])
		i++;
	return i;
}

/*
 * Frames of the stack before with which this one begins stay in r->steps: neighbours share most of
 * their frames in sorted text, and nothing has to be looked up for those.
 */
static void share_steps(struct folded_reader *r, struct slice stack)
{
	size_t same = common_bytes(r->last, stack);

	while (r->n_steps) {
		size_t end = r->steps[r->n_steps - 1].end;

		if (end < same || (end == same && (end == stack.n || stack.p[end] == ';')))
			break;
		r->n_steps--;
	}
}

/* A frame that can be taken as it stands? The caller has made sure that it is plain. */
static bool frame_fits(const uint8_t *p, size_t n)
{
	return n && p[0] != ' ' && p[n - 1] != ' ' && n <= LABEL_MAX;
}

/* A stack without anything to replace. 1: added; 0: it has, nothing was added; -1: no memory. */
static int add_plain(struct folded_reader *r, struct slice stack, unsigned int side, uint64_t count)
{
	size_t at, n;
	uint32_t node;

	share_steps(r, stack);
	r->last = (struct slice){ NULL, 0 };
	at = r->n_steps ? r->steps[r->n_steps - 1].end + 1 : 0;
	node = r->n_steps ? r->steps[r->n_steps - 1].node : 0;
	for (; at <= stack.n; at += n + 1) {
		const uint8_t *p = stack.p + at, *semicolon = memchr(p, ';', stack.n - at);
		uint32_t label;

		n = semicolon ? (size_t)(semicolon - p) : stack.n - at;
		if (!frame_fits(p, n))
			return 0;
		if (!profile_label(r->into, (struct slice){ p, n }, &label) ||
		    !profile_child(r->into, node, label, &node) || !add_step(r, at + n, node))
			return -1;
	}
	r->last = stack;
	return profile_add_at(r->into, node, stack.n, side, count) ? 1 : -1;
}

/* Any stack: frame by frame through label_append. */
static bool add_careful(struct folded_reader *r, struct slice stack, unsigned int side, uint64_t count)
{
	size_t n = 0;

	r->n_steps = 0;
	r->last = (struct slice){ NULL, 0 };
	for (size_t at = 0, length; at <= stack.n; at += length + 1) {
		const uint8_t *p = stack.p + at, *semicolon = memchr(p, ';', stack.n - at);

		length = semicolon ? (size_t)(semicolon - p) : stack.n - at;
		buf_clear(&r->text);
		label_append(&r->text, (struct slice){ p, length });
		if (r->text.failed || !grow_array(&r->labels, &r->cap_labels, n, sizeof(*r->labels)) ||
		    !profile_label(r->into, buf_view(&r->text), &r->labels[n++]))
			return false;
		if (r->root_only)
			break;
	}
	return profile_add(r->into, r->labels, n, side, count);
}

static bool root_listed(const struct folded_reader *r, struct slice stack)
{
	const uint8_t *semicolon = memchr(stack.p, ';', stack.n);

	if (semicolon)
		stack.n = (size_t)(semicolon - stack.p);
	for (size_t i = 0; i < r->n_roots; i++) {
		if (slice_is(stack, r->roots[i]))
			return true;
	}
	return r->n_roots == 0;
}

/* Does the stack end in one more count, after a space? */
static bool ends_in_number(struct slice stack)
{
	size_t at = stack.n;

	while (at > 0 && stack.p[at - 1] >= '0' && stack.p[at - 1] <= '9')
		at--;
	return at > 0 && at < stack.n && stack.p[at - 1] == ' ';
}

bool folded_looks_compared(struct slice start)
{
	bool frames = false;
	const uint8_t *newline;

	while ((newline = memchr(start.p, '\n', start.n))) {
		struct slice line = { start.p, (size_t)(newline - start.p) }, stack;
		uint64_t count;

		start = (struct slice){ newline + 1, start.n - line.n - 1 };
		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (line.n && (split_count(line, &stack, &count) || !ends_in_number(stack)))
			return false;
		frames = frames || memchr(line.p, ';', line.n);
	}
	return frames;
}

/* These are not two columns: what was held back goes where it belongs. False without memory. */
static bool stop_holding(struct folded_reader *r)
{
	bool good = true;

	if (!profile_claim(r->p, r->side, r->held.total[r->side]))
		bad_line(r, "the counts add up to more than 64 bits");
	else
		good = profile_pour(r->p, &r->held, NULL);
	profile_release(&r->held);
	r->into = r->p;
	r->last = (struct slice){ NULL, 0 };
	r->n_steps = 0;
	return good;
}

/* At the end of the text; false without memory. */
static bool decide_columns(struct folded_reader *r)
{
	if (r->into == r->p)
		return true;
	r->two_columns = r->frames;
	return r->two_columns || stop_holding(r);
}

static bool add_stack(struct folded_reader *r, struct slice stack, unsigned int side, uint64_t count)
{
	int added = 0;

	if (!r->root_only && label_is_plain(stack))
		added = add_plain(r, stack, side, count);
	return added > 0 || (added == 0 && add_careful(r, stack, side, count));
}

/* False without memory. */
static bool add_both(struct folded_reader *r, struct slice stack, uint64_t before, uint64_t after)
{
	if (!profile_claim(r->into, r->side, before) || !profile_claim(r->into, !r->side, after)) {
		bad_line(r, "the counts add up to more than 64 bits");
		return true;
	}
	r->samples += before + after;
	return add_stack(r, stack, r->side, before) && add_stack(r, stack, !r->side, after);
}

/* False without memory. */
static bool add_line(struct folded_reader *r, struct slice line)
{
	struct slice stack = { NULL, 0 };
	uint64_t count = 0, before = 0;
	const char *wrong;

	r->lines++;
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (line.n == 0)
		return true;
	wrong = split_count(line, &stack, &count);
	if (r->both && !wrong && split_count(stack, &stack, &before))
		wrong = "one count where there should be two";
	if (r->into != r->p) {
		if ((wrong || !ends_in_number(stack)) && !stop_holding(r))
			return false;
		r->frames = r->frames || memchr(line.p, ';', line.n);
	}
	if (!wrong && r->n_roots && !root_listed(r, stack))
		return true;
	if (!wrong && r->both)
		return add_both(r, stack, before, count);
	if (!wrong && !profile_claim(r->into, r->side, count))
		wrong = "the counts add up to more than 64 bits";
	if (wrong) {
		bad_line(r, wrong);
		return true;
	}
	r->samples += count;
	return add_stack(r, stack, r->side, count);
}

/* Makes room behind n and reads; what is before at goes, and with it the stack before. */
static int read_more(struct folded_reader *r)
{
	ssize_t got;

	if (r->at) {
		memmove(r->in, r->in + r->at, r->n - r->at);
		r->n -= r->at;
		r->at = 0;
		r->last = (struct slice){ NULL, 0 };
		r->n_steps = 0;
	}
	if (r->n == r->cap) {
		uint8_t *bigger = realloc(r->in, r->cap * 2);

		if (!bigger)
			return -1;
		r->in = bigger;
		r->cap *= 2;
		r->last = (struct slice){ NULL, 0 };
		r->n_steps = 0;
	}
	do
		got = read(r->fd, r->in + r->n, r->cap - r->n);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -1;
	r->eof = got == 0;
	r->n += (size_t)got;
	return 0;
}

/* Passes over a line that is too long to be kept. */
static int skip_line(struct folded_reader *r)
{
	const uint8_t *newline = NULL;

	r->lines++;
	bad_line(r, "longer than 4 MiB");
	while (!newline && !r->eof) {
		r->at = r->n;
		if (read_more(r) < 0)
			return -1;
		newline = memchr(r->in, '\n', r->n);
	}
	r->at = newline ? (size_t)(newline - r->in) + 1 : r->n;
	return 0;
}

int folded_read(struct folded_reader *r)
{
	if (r->both)
		r->into = r->p;
	for (;;) {
		const uint8_t *p = r->in + r->at, *newline = memchr(p, '\n', r->n - r->at);
		struct slice line = { p, newline ? (size_t)(newline - p) : r->n - r->at };

		if (newline || (r->eof && line.n)) {
			r->at += line.n + (newline != NULL);
			if (!add_line(r, line)) {
				errno = ENOMEM;
				return -1;
			}
			continue;
		}
		if (r->eof) {
			errno = ENOMEM;
			return decide_columns(r) ? 0 : -1;
		}
		if ((line.n > FOLDED_LINE_MAX ? skip_line(r) : read_more(r)) < 0)
			return -1;
	}
}

/*
 * Order. A name in a line is followed by a space or by `;`, and what sorts between the two
 * (`foo.part.0`) lies between a function's own line and those of its callees. So the order of lines
 * is that of keys "name " and "name;": sorted once for all names, they are numbers from then on.
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
	if (differ == 0) /* one goes on where the other is "name;" and the name has no `;` in it */
		differ = x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
	return differ;
}

/* By label * 2 + below: its place in the order. The array is the caller's to free. */
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

/* Goes down into the node: its children's entries, in order. */
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

static void append_count(struct buf *out, uint64_t v)
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
			for (unsigned int side = 0; side < w->columns; side++)
				append_count(&w->line, node->self[side]);
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
