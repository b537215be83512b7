#include "common/import/pprof_read.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"

enum { FILE_SHIFT = 47, FILES_MAX = 60000, EVENT = 1, HEX = 64 };
enum { START = 1000000000 }; /* ns; the stream's time of the profile's beginning */

#define KERNEL (1ull << 63)

struct process_key {
	uint64_t pid, container;
};

struct thread_key {
	uint64_t process, tid, comm;
};

/* The owner of a sample, by its labels. Texts are those of the profile; 0: unknown. */
struct owner {
	uint64_t pid, tid, comm, container;
};

static void put(struct pprof_reader *r, struct record rec)
{
	writer_put(r->w, &rec);
}

bool pprof_reader_init(struct pprof_reader *r, struct slice bytes, struct writer *w)
{
	*r = (struct pprof_reader){ .w = w, .n_nodes = NODE_FIRST, .most = PPROF_SAMPLES_MAX };
	intern_init(&r->processes);
	intern_init(&r->threads);
	idmap_init(&r->frames);
	idmap_init(&r->nodes);
	idmap_init(&r->files);
	idmap_init(&r->mappings);
	idmap_init(&r->strings);
	idmap_init(&r->cgroups);
	return pprof_parse(&r->tables, bytes);
}

void pprof_reader_release(struct pprof_reader *r)
{
	pprof_tables_release(&r->tables);
	intern_release(&r->processes);
	intern_release(&r->threads);
	idmap_release(&r->frames);
	idmap_release(&r->nodes);
	idmap_release(&r->files);
	idmap_release(&r->mappings);
	idmap_release(&r->strings);
	idmap_release(&r->cgroups);
	free(r->stack);
	free(r->lines);
	*r = (struct pprof_reader){ 0 };
}

static struct slice text_of(const struct pprof_reader *r, uint64_t text)
{
	return pprof_text(&r->tables, text);
}

static struct slice unit_of(const struct pprof_reader *r, size_t type)
{
	return type < r->tables.n_types ? text_of(r, r->tables.types[type].unit) : slice_of("");
}

/* Returns whether the chosen type counts samples. */
static bool is_count(const struct pprof_reader *r)
{
	return r->type < r->tables.n_types && slice_is(unit_of(r, r->type), "count") &&
	       slice_is(text_of(r, r->tables.types[r->type].type), "samples");
}

static bool is_time(const struct pprof_reader *r)
{
	return slice_is(unit_of(r, r->type), "nanoseconds");
}

bool pprof_reader_choose(struct pprof_reader *r, const char *type)
{
	const struct pprof_tables *t = &r->tables;
	struct slice want = type ? slice_of(type) : text_of(r, t->default_type);
	bool found = !type;

	r->type = t->n_types ? t->n_types - 1 : 0; /* pprof's default */
	for (size_t i = 0; i < t->n_types && want.n; i++) {
		if (slice_equal(text_of(r, t->types[i].type), want)) {
			r->type = i;
			found = true;
			break;
		}
	}
	r->counted = 0;
	while (r->counted < t->n_types && !slice_is(unit_of(r, r->counted), "count"))
		r->counted++;
	return found;
}

/* Returns the id of this key, and writes nothing; *fresh: the caller must define it. */
static uint64_t id_of(struct pprof_reader *r, struct idmap *m, uint64_t key, uint64_t next, bool *fresh)
{
	uint32_t id = (uint32_t)next;

	*fresh = false;
	if (idmap_find(m, key, &id))
		return id;
	*fresh = next < UINT32_MAX && idmap_set(m, key, id);
	r->failed = !*fresh || r->failed;
	return id;
}

static uint64_t number_of(struct pprof_reader *r, struct intern *t, const void *key, size_t n, bool *fresh)
{
	size_t before = t->n;
	uint32_t id = 0;

	r->failed = !intern_add(t, (struct slice){ key, n }, &id) || r->failed;
	*fresh = t->n > before;
	return id + 1ull;
}

static uint64_t string_id(struct pprof_reader *r, uint64_t text)
{
	bool fresh;
	uint64_t id;

	if (!text_of(r, text).n)
		return 0;
	id = id_of(r, &r->strings, text, r->strings.n + 1, &fresh);
	if (fresh)
		put(r, (struct record){ .type = RECORD_STRING, .string = { id, text_of(r, text) } });
	return id;
}

static void put_member(struct pprof_reader *r, uint64_t process, uint64_t container)
{
	bool fresh;
	uint64_t id = id_of(r, &r->cgroups, container, r->cgroups.n + 1, &fresh);

	if (fresh)
		put(r, (struct record){ .type = RECORD_CGROUP, .cgroup = { id, text_of(r, container) } });
	put(r, (struct record){ .type = RECORD_MEMBER, .member = { r->time, process, id } });
}

static uint64_t process_id(struct pprof_reader *r, const struct owner *o)
{
	struct process_key key = { o->pid, o->container };
	bool fresh;
	uint64_t id = number_of(r, &r->processes, &key, sizeof(key), &fresh);

	if (!fresh)
		return id;
	put(r, (struct record){ .type = RECORD_PROCESS,
				.process = { .id = id, .time = r->time, .pid = o->pid } });
	if (text_of(r, o->container).n)
		put_member(r, id, o->container);
	return id;
}

/* A profile without commands is of one program: that of its first mapping. */
static struct slice command_of(const struct pprof_reader *r, uint64_t comm)
{
	struct slice file = { NULL, 0 };

	if (text_of(r, comm).n)
		return text_of(r, comm);
	if (r->tables.n_mappings)
		file = slice_base(text_of(r, r->tables.mappings[0].file));
	return file.n ? file : slice_of("pprof");
}

static uint64_t thread_id(struct pprof_reader *r, uint64_t process, const struct owner *o)
{
	struct thread_key key = { process, o->tid, o->comm };
	bool fresh;
	uint64_t id = number_of(r, &r->threads, &key, sizeof(key), &fresh);

	if (!fresh)
		return id;
	put(r, (struct record){ .type = RECORD_THREAD, .thread = { id, r->time, process, o->tid } });
	put(r, (struct record){ .type = RECORD_COMM, .comm = { r->time, id, command_of(r, o->comm) } });
	return id;
}

static int hex_digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a build ID; to has room for HEX bytes. Returns none if it is not hexadecimal. */
static struct slice build_id_of(struct slice hex, uint8_t *to)
{
	size_t n = hex.n / 2;

	if (hex.n % 2 || n > HEX)
		return (struct slice){ NULL, 0 };
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(hex.p[2 * i]), low = hex_digit(hex.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return (struct slice){ NULL, 0 };
		to[i] = (uint8_t)(high << 4 | low);
	}
	return (struct slice){ to, n };
}

/* Returns the id of a mapping's file: 0 if there is none, or there are too many. */
static uint64_t file_id(struct pprof_reader *r, const struct pprof_mapping *m)
{
	struct slice path = text_of(r, m->file);
	uint8_t build_id[HEX];
	bool fresh;
	uint64_t id;

	if (!path.n || r->files.n >= FILES_MAX)
		return 0;
	id = id_of(r, &r->files, m->file << 32 | (uint32_t)m->build_id, r->files.n + 1, &fresh);
	if (fresh)
		put(r, (struct record){
			       .type = RECORD_FILE,
			       .file = { .id = id,
					 .path = path,
					 .build_id = build_id_of(text_of(r, m->build_id), build_id) } });
	return id;
}

static bool is_kernel(const struct pprof_reader *r, const struct pprof_location *l)
{
	const struct pprof_mapping *m = pprof_find_mapping(&r->tables, l->mapping);

	return l->address >= KERNEL || (m && slice_begins(text_of(r, m->file), "[kernel"));
}

/* Returns the address in the stream: in the range of the file, which is mapped there first. */
static uint64_t address_of(struct pprof_reader *r, const struct pprof_location *l, uint64_t process)
{
	const struct pprof_mapping *m = pprof_find_mapping(&r->tables, l->mapping);
	uint64_t file = m ? file_id(r, m) : 0, at = l->address;
	bool fresh;

	if (m && m->start <= at && at < m->limit)
		at = at - m->start + m->offset;
	at &= (1ull << FILE_SHIFT) - 1;
	if (!file)
		return at;
	id_of(r, &r->mappings, process << 32 | file, 0, &fresh);
	if (fresh)
		put(r, (struct record){ .type = RECORD_MAPPING,
					.mapping = { r->time, process, file << FILE_SHIFT, 1ull << FILE_SHIFT,
						     0, 5, file } });
	return file << FILE_SHIFT | at;
}

/* A name in brackets is a place, as cprof-convert writes frames without a symbol. */
static enum name_source source_of(struct slice name, bool kernel)
{
	if (name.n && name.p[0] == '[' && name.p[name.n - 1] == ']')
		return NAME_BOUNDS;
	return kernel ? NAME_KSYM : NAME_SYMTAB;
}

static uint64_t name_of(const struct pprof_reader *r, const struct pprof_function *f)
{
	return !f ? 0 : text_of(r, f->name).n ? f->name : f->system_name;
}

static size_t read_lines(struct pprof_reader *r, const struct pprof_location *l)
{
	struct cursor at = cursor_over(l->message.p, l->message.n);
	struct pprof_line line;
	size_t n = 0;

	while (pprof_line_next(&at, &line)) {
		if (!grow_array(&r->lines, &r->cap_lines, n, sizeof(*r->lines))) {
			r->failed = true;
			return 0;
		}
		r->lines[n++] = line;
	}
	return n;
}

/*
 * Writes the names of a location: the function, which is the last line, then those inlined into it. If the
 * function has no name, its place is shown.
 */
static void put_names(struct pprof_reader *r, const struct pprof_location *l, uint64_t frame, bool kernel)
{
	uint64_t level = 0;

	for (size_t i = read_lines(r, l); i-- > 0;) {
		const struct pprof_function *f = pprof_find_function(&r->tables, r->lines[i].function);
		uint64_t name = string_id(r, name_of(r, f)), file = f ? string_id(r, f->file) : 0;
		uint64_t line = file && r->lines[i].line <= UINT32_MAX ? r->lines[i].line : 0;
		uint64_t source = source_of(text_of(r, name_of(r, f)), kernel);

		if (name)
			put(r,
			    (struct record){ .type = RECORD_SYMBOL,
					     .symbol = { frame, 0, level++, source, name, 0, file, line } });
		else if (level == 0)
			return;
	}
}

/* Returns the frame of a location; process 0: the kernel. */
static uint64_t frame_id(struct pprof_reader *r, const struct pprof_location *l, uint64_t process)
{
	uint64_t index = (uint64_t)(l - r->tables.locations), address;
	bool fresh;
	uint64_t id = id_of(r, &r->frames, process << 32 | index, r->n_frames + 1, &fresh);

	if (!fresh)
		return id;
	r->n_frames++;
	address = process ? address_of(r, l, process) : l->address;
	put(r, (struct record){ .type = RECORD_FRAME, .frame = { id, process, FRAME_EXACT, address } });
	put_names(r, l, id, !process);
	return id;
}

static uint64_t node_id(struct pprof_reader *r, uint64_t parent, uint64_t frame)
{
	bool fresh;
	uint64_t id = id_of(r, &r->nodes, parent << 32 | frame, r->n_nodes, &fresh);

	if (fresh) {
		r->n_nodes++;
		put(r, (struct record){ .type = RECORD_NODE, .node = { id, parent, frame } });
	}
	return id;
}

/* Writes the frames from begin to end of the stack, outermost first, and returns the node. */
static uint64_t stack_id(struct pprof_reader *r, size_t begin, size_t end, uint64_t process, uint64_t root)
{
	uint64_t node = root;

	while (end > begin && !r->failed)
		node = node_id(r, node, frame_id(r, &r->tables.locations[r->stack[--end]], process));
	return node;
}

/* Reads the stack of a sample and returns its depth. */
static size_t read_stack(struct pprof_reader *r, struct pprof_sample *s, bool *cut)
{
	size_t n = 0;
	uint64_t id;

	*cut = false;
	while (pprof_location_next(s, &id)) {
		const struct pprof_location *l = pprof_find_location(&r->tables, id);

		if (!l) {
			r->lost.locations++;
			continue;
		}
		if (n == PPROF_DEPTH_MAX) {
			r->lost.deep++;
			*cut = true;
			break;
		}
		if (!grow_array(&r->stack, &r->cap_stack, n, sizeof(*r->stack))) {
			r->failed = true;
			return 0;
		}
		r->stack[n++] = (uint64_t)(l - r->tables.locations);
	}
	return n;
}

static struct owner read_labels(struct pprof_reader *r, struct pprof_sample *s)
{
	struct owner o = { 0 };
	struct pprof_label l;

	while (pprof_label_next(s, &l)) {
		struct slice key = text_of(r, l.key);

		if (slice_is(key, "pid"))
			o.pid = l.number;
		else if (slice_is(key, "tid"))
			o.tid = l.number;
		else if (slice_is(key, "comm"))
			o.comm = l.text;
		else if (slice_is(key, "container"))
			o.container = l.text;
		else if (!slice_is(key, "host"))
			r->lost.labels++;
	}
	return o;
}

/* Reads the values of a sample: the chosen one, and how many samples it is. Returns false if it has none. */
static bool read_values(struct pprof_reader *r, struct pprof_sample *s, uint64_t *weight, uint64_t *samples)
{
	int64_t value, chosen = -1, count = 1;

	for (size_t i = 0; pprof_value_next(s, &value); i++) {
		if (i == r->type)
			chosen = value;
		if (i == r->counted && value > 0)
			count = value;
	}
	*weight = (uint64_t)chosen;
	*samples = r->merged ? 1 : is_count(r) ? *weight : is_time(r) ? (uint64_t)count : 1;
	return chosen >= 0;
}

static void put_samples(struct pprof_reader *r, struct record_sample sample, uint64_t weight, uint64_t n)
{
	for (uint64_t left = n; left; left--) {
		sample.weight = weight / left;
		weight -= sample.weight;
		put(r, (struct record){ .type = RECORD_SAMPLE, .sample = sample });
	}
	r->samples += n;
}

static void take_sample(struct pprof_reader *r, struct pprof_sample *s)
{
	struct record_sample sample = { .time = r->time, .event = EVENT };
	uint64_t weight, n, process;
	size_t depth, kernel = 0;
	struct owner owner;
	bool cut;

	if (!read_values(r, s, &weight, &n)) {
		r->lost.rows++;
		return;
	}
	if (!weight && !(is_time(r) && r->counted < r->tables.n_types))
		return;
	owner = read_labels(r, s);
	process = process_id(r, &owner);
	sample.thread = thread_id(r, process, &owner);
	depth = read_stack(r, s, &cut);
	while (kernel < depth && is_kernel(r, &r->tables.locations[r->stack[kernel]]))
		kernel++;
	sample.kernel = stack_id(r, 0, kernel, 0, cut && kernel == depth ? ROOT_DEPTH : ROOT_FP_END);
	sample.user = stack_id(r, kernel, depth, process, cut && kernel < depth ? ROOT_DEPTH : ROOT_FP_END);
	if (sample.kernel < NODE_FIRST)
		sample.kernel = ROOT_NOT_ASKED;
	if (sample.user < NODE_FIRST)
		sample.user = ROOT_NOT_ASKED;
	put_samples(r, sample, weight, n);
}

static void put_meta(struct pprof_reader *r, const char *key, struct slice value)
{
	if (value.n)
		put(r, (struct record){ .type = RECORD_META, .meta = { slice_of(key), value } });
}

static void put_meta_number(struct pprof_reader *r, const char *key, uint64_t v)
{
	struct buf text = { 0 };

	buf_printf(&text, "%llu", (unsigned long long)v);
	r->failed = text.failed || r->failed;
	put_meta(r, key, buf_view(&text));
	buf_release(&text);
}

/* Returns the host if all samples have the same, and sums the samples of all rows, as far as they fit. */
static struct slice look_ahead(struct pprof_reader *r, uint64_t *samples)
{
	struct cursor at = pprof_samples(&r->tables);
	uint64_t host = UINT64_MAX, weight, n;
	struct pprof_sample s;
	struct pprof_label l;
	bool same = true;

	*samples = 0;
	while (pprof_sample_next(&at, &s)) {
		uint64_t mine = 0;

		if (read_values(r, &s, &weight, &n) && __builtin_add_overflow(*samples, n, samples))
			*samples = UINT64_MAX;
		while (pprof_label_next(&s, &l)) {
			if (slice_is(text_of(r, l.key), "host"))
				mine = l.text;
		}
		same = same && (host == UINT64_MAX || host == mine);
		host = mine;
	}
	return same && host != UINT64_MAX ? text_of(r, host) : slice_of("");
}

static void put_head(struct pprof_reader *r, struct slice host)
{
	const struct pprof_tables *t = &r->tables;
	struct slice name = t->n_types ? text_of(r, t->types[r->type].type) : slice_of("");
	const char *unit = is_time(r) ? "ns" : is_count(r) && !r->merged ? "" : "events";

	put(r, (struct record){ .type = RECORD_SEGMENT,
				.segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
	put_meta(r, "recorder", slice_of("pprof"));
	put_meta(r, "engine", slice_of("pprof"));
	put_meta(r, "host", host);
	if (t->time_ns && t->time_ns <= INT64_MAX) {
		put_meta_number(r, "start-realtime-ns", t->time_ns);
		put_meta_number(r, "start-monotonic-ns", START);
	}
	put(r, (struct record){ .type = RECORD_EVENT,
				.event = { EVENT, name.n ? name : slice_of("samples"), slice_of(unit),
					   t->period <= INT64_MAX ? t->period : 0, 0 } });
	put(r, (struct record){ .type = RECORD_FLUSH });
}

bool pprof_read(struct pprof_reader *r)
{
	struct cursor at = pprof_samples(&r->tables);
	struct pprof_sample s;
	uint64_t samples;
	struct slice host = look_ahead(r, &samples);

	r->merged = samples > r->most;
	r->time = START + (r->tables.duration_ns <= INT64_MAX / 2 ? r->tables.duration_ns : 0);
	put_head(r, host);
	while (!r->failed && !writer_error(r->w) && pprof_sample_next(&at, &s))
		take_sample(r, &s);
	put(r, (struct record){ .type = RECORD_END, .end = { r->time, END_CLOSED, r->samples } });
	put(r, (struct record){ .type = RECORD_FLUSH });
	return !r->failed && !writer_error(r->w);
}
