#include "common/demangle/cutname.h"

#include <ctype.h>

/* State while parameters and, on request, template arguments are cut out of a demangled name. */
struct cutter {
	const char *p, *end;
	struct buf *out;
	enum language language;
	bool cut_templates;
};

static bool at_text(const struct cutter *c, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(c->end - c->p) >= n && memcmp(c->p, text, n) == 0;
}

static void copy(struct cutter *c, size_t n)
{
	buf_bytes(c->out, c->p, n);
	c->p += n;
}

/* Returns the end of the group that opens at p. Inside round brackets a lone '<' or '>' is a comparison. */
static const char *behind_group(const struct cutter *c)
{
	char open[256];
	size_t depth = 0;

	for (const char *p = c->p; p < c->end; p++) {
		char want = '\0';

		switch (*p) {
		case '(':
		case '<':
		case '{':
		case '[':
			if (depth == sizeof(open))
				return c->end;
			open[depth++] = *p;
			break;
		case '>':
			depth -= depth && open[depth - 1] == '<' && p[-1] != '-';
			break;
		case ')':
			want = '(';
			break;
		case '}':
			want = '{';
			break;
		case ']':
			want = '[';
			break;
		}
		while (want && depth && open[--depth] != want)
			;
		if (depth == 0)
			return p + 1;
	}
	return c->end;
}

/* Copies "operator" and the signs of its name. A type after it is cut like any other text. */
static bool cut_operator(struct cutter *c)
{
	static const char *const signs[] = { "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=",
					     "->", "<",  ">" };
	const size_t n = strlen("operator");

	if (c->language != LANGUAGE_CXX || !at_text(c, "operator") ||
	    (c->out->n && (isalnum(c->out->p[c->out->n - 1]) || c->out->p[c->out->n - 1] == '_')))
		return false;
	copy(c, n);
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (at_text(c, signs[i])) {
			copy(c, strlen(signs[i]));
			break;
		}
	}
	return true;
}

/* In Rust, "<T as Trait>" and "<impl Trait for T>" are not arguments: the path begins with them. */
static bool is_rust_self(const struct cutter *c, const char *behind)
{
	if (c->language != LANGUAGE_RUST)
		return false;
	if (c->out->n == 0 || !(isalnum(c->out->p[c->out->n - 1]) || strchr("_:>", c->out->p[c->out->n - 1])))
		return true;
	return c->out->p[c->out->n - 1] == ':' &&
	       (at_text(c, "<impl ") || memmem(c->p, (size_t)(behind - c->p), " as ", 4));
}

static void cut_angle(struct cutter *c)
{
	const char *behind = behind_group(c);

	if (is_rust_self(c, behind)) {
		copy(c, 1); /* the content is cut on its own; its '>' is copied */
		return;
	}
	if (!c->cut_templates) {
		copy(c, (size_t)(behind - c->p));
		return;
	}
	if (c->language == LANGUAGE_RUST && c->out->n >= 2 && memcmp(c->out->p + c->out->n - 2, "::", 2) == 0)
		c->out->n -= 2; /* foo::<T> */
	if (c->out->n && c->out->p[c->out->n - 1] == ' ')
		c->out->n--; /* "operator<< <char>" */
	c->p = behind;
}

static void cut_round(struct cutter *c)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &", " noexcept" };
	bool d_arguments = c->language == LANGUAGE_D && c->out->n && c->out->p[c->out->n - 1] == '!';

	if (at_text(c, "(anonymous namespace)")) {
		copy(c, strlen("(anonymous namespace)"));
		return;
	}
	if (c->language == LANGUAGE_RUST || (d_arguments && !c->cut_templates)) {
		copy(c, (size_t)(behind_group(c) - c->p));
		return;
	}
	if (d_arguments)
		c->out->n--;
	c->p = behind_group(c);
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
		if (at_text(c, qualifiers[i])) {
			c->p += strlen(qualifiers[i]);
			i = SIZE_MAX; /* start again with the first */
		}
	}
}

void cut_name(struct buf *out, struct slice name, enum language language, bool cut_templates)
{
	struct buf cleaned = { 0 };
	struct cutter c = { (const char *)name.p, (const char *)name.p + name.n, &cleaned, language, cut_templates };

	buf_reserve(&cleaned, name.n);
	while (c.p < c.end) {
		size_t plain = 0; /* bytes at which no bracket or operator begins: most of the name */

		while (c.p + plain < c.end && c.p[plain] != '<' && c.p[plain] != '(' && c.p[plain] != 'o')
			plain++;
		copy(&c, plain);
		if (c.p == c.end)
			break;
		if (*c.p == '<')
			cut_angle(&c);
		else if (*c.p == '(')
			cut_round(&c);
		else if (!cut_operator(&c))
			copy(&c, 1);
	}
	buf_bytes(out, cleaned.p, cleaned.n);
	if (cleaned.failed)
		out->failed = true;
	buf_release(&cleaned);
}

/* DEMANGLE_TEMPLATES keeps suffixes that mean the same in the next build; DEMANGLE_FULL all but ".llvm". */
void cut_suffix(struct buf *out, struct slice suffix, enum demangle_mode mode)
{
	static const char *const stable[] = { ".cold", ".part", ".isra", ".constprop" };
	const uint8_t *end;

	if (mode == DEMANGLE_SIMPLIFIED || suffix.n == 0)
		return;
	end = suffix.p + suffix.n;
	for (const uint8_t *p = suffix.p, *next; p < end; p = next) {
		struct slice word;

		next = memchr(p + 1, '.', (size_t)(end - p) - 1);
		next = next ? next : end;
		while (next + 1 < end && isdigit(next[1])) { /* ".constprop.0" */
			const uint8_t *dot = memchr(next + 1, '.', (size_t)(end - next) - 1);

			next = dot ? dot : end;
		}
		word = (struct slice){ p, (size_t)(next - p) };
		if (word.n >= 5 && memcmp(word.p, ".llvm", 5) == 0)
			continue;
		if (mode == DEMANGLE_FULL) {
			buf_text(out, " [clone ");
			buf_bytes(out, word.p, word.n);
			buf_text(out, "]");
			continue;
		}
		for (size_t i = 0; i < sizeof(stable) / sizeof(stable[0]); i++) {
			size_t n = strlen(stable[i]);

			if (word.n >= n && memcmp(word.p, stable[i], n) == 0 && (word.n == n || word.p[n] == '.'))
				buf_text(out, stable[i]);
		}
	}
}
