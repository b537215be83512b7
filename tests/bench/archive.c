/*
 * Writes an hour of a busy host's archive from a short recording of a small host, for bench/archive.sh.
 *
 *	bench-archive FILE DIRECTORY	# minute-00.bin to minute-59.bin, as of cprof-record --rotate 1m
 *
 * The host has COPIES times the CPUs. Each copy has its own processes, threads, control groups, scripts,
 * frames and nodes, with shifted ids, and container names that differ in their first digits. A copy's
 * threads do what the recorded ones did, a moment later. Each minute is the recording again with shifted
 * times, and is complete as a file of its own. Samples are in order of time and follow the records that
 * define their ids, as in a recorded file.
 */
#include "common/base/array.h"
#include "common/capture/container.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"
#include "common/stream/writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COPIES = 8, MINUTES = 60 };

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)

/* Numbers that differ from copy to copy; up to NUMBER_IDS they are ids of records. */
enum number {
	NUMBER_OTHER, /* the same in each */
	NUMBER_PROCESS,
	NUMBER_THREAD,
	NUMBER_FRAME,
	NUMBER_NODE,
	NUMBER_SCRIPT,
	NUMBER_FUNCTION,
	NUMBER_LOCK,
	NUMBER_IDS,
	NUMBER_CPU = NUMBER_IDS,
	NUMBER_CPU_1, /* plus 1; 0: no CPU */
	NUMBER_PID,
	NUMBER_CGROUP,
};

enum { FIELDS_MAX = 16 };

struct recording {
	struct record *records;
	size_t n, cap;
	uint64_t cpus, realtime, monotonic, first, last, samples;
	uint64_t beyond[NUMBER_IDS]; /* the highest id of each kind */
	enum number numbers[RECORD_TYPES][FIELDS_MAX];
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench-archive: %s: %s\n", what, why);
	exit(1);
}

static void keep_slices(struct record *r)
{
	const struct record_desc *d = record_desc(r->type);

	for (size_t i = 0; d && i < d->n; i++) {
		struct slice *s = (struct slice *)((char *)r + d->fields[i].at);
		uint8_t *copy;

		if (d->fields[i].kind != FIELD_TEXT && d->fields[i].kind != FIELD_HEX)
			continue;
		copy = malloc(s->n + 1);
		if (!copy)
			die("memory", "there is none");
		if (s->n)
			memcpy(copy, s->p, s->n);
		copy[s->n] = '\0';
		s->p = copy;
	}
	r->tail = (struct slice){ NULL, 0 };
}

/* Returns the kind of number in a field, by the field's name. */
static enum number number_of(uint32_t type, const char *field)
{
	static const enum number ids[RECORD_TYPES] = {
		[RECORD_PROCESS] = NUMBER_PROCESS,   [RECORD_THREAD] = NUMBER_THREAD,
		[RECORD_FRAME] = NUMBER_FRAME,	     [RECORD_LANG_FRAME] = NUMBER_FRAME,
		[RECORD_NODE] = NUMBER_NODE,	     [RECORD_SCRIPT] = NUMBER_SCRIPT,
		[RECORD_FUNCTION] = NUMBER_FUNCTION, [RECORD_LOCK] = NUMBER_LOCK,
		[RECORD_CGROUP] = NUMBER_CGROUP,
	};
	static const struct {
		const char *field;
		enum number what;
	} others[] = {
		{ "process", NUMBER_PROCESS }, { "thread", NUMBER_THREAD },   { "waker", NUMBER_THREAD },
		{ "owner", NUMBER_THREAD },    { "frame", NUMBER_FRAME },     { "user", NUMBER_NODE },
		{ "kernel", NUMBER_NODE },     { "script", NUMBER_SCRIPT },   { "lock", NUMBER_LOCK },
		{ "pid", NUMBER_PID },	       { "tid", NUMBER_PID },	      { "cgroup", NUMBER_CGROUP },
		{ "function", NUMBER_FUNCTION },
	};

	if (strcmp(field, "id") == 0 || strcmp(field, "parent") == 0)
		return ids[type];
	if (strcmp(field, "cpu") == 0)
		return type == RECORD_LEDGER ? NUMBER_CPU_1 : NUMBER_CPU;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (strcmp(field, others[i].field) == 0)
			return others[i].what;
	}
	return NUMBER_OTHER;
}

static void find_numbers(struct recording *m)
{
	for (uint32_t type = RECORD_PROCESS; type < RECORD_TYPES; type++) {
		const struct record_desc *d = record_desc(type);

		if (d && d->n > FIELDS_MAX)
			die(d->name, "has more fields than FIELDS_MAX");
		for (size_t i = 0; d && i < d->n; i++) {
			if (d->fields[i].kind == FIELD_U)
				m->numbers[type][i] = number_of(type, d->fields[i].name);
		}
	}
}

static void measure_ids(struct recording *m, const struct record *r)
{
	const struct record_desc *d = record_desc(r->type);

	for (size_t i = 0; d && i < d->n; i++) {
		enum number what = m->numbers[r->type][i];
		uint64_t id;

		memcpy(&id, (const char *)r + d->fields[i].at, sizeof(id));
		if (what > NUMBER_OTHER && what < NUMBER_IDS && id > m->beyond[what])
			m->beyond[what] = id;
	}
}

static void measure(struct recording *m, const struct record *r)
{
	measure_ids(m, r);
	if (r->type == RECORD_META && slice_is(r->meta.key, "start-realtime-ns"))
		m->realtime = strtoull((const char *)r->meta.value.p, NULL, 10);
	if (r->type == RECORD_META && slice_is(r->meta.key, "start-monotonic-ns"))
		m->monotonic = strtoull((const char *)r->meta.value.p, NULL, 10);
	if (r->type == RECORD_SAMPLE) {
		m->cpus = r->sample.cpu >= m->cpus ? r->sample.cpu + 1 : m->cpus;
		m->first = m->samples++ ? m->first : r->sample.time;
		m->last = r->sample.time;
	}
}

/* Loads the first minute of one segment; leaves out records after it and those of other segments. */
static struct recording load(const char *path)
{
	struct recording m = { 0 };
	int fd = open(path, O_RDONLY), segments = 0, got;
	struct reader *r = reader_new(fd, path);
	struct record rec;

	if (fd < 0 || !r)
		die(path, "cannot be opened");
	find_numbers(&m);
	while ((got = reader_next(r, &rec)) > 0) {
		if (rec.type == RECORD_SEGMENT && ++segments > 1)
			break;
		if (rec.type == RECORD_SAMPLE && m.samples && rec.sample.time - m.first >= MINUTE)
			break;
		if (rec.type == RECORD_END || rec.type == RECORD_COST)
			continue;
		if (!grow_array(&m.records, &m.cap, m.n, sizeof(*m.records)))
			die("memory", "there is none");
		keep_slices(&rec);
		measure(&m, &rec);
		m.records[m.n++] = rec;
	}
	if (got < 0 || !m.samples || !m.realtime)
		die(path, got < 0 ? reader_error(r) : "has no samples, or no clock");
	reader_free(r);
	close(fd);
	return m;
}

static void put(struct writer *w, const struct record *r)
{
	if (!writer_put(w, r))
		die("output", writer_error(w));
}

static void put_meta(struct writer *w, const struct recording *m, const struct record *r, uint64_t later)
{
	char number[32];
	struct record out = *r;

	if (slice_is(r->meta.key, "start-realtime-ns") || slice_is(r->meta.key, "start-monotonic-ns")) {
		snprintf(number, sizeof(number), "%" PRIu64, (slice_is(r->meta.key, "start-realtime-ns") ? m->realtime : m->monotonic) + later);
		out.meta.value = slice_of(number);
	}
	put(w, &out);
}

/* Returns the path; if it names a container, the first digits of the container's id are those of the copy. */
static struct slice path_of(struct slice path, unsigned int copy)
{
	static char text[4096];
	struct container c;
	char digits[8];

	if (!container_of(path, &c) || c.id.n < 4 || path.n >= sizeof(text))
		return path;
	memcpy(text, path.p, path.n);
	snprintf(digits, sizeof(digits), "%02x", copy);
	memcpy(text + (c.id.p - path.p), digits, 2);
	return (struct slice){ (const uint8_t *)text, path.n };
}

/* Shifts a number of the recording to the copy's. 0, and the roots of stacks, mean the same in each copy. */
static uint64_t shift_number(const struct recording *m, enum number what, uint64_t v, unsigned int copy)
{
	if (what == NUMBER_CPU)
		return v + copy * m->cpus;
	if (v < (what == NUMBER_NODE ? NODE_FIRST : 1))
		return v;
	if (what == NUMBER_CPU_1)
		return v + copy * m->cpus;
	if (what == NUMBER_PID)
		return v + copy * UINT64_C(10000000);
	if (what == NUMBER_CGROUP)
		return v + ((uint64_t)copy << 48);
	return v + m->beyond[what] * copy;
}

/* Replaces the recording's ids by the copy's. Returns false for a record that all copies share. */
static bool shift_ids(struct record *r, const struct recording *m, unsigned int copy)
{
	const struct record_desc *d = record_desc(r->type);
	bool own = false;

	for (size_t i = 0; d && i < d->n; i++) {
		enum number what = m->numbers[r->type][i];
		uint64_t *v = (uint64_t *)((char *)r + d->fields[i].at);

		own |= what != NUMBER_OTHER && (what != NUMBER_CPU_1 || *v);
		if (what != NUMBER_OTHER)
			*v = shift_number(m, what, *v, copy);
	}
	if (r->type == RECORD_CGROUP)
		r->cgroup.path = path_of(r->cgroup.path, copy);
	return own || copy == 0;
}

/* Shifts the times of all records that have one: record_desc() marks the field. */
static void shift_time(struct record *r, uint64_t later)
{
	const struct record_desc *d = record_desc(r->type);

	for (size_t i = 0; d && i < d->n; i++) {
		uint64_t time;

		if (d->fields[i].kind != FIELD_TIME)
			continue;
		memcpy(&time, (char *)r + d->fields[i].at, sizeof(time));
		time += later;
		memcpy((char *)r + d->fields[i].at, &time, sizeof(time));
	}
}

static void put_copy(struct writer *w, const struct recording *m, const struct record *r, unsigned int copy,
		     uint64_t later)
{
	struct record out = *r;

	if (!shift_ids(&out, m, copy))
		return;
	shift_time(&out, later + copy * 1000);
	put(w, &out);
}

/* Writes the records between two samples copy by copy, so that runs of frames and nodes stay runs. */
static void put_minute(struct writer *w, const struct recording *m, uint64_t later)
{
	for (size_t i = 0, next; i < m->n; i = next) {
		const struct record *r = &m->records[i];

		next = i + 1;
		if (r->type == RECORD_META) {
			put_meta(w, m, r, later);
		} else if (r->type == RECORD_SEGMENT || r->type == RECORD_EVENT || r->type == RECORD_FLUSH) {
			put(w, r);
		} else {
			while (r->type != RECORD_SAMPLE && next < m->n && m->records[next].type > RECORD_EVENT &&
			       m->records[next].type != RECORD_SAMPLE)
				next++;
			for (unsigned int c = 0; c < COPIES; c++) {
				for (size_t k = i; k < next; k++)
					put_copy(w, m, &m->records[k], c, later);
			}
		}
	}
	put(w, &(struct record){ .type = RECORD_END, .end = { m->last + later + COPIES * 1000, END_CLOSED, m->samples * COPIES } });
}

int main(int argc, char **argv)
{
	struct recording m;

	if (argc != 3) {
		fprintf(stderr, "usage: bench-archive FILE DIRECTORY\n");
		return 2;
	}
	m = load(argv[1]);
	for (unsigned int minute = 0; minute < MINUTES; minute++) {
		char path[4096];
		struct writer *w;
		int fd;

		snprintf(path, sizeof(path), "%s/minute-%02u.bin", argv[2], minute);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		w = writer_new(fd);
		if (fd < 0 || !w)
			die(path, "cannot be written");
		put_minute(w, &m, minute * MINUTE);
		if (!writer_finish(w))
			die(path, writer_error(w));
		writer_free(w);
		close(fd);
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", m.cpus * COPIES, m.samples * COPIES * MINUTES, m.first - m.monotonic + m.realtime);
	return 0;
}
