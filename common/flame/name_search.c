#include "common/flame/name_search.h"

#include <stdio.h>
#include <stdlib.h>

const char *search_broken(const char *text)
{
	size_t groups = 0;
	bool class = false;

	for (; *text; text++) {
		if (*text == '\\') {
			if (!*++text)
				return "trailing backslash";
		} else if (class) {
			class = *text != ']';
		} else if (*text == '[') {
			class = true;
		} else if (*text == '(') {
			groups++;
		} else if (*text == ')' && groups-- == 0) {
			return "unmatched )";
		}
	}
	return class ? "unmatched [" : groups ? "unmatched (" : NULL;
}

static bool has_capital(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (*text >= 'A' && *text <= 'Z')
			return true;
	}
	return false;
}

/* Returns false if out of memory. */
static bool match_labels(struct search *s, const struct flame_tree *t)
{
	struct buf name = { 0 };

	for (size_t i = 0; i < t->n_labels; i++) {
		buf_clear(&name);
		buf_bytes(&name, t->labels[i].text.p, t->labels[i].text.n);
		s->matches[i] = regexec(&s->expression, buf_cstr(&name), 0, NULL, 0) == 0;
	}
	buf_release(&name);
	return !name.failed;
}

/* Counts each stack once, by its outermost matching frame. */
static void add_share(const struct search *s, struct picture *pic)
{
	const struct flame_tree *t = pic->tree;
	uint64_t matched[PROFILE_SIDES] = { 0 };
	struct buf value = { 0 };

	for (size_t i = 1; i < t->n;) {
		if (!s->matches[t->nodes[i].label]) {
			i++;
			continue;
		}
		for (unsigned int side = 0; side < pic->sides; side++)
			matched[side] += flame_total(t, i)[side];
		i += t->nodes[i].size;
	}
	for (unsigned int side = 0; side < pic->sides; side++) {
		uint64_t all = flame_total(t, 0)[side];

		buf_printf(&value, "%s%.2f %%", side ? " \xe2\x86\x92 " : "", all ? 100.0 * (double)matched[side] / (double)all : 0);
	}
	buf_printf(&value, " match %s", s->text);
	picture_fact(pic, "Search", buf_cstr(&value));
	pic->failed = pic->failed || value.failed;
	buf_release(&value);
}

const char *search_init(struct search *s, const char *text)
{
	int wrong = regcomp(&s->expression, text, REG_EXTENDED | REG_NOSUB | (has_capital(text) ? 0 : REG_ICASE));

	s->text = text;
	s->matches = NULL;
	s->compiled = wrong == 0;
	if (!wrong)
		return NULL;
	regerror(wrong, &s->expression, s->why, sizeof(s->why));
	return s->why;
}

bool search_apply(struct search *s, struct picture *pic)
{
	s->matches = calloc(pic->tree->n_labels + 1, sizeof(*s->matches));
	if (!s->matches || !match_labels(s, pic->tree))
		return false;
	pic->matches = s->matches;
	add_share(s, pic);
	return true;
}

void search_release(struct search *s)
{
	if (s->compiled)
		regfree(&s->expression);
	free(s->matches);
	*s = (struct search){ 0 };
}
