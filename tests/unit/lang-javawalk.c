/*
 * Steps through HotSpot's code, on the host, over a stack of old return addresses: each word of the stack is
 * one that follows a call, so a step that takes another word than the right one goes wrong.
 */
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

enum { KEPT = 0, SAVED = 1 };

/* An instruction: its bytes, and the caller's return address when it is the next one, in words above rsp. */
struct line {
	const char *code;
	int ra;
	int bp; /* KEPT: rbp is the caller's; SAVED: it is below the return address */
};

struct listing {
	const char *text, *kind;
	unsigned int frame_size;
	int done;	/* index of the line before which the frame is complete; -1: none */
	int frame;	/* rbp points to the frame from this line on; 0: it never does */
	struct line lines[24];
};

/* As compiled by the JDK whose number begins the text; the bytes are those of its code. */
static const struct listing listings[] = {
	{ "17, first compiler", "nmethod", 64, 9, 0, {
		{ "44 8b 56 08", 0, KEPT }, /* mov 8(%rsi),%r10d */
		{ "49 bb 00 00 00 00 08 00 00 00", 0, KEPT }, /* movabs $0x800000000,%r11 */
		{ "4d 03 d3", 0, KEPT }, /* add %r11,%r10 */
		{ "4c 3b d0", 0, KEPT }, /* cmp %rax,%r10 */
		{ "0f 85 00 00 00 00", 0, KEPT }, /* jne */
		{ "66 90", 0, KEPT }, /* nop */
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 30", 1, SAVED }, /* sub $0x30,%rsp */
		{ "8b c6", 7, SAVED }, /* mov %esi,%eax */
		{ "4d 89 97 e8 02 00 00", 7, SAVED }, /* mov %r10,0x2e8(%r15) */
		{ "48 83 c4 30", 7, SAVED }, /* add $0x30,%rsp */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "49 3b a7 38 03 00 00", 0, KEPT }, /* cmp 0x338(%r15),%rsp */
		{ "0f 87 01 00 00 00", 0, KEPT }, /* ja */
		{ "c3", 0, KEPT }, /* ret */
		{ "4c 8d 15 eb ff ff ff", 0, KEPT }, /* lea -21(%rip),%r10 */
		{ "4d 89 97 e8 02 00 00", 0, KEPT }, /* mov %r10,0x2e8(%r15) */
		{ "e9 00 01 00 00", 0, KEPT }, /* jmp */
		{ "4c 8d 15 eb ff ff ff", 7, SAVED }, /* lea -21(%rip),%r10 */
		{ "4d 89 97 e8 02 00 00", 7, SAVED }, /* mov %r10,0x2e8(%r15) */
		{ "66 90", 7, SAVED }, /* nop */
		{ "8b c6", 7, SAVED }, /* mov %esi,%eax */
	} },
	{ "17, first compiler, stubs", "nmethod", 64, 0, 0, {
		{ "49 ba 2c 3a 41 e1 c6 7f 00 00", 0, KEPT }, /* movabs, %r10 */
		{ "4d 89 97 e8 02 00 00", 0, KEPT }, /* mov %r10,0x2e8(%r15) */
		{ "e9 00 01 00 00", 0, KEPT }, /* jmp */
		{ "49 ba 2c 3a 41 e1 c6 7f 00 00", 7, SAVED }, /* movabs, %r10 */
		{ "41 52", 7, SAVED }, /* push %r10: to be deoptimized */
		{ "e9 00 01 00 00", 8, SAVED }, /* jmp */
		{ "f4", 7, SAVED }, /* hlt */
	} },
	{ "17, first compiler, a large frame and an exception", "nmethod", 400, 3, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 81 ec 80 01 00 00", 1, SAVED }, /* sub $0x180,%rsp */
		{ "8b c6", 49, SAVED }, /* mov %esi,%eax */
		{ "48 81 c4 80 01 00 00", 49, SAVED }, /* add $0x180,%rsp */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "e9 00 01 00 00", 0, KEPT }, /* jmp */
	} },
	{ "17, first compiler, entered in a loop", "nmethod", 48, 3, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "8b c6", 5, SAVED }, /* mov %esi,%eax */
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "8b c6", 5, SAVED }, /* mov %esi,%eax */
	} },
	{ "17, first compiler, registers for a stub", "nmethod", 48, 0, 0, {
		{ "74 20", 5, SAVED }, /* je */
		{ "56", 5, SAVED }, /* push %rsi */
		{ "52", 6, SAVED }, /* push %rdx */
		{ "e8 00 00 00 00", 7, SAVED }, /* call */
		{ "5e", 7, SAVED }, /* pop %rsi */
		{ "5a", 6, SAVED }, /* pop %rdx */
		{ "85 d2", 5, SAVED }, /* test %edx,%edx */
		{ "41 50", 5, SAVED }, /* push %r8 */
		{ "41 51", 6, SAVED }, /* push %r9 */
		{ "e8 00 00 00 00", 7, SAVED }, /* call */
		{ "41 58", 7, SAVED }, /* pop %r8 */
		{ "41 59", 6, SAVED }, /* pop %r9 */
		{ "85 d2", 5, SAVED }, /* test %edx,%edx */
		{ "e8 00 00 00 00", 5, SAVED }, /* call */
		{ "85 d2", 5, SAVED }, /* test %edx,%edx */
	} },
	{ "17, second compiler", "nmethod", 48, 3, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "8b ee", 5, SAVED }, /* mov %esi,%ebp */
		{ "c5 f8 77", 5, SAVED }, /* vzeroupper */
		{ "48 83 c4 20", 5, SAVED }, /* add $0x20,%rsp */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "49 3b a7 38 03 00 00", 0, KEPT }, /* cmp 0x338(%r15),%rsp */
		{ "0f 87 01 00 00 00", 0, KEPT }, /* ja */
		{ "c3", 0, KEPT }, /* ret */
	} },
	{ "17, second compiler, without calls", "nmethod", 32, 3, 0, {
		{ "44 8b 56 08", 0, KEPT }, /* mov 8(%rsi),%r10d */
		{ "48 81 ec 18 00 00 00", 0, KEPT }, /* sub $0x18,%rsp */
		{ "48 89 6c 24 10", 3, KEPT }, /* mov %rbp,0x10(%rsp) */
		{ "8b c6", 3, SAVED }, /* mov %esi,%eax */
		{ "48 83 c4 10", 3, SAVED }, /* add $0x10,%rsp */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "49 3b 67 28", 0, KEPT }, /* cmp 0x28(%r15),%rsp */
		{ "0f 87 01 00 00 00", 0, KEPT }, /* ja */
		{ "c3", 0, KEPT }, /* ret */
	} },
	{ "17, frame pointers preserved", "nmethod", 48, 4, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 8b ec", 1, SAVED }, /* mov %rsp,%rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "8b c6", 5, SAVED }, /* mov %esi,%eax */
	} },
	{ "17, a method that may use reserved pages", "nmethod", 48, 3, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "48 83 c4 20", 5, SAVED }, /* add $0x20,%rsp */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "49 3b a7 f8 01 00 00", 0, KEPT }, /* cmp 0x1f8(%r15),%rsp */
		{ "72 18", 0, KEPT }, /* jb */
	} },
	{ "17, ZGC's barrier", "nmethod", 48, 7, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "0f 1f 40 00", 5, SAVED }, /* nop */
		{ "41 83 7f 20 00", 5, SAVED }, /* cmpl $0,0x20(%r15) */
		{ "74 05", 5, SAVED }, /* je */
		{ "e8 00 00 00 00", 5, SAVED }, /* call */
		{ "8b c6", 5, SAVED }, /* mov %esi,%eax */
	} },
	{ "21, the barrier of all collectors", "nmethod", 400, 5, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 81 ec 80 01 00 00", 1, SAVED }, /* sub $0x180,%rsp */
		{ "41 81 7f 20 01 00 00 00", 49, SAVED }, /* cmpl $1,0x20(%r15) */
		{ "0f 85 00 01 00 00", 49, SAVED }, /* jne */
		{ "8b c6", 49, SAVED }, /* mov %esi,%eax */
	} },
	{ "21, a frame with rbp only", "nmethod", 16, 4, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "41 81 7f 20 01 00 00 00", 1, SAVED }, /* cmpl $1,0x20(%r15) */
		{ "0f 85 00 01 00 00", 1, SAVED }, /* jne */
		{ "8b c6", 1, SAVED }, /* mov %esi,%eax */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "49 3b a7 38 03 00 00", 0, KEPT }, /* cmp 0x338(%r15),%rsp */
	} },
	{ "11", "nmethod", 48, 3, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "4d 8b 97 08 01 00 00", 5, SAVED }, /* mov 0x108(%r15),%r10 */
		{ "41 85 02", 5, SAVED }, /* test %eax,(%r10): of a loop */
		{ "48 83 c4 20", 5, SAVED }, /* add $0x20,%rsp */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "4d 8b 97 08 01 00 00", 0, KEPT }, /* mov 0x108(%r15),%r10 */
		{ "41 85 02", 0, KEPT }, /* test %eax,(%r10) */
		{ "c3", 0, KEPT }, /* ret */
	} },
	{ "8", "nmethod", 48, 3, 0, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "85 05 00 00 01 00", 5, SAVED }, /* test %eax,(%rip): of a loop */
		{ "48 83 c4 20", 5, SAVED }, /* add $0x20,%rsp */
		{ "5d", 1, SAVED }, /* pop %rbp */
		{ "85 05 00 00 01 00", 0, KEPT }, /* test %eax,(%rip) */
		{ "c3", 0, KEPT }, /* ret */
	} },
	{ "17, a native wrapper", "native nmethod", 112, 4, 3, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 8b ec", 1, SAVED }, /* mov %rsp,%rbp */
		{ "48 83 ec 60", 1, SAVED }, /* sub $0x60,%rsp */
		{ "8b c6", 13, SAVED }, /* mov %esi,%eax */
		{ "4c 8d 15 eb ff ff ff", 13, SAVED }, /* lea -21(%rip),%r10 */
		{ "4d 89 97 e8 02 00 00", 13, SAVED }, /* mov %r10,0x2e8(%r15) */
		{ "c9", 13, SAVED }, /* leave */
		{ "49 83 7f 08 00", 0, KEPT }, /* cmpq $0,8(%r15) */
		{ "0f 85 01 00 00 00", 0, KEPT }, /* jne */
		{ "c3", 0, KEPT }, /* ret */
		{ "e9 00 01 00 00", 13, SAVED }, /* jmp: within the wrapper */
		{ "e9 00 10 00 00", 0, KEPT }, /* jmp */
	} },
	{ "25, a native wrapper", "native nmethod", 80, 4, 3, {
		{ "89 84 24 00 c0 fe ff", 0, KEPT }, /* mov %eax,-0x14000(%rsp) */
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 8b ec", 1, SAVED }, /* mov %rsp,%rbp */
		{ "48 83 ec 40", 1, SAVED }, /* sub $0x40,%rsp */
		{ "41 81 7f 20 01 00 00 00", 9, SAVED }, /* cmpl $1,0x20(%r15) */
		{ "49 ba 2c 3a 41 e1 c6 7f 00 00", 9, SAVED }, /* movabs, %r10 */
		{ "4d 89 97 88 04 00 00", 9, SAVED }, /* mov %r10,0x488(%r15) */
		{ "49 89 a7 80 04 00 00", 9, SAVED }, /* mov %rsp,0x480(%r15) */
		{ "48 85 c9", 9, SAVED }, /* test %rcx,%rcx */
		{ "0f 84 10 00 00 00", 9, SAVED }, /* je */
		{ "c9", 9, SAVED }, /* leave */
		{ "41 f6 47 28 01", 0, KEPT }, /* testb $1,0x28(%r15) */
		{ "0f 84 11 00 00 00", 0, KEPT }, /* je */
		{ "49 ba 2c 3a 41 e1 c6 7f 00 00", 0, KEPT }, /* movabs, %r10 */
		{ "4d 89 97 38 05 00 00", 0, KEPT }, /* mov %r10,0x538(%r15) */
		{ "e9 39 14 ac ff", 0, KEPT }, /* jmp */
		{ "49 83 7f 08 00", 0, KEPT }, /* cmpq $0,8(%r15) */
		{ "0f 85 01 00 00 00", 0, KEPT }, /* jne */
		{ "c3", 0, KEPT }, /* ret */
		{ "e9 a8 1a a7 ff", 0, KEPT }, /* jmp */
	} },
	{ "17, a stub for the first compiler's code", "new_instance Runtime1 stub", 400, -1, 2, {
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 8b ec", 1, SAVED }, /* mov %rsp,%rbp */
		{ "48 81 ec 80 00 00 00", 1, SAVED }, /* sub $0x80,%rsp */
		{ "48 89 44 24 78", 17, SAVED }, /* mov %rax,0x78(%rsp) */
		{ "c9", 17, SAVED }, /* leave */
		{ "c3", 0, KEPT }, /* ret */
	} },
	{ "17, a stub by the second compiler", "_new_instance_Java", 32, 2, 0, {
		{ "48 81 ec 18 00 00 00", 0, KEPT }, /* sub $0x18,%rsp */
		{ "48 89 6c 24 10", 3, KEPT }, /* mov %rbp,0x10(%rsp) */
		{ "8b c6", 3, SAVED }, /* mov %esi,%eax */
	} },
	{ "17, a routine with a frame", "StubRoutines (2)", 0, -1, 2, {
		{ "55", 0, KEPT }, /* push %rbp */
		{ "48 8b ec", 1, SAVED }, /* mov %rsp,%rbp */
		{ "48 83 ec 20", 1, SAVED }, /* sub $0x20,%rsp */
		{ "48 89 44 24 10", 5, SAVED }, /* mov %rax,0x10(%rsp) */
		{ "c9", 5, SAVED }, /* leave */
		{ "c3", 0, KEPT }, /* ret */
	} },
	{ "17, a stub without a frame", "native signature handlers", 0, -1, 0, {
		{ "49 8d 36", 0, KEPT }, /* lea (%r14),%rsi */
		{ "33 d2", 0, KEPT }, /* xor %edx,%edx */
		{ "c3", 0, KEPT }, /* ret */
	} },
	{ "17, a stub for exceptions", "unwind_exception Runtime1 stub", 0, -1, 0, {
		{ "48 8b 34 24", 0, KEPT }, /* mov (%rsp),%rsi */
	} },
};

enum { LISTINGS = sizeof(listings) / sizeof(listings[0]), LINES = 24 };

static void put_block(const struct listing *l)
{
	size_t at = 0, complete = 0;

	for (int i = 0; i < LINES && l->lines[i].code; i++) {
		if (i == l->done)
			complete = at;
		at = put_code(at, l->lines[i].code);
	}
	put(host.heap + BLOB + 16 + AT_DONE, l->done < 0 ? 0xffff : complete, 4);
}

/* Steps from line number n of a listing. Returns true if the caller is the right one. */
static bool steps_right(const struct listing *l, int n)
{
	const struct line *line = &l->lines[n];
	uint64_t bp = 0x1000 + 8 * UNWIND_RBP, want = call_end(SP + line->ra);
	uint64_t sp = STACK + 8 * (uint64_t)(SP + line->ra + 1);
	size_t at = 0;
	int end;

	make_host(l->kind, l->frame_size, 0);
	put_block(l);
	for (int i = 0; i < n; i++)
		at = put_code(at, l->lines[i].code);
	host.walk.regs[UNWIND_RIP] = HEAP + BLOB + CODE + at;
	if (l->frame && n >= l->frame && line->bp == SAVED)
		host.walk.regs[UNWIND_RBP] = sp - 16;
	if (line->bp == SAVED)
		bp = call_end(SP + line->ra - 1);
	end = java_step(&host, host.walk.regs[UNWIND_RIP]);
	if (end == WALK_ON && host.walk.regs[UNWIND_RIP] == want && host.walk.regs[UNWIND_RSP] == sp &&
	    host.walk.regs[UNWIND_RBP] == bp && !host.walk.unchecked)
		return true;
	printf("# %s, line %d (%s): end %d, word %d of the stack for word %d\n", l->text, n, line->code, end,
	       (int)((int64_t)(host.walk.regs[UNWIND_RSP] - STACK) / 8 - 1 - SP), line->ra);
	return false;
}

static void check_listing(const struct listing *l)
{
	int bad = 0;

	for (int i = 0; i < LINES && l->lines[i].code; i++)
		bad += !steps_right(l, i);
	check(bad == 0, l->text);
}

/* Steps from a call in code. Returns the word of the stack that is taken as the return address; -1: none. */
static int step_from_call(const char *kind, unsigned int frame_size, const char *after)
{
	size_t at;

	make_host(kind, frame_size, 4);
	at = put_code(8, "e8 00 00 00 00");
	put_code(at, after);
	host.walk.regs[UNWIND_RIP] = HEAP + BLOB + CODE + at;
	host.walk.exact = host.walk.inner = 0;
	if (java_step(&host, host.walk.regs[UNWIND_RIP] - 1) != WALK_ON)
		return -1;
	return (int)((int64_t)(host.walk.regs[UNWIND_RSP] - STACK) / 8 - 1 - SP);
}

static void check_callers(void)
{
	check(step_from_call("nmethod", 48, "8b c6") == 5, "a call leaves the frame as it is");
	check(step_from_call("nmethod", 48, "5e 5e 8b c6") == 7, "... but for two registers on the stack");
	check(step_from_call("nmethod", 48, "41 58 5e 8b c6") == 7, "... of any number");
	check(step_from_call("nmethod", 16, "5d c3") == 1, "... and rbp is not one of them");
	check(step_from_call("counter_overflow Runtime1 stub", 48, "8b c6") == 5, "a stub that has called");
}

/* Steps from a blob that deoptimizes. ra: its return address. Returns the end of the step. */
static int step_from_deopt(const char *kind, unsigned int exact, uint64_t ra)
{
	make_host(kind, 48, 4);
	put_code(8, "e8 00 00 00 00 8b c6");
	host.stack[SP + 5] = ra;
	host.walk.regs[UNWIND_RIP] = HEAP + BLOB + CODE + 13;
	host.walk.exact = host.walk.inner = exact;
	return java_step(&host, host.walk.regs[UNWIND_RIP] - !exact);
}

static void check_deopt(void)
{
	static const char *const kinds[] = { "DeoptimizationBlob", "UncommonTrapBlob" };

	for (int i = 0; i < 2; i++) {
		check(step_from_deopt(kinds[i], 0, call_end(SP + 5)) == WALK_ON &&
			      host.walk.regs[UNWIND_RIP] == call_end(SP + 5),
		      "compiled code that is deoptimized is the caller");
		check(step_from_deopt(kinds[i], 0, HEAP + INTERPRETER + 8) == WALK_BAD_RULE,
		      "... but no frame of the interpreter that has no method yet");
		check(step_from_deopt(kinds[i], 1, call_end(SP + 5)) == WALK_BAD_RULE,
		      "... and no word of the stack while frames are made");
	}
	check(step_from_deopt("resolve_static_call", 0, HEAP + INTERPRETER + 8) == WALK_ON,
	      "any other stub is called by the interpreter");
}

/* Walks over random code with registers near the stack. Returns false if a step goes down or stays. */
static bool walk_noise(void)
{
	static const char *const kinds[] = { "nmethod", "native nmethod", "Interpreter", "vtable chunks",
					     "StubRoutines (1)", "resolve_static_call", "I2C/C2I adapters",
					     "DeoptimizationBlob" };
	uint64_t before;

	make_host(kinds[random_below(8)], 8 * (unsigned int)random_below(64),
		  (unsigned int)random_below(200));
	for (int i = 0; i < CODE_BYTES; i += 8)
		put(host.heap + BLOB + CODE + i, random_u64(), 8);
	for (int i = 0; i < WORDS; i++)
		host.stack[i] = random_below(2) ? STACK + 8 * random_below(WORDS) :
						  HEAP + BLOB + CODE + random_below(CODE_BYTES);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		host.walk.regs[i] = STACK + random_below(8 * WORDS);
	host.walk.regs[UNWIND_RIP] = HEAP + BLOB + CODE + random_below(CODE_BYTES);
	for (int i = 0; i < WORDS; i++) {
		before = host.walk.regs[UNWIND_RSP];
		if (java_step(&host, host.walk.regs[UNWIND_RIP] - !host.walk.exact) != WALK_ON)
			return true;
		if (host.walk.regs[UNWIND_RSP] < before)
			return false;
	}
	return true;
}

static void check_noise(void)
{
	int bad = 0;

	for (int i = 0; i < 100000; i++)
		bad += !walk_noise();
	check(bad == 0, "100,000 walks over noise go up and end");
}

/* Two methods in the objects: each has a ConstMethod, which is followed by its bytecodes. */
enum { METHODS = 0x400, METHOD_EACH = 0x100, CONST = 0x40, CONST_SIZE = 48, BYTECODES = 20 };

static uint64_t put_method(int i)
{
	uint8_t *m = host.objects + METHODS + i * METHOD_EACH;
	uint64_t at = OBJECTS + METHODS + METHOD_EACH * (uint64_t)i;

	put(m + 8, at + CONST, 8);
	put(m + CONST + 8, OBJECTS + 0x800, 8);
	put(m + CONST + 16, BYTECODES, 2);
	return at;
}

enum register_13 { SENDER_SP, CONST_METHOD, FIRST_BYTECODE };

/* Enters method 0, where a frame of method 1 was before. pushed: words below rbp so far */
static bool enters_right(int pushed, enum register_13 r13)
{
	uint64_t mine, old, bp = STACK + 8 * (uint64_t)(SP + pushed);
	struct java_layout *y = &host.layout;

	make_host("Interpreter", 0, 0);
	y->at[JAVA_METHOD_CONST] = 8;
	y->at[JAVA_CONST_POOL] = 8;
	y->at[JAVA_CONST_CODE] = 16;
	y->at[JAVA_CONST_BYTES] = CONST_SIZE;
	mine = put_method(0);
	old = put_method(1);
	host.stack[SP + pushed - 1] = bp + 16; /* the sender's rsp */
	host.stack[SP + pushed - 3] = pushed < 3 ? old : mine;
	host.stack[SP + pushed - 8] = old + CONST + CONST_SIZE + 3; /* the old frame's bytecode */
	host.walk.regs[UNWIND_RIP] = HEAP + INTERPRETER + 64;
	host.walk.regs[UNWIND_RBP] = bp;
	host.walk.regs[UNWIND_RBX] = mine;
	host.walk.regs[13] = r13 == SENDER_SP ? bp + 16 : mine + CONST + (r13 == FIRST_BYTECODE ? CONST_SIZE : 0);
	return java_step(&host, host.walk.regs[UNWIND_RIP]) == WALK_ON && host.java.method == mine &&
	       (host.java.bci == 0 || host.java.bci == JAVA_NO_BCI) &&
	       host.walk.regs[UNWIND_RIP] == call_end(SP + pushed + 1);
}

/* Returns to an interpreted method from one that has left its own method in rbx, and rsp in r13. */
static bool resumes_right(uint32_t code)
{
	uint64_t mine, callee, bp = STACK + 8 * (SP + 9);

	enters_right(9, FIRST_BYTECODE); /* makes a whole frame of method 0 */
	mine = host.walk.regs[UNWIND_RBX];
	callee = put_method(1);
	make_host("Interpreter", 0, 0);
	host.layout.at[JAVA_METHOD_CONST] = 8;
	host.layout.at[JAVA_CONST_POOL] = 8;
	host.layout.at[JAVA_CONST_CODE] = 16;
	host.layout.at[JAVA_CONST_BYTES] = CONST_SIZE;
	put_method(0);
	put_method(1);
	host.stack[SP + 8] = bp + 16;
	host.stack[SP + 6] = mine;
	host.stack[SP + 1] = mine + CONST + CONST_SIZE + 3;
	put(host.heap + INTERPRETER + 64, code, 4);
	host.walk.regs[UNWIND_RIP] = HEAP + INTERPRETER + 64;
	host.walk.regs[UNWIND_RBP] = bp;
	host.walk.regs[UNWIND_RBX] = callee;
	host.walk.regs[13] = STACK + 8 * SP;
	return java_step(&host, host.walk.regs[UNWIND_RIP]) == WALK_ON && host.java.method == mine &&
	       host.java.bci == 3 && host.walk.regs[UNWIND_RIP] == call_end(SP + 10);
}

static void check_interpreter(void)
{
	check(enters_right(2, SENDER_SP), "a method that the interpreter enters, where another one's frame was");
	check(enters_right(2, CONST_METHOD), "... when r13 is its ConstMethod");
	check(enters_right(2, FIRST_BYTECODE), "... when r13 is its first bytecode");
	check(enters_right(3, FIRST_BYTECODE), "... when its frame has it");
	check(resumes_right(0xf0658b48) && resumes_right(0xf045c748), "a return to the interpreter");
	check(resumes_right(0xc06d8b4c), "... when the bytecode's address is read");
	check(resumes_right(0xf04d8b48) && resumes_right(0xcd648d48), "... from version 22 on");
}

int main(void)
{
	for (size_t i = 0; i < LISTINGS; i++)
		check_listing(&listings[i]);
	check_callers();
	check_interpreter();
	check_deopt();
	check_noise();
	return checks_done();
}
