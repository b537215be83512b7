/* Marks of machine frames, and the stacks that they make. */
#include <stdlib.h>
#include <string.h>

#include "bpf/sample.h"
#include "cmd/cprof-record/lang/runtimes.h"
#include "common/stream/record.h"
#include "tests/lib/check.h"

enum { METHOD = 7, OTHER = 8, PLACE = 9, FULL = 10, UNKNOWN = 99, ROOM = SAMPLE_DEPTH_MAX + LANG_FRAMES };

static struct runtimes r;
static struct proc p;
static uint64_t addresses[ROOM + 1], slots[LANG_SLOTS];
static uint32_t fps[SAMPLE_DEPTH_MAX];
static struct user_stack out = { .addresses = addresses, .fps = fps };
static int n_slots;

/* Frame 1 alone is in memory without a file. */
bool runtimes_is_memory(const struct proc *of, uint64_t address)
{
	return of == &p && address == 0x2000;
}

enum lang_state runtimes_missing_state(const struct runtimes *of, const struct proc *q, uint64_t time)
{
	return of == &r && q == &p && time == 5 ? LANG_NOT_YET : LANG_OK;
}

static void take_function(uint32_t id)
{
	static struct lang_function f;

	f = (struct lang_function){ .language = LANG_JAVA, .id = id, .name_n = 1 };
	f.name[0] = (uint8_t)('a' + id);
	script_functions_take(&r.functions, &f, (struct script_place){ 0 });
}

static void take_code(uint32_t id, const struct lang_place *places, size_t n)
{
	static struct lang_code code;

	code = (struct lang_code){ .language = LANG_JAVA | LANG_RECORD_CODE, .id = id,
				   .tier = LANG_TIER_OPTIMIZED, .n = (uint32_t)(n * sizeof(*places)) };
	memcpy(code.bytes, places, n * sizeof(*places));
	lang_codes_take(&r.codes, &code);
}

/* A stack of n frames at 0x1000, 0x2000, ...; frames from `finished` on were found by user space. */
static void begin(int n, int finished)
{
	for (int i = 0; i < n; i++)
		addresses[i] = 0x1000 * (uint64_t)(i + 1);
	out.n = n;
	out.finished = finished;
	n_slots = 0;
}

static void mark(uint32_t key, uint32_t function, uint32_t code, uint32_t at)
{
	struct lang_mark m = { key, function, code, at };

	memcpy(slots + n_slots, &m, sizeof(m));
	n_slots += 2;
}

static void put(void)
{
	runtimes_put_marks(&r, &p, slots, n_slots, 5, &out);
}

static bool is_function(int i, uint32_t function, uint32_t position, uint32_t tier, bool inlined)
{
	return addresses[i] == (STACK_LANG | function | (uint64_t)position << LANG_POSITION_SHIFT |
				(uint64_t)tier << STACK_LANG_TIER_SHIFT | (inlined ? STACK_LANG_INLINED : 0));
}

static bool is_state(int i, enum lang_state state)
{
	return addresses[i] == (STACK_LANG | (uint64_t)state << LANG_POSITION_SHIFT |
				(uint64_t)LANG_JAVA << (LANG_POSITION_SHIFT + STACK_LANG_STATE_BITS));
}

static void check_frames(void)
{
	begin(3, 3);
	mark(1, METHOD, 0, 33);
	put();
	check(out.n == 3 && addresses[0] == 0x1000 && addresses[2] == 0x3000 &&
		      is_function(1, METHOD, 33, LANG_TIER_INTERPRETED, false),
	      "a mark takes the place of its frame");
	begin(3, 3);
	mark(1, METHOD, PLACE, 0);
	put();
	check(out.n == 5 && is_function(1, OTHER, 1, LANG_TIER_OPTIMIZED, true) &&
		      is_state(2, LANG_UNREADABLE) && is_function(3, METHOD, 2, LANG_TIER_OPTIMIZED, false) &&
		      addresses[4] == 0x3000,
	      "code gives inlined functions, also one that could not be read");
	begin(3, 3);
	mark(1, METHOD, UNKNOWN, 4);
	put();
	check(out.n == 3 && is_function(1, METHOD, STACK_LANG_POSITION, LANG_TIER_NONE, false),
	      "code that was lost leaves the outer function without a position");
	begin(3, 3);
	mark(1, UNKNOWN, 0, 4);
	put();
	check(is_state(1, LANG_LOST), "a function that was lost is a state");
	begin(3, 3);
	mark(0, 0, LANG_OVER_BUDGET, 0);
	mark(1, 0, LANG_OK, 0);
	put();
	check(out.n == 3 && is_state(0, LANG_OVER_BUDGET) && addresses[1] == 0x1000 &&
		      addresses[2] == 0x3000,
	      "a state comes before its frame, and a mark of nothing takes it away");
	begin(2, 2);
	mark(1, METHOD, 0, 1 | LANG_MARK_STAYS);
	put();
	check(out.n == 3 && is_function(1, METHOD, 1, LANG_TIER_INTERPRETED, false) && addresses[2] == 0x2000,
	      "a machine frame that stays is below its function");
}

static void check_keys(void)
{
	begin(3, 3);
	mark(0, METHOD, 0, 1);
	mark(7, OTHER, 0, 2);
	mark(2, METHOD, 0, 3);
	put();
	check(is_function(0, METHOD, 1, LANG_TIER_INTERPRETED, false) && addresses[1] == 0x2000 &&
		      is_function(2, METHOD, 3, LANG_TIER_INTERPRETED, false),
	      "a mark of a frame that the stack does not have is passed");
	begin(4, 1);
	for (int i = 0; i < 4; i++)
		fps[i] = i < 3 ? 0x100 : 0x200; /* frames 1 and 2 have no frame pointer of their own */
	mark(0x100, METHOD, 0, 1 | LANG_MARK_FP);
	mark(0x200, OTHER, 0, 2 | LANG_MARK_FP);
	put();
	check(addresses[0] == 0x1000 && addresses[1] == 0x2000 &&
		      is_function(2, METHOD, 1, LANG_TIER_INTERPRETED, false) &&
		      is_function(3, OTHER, 2, LANG_TIER_INTERPRETED, false),
	      "a mark by frame pointer is of the outermost frame that has it");
	begin(2, 2);
	fps[0] = fps[1] = 0x100;
	mark(0x100, METHOD, 0, 1 | LANG_MARK_FP);
	put();
	check(addresses[0] == 0x1000 && addresses[1] == 0x2000,
	      "... and never of frames that the program has walked");
	begin(2, 2);
	put();
	check(out.n == 3 && addresses[0] == 0x1000 && is_state(1, LANG_NOT_YET) && addresses[2] == 0x2000,
	      "without marks the innermost frame in memory has the reason");
}

static void check_full(void)
{
	begin(SAMPLE_DEPTH_MAX, SAMPLE_DEPTH_MAX);
	addresses[ROOM] = 1234;
	for (uint32_t i = 0; i < LANG_FRAMES / 2; i++)
		mark(i, METHOD, FULL, 0);
	put();
	check(out.n == ROOM && addresses[ROOM] == 1234, "a stack ends where its memory does");
	begin(SAMPLE_DEPTH_MAX, SAMPLE_DEPTH_MAX);
	for (uint32_t i = 0; i < LANG_FRAMES / 2; i++)
		mark(i, METHOD, 0, 0);
	put();
	check(out.n == SAMPLE_DEPTH_MAX, "... and has all frames if they fit");
}

int main(void)
{
	struct lang_place places[LANG_LEVELS];

	r.images[0].language = LANG_JAVA;
	p.lang.image = 1;
	script_functions_init(&r.functions);
	lang_codes_init(&r.codes, r.images);
	take_function(METHOD);
	take_function(OTHER);
	for (int i = 0; i < LANG_LEVELS; i++)
		places[i] = (struct lang_place){ OTHER, (uint32_t)i };
	take_code(FULL, places, LANG_LEVELS);
	places[0] = (struct lang_place){ OTHER, 1 };
	places[1] = (struct lang_place){ 0, LANG_UNREADABLE };
	places[2] = (struct lang_place){ METHOD, 2 };
	take_code(PLACE, places, 3);
	check_frames();
	check_keys();
	check_full();
	lang_codes_release(&r.codes);
	script_functions_release(&r.functions);
	return checks_done();
}
