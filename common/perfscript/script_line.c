#include "common/perfscript/script_line.h"

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static int hex_digit(uint8_t c)
{
	uint8_t letter = (c | 0x20) - 'a';

	return is_digit(c) ? c - '0' : letter < 6 ? letter + 10 : -1;
}

static struct slice trim(struct slice s)
{
	while (s.n && is_space(s.p[0]))
		s = (struct slice){ s.p + 1, s.n - 1 };
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

static bool ends_in(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.p + s.n - n, with, n) == 0;
}

static void skip_spaces(struct cursor *c)
{
	while (cursor_left(c) && is_space(*c->p))
		c->p++;
}

static bool take_char(struct cursor *c, char what)
{
	if (!cursor_left(c) || *c->p != (uint8_t)what)
		return false;
	c->p++;
	return true;
}

/* Reads a decimal number below 2^64; returns the number of its digits, 0 if there is none. */
static size_t take_number(struct cursor *c, uint64_t *v)
{
	const uint8_t *start = c->p;
	uint64_t x = 0;

	for (; cursor_left(c) && is_digit(*c->p); c->p++) {
		if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, *c->p - '0', &x)) {
			c->p = start;
			return 0;
		}
	}
	*v = x;
	return (size_t)(c->p - start);
}

static size_t take_hex(struct cursor *c, uint64_t *v)
{
	const uint8_t *start = c->p;

	for (*v = 0; cursor_left(c) && hex_digit(*c->p) >= 0; c->p++) {
		if (c->p - start == 16) {
			c->p = start;
			return 0;
		}
		*v = *v << 4 | (uint64_t)hex_digit(*c->p);
	}
	return (size_t)(c->p - start);
}

/* Reads a process or thread number; perf has -1 for an unknown one. */
static bool take_id(struct cursor *c, uint64_t *id)
{
	bool negative = take_char(c, '-');

	if (!take_number(c, id))
		return false;
	*id = negative ? SCRIPT_NOBODY : *id & UINT32_MAX;
	return true;
}

static bool at_gap(const struct cursor *c)
{
	return cursor_left(c) == 0 || is_space(*c->p);
}

static bool take_ids(struct cursor *c, struct script_head *h)
{
	if (!take_id(c, &h->pid))
		return false;
	h->tid = h->pid;
	if (take_char(c, '/') && !take_id(c, &h->tid))
		return false;
	return at_gap(c);
}

static void take_cpu(struct cursor *c, struct script_head *h)
{
	struct cursor t = *c;
	uint64_t cpu;

	if (take_char(&t, '[') && take_number(&t, &cpu) && take_char(&t, ']') && at_gap(&t)) {
		h->cpu = cpu & UINT32_MAX;
		*c = t;
		skip_spaces(c);
	}
}

/* Skips the field "misc": a few letters. */
static void take_misc(struct cursor *c)
{
	struct cursor t = *c;

	while (cursor_left(&t) && *t.p >= 'A' && *t.p <= 'Z')
		t.p++;
	if (t.p > c->p && t.p - c->p <= 4 && cursor_left(&t) && at_gap(&t)) {
		*c = t;
		skip_spaces(c);
	}
}

/* Reads seconds with a fraction and a colon. */
static bool take_time(struct cursor *c, struct script_head *h)
{
	const uint64_t seconds_max = UINT64_MAX / 1000000000;
	enum { PLACES = 9 };
	struct cursor t = *c;
	uint64_t seconds, part;
	size_t places;

	if (!take_number(&t, &seconds) || seconds > seconds_max || !take_char(&t, '.'))
		return false;
	places = take_number(&t, &part);
	if (!places || places > PLACES || !take_char(&t, ':'))
		return false;
	for (; places < PLACES; places++)
		part *= 10;
	if (__builtin_add_overflow(seconds * 1000000000, part, &h->time))
		return false;
	h->has_time = true;
	*c = t;
	return true;
}

static void take_period(struct cursor *c, struct script_head *h)
{
	struct cursor t = *c;

	h->has_period = take_number(&t, &h->period) && at_gap(&t);
	if (h->has_period) {
		*c = t;
		skip_spaces(c);
	}
}

/* Reads one word that ends with a colon, or nothing; returns false for anything else. */
static bool take_event(struct cursor *c, struct script_head *h)
{
	struct cursor t = *c;

	h->is_sample = true;
	while (!at_gap(&t))
		t.p++;
	h->event = (struct slice){ c->p, (size_t)(t.p - c->p) };
	if (slice_begins(h->event, "PERF_RECORD_")) {
		h->is_sample = false;
		return true;
	}
	if (!ends_in(h->event, ":"))
		return h->event.n == 0;
	h->event.n--;
	*c = t;
	skip_spaces(c);
	return true;
}

/* Parses the head after the command. Without a time it must have an event that begins with no digit. */
static bool parse_tail(struct cursor c, bool timed, struct script_head *h)
{
	if (!take_ids(&c, h))
		return false;
	skip_spaces(&c);
	take_misc(&c);
	take_cpu(&c, h);
	take_misc(&c);
	if (timed && !take_time(&c, h))
		return false;
	skip_spaces(&c);
	if (timed)
		take_period(&c, h);
	if (!take_event(&c, h) || (!timed && (!h->event.n || is_digit(h->event.p[0]))))
		return false;
	h->rest = trim((struct slice){ c.p, cursor_left(&c) });
	return true;
}

static bool try_tail(struct slice line, size_t at, bool timed, struct script_head *h)
{
	*h = (struct script_head){ 0 };
	if (!parse_tail(cursor_over(line.p + at, line.n - at), timed, h))
		return false;
	h->comm = trim((struct slice){ line.p, at });
	return true;
}

/* Finds the first place from which the rest parses. Tries only word beginnings: linear in the line. */
static bool find_tail(struct slice line, bool timed, struct script_head *h)
{
	for (size_t i = 0; i < line.n; i++) {
		if ((is_digit(line.p[i]) || line.p[i] == '-') && (i == 0 || is_space(line.p[i - 1])) &&
		    try_tail(line, i, timed, h))
			return true;
	}
	return false;
}

bool script_head_parse(struct slice line, struct script_head *h)
{
	enum { COMM = 16 }; /* columns of a command that perf aligns */
	size_t at = COMM;

	if (line.n > COMM && line.p[0] == ' ' && line.p[COMM] == ' ') {
		while (at < line.n && line.p[at] == ' ')
			at++;
		if (try_tail(line, at, true, h) && h->comm.n)
			return true;
	}
	if (line.n == 0 || line.p[0] == '\t')
		return false;
	return find_tail(line, true, h) || (!is_space(line.p[0]) && find_tail(line, false, h));
}

/* Cuts "+0x1f" off the end of a text. */
static bool take_offset(struct slice *s, uint64_t *offset)
{
	const uint8_t *plus = s->n > 3 ? memrchr(s->p, '+', s->n) : NULL;
	struct cursor c = cursor_over(plus ? plus + 1 : s->p, plus ? s->n - (size_t)(plus + 1 - s->p) : 0);
	uint64_t v;

	if (!take_char(&c, '0') || !take_char(&c, 'x') || !take_hex(&c, &v) || cursor_left(&c))
		return false;
	*offset = v;
	s->n = (size_t)(plus - s->p);
	return true;
}

/* Cuts "fopen@@GLIBC_2.2.5" to fopen. A single "@" may be a part of a name: "malloc@plt". */
static void drop_version(struct slice *name)
{
	const uint8_t *at = name->n > 3 ? memmem(name->p + 1, name->n - 1, "@@", 2) : NULL;

	for (const uint8_t *p = at ? at + 2 : NULL; p && p < name->p + name->n; p++) {
		uint8_t letter = *p | 0x20;

		if (!is_digit(*p) && !(letter >= 'a' && letter <= 'z') && *p != '_' && *p != '.')
			return;
	}
	if (at && at + 2 < name->p + name->n)
		name->n = (size_t)(at - name->p);
}

/* Finds the bracket that opens the file's name; names and paths may contain brackets, too. */
static bool find_file(struct slice s, size_t *open)
{
	size_t any = s.n;

	if (!ends_in(s, ")"))
		return false;
	for (size_t i = s.n - 1; i-- > 0;) {
		if (s.p[i] != '(' || (i > 0 && s.p[i - 1] != ' '))
			continue;
		if (s.p[i + 1] == '/' || s.p[i + 1] == '[') {
			*open = i;
			return true;
		}
		if (any == s.n && !slice_begins((struct slice){ s.p + i, s.n - i }, "(deleted)"))
			any = i;
	}
	*open = any;
	return any < s.n;
}

bool script_frame_parse(struct slice line, struct script_frame *f)
{
	struct slice s = trim(line);
	struct cursor c = cursor_over(s.p, s.n);
	size_t open;

	*f = (struct script_frame){ 0 };
	if (!take_hex(&c, &f->address) || !at_gap(&c))
		return false;
	skip_spaces(&c);
	s = (struct slice){ c.p, cursor_left(&c) };
	if (ends_in(s, " (inlined)")) {
		f->inlined = true;
		s.n -= strlen(" (inlined)");
	} else if (find_file(s, &open)) {
		f->file = (struct slice){ s.p + open + 1, s.n - open - 2 };
		f->has_file_offset = take_offset(&f->file, &f->file_offset);
		s.n = open;
	}
	f->name = trim(s);
	f->has_offset = take_offset(&f->name, &f->offset);
	drop_version(&f->name);
	if (slice_is(f->name, "[unknown]"))
		f->name.n = 0;
	if (slice_is(f->file, "[unknown]"))
		f->file.n = 0;
	return true;
}

bool script_source_parse(struct slice line, struct slice *file, uint64_t *number)
{
	struct slice s = trim(line);
	const uint8_t *mark = s.n ? memmem(s.p, s.n, " (discriminator ", strlen(" (discriminator ")) : NULL, *colon;
	struct cursor c;

	if (mark)
		s.n = (size_t)(mark - s.p);
	*file = (struct slice){ s.p, 0 };
	*number = 0;
	if (s.n && s.p[0] == '|') /* the source itself, of -F srccode */
		return true;
	colon = s.n ? memrchr(s.p, ':', s.n) : NULL;
	if (colon) { /* ":0": perf found no file */
		c = cursor_over(colon + 1, s.n - (size_t)(colon + 1 - s.p));
		if (!take_number(&c, number) || cursor_left(&c))
			return false;
		if (*number && !slice_begins(s, "??:"))
			file->n = (size_t)(colon - s.p);
		return true;
	}
	/* "libc.so.6[27304]", "libc.so.6+0x27304", "??:?" */
	return ends_in(s, "]") || take_offset(&s, number) || slice_is(s, "??:?");
}

/* perf writes kernel modules in brackets, and these kinds of user memory. */
static bool is_user_memory(struct slice file)
{
	static const char *const begin[] = { "[vdso", "[vsyscall", "[vvar", "[heap", "[stack", "[anon", "[uprobes",
					     "[sigpage", "[vectors" };

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
		if (slice_begins(file, begin[i]))
			return true;
	}
	return false;
}

static bool is_module_file(struct slice base)
{
	return ends_in(base, ".ko") || ends_in(base, ".ko.xz") || ends_in(base, ".ko.gz") ||
	       ends_in(base, ".ko.zst");
}

enum script_kind script_frame_kind(const struct script_frame *f)
{
	struct slice base = slice_base(f->file);

	if (slice_begins(f->file, "[kernel") || slice_begins(f->file, "[guest.kernel") || slice_begins(base, "vmlinux"))
		return SCRIPT_KERNEL;
	if (is_user_memory(f->file))
		return SCRIPT_USER;
	if (is_module_file(base) || slice_begins(f->file, "[") || slice_begins(f->file, "bpf_prog_"))
		return SCRIPT_MODULE;
	if ((slice_begins(base, "perf-") && ends_in(base, ".map")) ||
	    (slice_begins(base, "jitted-") && ends_in(base, ".so")))
		return SCRIPT_JIT;
	return f->address >> 63 ? SCRIPT_KERNEL : SCRIPT_USER;
}

bool script_looks_like(struct slice start)
{
	struct script_head h;

	while (start.n) {
		const uint8_t *end = memchr(start.p, '\n', start.n);
		struct slice line = { start.p, end ? (size_t)(end - start.p) : start.n };

		if (line.n && line.p[0] != '#') {
			while (line.n && is_space(line.p[line.n - 1]))
				line.n--;
			return end && script_head_parse(line, &h) && h.is_sample && h.has_time && !is_digit(line.p[line.n - 1]);
		}
		start.n -= line.n + (end != NULL);
		start.p += line.n + (end != NULL);
	}
	return false;
}
