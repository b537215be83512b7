#include "tests/verify/compare.h"

const char *const verdict_names[VERDICTS] = { "equal", "beyond", "depth", "short", "explained", "wrong" };
const char *const truth_ends[] = { "complete", "memory not copied", "another stack", "no CFI", "refused", "limit" };

/*
 * CFI is not right everywhere: for example, in __builtin_eh_return's last instructions rbp already belongs to
 * the landing pad. libdwfl accepts any number as a return address; ours may end before that, or find the
 * frame in another way.
 */
static bool goes_astray(const struct states *all, const struct state *s, const struct true_chain *t, size_t at)
{
	return at > 0 && at < t->n && !maps_find(&all->images[s->image].maps, t->frames[at].pc);
}

/*
 * Cases in which libdw is wrong and ours is not known to be. Each checks the bytes or the mappings of the
 * case; none checks our chain alone.
 */
static const struct {
	const char *name;
	bool (*fits)(const struct states *all, const struct state *s, const struct true_chain *t, size_t at);
} rules[] = {
	{ "libdwfl goes where no code is mapped", goes_astray },
	{ NULL, NULL },
};

static const char *explain(const struct states *all, const struct state *s, const struct true_chain *t, size_t at)
{
	for (size_t i = 0; rules[i].name; i++) {
		if (rules[i].fits(all, s, t, at))
			return rules[i].name;
	}
	return NULL;
}

/*
 * libdwfl calls a frame an activation if it or the next one was interrupted; ours marks the interrupted one.
 */
static bool marks_agree(const struct chain *o, size_t at, const struct true_chain *t, size_t i)
{
	if (o->frames[at].exact)
		return t->frames[i].activation;
	return !t->frames[i].activation || at + 1 >= o->n || o->frames[at + 1].exact;
}

static struct comparison differ(const struct states *all, const struct state *s, const struct true_chain *t,
				size_t at, const char *what)
{
	const char *rule = explain(all, s, t, at);

	return (struct comparison){ rule ? EXPLAINED : WRONG, at, rule ? rule : what };
}

/*
 * Without CFI libdwfl goes by rbp: from code that has not set it yet it comes to the caller's caller. Ours knows such
 * code: its frame may be one more, called from mapped code, if both have the same caller after that.
 */
static bool misses_caller(const struct states *all, const struct state *s, const struct true_chain *t, size_t i, size_t at)
{
	const struct chain *o = &s->ours;

	return i > 0 && !t->frames[i - 1].has_cfi && at + 1 < o->n && o->frames[at + 1].pc == t->frames[i].pc &&
	       !o->frames[at].exact && maps_find(&all->images[s->image].maps, o->frames[at].pc - 1);
}

/* The rest of a comparison: all frames that both have agree. missed: frames that only ours has. */
static struct comparison compare_ends(const struct states *all, const struct state *s, const struct true_chain *t, size_t missed)
{
	const struct chain *o = &s->ours;
	size_t n = o->n - missed, i = n < t->n ? n : t->n;
	const char *rule;

	if (n > t->n)
		return t->end == TRUTH_COMPLETE ? differ(all, s, t, i, "frames behind the outermost")
						: (struct comparison){ BEYOND, i, NULL };
	if (n < t->n) {
		if (o->end == CHAIN_COMPLETE)
			return differ(all, s, t, i, "an end that is none");
		if (o->end == CHAIN_DEPTH)
			return (struct comparison){ DEPTH, i, NULL };
		rule = explain(all, s, t, i);
		return (struct comparison){ rule ? EXPLAINED : SHORT, i, rule ? rule : o->why };
	}
	if (t->end == TRUTH_COMPLETE && o->end == CHAIN_CUT) /* no frame is missing, but ours says that some are */
		return (struct comparison){ SHORT, i, o->why };
	return missed ? (struct comparison){ EXPLAINED, i, "libdwfl goes by rbp and misses a caller" } : (struct comparison){ SAME, i, NULL };
}

struct comparison compare(const struct states *all, const struct state *s, const struct true_chain *t)
{
	const struct chain *o = &s->ours;
	size_t missed = 0;

	for (size_t i = 0; i < t->n && i + missed < o->n; i++) {
		if (o->frames[i + missed].pc != t->frames[i].pc && misses_caller(all, s, t, i, i + missed))
			missed++;
		if (o->frames[i + missed].pc != t->frames[i].pc)
			return differ(all, s, t, i, "another frame");
		if (!marks_agree(o, i + missed, t, i))
			return differ(all, s, t, i, "an interrupted instruction taken for a return address, or the reverse");
	}
	return compare_ends(all, s, t, missed);
}
