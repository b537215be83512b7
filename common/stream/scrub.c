#include "common/stream/record_coding.h"
#include "common/stream/scrub.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/base/sha256.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum {
	KEPT_BYTES = 8,         /* of a MAC */
	JITMAP_MOST = 128 << 10, /* bytes: scrubbed lines get longer, and a record has to fit into a block */
	PAGE = 4096,
	REGION_BITS = 30,       /* x86-64: the kernel in one GiB, modules in the next, moved separately */
	SPACING_BITS = 32,
	FIRST_PERSON = 1000,    /* smaller uids are those of the system */
	NOBODY = 65534,
};

static const uint64_t LINKED = 0xffffffff81000000, ELSEWHERE = 0xffffa00000000000;

struct scrub {
	struct buf key;
	struct buf text, name, lines; /* scratch */
	struct intern texts;   /* the strings read in this segment */
	struct idmap strings;  /* STRING id to id in texts */
	struct intern written; /* the strings of the output; STRING id - 1 */
	struct intern shown;   /* last parts of the paths of files that are shown in this segment */
	struct idmap regions;  /* number of a GiB to index in moves */
	uint64_t *moves;
	size_t n_moves, cap_moves;
	struct idmap users;    /* uids of people to their numbers in the output */
	bool no_memory;
};

struct scrub *scrub_new(struct slice key)
{
	struct scrub *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	intern_init(&s->texts);
	intern_init(&s->written);
	intern_init(&s->shown);
	idmap_init(&s->strings);
	idmap_init(&s->regions);
	idmap_init(&s->users);
	buf_bytes(&s->key, key.p, key.n);
	if (!s->key.failed)
		return s;
	scrub_free(s);
	return NULL;
}

void scrub_free(struct scrub *s)
{
	if (!s)
		return;
	buf_release(&s->key);
	buf_release(&s->text);
	buf_release(&s->name);
	buf_release(&s->lines);
	intern_release(&s->texts);
	intern_release(&s->written);
	intern_release(&s->shown);
	idmap_release(&s->strings);
	idmap_release(&s->regions);
	idmap_release(&s->users);
	free(s->moves);
	free(s);
}

bool scrub_no_memory(const struct scrub *s)
{
	return s->no_memory;
}

static void begin_segment(struct scrub *s)
{
	intern_release(&s->texts);
	intern_init(&s->texts);
	intern_release(&s->written);
	intern_init(&s->written);
	intern_release(&s->shown);
	intern_init(&s->shown);
	idmap_clear(&s->strings);
	idmap_clear(&s->regions);
	s->n_moves = 0;
}

static bool ends_with_text(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.p + s.n - n, with, n) == 0;
}

static void append_hash(struct scrub *s, struct buf *out, struct slice text)
{
	uint8_t mac[SHA256_BYTES];

	hmac_sha256(mac, buf_view(&s->key), text);
	for (int i = 0; i < KEPT_BYTES; i++)
		buf_printf(out, "%02x", mac[i]);
}

/* Returns true for files that a distribution installs; a site's own programs are in /usr/local. */
static bool is_public(struct slice path)
{
	static const char *const trees[] = { "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/" };
	/* Paths of debug files repeat the path or the build ID of their program. */
	static const char *const own[] = { "/usr/local/", "/usr/src/", "/usr/lib/debug/" };
	bool public = false;

	for (size_t i = 0; i < COUNT(trees); i++)
		public |= slice_begins(path, trees[i]);
	for (size_t i = 0; i < COUNT(own); i++)
		public &= !slice_begins(path, own[i]);
	for (size_t i = 0; i + 3 <= path.n; i++)
		public &= memcmp(path.p + i, "/..", 3) != 0;
	return public && !memmem(path.p, path.n, "/.build-id/", strlen("/.build-id/"));
}

/*
 * Returns true for the kernel's names of mappings without a file. Processes can choose other names in
 * brackets.
 */
static bool is_special(struct slice path)
{
	static const char *const names[] = { "", "//anon", "[vdso]", "[vvar]", "[vvar_vclock]", "[vsyscall]", "[heap]", "[stack]",
					     "[uprobes]", "/proc/kallsyms" };

	for (size_t i = 0; i < COUNT(names); i++) {
		if (slice_is(path, names[i]))
			return true;
	}
	return false;
}

static bool is_shown(struct slice path)
{
	return is_special(path) || is_public(path);
}

static void append_path(struct scrub *s, struct buf *out, struct slice path)
{
	static const char deleted[] = " (deleted)", memfd[] = "/memfd:";
	struct slice whole = path;

	if (is_shown(path)) {
		buf_bytes(out, path.p, path.n);
		return;
	}
	if (ends_with_text(path, deleted))
		path.n -= sizeof(deleted) - 1;
	buf_text(out, slice_begins(path, memfd) ? memfd : "/scrubbed/");
	append_hash(s, out, path);
	if (path.n != whole.n)
		buf_text(out, deleted);
}

/* Returns true for texts that interpreters themselves use in place of a path. */
static bool is_no_script(struct slice path)
{
	static const char *const names[] = {
		"<string>", "<stdin>", "<internal>", "-", "-e", "(eval)", "eval",
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		if (slice_is(path, names[i]))
			return true;
	}
	return slice_begins(path, "<frozen ") || slice_begins(path, "<internal:");
}

static void append_script(struct scrub *s, struct buf *out, struct slice path)
{
	if (is_no_script(path))
		buf_bytes(out, path.p, path.n);
	else
		append_path(s, out, path);
}

/* Hides each part of the path separately, so that the hierarchy of cgroups stays visible. */
static void append_group(struct scrub *s, struct buf *out, struct slice path)
{
	for (size_t at = 0, end; at < path.n; at = end) {
		for (end = at; end < path.n && path.p[end] != '/'; end++)
			;
		if (end > at)
			append_hash(s, out, (struct slice){ path.p + at, end - at });
		if (end < path.n)
			buf_byte(out, path.p[end++]);
	}
}

static bool is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("_.-$*)]>", c)) || c >= 0x80;
}

static size_t path_length(struct slice text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] > ' ' && !strchr(":\"'`()<>,;?#", text.p[n]))
		n++;
	return n;
}

/*
 * Hides the paths in a name: JIT compilers put the paths of scripts into names. A slash within a word belongs
 * to the name itself, as in Go's packages.
 */
static void append_name(struct scrub *s, struct buf *out, struct slice name)
{
	for (size_t i = 0; i < name.n;) {
		struct slice rest = { name.p + i, name.n - i };
		size_t n = rest.p[0] == '/' && (i == 0 || !is_word(name.p[i - 1])) ? path_length(rest) : 0;

		rest.n = n;
		if (n > 2) {
			append_path(s, out, rest);
			i += n;
		} else {
			buf_byte(out, name.p[i++]);
		}
	}
}

/* Hides the file in "[FILE+0x1230]", the name of a function of a stripped file, unless such a file is shown. */
static void append_bounds(struct scrub *s, struct buf *out, struct slice name)
{
	const uint8_t *plus = name.n ? memrchr(name.p, '+', name.n) : NULL;
	struct slice file = { name.p + 1, plus ? (size_t)(plus - name.p) - 1 : 0 };
	uint32_t id;

	if (!plus || plus == name.p || intern_find(&s->shown, file, &id)) {
		append_name(s, out, name);
		return;
	}
	buf_byte(out, name.p[0]);
	append_hash(s, out, file);
	buf_bytes(out, plus, name.n - (size_t)(plus - name.p));
}

/* Hides the file in the name of a probe: "uprobe:FILE:main". */
static void append_event(struct scrub *s, struct buf *out, struct slice name)
{
	size_t at = slice_begins(name, "uprobe:") ? 7 : slice_begins(name, "usdt:") ? 5 : name.n, end = at;
	struct slice file;

	while (end < name.n && name.p[end] != ':')
		end++;
	file = (struct slice){ name.p + at, end - at };
	buf_bytes(out, name.p, at);
	if (file.n && file.p[0] == '/')
		append_path(s, out, file);
	else if (file.n)
		append_hash(s, out, file);
	buf_bytes(out, name.p + end, name.n - end);
}

/* Hides the value of a label, "arg2=SELECT ...". */
static void append_label(struct scrub *s, struct buf *out, struct slice label)
{
	size_t n = 0;

	while (n < label.n && label.p[n] != '=')
		n++;
	n += n < label.n;
	buf_bytes(out, label.p, n);
	append_hash(s, out, (struct slice){ label.p + n, label.n - n });
}

/* Returns the text as append writes it into b, valid until the next call with the same buffer. */
static struct slice hide_text(struct scrub *s, struct buf *b, void (*append)(struct scrub *s, struct buf *out, struct slice text),
			   struct slice text)
{
	buf_clear(b);
	append(s, b, text);
	s->no_memory |= b->failed;
	return buf_view(b);
}

static bool find_move(struct scrub *s, uint64_t address, uint64_t *move)
{
	uint32_t at;

	if (!idmap_find(&s->regions, address >> REGION_BITS, &at)) {
		at = (uint32_t)s->n_moves;
		if (!idmap_set(&s->regions, address >> REGION_BITS, at) ||
		    !grow_array(&s->moves, &s->cap_moves, at, sizeof(*s->moves)))
			return false;
		s->moves[at] = ELSEWHERE + ((uint64_t)at << SPACING_BITS) - address / PAGE * PAGE;
		s->n_moves++;
	}
	*move = s->moves[at];
	return true;
}

/* Returns the moved address, or 0 if out of memory. */
static uint64_t move_address(struct scrub *s, uint64_t address)
{
	uint64_t move = 0;

	if (find_move(s, address, &move))
		return address + move;
	s->no_memory = true;
	return 0;
}

/* Moves the kernel's own code to its linked address. The header comes before any address. */
static bool put_stext(struct scrub *s, struct writer *w, struct record *r)
{
	char digits[17] = "", *end;
	uint64_t stext, move;

	if (r->meta.value.n == 0 || r->meta.value.n >= sizeof(digits))
		return true;
	memcpy(digits, r->meta.value.p, r->meta.value.n);
	stext = strtoull(digits, &end, 16);
	if (*end || !stext || s->n_moves)
		return true;
	s->no_memory |= !find_move(s, stext, &move);
	if (s->no_memory)
		return false;
	s->moves[0] = LINKED - stext;
	snprintf(digits, sizeof(digits), "%" PRIx64, LINKED);
	r->meta.value = slice_of(digits);
	return writer_put(w, r);
}

/* Leaves out unknown keys, because their values may identify anyone. */
static bool put_meta(struct scrub *s, struct writer *w, struct record *r)
{
	static const char *const kept[] = { "kernel-release", "kernel-build-id", "arch", "cpus-online", "cpus-possible", "clock",
					    "start-realtime-ns", "start-monotonic-ns", "waits-since-monotonic-ns", "recorder",
					    "engine", "wait-stacks" };

	for (size_t i = 0; i < COUNT(kept); i++) {
		if (slice_is(r->meta.key, kept[i]))
			return writer_put(w, r);
	}
	if (slice_is(r->meta.key, "kernel-stext"))
		return put_stext(s, w, r);
	if (!slice_begins(r->meta.key, "label."))
		return true;
	r->meta.value = hide_text(s, &s->text, append_hash, r->meta.value);
	return writer_put(w, r);
}

/* Notes the last part of the path of a file that is shown, as names of its functions may have it. */
static void note_shown(struct scrub *s, struct slice path)
{
	uint32_t id;

	if (!intern_add(&s->shown, slice_base(path), &id))
		s->no_memory = true;
}

/* Leaves out the build ID of a hidden path, because it would identify the program to anyone who has it. */
static bool put_file(struct scrub *s, struct writer *w, struct record *r)
{
	struct record_file *f = &r->file;

	if (is_shown(f->path))
		note_shown(s, f->path);
	else
		f->build_id.n = 0;
	f->dev_major = f->dev_minor = f->inode = f->generation = 0;
	f->path = hide_text(s, &s->text, append_path, f->path);
	return writer_put(w, r);
}

static bool is_hex_field(struct slice *line)
{
	size_t n = strspn((const char *)line->p, "0123456789abcdefABCDEFxX");

	if (n == 0 || n >= line->n || line->p[n] != ' ')
		return false;
	line->p += n + 1;
	line->n -= n + 1;
	return true;
}

static bool put_lines(struct scrub *s, struct writer *w, struct record *r)
{
	bool good;

	r->jitmap.data = buf_view(&s->lines);
	s->no_memory |= s->lines.failed;
	good = writer_put(w, r);
	buf_clear(&s->lines);
	return good;
}

/*
 * Hides the names in lines "START SIZE NAME". Lines of another form are left out: readers ignore them, but
 * people may not. The record itself stays even without lines, because it begins an epoch.
 */
static bool put_jitmap(struct scrub *s, struct writer *w, struct record *r)
{
	struct slice data;

	/* A NUL after the text ends the last field. */
	buf_clear(&s->text);
	buf_bytes(&s->text, r->jitmap.data.p, r->jitmap.data.n);
	buf_byte(&s->text, '\0');
	if (s->text.failed) {
		s->no_memory = true;
		return false;
	}
	data = (struct slice){ s->text.p, s->text.n - 1 };
	buf_clear(&s->lines);
	while (data.n > 0) {
		const uint8_t *newline = memchr(data.p, '\n', data.n);
		struct slice line = { data.p, newline ? (size_t)(newline - data.p) : data.n }, name = line;

		data.p += line.n + (newline != NULL);
		data.n -= line.n + (newline != NULL);
		if (!is_hex_field(&name) || !is_hex_field(&name))
			continue;
		buf_bytes(&s->lines, line.p, (size_t)(name.p - line.p));
		append_name(s, &s->lines, name);
		buf_byte(&s->lines, '\n');
		if (s->lines.n > JITMAP_MOST && data.n > 0 && !put_lines(s, w, r))
			return false;
	}
	return put_lines(s, w, r);
}

/* Returns the id of a string in the output, and writes a new string. Returns 0 if out of memory. */
static uint64_t write_string(struct scrub *s, struct writer *w, struct slice text)
{
	size_t before = s->written.n;
	uint32_t id;

	if (!intern_add(&s->written, text, &id)) {
		s->no_memory = true;
		return 0;
	}
	if (s->written.n != before)
		writer_put(w, &(struct record){ .type = RECORD_STRING, .string = { id + 1, text } });
	return (uint64_t)id + 1;
}

/* Writes a string only when a symbol uses it, because the symbol tells whether it is a name or a path. */
static uint64_t replace_string(struct scrub *s, struct writer *w, uint64_t id,
			       void (*append)(struct scrub *s, struct buf *out, struct slice text))
{
	uint32_t text;

	if (!id || !idmap_find(&s->strings, id, &text))
		return 0;
	return write_string(s, w, hide_text(s, &s->text, append, intern_get(&s->texts, text)));
}

static bool put_symbol(struct scrub *s, struct writer *w, struct record *r)
{
	r->symbol.name = replace_string(s, w, r->symbol.name,
					r->symbol.source == NAME_LABEL	? append_label :
					r->symbol.source == NAME_BOUNDS ? append_bounds :
									  append_name);
	r->symbol.file = replace_string(s, w, r->symbol.file, append_path);
	return writer_put(w, r);
}

static bool keep_string(struct scrub *s, const struct record_string *r)
{
	uint32_t text;

	if (r->id && (!intern_add(&s->texts, r->text, &text) || !idmap_set(&s->strings, r->id, text)))
		s->no_memory = true;
	return !s->no_memory;
}

/* Returns the number of a user in the output: people are numbered in the order in which they come. */
static uint64_t hide_user(struct scrub *s, uint64_t user)
{
	uint32_t number;

	if (user < FIRST_PERSON || user == NOBODY)
		return user;
	if (!idmap_find(&s->users, user, &number)) {
		number = (uint32_t)(FIRST_PERSON + s->users.n);
		s->no_memory = !idmap_set(&s->users, user, number) || s->no_memory;
	}
	return number;
}

static bool put_scrubbed(struct scrub *s, struct writer *w, struct record *r)
{
	switch (r->type) {
	case RECORD_EVENT:
		r->event.name = hide_text(s, &s->text, append_event, r->event.name);
		break;
	case RECORD_COMM:
		r->comm.comm = hide_text(s, &s->text, append_hash, r->comm.comm);
		break;
	case RECORD_CGROUP:
		r->cgroup.path = hide_text(s, &s->text, append_group, r->cgroup.path);
		break;
	case RECORD_USER:
		r->user.id = hide_user(s, r->user.id);
		if (r->user.name.n)
			r->user.name = hide_text(s, &s->text, append_hash, r->user.name);
		break;
	case RECORD_OWNER:
		r->owner.user = hide_user(s, r->owner.user);
		break;
	case RECORD_FRAME:
		if (r->frame.process == 0)
			r->frame.address = move_address(s, r->frame.address);
		break;
	case RECORD_KSYM:
		r->ksym.address = move_address(s, r->ksym.address);
		r->ksym.name = hide_text(s, &s->name, append_name, r->ksym.name);
		break;
	case RECORD_IMAGE:
		if (!slice_is(r->image.name, "[vdso]"))
			return true;
		break;
	case RECORD_SOURCE:
		r->source.path = hide_text(s, &s->text, append_path, r->source.path);
		break;
	case RECORD_JITCODE:
		r->jitcode.name = hide_text(s, &s->text, append_name, r->jitcode.name);
		break;
	case RECORD_SCRIPT:
		r->script.path = hide_text(s, &s->text, append_script, r->script.path);
		break;
	case RECORD_SCRIPT_SOURCE:
		r->script_source.path = hide_text(s, &s->text, append_script, r->script_source.path);
		break;
	case RECORD_FUNCTION:
		r->function.name = hide_text(s, &s->text, append_name, r->function.name);
		break;
	case RECORD_DAMAGE:
		r->damage.what = slice_of("damage that was found before the capture was scrubbed");
		break;
	}
	return !s->no_memory && writer_put(w, r);
}

bool scrub_put(void *scrub, struct writer *w, const struct record *given)
{
	struct record r = *given;
	struct scrub *s = scrub;

	r.tail.n = 0; /* unknown fields may identify anyone */
	if (s->no_memory)
		return false;
	switch (r.type) {
	case RECORD_SEGMENT:
		begin_segment(s);
		return writer_put(w, &r);
	case RECORD_META:
		return put_meta(s, w, &r);
	case RECORD_FILE:
		return put_file(s, w, &r);
	case RECORD_JITMAP:
		return put_jitmap(s, w, &r);
	case RECORD_STRING:
		return keep_string(s, &r.string);
	case RECORD_SYMBOL:
		return put_symbol(s, w, &r);
	default:
		return (r.type != RECORD_FLUSH && !record_desc(r.type)) || put_scrubbed(s, w, &r);
	}
}
