#include "common/flame/picture.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/profile/sanitize.h"

static void add_pair(struct picture *pic, struct picture_pair **list, size_t *cap, size_t *n, const char *name,
		     const char *value)
{
	struct picture_pair pair = { strdup(name), strdup(value) };

	if (!pair.name || !pair.value || !grow_array(list, cap, *n, sizeof(**list))) {
		free(pair.name);
		free(pair.value);
		pic->failed = true;
		return;
	}
	(*list)[(*n)++] = pair;
}

void picture_fact(struct picture *pic, const char *name, const char *value)
{
	add_pair(pic, &pic->facts, &pic->cap_facts, &pic->n_facts, name, value);
}

void picture_option(struct picture *pic, const char *name, const char *value)
{
	add_pair(pic, &pic->options, &pic->cap_options, &pic->n_options, name, value);
}

const char *picture_get(const struct picture *pic, const char *name)
{
	for (size_t i = pic->n_options; i-- > 0;) {
		if (strcmp(pic->options[i].name, name) == 0)
			return pic->options[i].value;
	}
	return NULL;
}

static void free_pairs(struct picture_pair *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].value);
	}
	free(list);
}

void picture_release(struct picture *pic)
{
	free_pairs(pic->facts, pic->n_facts);
	free_pairs(pic->options, pic->n_options);
	*pic = (struct picture){ 0 };
}

/* Appends a piece as a label, but keeps the surrounding spaces. */
static void append_piece(struct buf *out, struct slice piece)
{
	while (piece.n && piece.p[0] == ' ') {
		buf_byte(out, ' ');
		piece = (struct slice){ piece.p + 1, piece.n - 1 };
	}
	if (piece.n)
		sanitize_append(out, piece);
	for (size_t n = piece.n; n && piece.p[n - 1] == ' '; n--)
		buf_byte(out, ' ');
}

char *picture_clean(const char *text)
{
	struct buf out = { 0 };

	/* A label cannot contain `;`, but a title can. */
	for (;;) {
		size_t n = strcspn(text, ";");

		append_piece(&out, (struct slice){ (const uint8_t *)text, n });
		if (!text[n])
			break;
		buf_byte(&out, ';');
		text += n + 1;
	}
	buf_byte(&out, '\0');
	if (out.failed)
		buf_release(&out);
	return (char *)out.p;
}

double picture_share(const struct picture *pic, const uint64_t weights[PROFILE_SIDES])
{
	const uint64_t *all = flame_total(pic->tree, 0);
	double share = 0;
	unsigned int counted = 0;

	for (unsigned int side = 0; side < pic->sides; side++) {
		if (!all[side])
			continue;
		share += (double)weights[side] / (double)all[side];
		counted++;
	}
	return counted ? share / counted : 0;
}
