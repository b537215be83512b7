#include "common/flame/kind.h"

#include "common/profile/sanitize.h"
#include "common/profile/transform.h"

static bool has_start(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.n > n && memcmp(s.p, with, n) == 0;
}

/* Recognizes Python's "py::name" and V8's "~name", "JS:~name" or "LazyCompile:~name" as in V8's perf maps. */
static bool is_interpreted(struct slice s)
{
	static const char *const marks[] = { "py::", "~", "JS:~", "Function:~", "LazyCompile:~", "Script:~", "Eval:~" };

	/* A C++ destructor without its class would look the same, but no demangler writes one. */
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (has_start(s, marks[i]))
			return true;
	}
	return false;
}

/* Returns whether the name is like "[python: not-yet]". */
static bool has_state(struct slice s)
{
	static const char *const starts[] = { "[python: ", "[ruby: ", "[php: ", "[perl: ", "[javascript: ", "[java: " };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (has_start(s, starts[i]))
			return true;
	}
	return false;
}

/*
 * Returns the kind of a name in brackets without a suffix. Most are places; the other words come from
 * gather.h, transform.h and sanitize.h.
 */
static enum kind kind_of_bracketed(struct slice s)
{
	static const struct word {
		const char *text;
		enum kind kind;
	} words[] = {
		{ "[sleeping]", KIND_SLEEPING }, { "[uninterruptible]", KIND_UNINTERRUPTIBLE },
		{ "[waiting for a CPU]", KIND_QUEUED }, { "[throttled]", KIND_QUEUED },
		{ "[timer]", KIND_SLEEPING },	{ "[network]", KIND_SLEEPING },
		{ "[interrupt]", KIND_SLEEPING }, { "[softirq]", KIND_SLEEPING },
		{ "[idle task]", KIND_SLEEPING }, { "[disk]", KIND_UNINTERRUPTIBLE },
		{ "[waker not known]", KIND_SLEEPING }, { "[short waits]", KIND_SLEEPING },
		{ "[not recorded]", KIND_LEFTOUT },	{ "[not started]", KIND_LEFTOUT },
		{ "[too deep]", KIND_LEFTOUT },
		{ "[kernel]", KIND_KERNEL },	{ "[kernel.kallsyms]", KIND_KERNEL },  { "[jit]", KIND_JIT },
		{ "[vdso]", KIND_USER },	{ TRANSFORM_OTHER, KIND_LEFTOUT },	       { SANITIZE_CUT, KIND_LEFTOUT },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (slice_is(s, words[i].text))
			return words[i].kind;
	}
	return has_start(s, "[truncated: ") ? KIND_LEFTOUT : has_state(s) ? KIND_INTERPRETED : KIND_NONAME;
}

enum kind kind_of(struct slice name, struct slice *text)
{
	enum kind kind = KIND_USER;

	*text = name;
	if (name.n > 4 && name.p[name.n - 4] == '_' && name.p[name.n - 3] == '[' && name.p[name.n - 1] == ']') {
		uint8_t c = name.p[name.n - 2];

		kind = c == 'k' ? KIND_KERNEL : c == 'i' ? KIND_INLINED : c == 'j' ? KIND_JIT :
		       c == 'l' ? KIND_INTERPRETED : KIND_USER;
		if (kind != KIND_USER)
			text->n -= 4;
	}
	if ((kind == KIND_USER || kind == KIND_JIT) && is_interpreted(*text))
		return KIND_INTERPRETED;
	if (kind == KIND_USER && name.p[0] == '[' && name.p[name.n - 1] == ']')
		return kind_of_bracketed(name);
	/* A waker is a thread, not a function. */
	return kind == KIND_USER && slice_begins(name, "<- ") ? KIND_ROOT : kind;
}

const char *kind_name(enum kind kind)
{
	static const char *const names[KINDS] = {
		[KIND_USER] = "user",
		[KIND_KERNEL] = "kernel",
		[KIND_INLINED] = "inlined",
		[KIND_JIT] = "JIT",
		[KIND_INTERPRETED] = "interpreted",
		[KIND_ROOT] = "process",
		[KIND_NONAME] = "no name",
		[KIND_SLEEPING] = "sleeping",
		[KIND_LEFTOUT] = "left out",
		[KIND_UNINTERRUPTIBLE] = "uninterruptible",
		[KIND_QUEUED] = "waiting for a CPU",
	};

	return names[kind];
}
