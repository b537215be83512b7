#include "common/flame/kind.h"

#include "common/profile/label.h"
#include "common/profile/shape.h"

static bool begins(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.n > n && memcmp(s.p, with, n) == 0;
}

/* "~name", or "JS:~name" and "LazyCompile:~name" as in V8's perf maps. */
static bool interpreted(struct slice s)
{
	static const char *const marks[] = { "py::", "~", "JS:~", "Function:~", "LazyCompile:~", "Script:~", "Eval:~" };

	/* A destructor without its class would look like V8's, and no demangler writes one. */
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (begins(s, marks[i]))
			return true;
	}
	return false;
}

/* Without a suffix, "[so]": most are places; gather.h, shape.h and label.h have the other words. */
static enum kind bracketed(struct slice s)
{
	static const struct word {
		const char *text;
		enum kind kind;
	} words[] = {
		{ "[sleeping]", KIND_WAITING }, { "[uninterruptible]", KIND_WAITING }, { "[waiting for a CPU]", KIND_WAITING },
		{ "[kernel]", KIND_KERNEL },	{ "[kernel.kallsyms]", KIND_KERNEL },  { "[jit]", KIND_JIT },
		{ "[vdso]", KIND_USER },	{ SHAPE_OTHER, KIND_LEFTOUT },	       { LABEL_CUT, KIND_LEFTOUT },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (slice_is(s, words[i].text))
			return words[i].kind;
	}
	return begins(s, "[truncated: ") ? KIND_LEFTOUT : KIND_NONAME;
}

enum kind kind_of(struct slice name, struct slice *text)
{
	enum kind kind = KIND_USER;

	*text = name;
	if (name.n > 4 && name.p[name.n - 4] == '_' && name.p[name.n - 3] == '[' && name.p[name.n - 1] == ']') {
		uint8_t c = name.p[name.n - 2];

		kind = c == 'k' ? KIND_KERNEL : c == 'i' ? KIND_INLINED : c == 'j' ? KIND_JIT : KIND_USER;
		if (kind != KIND_USER)
			text->n -= 4;
	}
	if ((kind == KIND_USER || kind == KIND_JIT) && interpreted(*text))
		return KIND_INTERPRETED;
	if (kind == KIND_USER && name.p[0] == '[' && name.p[name.n - 1] == ']')
		return bracketed(name);
	return kind;
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
		[KIND_WAITING] = "waiting",
		[KIND_LEFTOUT] = "left out",
	};

	return names[kind];
}
