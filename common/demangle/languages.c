#include "common/demangle/languages.h"

#include "common/demangle/cutname.h"

enum { CODE_MAX = 6 }; /* hexadecimal digits of a character in GHC's names */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(uint8_t c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

/* Fortran ignores case: gfortran writes all names in lower case. */
static bool is_fortran(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!is_lower(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '_' && s.p[i] != '.')
			return false;
	}
	return s.n > 0 && is_lower(s.p[0]);
}

/* "__stats_MOD_mean.constprop.0"; in a submodule "__parent.child_MOD_mean" */
static bool demangle_fortran(struct buf *out, struct slice name, enum demangle_mode mode)
{
	static const char middle[] = "_MOD_";
	struct slice module = name, procedure, suffix = { NULL, 0 };
	const uint8_t *at, *dot;

	if (!slice_cut_start(&module, "__"))
		return false;
	at = memmem(module.p, module.n, middle, strlen(middle));
	if (!at)
		return false;
	procedure.p = at + strlen(middle);
	procedure.n = (size_t)(module.p + module.n - procedure.p);
	module.n = (size_t)(at - module.p);
	dot = procedure.n ? memchr(procedure.p, '.', procedure.n) : NULL;
	if (dot) {
		suffix = (struct slice){ dot, (size_t)(procedure.p + procedure.n - dot) };
		procedure.n = (size_t)(dot - procedure.p);
	}
	if (!is_fortran(module) || !is_fortran(procedure))
		return false;
	for (size_t i = 0; i < module.n; i++)
		buf_byte(out, module.p[i] == '.' ? ':' : module.p[i]);
	buf_text(out, "::");
	buf_bytes(out, procedure.p, procedure.n);
	if (suffix.n)
		cut_suffix(out, suffix, mode);
	return true;
}

/* Cuts the first part of Flang's name: a letter for its kind, and the text up to the next such letter. */
static uint8_t take_scope(struct slice *rest, struct slice *part)
{
	uint8_t kind = rest->p[0];
	size_t n = 1;

	while (n < rest->n && !is_upper(rest->p[n]))
		n++;
	*part = (struct slice){ rest->p + 1, n - 1 };
	rest->p += n;
	rest->n -= n;
	return kind;
}

/*
 * "MparentSchildFhostPinner": a module, its submodules, the procedure around this one, and this one. The main
 * program is a host without a name.
 */
static bool append_scopes(struct buf *out, struct slice rest)
{
	static const char order[] = "MSFP";
	const char *at = order;
	bool any = false;

	while (rest.n) {
		struct slice part;
		uint8_t kind = take_scope(&rest, &part);

		at = kind ? strchr(at, kind) : NULL;
		if (!at || (!is_fortran(part) && !(kind == 'F' && part.n == 0)))
			return false;
		if (any && part.n)
			buf_text(out, kind == 'S' ? ":" : "::");
		buf_bytes(out, part.p, part.n);
		any |= part.n > 0;
		at += kind != 'S';
	}
	return *at == '\0';
}

/* "_QMstatsPmean.constprop.0", "_QPsolve", "_QQmain" */
static bool demangle_flang(struct buf *out, struct slice name, enum demangle_mode mode)
{
	struct slice rest = name, suffix = { NULL, 0 };
	size_t before = out->n;
	const uint8_t *dot;

	if (!slice_cut_start(&rest, "_Q") || rest.n == 0)
		return false;
	dot = memchr(rest.p, '.', rest.n);
	if (dot) {
		suffix = (struct slice){ dot, (size_t)(rest.p + rest.n - dot) };
		rest.n = (size_t)(dot - rest.p);
	}
	if (slice_is(rest, "Qmain")) {
		buf_text(out, "main program");
	} else if (!append_scopes(out, rest)) {
		out->n = before;
		return false;
	}
	if (suffix.n)
		cut_suffix(out, suffix, mode);
	return true;
}

static int hex_digit(uint8_t c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Drops the number that tells functions of one name apart, since it changes with each build. Anonymous
 * functions keep theirs: without it they would all be one.
 */
static struct slice without_stamp(struct slice name)
{
	struct slice s = name, last;
	const uint8_t *at;

	while (s.n && is_digit(s.p[s.n - 1]))
		s.n--;
	if (s.n == name.n || s.n < 2 || s.p[s.n - 1] != '_')
		return name;
	s.n--;
	last = s;
	at = memrchr(s.p, '_', s.n);
	if (!at || at == s.p || at[-1] != '_')
		at = memrchr(s.p, '.', s.n);
	if (at)
		last = (struct slice){ at + 1, (size_t)(s.p + s.n - at - 1) };
	return slice_is(last, "fun") ? name : s;
}

static bool demangle_ocaml(struct buf *out, struct slice name, enum demangle_mode mode)
{
	if (!slice_cut_start(&name, "caml") || name.n == 0 || !is_upper(name.p[0]))
		return false;
	if (mode == DEMANGLE_SIMPLIFIED)
		name = without_stamp(name);
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '_' && i + 2 < name.n && name.p[i + 1] == '_' && name.p[i + 2] != '_') {
			buf_byte(out, '.');
			i++;
		} else if (name.p[i] == '$' && i + 2 < name.n && hex_digit(name.p[i + 1]) >= 0 && hex_digit(name.p[i + 2]) >= 0) {
			buf_byte(out, (uint8_t)(hex_digit(name.p[i + 1]) << 4 | hex_digit(name.p[i + 2])));
			i += 2;
		} else {
			buf_byte(out, name.p[i]);
		}
	}
	return true;
}

static void append_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_byte(out, (uint8_t)c);
	} else if (c < 0x800) {
		buf_byte(out, (uint8_t)(0xc0 | c >> 6));
		buf_byte(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_byte(out, (uint8_t)(0xe0 | c >> 12));
		buf_byte(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		buf_byte(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else {
		buf_byte(out, (uint8_t)(0xf0 | c >> 18));
		buf_byte(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		buf_byte(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		buf_byte(out, (uint8_t)(0x80 | (c & 0x3f)));
	}
}

/* Reads "3bbU" of "z3bbU": a character by its number. */
static size_t take_character(struct buf *out, struct slice s)
{
	uint32_t c = 0;
	size_t n = 0;

	while (n < s.n && n < CODE_MAX && hex_digit(s.p[n]) >= 0)
		c = c << 4 | (uint32_t)hex_digit(s.p[n++]);
	if (n == 0 || n >= s.n || s.p[n] != 'U' || !is_digit(s.p[0]) || c > 0x10ffff)
		return 0;
	append_utf8(out, c);
	return n + 1;
}

/* Reads "2T" of "Z2T", a tuple of two, or "2H", an unboxed one. */
static size_t take_tuple(struct buf *out, struct slice s)
{
	unsigned int parts = 0;
	size_t n = 0;
	bool bare;

	while (n < s.n && n < 3 && is_digit(s.p[n]))
		parts = parts * 10 + (unsigned int)(s.p[n++] - '0');
	if (n == 0 || n >= s.n || (s.p[n] != 'T' && s.p[n] != 'H'))
		return 0;
	bare = s.p[n] == 'H';
	buf_text(out, bare ? "(#" : "(");
	for (unsigned int i = 1; i < parts; i++)
		buf_byte(out, ',');
	buf_text(out, bare ? "#)" : ")");
	return n + 1;
}

/* Decodes the text after a z or Z. Returns the number of bytes read, 0 if they are not a code. */
static size_t take_code(struct buf *out, bool upper, struct slice s)
{
	static const char lower_codes[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz", upper_codes[] = "C:L(M[N]R)ZZ";

	if (s.n == 0)
		return 0;
	for (const char *p = upper ? upper_codes : lower_codes; *p; p += 2) {
		if ((uint8_t)p[0] == s.p[0]) {
			buf_byte(out, (uint8_t)p[1]);
			return 1;
		}
	}
	return upper ? take_tuple(out, s) : take_character(out, s);
}

/* Decodes one part of a GHC name, which holds no "_". Sets *coded if it contains a code. */
static bool append_decoded(struct buf *out, struct slice s, bool *coded)
{
	for (size_t i = 0; i < s.n; i++) {
		size_t n;

		if (s.p[i] != 'z' && s.p[i] != 'Z') {
			buf_byte(out, s.p[i]);
			continue;
		}
		n = take_code(out, s.p[i] == 'Z', (struct slice){ s.p + i + 1, s.n - i - 1 });
		if (n == 0)
			return false;
		*coded = true;
		i += n;
	}
	return s.n > 0;
}

static bool take_part(struct slice *rest, struct slice *part)
{
	const uint8_t *end = rest->n ? memchr(rest->p, '_', rest->n) : NULL;

	part->p = rest->p;
	part->n = end ? (size_t)(end - rest->p) : rest->n;
	rest->p += part->n + (end != NULL);
	rest->n -= part->n + (end != NULL);
	return part->n > 0;
}

/* "base_GHCziBase_map_info": info tables are where the code is. */
static bool demangle_haskell(struct buf *out, struct slice name, enum demangle_mode mode)
{
	static const char *const kinds[] = { "_con_info", "_static_info", "_info", "_slow", "_entry" };
	struct slice rest = name, package = { NULL, 0 }, module, function, kind = { NULL, 0 };
	size_t before = out->n;
	bool coded = false, good;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !kind.n; i++) {
		if (slice_cut_end(&rest, kinds[i]))
			kind = (struct slice){ rest.p + rest.n, name.n - rest.n };
	}
	if (!kind.n || !take_part(&rest, &module))
		return false;
	if (slice_is(module, "Main")) {
		coded = true;
	} else {
		package = module;
		if (!take_part(&rest, &module) || !is_upper(module.p[0]))
			return false;
	}
	if (!take_part(&rest, &function) || rest.n)
		return false;
	if (mode == DEMANGLE_FULL && package.n) {
		good = append_decoded(out, package, &coded);
		buf_byte(out, ':');
	} else {
		good = append_decoded(out, package.n ? package : module, &coded);
		out->n = before; /* it was only tried, to see if it is valid */
	}
	good = good && append_decoded(out, module, &coded);
	buf_byte(out, '.');
	good = good && append_decoded(out, function, &coded) && coded;
	if (mode == DEMANGLE_FULL)
		buf_bytes(out, kind.p, kind.n);
	if (!good)
		out->n = before;
	return good;
}

bool demangle_other(struct buf *out, struct slice name, enum demangle_mode mode)
{
	size_t before = out->n;

	if (name.n > DEMANGLE_IN_MAX || mode == DEMANGLE_NONE ||
	    (!demangle_fortran(out, name, mode) && !demangle_flang(out, name, mode) &&
	     !demangle_ocaml(out, name, mode) && !demangle_haskell(out, name, mode)))
		return false;
	if (out->n - before <= DEMANGLE_OUT_MAX)
		return true;
	out->n = before; /* GHC's tuples become long */
	return false;
}
