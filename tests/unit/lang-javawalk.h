/*
 * HotSpot's code and a stack of old return addresses in this program's memory, through which java_step
 * goes: each word of the stack is one that follows a call, so a step that takes another word than the right
 * one goes wrong.
 */
#ifndef CPROF_TESTS_LANG_JAVAWALK_H
#define CPROF_TESTS_LANG_JAVAWALK_H

#include <stdlib.h>
#include <string.h>

#define WALK_ENV struct host *
#define WALK_FN static
#define WALK_INLINE inline
#define WALK_LANG_STEP java_step
struct host;
static int java_step(struct host *h, unsigned long long pc);

#include "common/walk/walk.h"
#include "common/walk/java_walk.h"

#include "tests/lib/check.h"

#define HEAP UINT64_C(0x7f0000000000)
#define MAP UINT64_C(0x7e0000000000)
#define STACK UINT64_C(0x7ffd00000000)
#define OBJECTS UINT64_C(0x7d0000000000)

enum {
	SEGMENT = 128,
	HEAP_BYTES = 16 << 10,
	BLOB = 0x1000,	/* offset of the one block in the heap */
	CODE = 0x100,	/* offset of its code in the block */
	CODE_BYTES = 0x200,
	CALLS = 0x2000, /* from here on there is a call every eight bytes */
	INTERPRETER = 0x3800,
	WORDS = 96,	/* words of the stack */
	SP = 16,	/* index of the word at rsp */
	OBJECT_BYTES = 4096,
};

struct host {
	struct walk walk;
	struct java_walk java;
	struct java_layout layout;
	uint8_t heap[HEAP_BYTES], map[HEAP_BYTES / SEGMENT], objects[OBJECT_BYTES];
	uint64_t stack[WORDS];
};

static struct host host;

static inline struct walk *walk_state(struct host *h) { return &h->walk; }
static inline const __u32 *walk_rows(struct host *h, __u32 shard) { return (void)h, (void)shard, NULL; }
static inline const struct unwind_mapping *walk_mappings(struct host *h, __u32 shard)
{
	return (void)h, (void)shard, NULL;
}
static inline const struct unwind_rule *walk_rules(struct host *h) { return (void)h, NULL; }
static inline const struct unwind_page *walk_pages(struct host *h) { return (void)h, NULL; }
static inline const struct unwind_file *walk_files(struct host *h) { return (void)h, NULL; }
static inline struct unwind_memory *walk_memory(struct host *h) { return (void)h, NULL; }

static int copy_part(void *to, uint64_t n, uint64_t from, uint64_t start, const void *bytes, uint64_t size)
{
	if (from < start || from - start > size || n > size - (from - start))
		return -1;
	memcpy(to, (const uint8_t *)bytes + (from - start), n);
	return 0;
}

static inline int java_copy(struct host *h, void *to, __u32 n, __u32 most, __u64 from)
{
	if (n > most)
		return -1;
	return copy_part(to, n, from, HEAP, h->heap, sizeof(h->heap)) &&
	       copy_part(to, n, from, MAP, h->map, sizeof(h->map)) &&
	       copy_part(to, n, from, OBJECTS, h->objects, sizeof(h->objects)) &&
	       copy_part(to, n, from, STACK, h->stack, sizeof(h->stack)) ? -1 : 0;
}

static inline int walk_read(struct host *h, void *to, __u32 n, __u64 from)
{
	return copy_part(to, n, from, STACK, h->stack, sizeof(h->stack));
}

static inline int walk_read_code(struct host *h, __u64 *to, __u64 from)
{
	return copy_part(to, sizeof(*to), from, HEAP, h->heap, sizeof(h->heap));
}

static inline struct java_walk *java_state(struct host *h) { return &h->java; }
static inline const struct java_layout *java_layout(struct host *h) { return &h->layout; }
static inline int java_is_known(struct host *h, __u64 address) { return (void)h, (void)address, 0; }
static inline int java_recall(struct host *h) { return (void)h, JAVA_NEXT; }
static inline int java_recall_method(struct host *h, __u64 method) { return (void)h, (void)method, 0; }
static inline void java_seen(struct host *h, __u64 pc) { (void)h, (void)pc; }
static inline void java_settled(struct host *h) { (void)h; }

/* A layout of few members. */
enum {
	AT_NAME = 0, AT_BEGIN = 8, AT_END = 16, AT_DEOPT = 24, AT_FRAME_SIZE = 32, AT_DONE = 36, AT_ID = 40,
	AT_ORIG_PC = 44, AT_BYTES = 64,
	TEXT = 0, /* in the objects */
};

static void put(void *at, uint64_t value, size_t n) { memcpy(at, &value, n); }

static uint64_t call_end(int i) { return HEAP + CALLS + 8 * (uint64_t)i + 5; }

/* Makes a heap with one block, and a stack whose words are all return addresses. */
static void make_host(const char *name, unsigned int frame_size, unsigned int complete)
{
	struct java_layout *y = &host.layout;
	uint8_t *block = host.heap + BLOB;

	memset(&host, 0, sizeof(host));
	y->version = 17;
	y->at[JAVA_HEAP_HEADER] = 16;
	y->at[JAVA_HEAP_USED] = 8;
	y->at[JAVA_BLOB_NAME] = AT_NAME;
	y->at[JAVA_BLOB_CODE_BEGIN] = AT_BEGIN;
	y->at[JAVA_BLOB_CODE_END] = AT_END;
	y->at[JAVA_NM_DEOPT] = AT_DEOPT;
	y->at[JAVA_BLOB_FRAME_SIZE] = AT_FRAME_SIZE;
	y->at[JAVA_BLOB_FRAME_DONE] = AT_DONE;
	y->at[JAVA_NM_COMPILE_ID] = AT_ID;
	y->at[JAVA_NM_ORIG_PC] = AT_ORIG_PC;
	y->at[JAVA_NM_BYTES] = AT_BYTES;
	y->at[JAVA_BCP_SLOT] = 8;
	memset(host.map, 0xff, sizeof(host.map));
	for (int i = 0; i < (CODE + CODE_BYTES) / SEGMENT; i++)
		host.map[BLOB / SEGMENT + i] = (uint8_t)i;
	memcpy(host.objects + TEXT, name, strlen(name));
	block[8] = 1;
	put(block + 16 + AT_NAME, OBJECTS + TEXT, 8);
	put(block + 16 + AT_BEGIN, HEAP + BLOB + CODE, 8);
	put(block + 16 + AT_END, HEAP + BLOB + CODE + CODE_BYTES, 8);
	put(block + 16 + AT_DEOPT, HEAP + BLOB + CODE + CODE_BYTES - 16, 8);
	put(block + 16 + AT_FRAME_SIZE, frame_size / 8, 4);
	put(block + 16 + AT_DONE, complete, 4);
	memset(host.heap + BLOB + CODE, 0x90, CODE_BYTES);
	for (int i = 0; i < WORDS; i++) {
		host.heap[CALLS + 8 * i] = 0xe8;
		host.stack[i] = call_end(i);
	}
	host.java.p = (struct java_process){ .generation = 1, .shift = 7, .n_heaps = 1,
		.heaps = { { HEAP, HEAP + HEAP_BYTES, MAP } },
		.interpreter = HEAP + INTERPRETER, .interpreter_end = HEAP + HEAP_BYTES };
	java_begin(&host.java);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		host.walk.regs[i] = 0x1000 + 8 * (uint64_t)i;
	host.walk.regs[UNWIND_RSP] = STACK + SP * 8;
	host.walk.exact = host.walk.inner = 1;
}

/* Appends code that is written in hexadecimal. Returns the offset after it. */
static size_t put_code(size_t at, const char *hex)
{
	for (; *hex; hex += 2 + (hex[2] == ' ')) {
		char two[3] = { hex[0], hex[1], 0 };

		host.heap[BLOB + CODE + at++] = (uint8_t)strtoul(two, NULL, 16);
	}
	return at;
}

#endif
