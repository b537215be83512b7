#include "common/flame/kind.h"

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
		return KIND_NONAME;
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
	};

	return names[kind];
}
