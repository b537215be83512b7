#include "common/export/scriptread.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	READ_SIZE = 256 << 10,
	EVENT_OTHER = 63, /* for all that have no id of their own */
	FILE_SHIFT = 47,  /* each file has so many bits of addresses */
	FILES_MAX = 60000,
	FLUSH_NS = 1000000000,
};

/* Where in a file nothing is: so nobody takes an address that perf made up for a place in it. */
#define NOWHERE (1ull << 62)

/* A line that has been read before. */
struct script_known {
	struct script_frame f;
	enum script_kind kind;
	bool good;
	uint32_t unit; /* of this frame alone + 1; 0: none yet */
	struct slice source;
	uint64_t source_line;
};

/* Comments of perf script --header that the header of a stream has a key for. */
static const struct fact {
	const char *comment, *key;
} facts[] = {
	{ "# hostname : ", "host" },
	{ "# os release : ", "kernel-release" },
	{ "# arch : ", "arch" },
	{ "# cmdline : ", "command-line" },
};

static struct slice bytes_of(const void *p, size_t n)
{
	return (struct slice){ p, n };
}

static void init_segment(struct script_reader *r)
{
	intern_init(&r->lines_seen);
	intern_init(&r->units);
	intern_init(&r->strings);
	intern_init(&r->events);
	intern_init(&r->files);
	intern_init(&r->comms);
	idmap_init(&r->processes);
	idmap_init(&r->threads);
	idmap_init(&r->mappings);
	idmap_init(&r->frames);
	idmap_init(&r->nodes);
	r->n_frames = 0;
	r->n_nodes = NODE_FIRST;
	r->segment_samples = 0;
}

static void release_segment(struct script_reader *r)
{
	intern_release(&r->lines_seen);
	intern_release(&r->units);
	intern_release(&r->strings);
	intern_release(&r->events);
	intern_release(&r->files);
	intern_release(&r->comms);
	idmap_release(&r->processes);
	idmap_release(&r->threads);
	idmap_release(&r->mappings);
	idmap_release(&r->frames);
	idmap_release(&r->nodes);
	free(r->known);
	free(r->thread_comms);
	r->known = NULL;
	r->thread_comms = NULL;
	r->cap_known = r->cap_thread_comms = 0;
}

bool script_reader_init(struct script_reader *r, int fd, struct writer *w)
{
	*r = (struct script_reader){ .fd = fd, .w = w };
	init_segment(r);
	return grow_array(&r->in, &r->cap, READ_SIZE, 1);
}

void script_reader_release(struct script_reader *r)
{
	release_segment(r);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		buf_release(&r->facts[i]);
	free(r->in);
	free(r->stack);
	*r = (struct script_reader){ 0 };
}

static void put(struct script_reader *r, struct record rec)
{
	writer_put(r->w, &rec);
}

static void put_meta(struct script_reader *r, const char *key, struct slice value)
{
	if (value.n)
		put(r, (struct record){ .type = RECORD_META, .meta = { slice_of(key), value } });
}

static void begin_segment(struct script_reader *r)
{
	if (r->begun)
		return;
	r->begun = true;
	put(r, (struct record){ .type = RECORD_SEGMENT, .segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		put_meta(r, facts[i].key, buf_view(&r->facts[i]));
	put_meta(r, "recorder", slice_of("perf"));
	put_meta(r, "engine", slice_of("perf-script"));
	put(r, (struct record){ .type = RECORD_FLUSH });
}

static void end_segment(struct script_reader *r, enum end_reason reason)
{
	begin_segment(r);
	put(r, (struct record){ .type = RECORD_END, .end = { r->time, reason, r->segment_samples } });
	put(r, (struct record){ .type = RECORD_FLUSH });
	release_segment(r);
	init_segment(r);
	r->begun = false;
}

/* About as much memory as what is known takes. */
static bool is_full(const struct script_reader *r)
{
	size_t each = sizeof(struct script_known) + 120; /* of a line: its text and places in tables */

	return r->lines_seen.n * each + r->units.n * 64 + r->n_frames * 32 + r->n_nodes * 24 + r->threads.n * 48 >
		       SCRIPT_SEGMENT ||
	       r->files.n >= FILES_MAX;
}

static void complain(struct script_reader *r, const char *why)
{
	if (!r->bad++) {
		r->first_bad = r->lines;
		r->why = why;
	}
}

/* The number of a text; *fresh where it is new. */
static uint32_t number_of(struct script_reader *r, struct intern *t, struct slice text, bool *fresh)
{
	size_t before = t->n;
	uint32_t id = 0;

	r->failed = !intern_add(t, text, &id) || r->failed;
	*fresh = !r->failed && t->n > before;
	return id;
}

/* The id under this key: an old one, or a new one, which is next. */
static uint64_t id_of(struct script_reader *r, struct idmap *m, uint64_t key, uint64_t next, bool *fresh)
{
	uint32_t id = (uint32_t)next;

	*fresh = false;
	if (idmap_find(m, key, &id))
		return id;
	*fresh = idmap_set(m, key, id);
	r->failed = !*fresh || r->failed;
	return id;
}

static uint64_t string_id(struct script_reader *r, struct slice text)
{
	bool fresh;
	uint32_t number = number_of(r, &r->strings, text, &fresh);

	if (fresh)
		put(r, (struct record){ .type = RECORD_STRING, .string = { number + 1, text } });
	return number + 1;
}

static bool begins(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.p, with, n) == 0;
}

/*
 * One of the kernel's own, or a tracepoint: behind its colon stand not just letters of perf's modifiers, as in
 * "cycles:ppp".
 */
static bool is_counted(struct slice event)
{
	static const char *const names[] = {
		"page-faults", "faults", "minor-faults", "major-faults", "context-switches", "cs", "cpu-migrations", "migrations",
		"alignment-faults", "emulation-faults",
	};
	static const char modifiers[] = "ukhpPGHSDIWeb:";
	const uint8_t *colon = event.n ? memchr(event.p, ':', event.n) : NULL;
	size_t n = colon ? (size_t)(colon - event.p) : event.n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (n == strlen(names[i]) && memcmp(event.p, names[i], n) == 0)
			return true;
	}
	for (n++; n < event.n; n++) {
		if (!memchr(modifiers, event.p[n], sizeof(modifiers) - 1))
			return true;
	}
	return false;
}

/*
 * Of time it is known in what perf counts, and of what happens once: its periods add up. Those of the hardware's events are
 * of as many kinds as there are events; and what the text names no period of counts in samples.
 */
static const char *unit_of(const struct script_head *h)
{
	if (!h->has_period)
		return "";
	if (is_counted(h->event))
		return "events";
	if (begins(h->event, "cpu-clock") || begins(h->event, "task-clock"))
		return "ns";
	return begins(h->event, "cycles") || begins(h->event, "cpu-cycles") ? "cycles" : "";
}

static uint64_t event_id(struct script_reader *r, const struct script_head *h)
{
	struct slice name = h->event.n ? h->event : slice_of("unknown");
	uint32_t number;
	bool fresh;

	if (r->events.n >= EVENT_OTHER - 1 && !intern_find(&r->events, name, &number))
		name = slice_of("other");
	number = number_of(r, &r->events, name, &fresh);
	if (fresh)
		put(r, (struct record){ .type = RECORD_EVENT,
					.event = { number + 1, name, slice_of(unit_of(h)),
						   h->has_period ? h->period : 1, 0 } });
	return number + 1;
}

/* Of what perf does not know, apart from process 0 by its id here. */
static uint64_t known_number(uint64_t number)
{
	return number == SCRIPT_NOBODY ? 0 : number;
}

static uint64_t process_id(struct script_reader *r, uint64_t pid)
{
	bool fresh;
	uint64_t id = id_of(r, &r->processes, pid, r->processes.n + 1, &fresh);

	if (fresh)
		put(r, (struct record){ .type = RECORD_PROCESS, .process = { .id = id, .time = r->time, .pid = known_number(pid) } });
	return id;
}

static uint64_t thread_id(struct script_reader *r, const struct script_head *h)
{
	uint64_t process = process_id(r, h->pid), id;
	uint32_t comm;
	bool fresh, renamed;

	id = id_of(r, &r->threads, h->pid << 32 | h->tid, r->threads.n + 1, &fresh);
	if (fresh)
		put(r, (struct record){ .type = RECORD_THREAD, .thread = { id, r->time, process, known_number(h->tid) } });
	comm = number_of(r, &r->comms, h->comm, &renamed) + 1;
	if (!grow_array(&r->thread_comms, &r->cap_thread_comms, (size_t)id, sizeof(*r->thread_comms))) {
		r->failed = true;
		return id;
	}
	if (r->thread_comms[id] != comm && h->comm.n) {
		r->thread_comms[id] = comm;
		put(r, (struct record){ .type = RECORD_COMM, .comm = { r->time, id, h->comm } });
	}
	return id;
}

static struct slice base_of(struct slice path)
{
	const uint8_t *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? (struct slice){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
}

static bool is_perf_map(const struct script_known *k)
{
	return k->kind == SCRIPT_JIT && begins(base_of(k->f.file), "perf-");
}

/* Where a frame lies: the file's range, in which perf's address is what it is. */
static uint64_t user_address(struct script_reader *r, const struct script_known *k, uint64_t process, bool called)
{
	uint64_t address = k->f.address & ((1ull << FILE_SHIFT) - 1), file = 0, base;
	bool fresh;

	if (called && !address)
		address = 1; /* the one before it must be the file's, too */
	if (!k->f.file.n)
		return address;
	base = number_of(r, &r->files, k->f.file, &fresh) + 1ull;
	if (!is_perf_map(k))
		file = base;
	if (fresh && file)
		put(r, (struct record){ .type = RECORD_FILE, .file = { .id = file, .path = k->f.file } });
	else if (fresh) /* ids are dense, so that a number is used all the same */
		put(r, (struct record){ .type = RECORD_FILE, .file = { .id = base, .path = slice_of("//anon") } });
	id_of(r, &r->mappings, process << 32 | base, 0, &fresh);
	if (fresh)
		put(r, (struct record){ .type = RECORD_MAPPING,
					.mapping = { r->time, process, base << FILE_SHIFT, 1ull << FILE_SHIFT, NOWHERE, 5, file } });
	return base << FILE_SHIFT | address;
}

/* The module of a kernel frame; its function has a name of its own. */
static void put_module(struct script_reader *r, const struct script_known *k, uint64_t address)
{
	struct slice module = base_of(k->f.file);
	const uint8_t *dot;

	if (k->kind != SCRIPT_MODULE || !k->f.name.n)
		return;
	dot = memmem(module.p, module.n, ".ko", 3);
	if (begins(module, "bpf_prog_"))
		module = slice_of("bpf");
	else if (dot)
		module.n = (size_t)(dot - module.p);
	else if (module.n > 2 && module.p[0] == '[' && module.p[module.n - 1] == ']')
		module = (struct slice){ module.p + 1, module.n - 2 };
	put(r, (struct record){ .type = RECORD_KSYM,
				.ksym = { .time = r->time, .address = address, .size = 1, .module = module } });
}

/* What a frame without a symbol is called: "[libx.so]", with its place where perf says it. */
static uint64_t place_name(struct script_reader *r, const struct script_known *k)
{
	static const char deleted[] = " (deleted)";
	struct slice base = base_of(k->f.file);
	struct buf text = { 0 };
	uint64_t id;

	if (base.n > sizeof(deleted) - 1 && memcmp(base.p + base.n - sizeof(deleted) + 1, deleted, sizeof(deleted) - 1) == 0)
		base.n -= sizeof(deleted) - 1;
	if (base.n > 2 && base.p[0] == '[' && base.p[base.n - 1] == ']')
		base = (struct slice){ base.p + 1, base.n - 2 };
	if (k->kind == SCRIPT_JIT || k->kind == SCRIPT_KERNEL)
		base = slice_of(k->kind == SCRIPT_JIT ? "jit" : "kernel");
	buf_byte(&text, '[');
	buf_bytes(&text, base.p, base.n);
	if (k->f.has_file_offset)
		buf_printf(&text, "+0x%llx", (unsigned long long)k->f.file_offset);
	buf_byte(&text, ']');
	r->failed = text.failed || r->failed;
	id = string_id(r, buf_view(&text));
	buf_release(&text);
	return id;
}

static enum name_source source_of(const struct script_known *k, bool kernel)
{
	struct slice name = k->f.name;

	if (!name.n || (name.p[0] == '[' && name.p[name.n - 1] == ']')) /* as cprof-convert writes places */
		return NAME_BOUNDS;
	return kernel ? NAME_KSYM : is_perf_map(k) ? NAME_PERFMAP : k->kind == SCRIPT_JIT ? NAME_JITDUMP : NAME_SYMTAB;
}

/* The names of a unit's frames: the function, then what is inlined into it. */
static void put_names(struct script_reader *r, uint64_t frame, bool kernel, const uint32_t *members, size_t n)
{
	enum name_source source = source_of(&r->known[members[0]], kernel);

	if (!r->known[members[0]].f.name.n && n == 1 && (kernel || !r->known[members[0]].f.file.n))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct script_known *k = &r->known[members[i]];
		struct record rec = { .type = RECORD_SYMBOL, .symbol = { .frame = frame, .level = i, .source = source } };

		rec.symbol.name = k->f.name.n ? string_id(r, k->f.name) : k->f.file.n ? place_name(r, k) :
				  string_id(r, slice_of("[unknown]"));
		rec.symbol.offset = i == 0 ? k->f.offset : 0;
		rec.symbol.file = k->source.n ? string_id(r, k->source) : 0;
		rec.symbol.line = k->source.n ? k->source_line : 0;
		put(r, rec);
	}
}

static uint64_t frame_id(struct script_reader *r, uint64_t process, uint32_t unit, enum frame_kind kind)
{
	bool fresh;
	uint64_t id = id_of(r, &r->frames, process << 33 | (uint64_t)unit << 1 | kind, r->n_frames + 1, &fresh);
	struct slice text;
	struct record rec = { .type = RECORD_FRAME, .frame = { id, process, kind, 0 } };
	const struct script_known *k;
	uint32_t *members;

	if (!fresh)
		return id;
	r->n_frames++;
	text = intern_get(&r->units, unit);
	members = malloc(text.n + 1);
	if (!members) {
		r->failed = true;
		return id;
	}
	memcpy(members, text.p, text.n);
	k = &r->known[members[0]];
	rec.frame.address = process ? user_address(r, k, process, kind == FRAME_RETURN) : k->f.address;
	put(r, rec);
	if (!process)
		put_module(r, k, rec.frame.address - (kind == FRAME_RETURN && rec.frame.address));
	put_names(r, id, !process, members, text.n / sizeof(*members));
	free(members);
	return id;
}

/* Is the frame inlined into the one that follows it? */
static bool goes_on(const struct script_reader *r, size_t i)
{
	const struct script_known *k = &r->known[r->stack[i]];

	return k->f.inlined && i + 1 < r->n_stack && r->known[r->stack[i + 1]].f.address == k->f.address;
}

/* How many of the innermost frames are the kernel's. */
static size_t count_kernel(const struct script_reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_stack; i++) {
		const struct script_known *k = &r->known[r->stack[i]];

		if (goes_on(r, i))
			continue;
		if (k->kind != SCRIPT_KERNEL && k->kind != SCRIPT_MODULE)
			break;
		n = i + 1;
	}
	return n;
}

/* A function, at base in the stack, and the functions inlined into it, down to first. */
static uint32_t unit_of_frames(struct script_reader *r, size_t first, size_t base)
{
	struct script_known *k = &r->known[r->stack[base]];
	uint32_t *members, unit;
	size_t n = base - first + 1;
	bool fresh;

	if (n == 1 && k->unit)
		return k->unit - 1;
	members = malloc(n * sizeof(*members));
	if (!members) {
		r->failed = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		members[i] = r->stack[base - i];
	unit = number_of(r, &r->units, bytes_of(members, n * sizeof(*members)), &fresh);
	free(members);
	if (n == 1)
		k->unit = unit + 1;
	return unit;
}

/*
 * The node of a unit below another one. Its process is that of the other; so only below a root, where all processes
 * begin, is it the frame that tells nodes apart, and all other frames are asked for once a node.
 */
static uint64_t node_id(struct script_reader *r, uint64_t parent, uint64_t process, uint32_t unit, enum frame_kind kind)
{
	uint64_t frame = parent < NODE_FIRST ? frame_id(r, process, unit, kind) : 0;
	uint64_t key = frame ? frame : (uint64_t)unit << 1 | kind, id;
	bool fresh;

	id = id_of(r, &r->nodes, parent << 32 | key, r->n_nodes, &fresh);
	if (!fresh)
		return id;
	r->n_nodes++;
	if (!frame)
		frame = frame_id(r, process, unit, kind);
	put(r, (struct record){ .type = RECORD_NODE, .node = { id, parent, frame } });
	return id;
}

/* The stack from index end - 1, the outermost frame, down to begin; its node. */
static uint64_t walk(struct script_reader *r, size_t begin, size_t end, uint64_t process)
{
	uint64_t node = r->cut && end == r->n_stack ? ROOT_DEPTH : ROOT_FP_END;

	while (end > begin && !r->failed) {
		size_t base = end - 1, first = base;

		while (first > begin && goes_on(r, first - 1))
			first--;
		end = first;
		node = node_id(r, node, process, unit_of_frames(r, first, base), end > begin ? FRAME_RETURN : FRAME_EXACT);
	}
	return node;
}

static void end_sample(struct script_reader *r)
{
	struct record rec = { .type = RECORD_SAMPLE };
	uint32_t process;
	size_t kernel;

	if (!r->open)
		return;
	r->open = false;
	kernel = count_kernel(r);
	if (!idmap_find(&r->processes, r->head.pid, &process))
		return; /* there was no memory for it */
	rec.sample = (struct record_sample){ .time = r->time, .event = r->event, .cpu = r->head.cpu, .thread = r->thread,
					     .weight = r->head.has_period ? r->head.period : 1 };
	if (kernel < r->n_stack)
		rec.sample.user = walk(r, kernel, r->n_stack, process);
	if (kernel)
		rec.sample.kernel = walk(r, 0, kernel, 0);
	put(r, rec);
	r->samples++;
	r->segment_samples++;
	if (r->time < r->flushed || r->time - r->flushed >= FLUSH_NS) {
		r->flushed = r->time;
		put(r, (struct record){ .type = RECORD_FLUSH });
	}
	if (is_full(r))
		end_segment(r, END_CONTINUES);
}

/* What is known under this number, made room for. */
static struct script_known *known_at(struct script_reader *r, uint32_t id)
{
	if (r->failed || !grow_array(&r->known, &r->cap_known, id, sizeof(*r->known))) {
		r->failed = true;
		return NULL;
	}
	return &r->known[id];
}

static void push(struct script_reader *r, uint32_t id)
{
	if (r->n_stack >= SCRIPT_DEPTH_MAX) {
		r->cut = true;
		return;
	}
	if (!grow_array(&r->stack, &r->cap_stack, r->n_stack, sizeof(*r->stack))) {
		r->failed = true;
		return;
	}
	r->stack[r->n_stack++] = id;
}

/* Most lines have been there before, byte for byte. */
static bool take_frame(struct script_reader *r, struct slice line)
{
	bool fresh;
	uint32_t id = number_of(r, &r->lines_seen, line, &fresh);
	struct script_known *k = known_at(r, id);

	if (!k)
		return true;
	if (fresh) {
		*k = (struct script_known){ 0 };
		k->good = script_frame_parse(intern_get(&r->lines_seen, id), &k->f);
		if (k->good)
			k->kind = script_frame_kind(&k->f);
	}
	if (k->good)
		push(r, id);
	return k->good;
}

/* The frame before gets a source line: together they are a frame of its own. */
static bool take_source(struct script_reader *r, struct slice line)
{
	struct buf key = { 0 };
	struct slice file, kept;
	struct script_known *k;
	uint64_t number;
	uint32_t before, id;
	bool fresh;

	if (!script_source_parse(line, &file, &number))
		return false;
	if (!file.n || !r->n_stack)
		return true;
	before = r->stack[r->n_stack - 1];
	buf_bytes(&key, &before, sizeof(before));
	buf_byte(&key, '\n'); /* no line has one */
	buf_bytes(&key, file.p, file.n);
	buf_printf(&key, ":%llu", (unsigned long long)number);
	r->failed = key.failed || r->failed;
	id = number_of(r, &r->lines_seen, buf_view(&key), &fresh);
	buf_release(&key);
	k = known_at(r, id);
	if (k && fresh) {
		kept = intern_get(&r->lines_seen, id);
		*k = r->known[before];
		k->unit = 0;
		k->source = (struct slice){ kept.p + sizeof(before) + 1, file.n };
		k->source_line = number;
	}
	r->stack[r->n_stack - 1] = id;
	return true;
}

static void begin_sample(struct script_reader *r, const struct script_head *h)
{
	begin_segment(r);
	if (h->has_time)
		r->time = h->time;
	r->head = *h;
	r->head.comm = r->head.event = r->head.rest = (struct slice){ NULL, 0 }; /* the line will be gone */
	r->event = event_id(r, h);
	r->thread = thread_id(r, h);
	r->n_stack = 0;
	r->cut = false;
	r->open = true;
	if (h->rest.n && h->rest.p[h->rest.n - 1] == ')') /* or what a tracepoint says */
		take_frame(r, h->rest);
}

static void take_comment(struct script_reader *r, struct slice line)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		size_t n = strlen(facts[i].comment);

		if (begins(line, facts[i].comment)) {
			buf_clear(&r->facts[i]);
			buf_bytes(&r->facts[i], line.p + n, line.n - n);
		}
	}
}

static bool is_blank(struct slice s)
{
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s.n == 0;
}

/* The head of a sample, or of what is none; false for any other line. */
static bool take_head(struct script_reader *r, struct slice line)
{
	struct script_head h;

	if (!script_head_parse(line, &h))
		return false;
	end_sample(r);
	if (h.is_sample)
		begin_sample(r, &h);
	return true;
}

static void take_line(struct script_reader *r, struct slice line)
{
	bool indented;

	r->lines++;
	if (is_blank(line)) {
		end_sample(r);
		return;
	}
	indented = line.p[0] == ' ' || line.p[0] == '\t';
	if (line.p[0] == '#')
		take_comment(r, line);
	else if (line.p[0] == '|') /* source code */
		return;
	else if (line.p[0] == '\t' || !take_head(r, line)) {
		if (!indented)
			complain(r, "neither the head of a sample nor a frame");
		else if (!r->open)
			complain(r, "a frame without the head of its sample");
		else if (!take_frame(r, line) && !take_source(r, line))
			complain(r, "neither a frame nor the source line of one");
	}
}

/* Uses up the lines that are there in whole, and at the end the last one; what is left is a part of one. */
static void take_lines(struct script_reader *r)
{
	while (!r->failed) {
		size_t left = r->n - r->at;
		const uint8_t *start = r->in + r->at, *end = left ? memchr(start, '\n', left) : NULL;
		size_t n = end ? (size_t)(end - start) : left;

		if (!end && (!r->eof || !left) && n <= SCRIPT_LINE_MAX)
			return;
		if (r->skipping || n > SCRIPT_LINE_MAX) {
			r->lines += !r->skipping;
			if (!r->skipping)
				complain(r, "a line that is too long");
			r->skipping = !end;
		} else {
			take_line(r, (struct slice){ start, n });
		}
		r->at += n + (end != NULL);
		if (!end)
			return;
	}
}

/* More bytes behind those that are left; false where the system failed. */
static bool fill(struct script_reader *r)
{
	ssize_t got;

	memmove(r->in, r->in + r->at, r->n - r->at);
	r->n -= r->at;
	r->at = 0;
	if (!grow_array(&r->in, &r->cap, r->n + READ_SIZE, 1)) {
		errno = ENOMEM;
		return false;
	}
	do
		got = read(r->fd, r->in + r->n, READ_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return false;
	r->eof = got == 0;
	r->n += (size_t)got;
	return true;
}

static bool writer_lost(const struct script_reader *r)
{
	return writer_error(r->w) && !writer_refused(r->w);
}

int script_read(struct script_reader *r)
{
	while (!r->eof) {
		if (!fill(r))
			return -1;
		take_lines(r);
		if (r->failed)
			errno = ENOMEM;
		if (r->failed || writer_lost(r))
			return -1;
	}
	end_sample(r);
	end_segment(r, END_CLOSED);
	if (r->failed)
		errno = ENOMEM;
	return r->failed || writer_lost(r) ? -1 : 0;
}
