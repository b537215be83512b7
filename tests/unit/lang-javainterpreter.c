/* Steps through methods in HotSpot's interpreter, on the host: where they are entered, resumed and left. */
#include "tests/unit/lang-javawalk.h"

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
	host.walk.regs[13] =
		r13 == SENDER_SP ? bp + 16 : mine + CONST + (r13 == FIRST_BYTECODE ? CONST_SIZE : 0);
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

/* How far the exit of a method is. */
enum leaving { LEFT, POPPED, MOVED };

struct exit_line {
	const char *code;
	enum leaving done; /* before it */
};

/*
 * Leaves an interpreted method, whose sender has three words of arguments on the stack, for another one.
 * Returns true if the caller is the right one before each instruction.
 */
static bool leaves_right(const struct exit_line *lines)
{
	uint64_t ra = call_end(SP), sender = STACK + 8 * (SP + 4), bp = STACK + 8 * (SP + 20), at = 65;
	int bad = 0;

	for (const struct exit_line *l = lines; l->code; l++) {
		enters_right(9, FIRST_BYTECODE);
		put_method(1);
		host.stack[SP + 20 - 3] = OBJECTS + METHODS + METHOD_EACH; /* the caller's frame */
		host.stack[SP + 20 - 1] = bp + 16;
		host.heap[INTERPRETER + 64] = 0xc9;
		for (size_t to = BLOB + CODE, k = 0; lines[k].code; k++) {
			size_t n = put_code(to - BLOB - CODE, lines[k].code);

			memcpy(host.heap + INTERPRETER + 65 + (to - BLOB - CODE), host.heap + to,
			       BLOB + CODE + n - to);
			to = BLOB + CODE + n;
		}
		host.walk.exact = host.walk.inner = 1;
		host.walk.regs[UNWIND_RIP] = HEAP + INTERPRETER + at;
		host.walk.regs[UNWIND_RSP] = l->done == LEFT   ? STACK + 8 * SP :
					     l->done == POPPED ? STACK + 8 * (SP + 1) : sender;
		host.walk.regs[UNWIND_RBP] = bp;
		host.walk.regs[UNWIND_RBX] = sender;
		host.walk.regs[13] = l->done == LEFT ? OBJECTS + METHODS + CONST + CONST_SIZE + 3 : ra;
		host.stack[SP] = ra;
		if (java_step(&host, HEAP + INTERPRETER + at) != WALK_ON ||
		    host.walk.regs[UNWIND_RIP] != ra || host.walk.regs[UNWIND_RSP] != sender ||
		    host.walk.regs[UNWIND_RBP] != bp) {
			printf("# before %s\n", l->code);
			bad++;
		}
		at += (strlen(l->code) + 1) / 3;
	}
	return bad == 0;
}

static void check_exit(void)
{
	/* As -XX:+PrintInterpreter prints them */
	static const struct exit_line exit17[] = {
		{ "41 5d", LEFT },     /* pop %r13 */
		{ "48 8b e3", POPPED }, /* mov %rbx,%rsp */
		{ "41 ff e5", MOVED }, /* jmp *%r13 */
		{ NULL, LEFT },
	};
	static const struct exit_line exit25[] = {
		{ "41 c6 87 be 03 00 00 00", LEFT },		/* movb $0,0x3be(%r15) */
		{ "41 5d", LEFT },				/* pop %r13 */
		{ "48 8b e3", POPPED },				/* mov %rbx,%rsp */
		{ "49 3b a7 20 06 00 00", MOVED },		/* cmp 0x620(%r15),%rsp */
		{ "72 0b", MOVED },				/* jb */
		{ "49 c7 87 20 06 00 00 00 00 00 00", MOVED },	/* movq $0,0x620(%r15) */
		{ "41 ff e5", MOVED },				/* jmp *%r13 */
		{ NULL, LEFT },
	};

	check(leaves_right(exit17), "a method that the interpreter leaves");
	check(leaves_right(exit25), "... with what version 25 does there");
	check(leaves_right(exit25 + 1), "... and versions 19 to 24");
}

static void check_interpreter(void)
{
	check(enters_right(2, SENDER_SP),
	      "a method that the interpreter enters, where another one's frame was");
	check(enters_right(2, CONST_METHOD), "... when r13 is its ConstMethod");
	check(enters_right(2, FIRST_BYTECODE), "... when r13 is its first bytecode");
	check(enters_right(3, FIRST_BYTECODE), "... when its frame has it");
	check(resumes_right(0xf0658b48) && resumes_right(0xf045c748), "a return to the interpreter");
	check(resumes_right(0xc06d8b4c), "... when the bytecode's address is read");
	check(resumes_right(0xf04d8b48) && resumes_right(0xcd648d48), "... from version 22 on");
}

int main(void)
{
	check_interpreter();
	check_exit();
	return checks_done();
}
