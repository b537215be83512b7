#include "common/capture/labels.h"

#include <stdlib.h>

#include "common/base/array.h"

static const char prefix[] = "label.";

enum { PREFIX = sizeof(prefix) - 1 };

static int by_key(const void *a, const void *b)
{
	const struct capture_label *x = a, *y = b;
	int c = memcmp(x->key.p, y->key.p, x->key.n < y->key.n ? x->key.n : y->key.n);

	return c ? c : (x->key.n > y->key.n) - (x->key.n < y->key.n);
}

/* Returns true if slot i of the table of header fields holds a label. */
static bool label_at(const struct capture *c, size_t i, struct capture_label *l)
{
	struct slice key;

	if (!c->meta.values[i])
		return false;
	key = capture_text(c, (uint32_t)c->meta.keys[i]);
	if (key.n <= PREFIX || memcmp(key.p, prefix, PREFIX) != 0)
		return false;
	*l = (struct capture_label){ { key.p + PREFIX, key.n - PREFIX }, capture_text(c, c->meta.values[i] - 1) };
	return true;
}

bool capture_label(const struct capture *c, struct slice key, struct slice *value)
{
	char text[PREFIX + 256];
	uint32_t id, at;

	if (key.n <= sizeof(text) - PREFIX) {
		struct slice whole = { (const uint8_t *)text, PREFIX + key.n };

		memcpy(text, prefix, PREFIX);
		memcpy(text + PREFIX, key.p, key.n);
		if (!key.n || !intern_find(&c->texts, whole, &id) || !idmap_find(&c->meta, id, &at))
			return false;
		*value = capture_text(c, at);
		return true;
	}
	/* A longer key than anybody asks for is compared with every label, and needs no buffer. */
	for (size_t i = 0; c->meta.n && i <= c->meta.mask; i++) {
		struct capture_label l;

		if (label_at(c, i, &l) && l.key.n == key.n && memcmp(l.key.p, key.p, key.n) == 0) {
			*value = l.value;
			return true;
		}
	}
	return false;
}

bool capture_labels(const struct capture *c, struct capture_label **labels, size_t *n)
{
	size_t cap = 0;

	*labels = NULL;
	*n = 0;
	for (size_t i = 0; c->meta.n && i <= c->meta.mask; i++) {
		struct capture_label l;

		if (!label_at(c, i, &l))
			continue;
		if (!grow_array(labels, &cap, *n, sizeof(**labels))) {
			free(*labels);
			*labels = NULL;
			return false;
		}
		(*labels)[(*n)++] = l;
	}
	if (*n)
		qsort(*labels, *n, sizeof(**labels), by_key);
	return true;
}
