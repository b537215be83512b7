#include <stdlib.h>

#include "cmd/shared/cli.h"
#include "cmd/shared/facts/present.h"
#include "common/profile/projection.h"

enum { HEAVIEST = 5, EXPRESSION_MAX = 64 };

uint64_t *present_weights(const struct profile *p)
{
	uint64_t *weights = calloc(p->labels.n, sizeof(*weights));

	if (!weights)
		cli_no_memory();
	for (size_t i = 1; i < p->n; i++)
		weights[p->nodes[i].label] += p->nodes[i].self[0] + p->nodes[i].self[1];
	return weights;
}

/* The functions with weight, by their names without other parts. */
struct functions {
	struct intern names;
	uint64_t *weights; /* by number in names */
	uint64_t sum;
};

static void functions_init(struct functions *f, const struct profile *p, const uint64_t *weights)
{
	*f = (struct functions){ .weights = calloc(p->labels.n, sizeof(*f->weights)) };
	if (!f->weights)
		cli_no_memory();
	for (uint32_t i = 0; i < p->labels.n; i++) {
		uint32_t id;

		if (!weights[i])
			continue;
		if (!intern_add(&f->names, projection_part(profile_text(p, i), 0), &id))
			cli_no_memory();
		f->weights[id] += weights[i];
		f->sum += weights[i];
	}
}

static bool has_match(const struct functions *f, const regex_t *expression)
{
	for (uint32_t i = 0; i < f->names.n; i++) {
		if (regexec(expression, (const char *)intern_get(&f->names, i).p, 0, NULL, 0) == 0)
			return true;
	}
	return false;
}

static void append_heaviest(const struct functions *f, struct buf *out)
{
	uint64_t below = UINT64_MAX;
	uint32_t last = 0;

	for (unsigned int n = 0; n < HEAVIEST && n < f->names.n; n++) {
		uint32_t best = UINT32_MAX;
		struct slice name;

		for (uint32_t i = 0; i < f->names.n; i++) {
			bool later = f->weights[i] < below || (f->weights[i] == below && i > last);

			if (later && (best == UINT32_MAX || f->weights[i] > f->weights[best]))
				best = i;
		}
		below = f->weights[best];
		last = best;
		name = intern_get(&f->names, best);
		buf_text(out, n ? ", " : "; heaviest: ");
		buf_bytes(out, name.p, name.n);
		buf_printf(out, " (%.0f %%)", 100 * (double)below / (double)f->sum);
	}
}

/* Stores the expression without anchors and backslashes. Returns false if it is more than a name. */
static bool plain_name(const char *text, char *to)
{
	size_t n = 0;

	for (text += text[0] == '^'; *text && !(text[0] == '$' && !text[1]); text++) {
		text += text[0] == '\\' && text[1];
		if (n == EXPRESSION_MAX - 1 || strchr("*+?|[](){}", *text))
			return false;
		to[n++] = *text;
	}
	to[n] = '\0';
	return n > 0;
}

void present_functions(const struct profile *p, const uint64_t *weights, const struct present_asked *a,
		       struct buf *out)
{
	char name[EXPRESSION_MAX];
	struct functions f;
	const char *guess;

	if (!a->expression)
		return;
	functions_init(&f, p, weights);
	if (!has_match(&f, a->expression)) {
		buf_printf(out, "; no name matches %s \"%s\"", a->option, a->text);
		append_heaviest(&f, out);
		guess = plain_name(a->text, name) ? present_guess(&f.names, name) : NULL;
		if (guess)
			buf_printf(out, "; did you mean %s?", guess);
	}
	intern_release(&f.names);
	free(f.weights);
}
