#include "common/demangle/demangle.h"

#include <ctype.h>
#include <stdlib.h>

#include "common/demangle/cutname.h"
#include "common/demangle/languages.h"

#ifdef HAVE_LIBIBERTY
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h> /* Fedora's binutils-devel */
#endif
#include <setjmp.h>

/* Collects a demangler's output, up to a limit. */
struct sink {
	char text[DEMANGLE_OUT_MAX];
	size_t n;
	jmp_buf enough;
};

/* libiberty's printers cannot be stopped, only left with longjmp; all their state is on the stack. */
static void collect_piece(const char *piece, size_t n, void *opaque)
{
	struct sink *s = opaque;

	if (n > sizeof(s->text) - s->n)
		longjmp(s->enough, 1);
	if (n) /* piece may be NULL if n is 0 */
		memcpy(s->text + s->n, piece, n);
	s->n += n;
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback, void *opaque);

static bool run_demangler(demangler *d, const char *mangled, int options, struct sink *s)
{
	s->n = 0;
	if (setjmp(s->enough))
		return false;
	return d(mangled, options, collect_piece, s) && s->n > 0;
}

/*
 * Returns true if the name stays short. In D a "Q" and a number in base 26 repeat a type or an identifier
 * from that far back, so the length can double with each.
 */
static bool d_is_short(const char *mangled, size_t n)
{
	uint64_t total[DEMANGLE_IN_MAX + 1] = { 0 };

	for (size_t at = 0; at < n; at++) {
		uint64_t back = 0, add = 1;
		size_t end = at + 1;

		if (mangled[at] == 'Q') {
			while (end < n && isupper((unsigned char)mangled[end]) && back < n)
				back = back * 26 + (uint64_t)(mangled[end++] - 'A');
			if (end < n && islower((unsigned char)mangled[end]))
				back = back * 26 + (uint64_t)(mangled[end] - 'a');
			if (back > 0 && back <= at)
				add += isdigit((unsigned char)mangled[at - back]) ?
					       strtoul(mangled + at - back, NULL, 10) :
					       total[at] - total[at - back];
		}
		if (add > n << 8)
			return false;
		total[at + 1] = total[at] + add;
		if (total[at + 1] > 1 << 20)
			return false;
	}
	return true;
}

static bool run_d(const char *mangled, size_t n, struct sink *s)
{
	char *text = d_is_short(mangled, n) ? dlang_demangle(mangled, 0) : NULL;
	size_t length = text ? strlen(text) : 0;
	bool good = length > 0 && length <= sizeof(s->text);

	if (good)
		memcpy(s->text, text, length);
	s->n = good ? length : 0;
	free(text);
	return good;
}

/* Returns the length of the name without the suffixes that compilers add to clones: ".cold", ".llvm.123". */
static size_t without_suffix(struct slice name)
{
	const uint8_t *dot = memchr(name.p, '.', name.n);

	/* Rust's legacy scheme writes "::" as "..", and its names end with E before any suffix. */
	for (; dot; dot = memchr(dot + 1, '.', name.n - (size_t)(dot + 1 - name.p))) {
		size_t left = name.n - (size_t)(dot - name.p);

		if (left > 1 && dot > name.p && dot[1] != '.' && dot[-1] != '.' && dot[-1] != '$')
			return (size_t)(dot - name.p);
	}
	return name.n;
}

/* Rust's legacy names are C++ names whose last part is "h" and 16 hexadecimal digits. */
static bool has_rust_hash(const char *mangled, size_t n)
{
	return n > 20 && mangled[n - 1] == 'E' && memcmp(mangled + n - 20, "17h", 3) == 0;
}

/*
 * Three of four C++ names consist only of nested identifiers and need no parser. Anything else, and anything
 * that libiberty may refuse, goes to libiberty; the two give the same names (tests/unit/demangle-plain.c).
 */
enum { PLAIN_MAX = 512 };

static bool take_identifier(struct cursor *c, struct slice *id)
{
	size_t n = 0;

	while (cursor_left(c) && isdigit(*c->p)) {
		n = n * 10 + (size_t)(*c->p++ - '0');
		if (n > PLAIN_MAX)
			return false;
	}
	return n > 0 && cursor_bytes(c, n, id);
}

/* g++'s name for an anonymous namespace. */
static bool is_anonymous(struct slice id)
{
	return id.n >= 10 && memcmp(id.p, "_GLOBAL_", 8) == 0 && strchr("._$", id.p[8]) && id.p[9] == 'N';
}

static void add_identifier(struct buf *out, struct slice id)
{
	if (is_anonymous(id))
		buf_text(out, "(anonymous namespace)");
	else
		buf_bytes(out, id.p, id.n);
}

/* Reads the end of a nested name: "E", after an optional mark of a constructor or destructor. */
static bool end_nested(struct buf *out, struct cursor *c, struct slice id)
{
	if (cursor_left(c) && *c->p == 'E')
		return true;
	if (cursor_left(c) < 3 || c->p[2] != 'E' || is_anonymous(id) ||
	    !((c->p[0] == 'C' && (c->p[1] == '1' || c->p[1] == '2')) || (c->p[0] == 'D' && c->p[1] >= '0' && c->p[1] <= '2')))
		return false;
	buf_text(out, c->p[0] == 'C' ? "::" : "::~");
	buf_bytes(out, id.p, id.n);
	return true;
}

/*
 * Demangles "_ZNK3foo3barEi" or "_Z3bazv" without parameters. A member's qualifiers are not part of its name.
 */
static bool append_plain(struct buf *out, struct slice mangled)
{
	struct cursor c = cursor_over(mangled.p, mangled.n);
	bool nested = mangled.n > 2 && mangled.p[2] == 'N', good;
	struct slice id;

	if (mangled.n > PLAIN_MAX || memchr(mangled.p, '<', mangled.n) || memchr(mangled.p, '(', mangled.n))
		return false;
	c.p += nested ? 3 : 2;
	while (nested && cursor_left(&c) && memchr("rVK", *c.p, 3))
		c.p++;
	for (bool first = true; (good = take_identifier(&c, &id)); first = false) {
		if (!first)
			buf_text(out, "::");
		add_identifier(out, id);
		if (!nested || !cursor_left(&c) || !isdigit(*c.p))
			break;
	}
	if (good && nested)
		return end_nested(out, &c, id);
	/* template arguments; an ABI tag */
	return good && !(cursor_left(&c) && (*c.p == 'I' || *c.p == 'B'));
}

static bool demangle_by_scheme(const char *mangled, size_t n, enum demangle_mode mode, struct sink *s,
			       enum language *language)
{
	int options = mode == DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;

	*language = LANGUAGE_RUST;
	if (mangled[1] == 'R')
		return run_demangler(rust_demangle_callback, mangled, options, s);
	*language = LANGUAGE_D;
	if (mangled[1] == 'D')
		return run_d(mangled, n, s);
	*language = LANGUAGE_RUST;
	if (has_rust_hash(mangled, n) && run_demangler(rust_demangle_callback, mangled, options, s))
		return true;
	*language = LANGUAGE_CXX;
	return run_demangler(cplus_demangle_v3_callback, mangled, options, s);
}

/* Tries the plain form first. A name that may be Rust's needs libiberty to decide. */
static bool try_plain(struct buf *out, struct slice core, enum demangle_mode mode)
{
	size_t before = out->n;

	if (mode == DEMANGLE_FULL || core.p[1] != 'Z' || has_rust_hash((const char *)core.p, core.n))
		return false;
	if (append_plain(out, core))
		return true;
	out->n = before;
	return false;
}

static bool try_parse(struct buf *out, struct slice core, enum demangle_mode mode)
{
	char mangled[DEMANGLE_IN_MAX + 1];
	enum language language;
	struct sink s;

	memcpy(mangled, core.p, core.n);
	mangled[core.n] = '\0';
	if (!demangle_by_scheme(mangled, core.n, mode, &s, &language))
		return false;
	if (mode == DEMANGLE_FULL)
		buf_bytes(out, s.text, s.n);
	else
		cut_name(out, (struct slice){ (const uint8_t *)s.text, s.n }, language, mode == DEMANGLE_SIMPLIFIED);
	return true;
}

static bool try_demangle(struct buf *out, struct slice name, enum demangle_mode mode)
{
	static const char block_tail[] = "_block_invoke";
	struct slice core = name;
	bool block;

	if (name.n < 3 || name.n > DEMANGLE_IN_MAX || name.p[0] != '_' || memchr(name.p, '\0', name.n))
		return false;
	block = name.n > 4 && memcmp(name.p, "___Z", 4) == 0;
	if (block) { /* clang's blocks: ___Z3foov_block_invoke */
		const uint8_t *tail = memmem(name.p, name.n, block_tail, strlen(block_tail));

		if (!tail)
			return false;
		core = (struct slice){ name.p + 2, (size_t)(tail - name.p) - 2 };
	} else if (!strchr("ZRD", name.p[1]) || name.p[1] == '\0') {
		return false;
	}
	/* D names may hold dots. */
	if (core.p[1] != 'D' || !try_parse(out, core, mode)) {
		core.n = without_suffix(core);
		if (!try_plain(out, core, mode) && !try_parse(out, core, mode))
			return false;
	}
	if (block)
		buf_text(out, block_tail);
	else
		cut_suffix(out, (struct slice){ core.p + core.n, name.n - core.n }, mode);
	return true;
}

/* "f<int>", but not "operator<" or a lambda's "<lambda(int)>". */
static bool has_arguments(struct slice name)
{
	return name.n > 2 && name.n < DEMANGLE_OUT_MAX && name.p[0] != '<' && name.p[name.n - 1] == '>' &&
	       memchr(name.p, '<', name.n) && !(name.n > 8 && memcmp(name.p, "operator", 8) == 0);
}

void demangle_plain(struct buf *out, struct slice name, enum demangle_mode mode)
{
	if (mode == DEMANGLE_SIMPLIFIED && has_arguments(name))
		cut_name(out, name, LANGUAGE_CXX, true);
	else
		buf_bytes(out, name.p, name.n);
}

/* Demangles "math__vectors__norm__2". C may have such names, too: only "_ada_" proves that it is Ada's. */
static bool try_ada(struct buf *out, struct slice name, enum demangle_mode mode)
{
	char mangled[DEMANGLE_IN_MAX + 1];
	struct slice core = name;
	size_t before = out->n;
	char *text;
	bool good;

	core.n = without_suffix(core);
	if (core.n > DEMANGLE_IN_MAX || core.n == 0 || memchr(core.p, '\0', core.n))
		return false;
	memcpy(mangled, core.p, core.n);
	mangled[core.n] = '\0';
	text = ada_demangle(mangled, 0); /* "<x>" if it is not Ada */
	good = text && text[0] && text[0] != '<' && strlen(text) <= DEMANGLE_OUT_MAX;
	if (good) {
		buf_text(out, text);
		cut_suffix(out, (struct slice){ core.p + core.n, name.n - core.n }, mode);
	}
	free(text);
	return good && out->n > before;
}

static bool has_dunder(struct slice name)
{
	return name.n > 4 && memmem(name.p + 1, name.n - 2, "__", 2);
}

bool demangle_may_be_ada(struct slice name)
{
	return name.n > 4 && name.p[0] >= 'a' && name.p[0] <= 'z' && has_dunder(name);
}

bool demangle_ada(struct buf *out, struct slice name, enum demangle_mode mode)
{
	return mode != DEMANGLE_NONE && demangle_may_be_ada(name) && try_ada(out, name, mode);
}

/* Demangles a library's main procedure, as gnatbind names it. */
static bool try_ada_main(struct buf *out, struct slice name, enum demangle_mode mode)
{
	return name.n > 5 && memcmp(name.p, "_ada_", 5) == 0 && try_ada(out, name, mode);
}

bool demangle_possible(void)
{
	return true;
}
#else
static bool try_ada_main(struct buf *out, struct slice name, enum demangle_mode mode)
{
	(void)out, (void)name, (void)mode;
	return false;
}

bool demangle_may_be_ada(struct slice name)
{
	(void)name;
	return false;
}

bool demangle_ada(struct buf *out, struct slice name, enum demangle_mode mode)
{
	(void)out, (void)name, (void)mode;
	return false;
}

void demangle_plain(struct buf *out, struct slice name, enum demangle_mode mode)
{
	(void)mode;
	buf_bytes(out, name.p, name.n);
}

bool demangle_possible(void)
{
	return false;
}

static bool try_demangle(struct buf *out, struct slice name, enum demangle_mode mode)
{
	(void)out, (void)name, (void)mode;
	return false;
}
#endif

void demangle(struct buf *out, struct slice name, enum demangle_mode mode)
{
	if (mode == DEMANGLE_NONE ||
	    (!try_demangle(out, name, mode) && !demangle_other(out, name, mode) && !try_ada_main(out, name, mode)))
		buf_bytes(out, name.p, name.n);
}
