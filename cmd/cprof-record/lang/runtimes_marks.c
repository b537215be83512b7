/*
 * Replaces the machine frames of a language by the language's own: the program that walked them has left a
 * mark for each.
 */
#include <string.h>

#include "bpf/sample.h"
#include "cmd/cprof-record/lang/runtimes.h"
#include "common/stream/record.h"

/* Goes from the leaf to the root. */
struct marking {
	const struct runtimes *r;
	const uint64_t *slots; /* the sample's: two for a mark */
	int n, next;	       /* marks; those before next are placed, or were passed */
	uint64_t *to;
	int at;
};

static struct lang_mark mark_at(const struct marking *m, int i)
{
	struct lang_mark mark;

	memcpy(&mark, m->slots + 2 * i, sizeof(mark));
	return mark;
}

/* Is this mark of frame i of the stack? */
static bool is_of(const struct lang_mark *mark, const struct user_stack *s, int i)
{
	if (mark->at & LANG_MARK_FP) /* functions without a frame have their caller's rbp, too */
		return i >= s->finished && s->fps[i] == mark->key && (i + 1 == s->n || s->fps[i + 1] != mark->key);
	return mark->key == (uint32_t)i;
}

/* Finds the next mark of frame i. Marks of frames that the final stack does not have are passed. */
static bool find_mark(struct marking *m, const struct user_stack *s, int i, struct lang_mark *mark)
{
	for (int k = m->next; k < m->n; k++) {
		*mark = mark_at(m, k);
		if (is_of(mark, s, i)) {
			m->next = k + 1;
			return true;
		}
	}
	return false;
}

static void put_entry(struct marking *m, uint64_t entry)
{
	if (m->at < SAMPLE_DEPTH_MAX + LANG_FRAMES)
		m->to[m->at++] = entry;
}

static uint64_t state_entry(uint32_t language, uint32_t state)
{
	return STACK_LANG | (uint64_t)state << LANG_POSITION_SHIFT |
	       (uint64_t)language << (LANG_POSITION_SHIFT + STACK_LANG_STATE_BITS);
}

static void put_function(struct marking *m, uint32_t language, uint32_t function, uint32_t position,
			 uint32_t tier, bool inlined)
{
	if (function == LEVEL_STATE) {
		put_entry(m, state_entry(language, position < LANG_STATES ? position : LANG_UNREADABLE));
		return;
	}
	if (!script_functions_has(&m->r->functions, function)) {
		put_entry(m, state_entry(language, LANG_LOST));
		return;
	}
	if (position > STACK_LANG_POSITION)
		position = STACK_LANG_POSITION;
	put_entry(m, STACK_LANG | function | (uint64_t)position << LANG_POSITION_SHIFT |
			     (uint64_t)tier << STACK_LANG_TIER_SHIFT | (inlined ? STACK_LANG_INLINED : 0));
}

/* Puts the functions of a mark. Returns true if the machine frame stays. */
static bool put_mark(struct marking *m, uint32_t language, const struct lang_mark *mark)
{
	uint32_t tier, at = mark->at & LANG_MARK_AT;
	struct lang_level levels[LANG_LEVELS];
	int n;

	if (mark->function == 0) {
		if (mark->code != LANG_OK)
			put_entry(m, state_entry(language, mark->code));
		return mark->code != LANG_OK;
	}
	n = lang_codes_levels(&m->r->codes, mark->code, at, levels, &tier);
	for (int i = 0; i < n; i++)
		put_function(m, language, levels[i].function ? levels[i].function : mark->function,
			     levels[i].position, tier, i < n - 1);
	if (n == 0)
		put_function(m, language, mark->function, mark->code ? STACK_LANG_POSITION : at,
			     mark->code		     ? tier
			     : language == LANG_JAVA ? LANG_TIER_INTERPRETED
						     : LANG_TIER_NONE,
			     false);
	return (mark->at & LANG_MARK_STAYS) != 0;
}

/* Says at the innermost frame in code of the runtime why no frame has a function. */
static void put_missing(struct marking *m, const struct proc *p, uint64_t time)
{
	int i = 0;

	while (i < m->at && ((m->to[i] & STACK_LANG) || !runtimes_is_memory(p, m->to[i])))
		i++;
	if (i == m->at || m->at == SAMPLE_DEPTH_MAX + LANG_FRAMES)
		return;
	memmove(m->to + i + 1, m->to + i, (size_t)(m->at - i) * sizeof(*m->to));
	m->at++;
	m->to[i] = state_entry(m->r->images[p->lang.image - 1].language, runtimes_missing_state(m->r, p, time));
}

void runtimes_put_marks(const struct runtimes *r, const struct proc *p, const uint64_t *slots, int n,
			uint64_t time, struct user_stack *out)
{
	uint64_t merged[SAMPLE_DEPTH_MAX + LANG_FRAMES];
	uint32_t language = r->images[p->lang.image - 1].language;
	struct marking m = { .r = r, .slots = slots, .n = n / 2, .to = merged };
	struct lang_mark mark;

	for (int i = 0; i < out->n; i++) {
		if (!find_mark(&m, out, i, &mark) || put_mark(&m, language, &mark))
			put_entry(&m, out->addresses[i]);
	}
	if (m.n == 0)
		put_missing(&m, p, time);
	out->n = m.at;
	memcpy(out->addresses, merged, (size_t)m.at * sizeof(*merged));
}
