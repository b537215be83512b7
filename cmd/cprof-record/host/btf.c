#include "cmd/cprof-record/host/btf.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 16 << 10, NAME_MOST = 512, NAMES = 2 * BTF_PLACES, TAIL_UNKNOWN = -1, NAMELESS = 64, PASSES = 4 };

/* The file, read a piece at a time. sysfs returns one page per read, so no more is read than needed. */
struct source {
	int fd;
	uint64_t at, n; /* offset and length of the piece */
	uint8_t piece[PIECE];
};

struct name {
	const char *text;
	uint32_t at; /* in the strings; 0: not found */
};

/* A structure or union without a name, inside one that is asked for: its members count as that one's. */
struct nameless {
	uint32_t id, name; /* its type; the name of the structure that is asked for */
	uint32_t bits;     /* where it is in that structure */
};

struct search {
	struct source in;
	struct btf_header head;
	struct name names[NAMES]; /* two for each place: its type and its member */
	struct btf_place *places;
	bool found[BTF_PLACES];
	bool met[BTF_PLACES]; /* a structure of its name has passed */
	uint32_t variables[BTF_PLACES]; /* the type of each variable; 0: not met */
	struct nameless nameless[NAMELESS];
	size_t n, left, n_nameless;
};

/* Returns at least `least` bytes from offset `at` on, their number in *n. NULL: the file has fewer. */
static const uint8_t *bytes_at(struct source *in, uint64_t at, uint64_t least, uint64_t *n)
{
	if (at < in->at || at - in->at > in->n || in->n - (at - in->at) < least) {
		in->at = at;
		in->n = 0;
		while (in->n < least) {
			ssize_t got = pread(in->fd, in->piece + in->n, PIECE - in->n, (off_t)(at + in->n));

			if (got <= 0)
				return NULL;
			in->n += (uint64_t)got;
		}
	}
	*n = in->n - (at - in->at);
	return in->piece + (at - in->at);
}

static bool load_bytes(struct source *in, uint64_t at, void *to, size_t size)
{
	uint64_t n;
	const uint8_t *p = bytes_at(in, at, size, &n);

	if (p)
		memcpy(to, p, size);
	return p != NULL;
}

/* Returns how many of the wanted names this string is. No string occurs twice, so each name is met once. */
static size_t meet_name(struct search *s, const char *text, uint32_t at)
{
	size_t met = 0;

	for (size_t i = 0; i < 2 * s->n; i++) {
		if (!s->names[i].at && strcmp(s->names[i].text, text) == 0) {
			s->names[i].at = at;
			met++;
		}
	}
	return met;
}

static bool find_names(struct search *s)
{
	uint64_t strings = (uint64_t)s->head.hdr_len + s->head.str_off, at = 0, n;
	size_t left = 2 * s->n;

	while (left && at < s->head.str_len) {
		uint64_t rest = s->head.str_len - at;
		const uint8_t *p = bytes_at(&s->in, strings + at, rest < NAME_MOST ? rest : NAME_MOST, &n);
		const uint8_t *end = p ? memchr(p, '\0', n < rest ? n : rest) : NULL;

		if (!end)
			return false;
		left -= meet_name(s, (const char *)p, (uint32_t)at);
		at += (uint64_t)(end - p) + 1;
	}
	return left == 0;
}

static void add_nameless(struct search *s, uint32_t id, uint32_t name, uint32_t bits)
{
	for (size_t i = 0; i < s->n_nameless; i++) {
		if (s->nameless[i].id == id)
			return;
	}
	if (s->n_nameless < NAMELESS)
		s->nameless[s->n_nameless++] = (struct nameless){ id, name, bits };
}

/* A member of the structure of this name, or of one without a name that begins `base` bits inside it. */
static void meet_member(struct search *s, const struct btf_type *type, const struct btf_member *m, uint32_t name, uint32_t base)
{
	bool packed = BTF_INFO_KFLAG(type->info);
	uint32_t bits = base + (packed ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset);

	if (m->name_off == 0)
		add_nameless(s, m->type, name, bits);
	if (bits % 8 || (packed && BTF_MEMBER_BITFIELD_SIZE(m->offset)))
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (s->found[i] || s->names[2 * i].at != name || s->names[2 * i + 1].at != m->name_off)
			continue;
		s->places[i].at = bits / 8;
		s->found[i] = true;
		s->left--;
	}
}

/* A variable comes before its section, which has its offset. */
static void note_variable(struct search *s, const struct btf_type *type, uint32_t id)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->names[2 * i + 1].at == type->name_off)
			s->variables[i] = id;
	}
}

static void meet_variable(struct search *s, const struct btf_var_secinfo *v, uint32_t section)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->found[i] || s->names[2 * i].at != section || s->variables[i] != v->type)
			continue;
		s->places[i].at = v->offset;
		s->found[i] = true;
		s->left--;
	}
}

/* Is it a structure that is asked for, or one inside it? Then *name and *base are those of the former. */
static bool is_asked(const struct search *s, const struct btf_type *type, uint32_t id, uint32_t *name, uint32_t *base)
{
	uint32_t kind = BTF_INFO_KIND(type->info);

	for (size_t i = 0; i < s->n_nameless; i++) {
		if (s->nameless[i].id != id)
			continue;
		*name = s->nameless[i].name;
		*base = s->nameless[i].bits;
		return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
	}
	for (size_t i = 0; type->name_off && i < s->n; i++) {
		if (s->found[i] || s->names[2 * i].at != type->name_off)
			continue;
		*name = type->name_off;
		*base = 0;
		return kind == BTF_KIND_STRUCT || kind == BTF_KIND_DATASEC;
	}
	return false;
}

static void note_met(struct search *s, uint32_t name)
{
	for (size_t i = 0; i < s->n; i++)
		s->met[i] = s->met[i] || s->names[2 * i].at == name;
}

/* Are all members that are left in types without names, which may have passed already? */
static bool is_rest_nameless(const struct search *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!s->found[i] && !s->met[i])
			return false;
	}
	return s->n_nameless > 0;
}

/* A member, or a variable of a section: both have twelve bytes. */
static bool meet_item(struct search *s, uint64_t at, const struct btf_type *type, uint32_t name,
		      uint32_t base)
{
	struct btf_var_secinfo variable;
	struct btf_member member;

	if (BTF_INFO_KIND(type->info) == BTF_KIND_DATASEC) {
		if (!load_bytes(&s->in, at, &variable, sizeof(variable)))
			return false;
		meet_variable(s, &variable, name);
		return true;
	}
	if (!load_bytes(&s->in, at, &member, sizeof(member)))
		return false;
	meet_member(s, type, &member, name, base);
	return true;
}

/* Bytes after a type, by its kind. */
static int64_t tail_of(const struct btf_type *type)
{
	uint32_t n = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case 16: /* BTF_KIND_FLOAT, of 5.13 */
	case 18: /* BTF_KIND_TYPE_TAG, of 5.17 */
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case 17: /* BTF_KIND_DECL_TAG, of 5.16 */
		return 4;
	case BTF_KIND_ARRAY:
		return 12;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case 19: /* BTF_KIND_ENUM64, of 6.0 */
		return 12 * (int64_t)n;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return 8 * (int64_t)n;
	default:
		return TAIL_UNKNOWN;
	}
}

/* first: ends where another pass will find more than this one. */
static bool pass_types(struct search *s, bool first)
{
	uint64_t at = (uint64_t)s->head.hdr_len + s->head.type_off, end = at + s->head.type_len;
	struct btf_type type;
	uint32_t id = 1, name = 0, base = 0;

	for (; s->left && at < end; id++) {
		int64_t tail;
		bool asked;

		if (!load_bytes(&s->in, at, &type, sizeof(type)) || (tail = tail_of(&type)) == TAIL_UNKNOWN)
			return false;
		at += sizeof(type);
		asked = is_asked(s, &type, id, &name, &base);
		if (BTF_INFO_KIND(type.info) == BTF_KIND_VAR)
			note_variable(s, &type, id);
		for (int64_t i = 0; asked && i < tail; i += sizeof(struct btf_member)) {
			if (!meet_item(s, at + (uint64_t)i, &type, name, base))
				return false;
		}
		at += (uint64_t)tail;
		if (asked && first) {
			note_met(s, name);
			if (is_rest_nameless(s))
				return true;
		}
	}
	return true;
}

/* A type without a name may come before the structure that has it: then another pass finds its members. */
static bool find_members(struct search *s)
{
	size_t known = 0;

	for (int i = 0; i < PASSES && s->left && (i == 0 || s->n_nameless > known); i++) {
		known = s->n_nameless;
		if (!pass_types(s, i == 0))
			return false;
	}
	return s->left == 0;
}

bool btf_find(const char *path, struct btf_place *places, size_t n)
{
	struct search s = { .in = { .fd = open(path, O_RDONLY | O_CLOEXEC) }, .places = places, .n = n, .left = n };
	bool found;

	if (s.in.fd < 0 || n > BTF_PLACES) {
		if (s.in.fd >= 0)
			close(s.in.fd);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		s.names[2 * i].text = places[i].type;
		s.names[2 * i + 1].text = places[i].member;
	}
	found = load_bytes(&s.in, 0, &s.head, sizeof(s.head)) && s.head.magic == BTF_MAGIC && find_names(&s) && find_members(&s);
	close(s.in.fd);
	return found;
}
