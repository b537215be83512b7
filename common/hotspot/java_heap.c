#include "common/hotspot/java_heap.h"

#include <string.h>

enum {
	SPACE_LEAST = 4096,
	SHIFT_LEAST = 4,
	SHIFT_MOST = 16,
	BLOCKS_MOST = 1 << 14, /* blocks of the heap: with one heap for all code, most are methods */
};

#define SPACE_END (UINT64_C(1) << 47)
#define HEAP_MOST (UINT64_C(4) << 30)

static bool is_range(uint64_t start, uint64_t end, uint64_t most)
{
	return start >= SPACE_LEAST && start < end && end <= SPACE_END && end - start <= most;
}

static enum java_found refuse(char why[static JAVA_WHY], const char *text)
{
	strncpy(why, text, JAVA_WHY - 1);
	why[JAVA_WHY - 1] = '\0';
	return JAVA_REFUSED;
}

/* A heap that is not made yet has zeros. */
static enum java_found read_heap(const struct java_memory *m, const struct java_build *b, uint64_t at,
				 struct java_process *p, char *why)
{
	const uint16_t *host = b->host;
	struct java_heap h = {
		.start = java_read64(m, at + host[JAVA_HEAP_MEMORY] + host[JAVA_SPACE_START]),
		.end = java_read64(m, at + host[JAVA_HEAP_MEMORY] + host[JAVA_SPACE_END]),
		.map = java_read64(m, at + host[JAVA_HEAP_MAP] + host[JAVA_SPACE_LOW]),
	};
	uint32_t shift = java_read32(m, at + host[JAVA_HEAP_SHIFT]);

	if (!h.start || !h.end || !h.map || !shift)
		return JAVA_LATER;
	if (!is_range(h.start, h.end, HEAP_MOST) || shift < SHIFT_LEAST || shift > SHIFT_MOST ||
	    !is_range(h.map, h.map + ((h.end - h.start) >> shift), HEAP_MOST) ||
	    (p->n_heaps && p->shift != shift))
		return refuse(why, "its code heaps are at places that cannot be");
	p->shift = shift;
	p->heaps[p->n_heaps++] = h;
	return JAVA_FOUND;
}

static enum java_found read_heaps(const struct java_memory *m, const struct java_build *b,
				  struct java_process *p, char *why)
{
	uint64_t array, data, heap;
	enum java_found f = JAVA_FOUND;
	uint32_t n;

	if (!b->statics[JAVA_STATIC_HEAPS]) {
		heap = java_read64(m, b->statics[JAVA_STATIC_HEAP]);
		return heap ? read_heap(m, b, heap, p, why) : JAVA_LATER;
	}
	array = java_read64(m, b->statics[JAVA_STATIC_HEAPS]);
	n = array ? java_read32(m, array + b->host[JAVA_ARRAY_LENGTH]) : 0;
	data = array ? java_read64(m, array + b->host[JAVA_ARRAY_DATA]) : 0;
	if (n == 0 || !data)
		return JAVA_LATER;
	if (n > JAVA_HEAPS)
		return refuse(why, "it has more code heaps than a JVM has");
	for (uint32_t i = 0; i < n && f == JAVA_FOUND; i++) {
		heap = java_read64(m, data + 8 * i);
		f = heap ? read_heap(m, b, heap, p, why) : JAVA_LATER;
	}
	return f;
}

/* The JVM makes the interpreter's code after its heaps, and after the return barrier. */
static enum java_found read_interpreter(const struct java_memory *m, const struct java_build *b,
					struct java_process *p, char *why)
{
	uint64_t queue = java_read64(m, b->statics[JAVA_STATIC_INTERPRETER]);
	uint64_t start = queue ? java_read64(m, queue + b->host[JAVA_QUEUE_START]) : 0;
	uint32_t size = queue ? java_read32(m, queue + b->host[JAVA_QUEUE_SIZE]) : 0;

	if (!start || !size)
		return JAVA_LATER;
	p->interpreter = start;
	p->interpreter_end = start + size;
	return java_process_valid(p) ? JAVA_FOUND : refuse(why, "its interpreter is not in a code heap");
}

enum java_found java_process_read(const struct java_memory *m, const struct java_build *b,
				  struct java_process *p, char why[static JAVA_WHY])
{
	enum java_found f;

	*why = '\0';
	memset(p, 0, sizeof(*p));
	f = read_heaps(m, b, p, why);
	return f == JAVA_FOUND ? read_interpreter(m, b, p, why) : f;
}

static const struct java_heap *find_heap(const struct java_process *p, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < p->n_heaps && i < JAVA_HEAPS; i++) {
		if (start >= p->heaps[i].start && start < end && end <= p->heaps[i].end)
			return &p->heaps[i];
	}
	return NULL;
}

bool java_process_valid(const struct java_process *p)
{
	if (p->layout >= JAVA_LAYOUTS || p->shift < SHIFT_LEAST || p->shift > SHIFT_MOST || p->n_heaps == 0 ||
	    p->n_heaps > JAVA_HEAPS)
		return false;
	for (uint32_t i = 0; i < p->n_heaps; i++) {
		const struct java_heap *h = &p->heaps[i];

		if (!is_range(h->start, h->end, HEAP_MOST) ||
		    !is_range(h->map, h->map + ((h->end - h->start) >> p->shift), HEAP_MOST))
			return false;
	}
	return find_heap(p, p->interpreter, p->interpreter_end) &&
	       ((!p->barrier && !p->barrier_end) || find_heap(p, p->barrier, p->barrier_end));
}

/* A block of the heap: its length in segments and, if it is used, the blob's name. */
struct block {
	uint64_t segments;
	bool used;
	uint64_t name;
};

static bool read_block(const struct java_memory *m, const struct java_layout *l, uint64_t at, struct block *b)
{
	const uint16_t *off = l->at;
	uint8_t bytes[JAVA_SIZE_MOST + JAVA_OBJECT_MOST + 8];
	size_t n = off[JAVA_HEAP_HEADER] + (size_t)off[JAVA_BLOB_NAME] + 8, got;
	uint32_t length;

	if (n > sizeof(bytes) || off[JAVA_HEAP_LENGTH] > n - 4 || off[JAVA_HEAP_USED] > n - 1)
		return false;
	got = m->read(m->arg, at, bytes, n);
	if (got < off[JAVA_HEAP_HEADER] || got < off[JAVA_HEAP_LENGTH] + 4u || got <= off[JAVA_HEAP_USED])
		return false;
	memcpy(&length, bytes + off[JAVA_HEAP_LENGTH], sizeof(length));
	b->segments = length;
	b->used = got == n && bytes[off[JAVA_HEAP_USED]];
	memcpy(&b->name, bytes + n - 8, 8);
	return length != 0;
}

static bool read_name(const struct java_memory *m, uint64_t at, char name[static JAVA_BLOB_NAME_ROOM])
{
	size_t n = m->read(m->arg, at, name, JAVA_BLOB_NAME_ROOM - 1);

	name[n] = '\0';
	for (char *c = name; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return *name != '\0';
}

/* Those of methods are "nmethod" and "native nmethod". */
static bool is_method(const char *name)
{
	return strcmp(name, "nmethod") == 0 || strcmp(name, "native nmethod") == 0;
}

/* Virtual threads return to a stub of this blob: "StubRoutines (continuation stubs)", and similar names. */
static bool is_barrier(const char *name)
{
	return strstr(name, "ontinuation") && strncmp(name, "StubRoutines", 12) == 0;
}

size_t java_blobs(const struct java_memory *m, const struct java_layout *l, struct java_process *p,
		  struct java_blob *blobs, size_t most)
{
	const struct java_heap *h = find_heap(p, p->interpreter, p->interpreter_end);
	uint64_t at = h ? h->start : 0;
	size_t n = 0;
	struct block b;

	for (int i = 0; h && i < BLOCKS_MOST && n < most && at < h->end && read_block(m, l, at, &b); i++) {
		struct java_blob *to = &blobs[n];
		uint64_t left = (h->end - at) >> p->shift;

		if (b.segments > left)
			break;
		to->start = at + l->at[JAVA_HEAP_HEADER];
		at += b.segments << p->shift;
		to->end = at;
		if (!b.used || to->end <= to->start || !read_name(m, b.name, to->name) || is_method(to->name))
			continue;
		if (is_barrier(to->name)) {
			p->barrier = to->start;
			p->barrier_end = to->end;
		}
		n++;
	}
	return n;
}
