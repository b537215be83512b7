#include "common/capture/labels.h"

#include <stdlib.h>

static const char prefix[] = "label.";

enum { PREFIX = sizeof(prefix) - 1 };

static int by_key(const void *a, const void *b)
{
	const struct capture_label *x = a, *y = b;
	int c = memcmp(x->key.p, y->key.p, x->key.n < y->key.n ? x->key.n : y->key.n);

	return c ? c : (x->key.n > y->key.n) - (x->key.n < y->key.n);
}

bool capture_labels(const struct capture *c, struct capture_label **labels, size_t *n)
{
	size_t cap = 0;

	*labels = NULL;
	*n = 0;
	for (size_t i = 0; c->meta.n && i <= c->meta.mask; i++) {
		struct slice key;

		if (!c->meta.values[i])
			continue;
		key = capture_text(c, (uint32_t)c->meta.keys[i]);
		if (key.n <= PREFIX || memcmp(key.p, prefix, PREFIX) != 0)
			continue;
		if (!grow_array(labels, &cap, *n, sizeof(**labels))) {
			free(*labels);
			*labels = NULL;
			return false;
		}
		(*labels)[(*n)++] = (struct capture_label){ { key.p + PREFIX, key.n - PREFIX },
							    capture_text(c, c->meta.values[i] - 1) };
	}
	if (*n)
		qsort(*labels, *n, sizeof(**labels), by_key);
	return true;
}
