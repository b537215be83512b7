#include "common/unwind/functions.h"

#include <stdlib.h>

#include "common/unwind/cfi.h"

static int compare(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* In order; of several that begin at one address the longest remains, and each ends where the next begins. */
static void settle(struct function_list *l)
{
	size_t n = 0;

	qsort(l->items, l->n, sizeof(*l->items), compare);
	for (size_t i = 0; i < l->n; i++) {
		if (n && l->items[n - 1].start == l->items[i].start)
			n--;
		else if (n && l->items[n - 1].end > l->items[i].start)
			l->items[n - 1].end = l->items[i].start;
		l->items[n++] = l->items[i];
	}
	l->n = n;
}

bool functions_read(const struct elf_file *f, struct function_list *l)
{
	struct cfi cfi = { .source = SPAN_EH_FRAME };
	struct code_map code;
	bool good;

	*l = (struct function_list){ 0 };
	if (!sections_usable(f) || !section_eh_frame(f, &cfi.section))
		return true;
	if (!code_map_init(&code, f))
		return false;
	cfi.code = &code;
	cfi.bases = cfi_bases(f, &cfi.section);
	good = cfi_functions(&cfi, l);
	code_map_release(&code);
	if (!good)
		functions_release(l);
	else if (l->n)
		settle(l);
	return good;
}

void functions_release(struct function_list *l)
{
	free(l->items);
	*l = (struct function_list){ 0 };
}

bool functions_find(const struct function_list *l, uint64_t vaddr, size_t *i)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->items[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	*i = low - 1;
	return low > 0 && vaddr < l->items[low - 1].end;
}
