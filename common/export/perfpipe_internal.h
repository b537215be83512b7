/*
 * The records of a perf pipe, for the parts of perfpipe.h: perfpipe_header.c writes the header of a segment,
 * and perfpipe.c all other records.
 *
 *	at = begin_record(&p->out, PERF_FORK, 0);
 *	put32(&p->out, pid); ...
 *	put_id(p, pid, tid, time);
 *	finish_record(&p->out, at);
 */
#ifndef CPROF_EXPORT_PERFPIPE_INTERNAL_H
#define CPROF_EXPORT_PERFPIPE_INTERNAL_H

#include "common/base/le.h"
#include "common/export/perfpipe.h"

/* Types of records: those of the kernel, and from 64 on perf's own. */
enum {
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_MMAP = 1,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_KSYMBOL = 17,
	PERF_HEADER_ATTR = 64,
	PERF_HEADER_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_EVENT_UPDATE = 78,
	PERF_HEADER_FEATURE = 80,
};

/* The misc field of a record. */
enum {
	MISC_KERNEL = 1,
	MISC_USER = 2,
	MISC_DATA = 1 << 13,     /* MMAP2: not code */
	MISC_EXEC = 1 << 13,     /* COMM: after an exec; FORK: the parent's mappings do not count */
	MISC_BUILD_ID = 1 << 14, /* MMAP2: a build ID replaces device and inode */
	MISC_BUILD_ID_SIZE = 1 << 15, /* HEADER_BUILD_ID: the size is present */
};

/* Fields of a sample, in this order except for the first, the id. */
enum {
	SAMPLE_IDENTIFIER = 1 << 16,
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_TYPE = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD |
		      SAMPLE_CALLCHAIN,
};

enum {
	TEXT_MAX = 4095, /* bytes of a path or a name; perf has room for PATH_MAX */
	BUILD_ID_MAX = 20,
};

static inline void put16(struct buf *b, uint16_t v)
{
	uint8_t bytes[2];

	le16_store(bytes, v);
	buf_bytes(b, bytes, sizeof(bytes));
}

static inline void put32(struct buf *b, uint32_t v)
{
	uint8_t bytes[4];

	le32_store(bytes, v);
	buf_bytes(b, bytes, sizeof(bytes));
}

static inline void put64(struct buf *b, uint64_t v)
{
	uint8_t bytes[8];

	le64_store(bytes, v);
	buf_bytes(b, bytes, sizeof(bytes));
}

static inline void put_zeros(struct buf *b, size_t n)
{
	while (n--)
		buf_byte(b, 0);
}

/* Writes text ended by NUL and padded to eight bytes. Cuts it at a NUL and at TEXT_MAX. */
static inline void put_text(struct buf *b, struct slice s)
{
	size_t n = s.n ? strnlen((const char *)s.p, s.n) : 0;

	n = n < TEXT_MAX ? n : TEXT_MAX;
	buf_bytes(b, s.p, n);
	put_zeros(b, 8 - n % 8);
}

static inline size_t begin_record(struct buf *b, uint32_t type, uint16_t misc)
{
	size_t at = b->n;

	put32(b, type);
	put16(b, misc);
	put16(b, 0); /* size, set by finish_record */
	return at;
}

static inline void finish_record(struct buf *b, size_t at)
{
	if (!b->failed)
		le16_store(b->p + at + 6, (uint16_t)(b->n - at));
}

/* Writes the trailer of records other than samples: process, thread, time, CPU. Id 0: no particular event. */
static inline void put_id(struct perf_pipe *p, uint64_t pid, uint64_t tid, uint64_t time)
{
	time = time > p->floor ? time : p->floor;
	p->latest = time > p->latest ? time : p->latest;
	put32(&p->out, (uint32_t)pid);
	put32(&p->out, (uint32_t)tid);
	put64(&p->out, time);
	put64(&p->out, 0); /* CPU */
	put64(&p->out, 0);
}

/* Returns perf's id of an event of the segment; writes the event at first sight. 0: out of memory. */
uint32_t perf_pipe_event(struct perf_pipe *p, uint64_t event);
/* Writes the header of a segment, once its header block has ended. */
void perf_pipe_header(struct perf_pipe *p);

#endif
