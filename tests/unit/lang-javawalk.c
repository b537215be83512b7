/* Steps through compiled code and stubs of HotSpot, on the host: one before each instruction. */
#include "tests/unit/lang-javawalk.h"

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

int main(void)
{
	for (size_t i = 0; i < LISTINGS; i++)
		check_listing(&listings[i]);
	check_callers();
	check_deopt();
	check_noise();
	return checks_done();
}
