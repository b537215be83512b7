#include <ctype.h>

#include "common/demangle/cutname.h"

bool demangle_mode_parse(const char *text, enum demangle_mode *mode)
{
	static const char *const modes[] = {
		[DEMANGLE_NONE] = "none",
		[DEMANGLE_SIMPLIFIED] = "simplified",
		[DEMANGLE_TEMPLATES] = "templates",
		[DEMANGLE_FULL] = "full",
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(text, modes[i]) == 0) {
			*mode = (enum demangle_mode)i;
			return true;
		}
	}
	return false;
}

static bool begins_at(struct slice s, size_t at, const char *text)
{
	size_t n = strlen(text);

	return at <= s.n && s.n - at >= n && memcmp(s.p + at, text, n) == 0;
}

static bool contains_text(struct slice s, const char *text)
{
	return s.n && memmem(s.p, s.n, text, strlen(text));
}

static bool drop_end(struct slice *s, const char *text)
{
	size_t n = strlen(text);

	if (s->n <= n || !begins_at(*s, s->n - n, text))
		return false;
	s->n -= n;
	return true;
}

static bool is_word(uint8_t c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

/* Drops the last " [clone .isra.0]", or " (.isra.0)" as LLVM writes it; prepends its suffix to *suffix. */
static bool drop_clone(struct slice *s, struct buf *suffix)
{
	static const char *const opens[] = { " [clone ", " (" };
	struct buf longer = { 0 };
	const uint8_t *open;
	size_t n;

	if (s->n < 4 || (s->p[s->n - 1] != ']' && s->p[s->n - 1] != ')'))
		return false;
	n = strlen(opens[s->p[s->n - 1] == ')']);
	open = memrchr(s->p, ' ', s->n);
	if (s->p[s->n - 1] == ']' && open && open > s->p) /* the one before "[clone" */
		open = memrchr(s->p, ' ', (size_t)(open - s->p));
	if (!open || open == s->p || !begins_at(*s, (size_t)(open - s->p), opens[s->p[s->n - 1] == ')']) ||
	    (size_t)(open - s->p) + n + 1 >= s->n - 1 || open[n] != '.')
		return false;
	buf_bytes(&longer, open + n, s->n - 1 - (size_t)(open - s->p) - n);
	buf_bytes(&longer, suffix->p, suffix->n);
	buf_release(suffix);
	*suffix = longer;
	s->n = (size_t)(open - s->p);
	return true;
}

/* Returns the number of bytes after "operator" that are part of its name: signs, "()", "[]". */
static size_t operator_signs(struct slice s, size_t at)
{
	static const char *const signs[] = { "<<=", ">>=", "<=>", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "==",
					     "!=",  "&&",  "||",  "++",	 "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=",
					     "|=" };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (begins_at(s, at, signs[i]))
			return strlen(signs[i]);
	}
	return at < s.n && memchr("<>=+-*/%^&|~!,", s.p[at], 14);
}

static bool at_operator(struct slice s, size_t at)
{
	const size_t n = strlen("operator");

	return begins_at(s, at, "operator") && (at == 0 || !is_word(s.p[at - 1])) && (at + n == s.n || !is_word(s.p[at + n]));
}

/*
 * Returns the end of the group that a bracket opens, 0 if it has none. Round brackets may hold comparisons:
 * '<' and '>' do not count there.
 */
static size_t end_of_group(struct slice s, size_t at)
{
	char open[64];
	size_t depth = 0;

	for (; at < s.n; at++) {
		uint8_t c = s.p[at];

		if (at_operator(s, at)) {
			at += strlen("operator");
			at += operator_signs(s, at) - 1;
			continue;
		}
		if (memchr("(<{[", c, 4)) {
			if (c == '<' && depth && open[depth - 1] == '(')
				continue;
			if (depth == sizeof(open))
				return 0;
			open[depth++] = (char)c;
		} else if (memchr(")>}]", c, 4)) {
			if (c == '>' && (s.p[at - 1] == '-' || (depth && open[depth - 1] == '(')))
				continue;
			if (!depth || open[--depth] != "(<{["[(const char *)memchr(")>}]", c, 4) - ")>}]"])
				return 0;
			if (!depth)
				return at + 1;
		}
	}
	return 0;
}

/* Facts about a name, from its text outside of brackets. */
struct form {
	bool templates, parameters, rust;
	bool lambda; /* "{lambda(int)#1}", whose parameters are cut, too */
	size_t space; /* after the last space before the function's name; 0: there is no space */
	bool pointers; /* a '*' or '&', which only a type has */
};

/* "non-virtual thunk to " and the like are not types. Returns the length of such a prefix, or 0. */
static size_t after_special(struct slice s)
{
	static const char *const words[] = { " to ", " for " };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const uint8_t *at = s.n ? memmem(s.p, s.n, words[i], strlen(words[i])) : NULL, *p = at;

		while (p && p > s.p && (islower(p[-1]) || p[-1] == '-' || p[-1] == ' '))
			p--;
		if (at && p == s.p)
			return (size_t)(at - s.p) + strlen(words[i]);
	}
	return 0;
}

/* Reads one group of brackets at the top level. Returns false if C++ has no such group. */
static bool read_group(struct slice s, size_t *at, struct form *f)
{
	size_t end = end_of_group(s, *at);
	uint8_t before = *at ? s.p[*at - 1] : ' ';

	if (!end)
		return false;
	switch (s.p[*at]) {
	case '(':
		if (begins_at(s, *at, "(anonymous namespace)"))
			break;
		if (before == '.' || (before == ' ' && !(*at >= 9 && begins_at(s, *at - 9, "decltype "))))
			return false; /* Go's "(*T)"; a function pointer */
		if (end < s.n && s.p[end] != ':' && s.p[end] != ' ' && s.p[end] != '[' && s.p[end] != '(')
			return false;
		f->parameters = true;
		break;
	case '<':
		f->templates = true;
		f->rust = f->rust || begins_at(s, *at, "<impl ") ||
			  (*at == 0 ? begins_at(s, end, "::") : before == ':');
		if (begins_at(s, *at, "<lambda") || begins_at(s, *at, "<unnamed"))
			return false;
		break;
	case '{':
		f->rust = f->rust || begins_at(s, *at, "{{") || begins_at(s, *at, "{closure");
		f->lambda = f->lambda || begins_at(s, *at, "{lambda(");
		break;
	default:
		if (!begins_at(s, *at, "[abi:"))
			return false;
	}
	*at = end;
	return true;
}

static const char *const qualifiers_of_members[] = { " const", " volatile", " &&", " &", " noexcept" };

/* Returns the length of a member function's qualifiers, which follow its parameters even inside a name. */
static size_t qualifiers_at(struct slice s, size_t at)
{
	size_t start = at;

	for (size_t i = 0; i < sizeof(qualifiers_of_members) / sizeof(qualifiers_of_members[0]); i++) {
		if (begins_at(s, at, qualifiers_of_members[i])) {
			at += strlen(qualifiers_of_members[i]);
			i = SIZE_MAX; /* start again with the first */
		}
	}
	return at - start;
}

/* Reads the whole name. Returns false if it is neither C++ nor Rust. */
static bool read_form(struct slice s, size_t at, struct form *f)
{
	bool named = false; /* an operator, after which spaces are part of its name */

	while (at < s.n) {
		uint8_t c = s.p[at];

		if (at_operator(s, at)) {
			at += strlen("operator");
			at += operator_signs(s, at);
			if (begins_at(s, at, " new[]") || begins_at(s, at, " delete[]"))
				at += s.p[at + 1] == 'n' ? 6 : 9;
			named = true;
		} else if (memchr("(<{[", c, 4)) {
			if (!read_group(s, &at, f))
				return false;
		} else if (c == ':') {
			if (!begins_at(s, at, "::"))
				return false;
			at += 2;
		} else if (c == ' ') {
			size_t qualifiers = at && s.p[at - 1] == ')' ? qualifiers_at(s, at) : 0;

			at += qualifiers ? qualifiers : 1;
			if (!qualifiers && !named)
				f->space = at;
		} else if (is_word(c) || memchr("~*&'", c, 4)) {
			f->pointers = f->pointers || ((c == '*' || c == '&') && !named);
			at++;
		} else {
			return false;
		}
	}
	return true;
}

/* A function with parameters ends with them, and only such a name has a return type in front. */
static bool ends_with_parameters(struct slice s)
{
	for (size_t i = 0; i < sizeof(qualifiers_of_members) / sizeof(qualifiers_of_members[0]); i++) {
		if (drop_end(&s, qualifiers_of_members[i]))
			i = SIZE_MAX; /* start again with the first */
	}
	return s.n && s.p[s.n - 1] == ')' && !drop_end(&s, "operator()");
}

/* Drops "::h" and 16 hexadecimal digits at the end: Rust's legacy scheme, demangled as C++. */
static bool drop_hash(struct slice *s)
{
	enum { HASH = 19 };

	if (s->n <= HASH || !begins_at(*s, s->n - HASH, "::h"))
		return false;
	for (size_t i = s->n - HASH + 3; i < s->n; i++) {
		if (!isxdigit(s->p[i]) || isupper(s->p[i]))
			return false;
	}
	s->n -= HASH;
	return true;
}

/* Appends the name with its arguments cut out. Returns false if there is nothing to cut. */
static bool try_cut(struct buf *out, struct slice s, enum demangle_mode mode)
{
	size_t begin = after_special(s);
	struct form f = { 0 };
	struct slice rest;

	if (!read_form(s, begin, &f) || (f.pointers && !f.space))
		return false;
	if (!(f.parameters && ends_with_parameters(s))) {
		if (f.space || f.pointers || (!f.templates && !f.parameters && !f.lambda))
			return false;
	}
	if (f.space) { /* the return type */
		rest = (struct slice){ s.p + f.space, s.n - f.space };
		buf_bytes(out, s.p, begin);
		begin = 0;
	} else {
		rest = s;
	}
	cut_name(out, rest, f.rust ? LANGUAGE_RUST : LANGUAGE_CXX, mode == DEMANGLE_SIMPLIFIED);
	return true;
}

static void cut_given(struct buf *out, struct slice name, enum demangle_mode mode)
{
	struct buf suffix = { 0 };
	struct slice s = name;
	size_t before = out->n;
	bool stub = drop_end(&s, "@plt"), cut;

	while (drop_clone(&s, &suffix))
		;
	cut = drop_hash(&s);
	if (!try_cut(out, s, mode) || out->n == before) {
		out->n = before;
		buf_bytes(out, cut || suffix.n ? s.p : name.p, cut || suffix.n ? s.n : name.n);
		stub = stub && (cut || suffix.n);
	}
	cut_suffix(out, buf_view(&suffix), mode);
	if (stub)
		buf_text(out, "@plt");
	out->failed = out->failed || suffix.failed;
	buf_release(&suffix);
}

void demangle_given(struct buf *out, struct slice name, enum demangle_mode mode)
{
	size_t before = out->n;

	demangle(out, name, mode);
	if (mode == DEMANGLE_NONE || mode == DEMANGLE_FULL || name.n > DEMANGLE_IN_MAX || out->n - before != name.n ||
	    memcmp(out->p + before, name.p, name.n) != 0)
		return;
	if (memchr(name.p, '(', name.n) || memchr(name.p, '<', name.n) || contains_text(name, " [clone ") || contains_text(name, "::h")) {
		out->n = before;
		cut_given(out, name, mode);
	}
}
