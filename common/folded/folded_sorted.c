#include "common/folded/folded_sorted.h"

#include <errno.h>

#include "common/base/glob.h"
#include "common/profile/sanitize.h"

/* Puts the cleaned stack into s->fit. Returns NULL, or why the line does not count. */
static const char *take_line(struct sorted *s, struct slice stack, uint64_t count)
{
	buf_clear(&s->fit);
	if (sanitize_is_stack(stack))
		buf_bytes(&s->fit, stack.p, stack.n);
	else
		sanitize_append_stack(&s->fit, stack);
	if (s->fit.n > s->stack_max)
		return "a truncated stack cannot stay in order";
	return __builtin_add_overflow(*s->claimed, count, s->claimed) ? "the counts add up to more than 64 bits" : NULL;
}

static bool is_listed(const struct sorted *s, struct slice stack)
{
	return glob_lists(s->roots, s->n_roots, sanitize_root(stack));
}

static int sorted_next(struct merge_source *source)
{
	struct sorted *s = (struct sorted *)source;
	struct slice stack;
	struct buf before;
	int got;

	while ((got = folded_scan_next(&s->scan, &stack, &source->count)) > 0) {
		uint64_t claimed = *s->claimed;
		const char *wrong = take_line(s, stack, source->count);

		if (s->fit.failed) {
			errno = ENOMEM;
			return -1;
		}
		if (wrong) {
			*s->claimed = claimed;
			folded_scan_bad(&s->scan, wrong);
			continue;
		}
		s->unsorted = slice_compare(buf_view(&s->stack), buf_view(&s->fit)) > 0;
		before = s->stack;
		s->stack = s->fit;
		s->fit = before;
		if (s->unsorted)
			return -1;
		if (!is_listed(s, buf_view(&s->stack)) || source->count == 0)
			continue;
		source->stack = buf_view(&s->stack);
		return 1;
	}
	s->error = got < 0 ? errno : 0;
	return got;
}

bool sorted_init(struct sorted *s, int fd, struct slice taken, size_t stack_max, uint64_t *claimed)
{
	*s = (struct sorted){ .source.next = sorted_next, .stack_max = stack_max, .claimed = claimed };
	return folded_scan_init(&s->scan, fd, taken);
}

void sorted_release(struct sorted *s)
{
	folded_scan_release(&s->scan);
	buf_release(&s->stack);
	buf_release(&s->fit);
	*s = (struct sorted){ 0 };
}
