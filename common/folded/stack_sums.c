#include "common/folded/stack_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/full_write.h"
#include "common/base/intern.h"

/*
 * FAN runs of one level become one of the next, so that files and their buffers stay few whatever the budget
 * is, and a stack is written again only once for each level: with 64, twice for 4,096 times the budget.
 */
enum { FAN = 64, BUFFER = 64 << 10 };
/* Besides text and count: an item, at worst two slots and tags of struct intern, and a text_item. */
enum { STACK_COST = 96 };

/*
 * A run is a file of entries: the bytes that a stack shares with its predecessor, the length of the rest and
 * the rest, and the count; numbers are varints.
 */
struct stack_sums_run {
	struct merge_source source;
	int fd;
	unsigned int level;
	struct buf in; /* bytes from at on are unread */
	size_t at;
	struct buf stack;
};

void stack_sums_init(struct stack_sums *l, size_t budget)
{
	*l = (struct stack_sums){ .budget = budget };
	intern_init(&l->stacks);
}

static void run_free(struct stack_sums_run *run)
{
	if (run && run->fd >= 0)
		close(run->fd);
	if (run) {
		buf_release(&run->in);
		buf_release(&run->stack);
	}
	free(run);
}

void stack_sums_release(struct stack_sums *l)
{
	for (size_t i = 0; i < l->n_runs; i++)
		run_free(l->runs[i]);
	free(l->runs);
	merge_release(&l->merge);
	intern_release(&l->stacks);
	free(l->counts);
	free(l->memory.order);
	*l = (struct stack_sums){ 0 };
}

const char *stack_sums_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && directory[0] ? directory : "/tmp";
}

/* Opens a file that nobody else sees and that disappears when it is closed. */
static int temporary_file(void)
{
	const char *directory = stack_sums_directory();
	char path[4096];
	int fd;

	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/cprof-fold.XXXXXX", directory) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Adds an entry to out, and writes out when it is long. */
static bool write_entry(struct stack_sums_run *run, struct buf *out, struct slice stack, uint64_t count)
{
	size_t same = slice_common(buf_view(&run->stack), stack);

	buf_varint(out, same);
	buf_slice(out, (struct slice){ stack.p + same, stack.n - same });
	buf_varint(out, count);
	run->stack.n = same;
	buf_bytes(&run->stack, stack.p + same, stack.n - same);
	if (out->failed || run->stack.failed) {
		errno = ENOMEM;
		return false;
	}
	if (out->n < BUFFER)
		return true;
	if (!full_write(run->fd, out->p, out->n))
		return false;
	buf_clear(out);
	return true;
}

/* Reads one entry from the buffer; returns false if it is not complete. */
static bool take_entry(struct stack_sums_run *run)
{
	struct slice left = buf_view(&run->in), own;
	struct cursor c;
	uint64_t same;

	if (run->at == left.n)
		return false;
	c = cursor_over(left.p + run->at, left.n - run->at);
	if (!cursor_varint(&c, &same) || !cursor_slice(&c, &own) || !cursor_varint(&c, &run->source.count) ||
	    same > run->stack.n)
		return false;
	run->stack.n = (size_t)same;
	buf_bytes(&run->stack, own.p, own.n);
	run->source.stack = buf_view(&run->stack);
	run->at = run->in.n - cursor_left(&c);
	return true;
}

static int run_next(struct merge_source *s)
{
	struct stack_sums_run *run = (struct stack_sums_run *)s;

	while (!take_entry(run)) {
		struct buf *in = &run->in;
		ssize_t got;

		if (run->at)
			memmove(in->p, in->p + run->at, in->n - run->at);
		in->n -= run->at;
		run->at = 0;
		if (!buf_reserve(in, BUFFER)) {
			errno = ENOMEM;
			return -1;
		}
		got = read(run->fd, in->p + in->n, in->cap - in->n);
		if (got == 0 && in->n == 0)
			return 0;
		if (got == 0)
			errno = EIO; /* the file was truncated by somebody else */
		if (got <= 0 && errno != EINTR)
			return -1;
		in->n += got > 0 ? (size_t)got : 0;
	}
	if (run->stack.failed)
		errno = ENOMEM;
	return run->stack.failed ? -1 : 1;
}

/* Writes a sorted sequence as a run at the end of the list. */
static bool write_run(struct stack_sums *l, unsigned int level, struct merge *from)
{
	struct stack_sums_run *run = calloc(1, sizeof(*run));
	struct buf out = { 0 };
	struct slice stack;
	uint64_t count;
	bool good = run && grow_array(&l->runs, &l->cap_runs, l->n_runs, sizeof(*l->runs));
	int got = 0;

	if (run)
		*run = (struct stack_sums_run){ .source.next = run_next, .fd = good ? temporary_file() : -1, .level = level };
	good = good && run->fd >= 0;
	while (good && (got = merge_next(from, &stack, &count)) > 0)
		good = write_entry(run, &out, stack, count);
	good = good && got == 0 && full_write(run->fd, out.p, out.n) && lseek(run->fd, 0, SEEK_SET) == 0;
	buf_release(&out);
	if (!good) {
		l->no_file = run && errno != ENOMEM;
		run_free(run);
		return false;
	}
	run->stack.n = 0;
	l->runs[l->n_runs++] = run;
	return true;
}

/* Merges the last FAN runs, which are of one level, into one of the next level. */
static bool merge_level(struct stack_sums *l)
{
	size_t first = l->n_runs - FAN;
	struct merge m = { 0 };
	bool good = true;

	for (size_t i = first; good && i < l->n_runs; i++)
		good = merge_add(&m, &l->runs[i]->source);
	good = good && write_run(l, l->runs[first]->level + 1, &m);
	merge_release(&m);
	if (!good)
		return false;
	for (size_t i = first; i < first + FAN; i++)
		run_free(l->runs[i]);
	l->runs[first] = l->runs[first + FAN];
	l->n_runs = first + 1;
	return true;
}

static bool levels_full(const struct stack_sums *l)
{
	return l->n_runs >= FAN && l->runs[l->n_runs - FAN]->level == l->runs[l->n_runs - 1]->level;
}

static int memory_next(struct merge_source *s)
{
	struct stack_sums_memory *m = (struct stack_sums_memory *)s;
	uint32_t id;

	if (m->at == m->lines->stacks.n)
		return 0;
	id = m->order[m->at++].id;
	s->stack = intern_get(&m->lines->stacks, id);
	s->count = m->lines->counts[id];
	return 1;
}

/* Makes the stacks in memory a source. */
static bool sort_memory(struct stack_sums *l)
{
	size_t n = l->stacks.n;
	struct text_item *order = malloc((n + 1) * sizeof(*order));

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i].id = (uint32_t)i;
	if (n)
		text_sort(l->stacks.items, order, n);
	l->memory = (struct stack_sums_memory){ { .next = memory_next }, l, order, 0 };
	return true;
}

/* Writes the stacks in memory as a run. */
static bool spill_memory(struct stack_sums *l)
{
	struct merge m = { 0 };
	bool good = sort_memory(l) && merge_add(&m, &l->memory.source) && write_run(l, 0, &m);

	merge_release(&m);
	free(l->memory.order);
	l->memory.order = NULL;
	intern_release(&l->stacks);
	free(l->counts);
	l->counts = NULL;
	l->cap_counts = 0;
	while (good && levels_full(l))
		good = merge_level(l);
	return good;
}

size_t stack_sums_size(const struct stack_sums *l)
{
	return l->stacks.bytes + l->stacks.n * STACK_COST;
}

bool stack_sums_add(struct stack_sums *l, struct slice stack, uint64_t count)
{
	uint32_t id;

	if (count == 0)
		return true;
	if (l->budget && l->stacks.n && stack_sums_size(l) + stack.n > l->budget && !spill_memory(l))
		return false;
	if (!intern_add(&l->stacks, stack, &id) || !grow_array(&l->counts, &l->cap_counts, id, sizeof(*l->counts))) {
		errno = ENOMEM;
		return false;
	}
	l->counts[id] += count;
	l->total += count;
	return true;
}

bool stack_sums_sort(struct stack_sums *l)
{
	bool good = sort_memory(l);

	if (good && l->n_runs)
		good = merge_add(&l->merge, &l->memory.source);
	for (size_t i = 0; good && i < l->n_runs; i++)
		good = merge_add(&l->merge, &l->runs[i]->source);
	if (!good)
		errno = ENOMEM;
	return good;
}

int stack_sums_next(struct stack_sums *l, struct slice *stack, uint64_t *count)
{
	int got;

	if (l->n_runs)
		return merge_next(&l->merge, stack, count);
	got = memory_next(&l->memory.source);
	*stack = l->memory.source.stack;
	*count = l->memory.source.count;
	return got;
}
