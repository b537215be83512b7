/*
 * A JIT compiler whose code keeps no frame pointer, and that writes unwind information to its jitdump file,
 * jit-PID.dump in the current directory:
 *
 *	jitunwind SECONDS [none | wrong | lies | late]	of CPU time
 *
 * main calls outer, which calls jit_first, which calls middle, which calls jit_second, which calls inner,
 * which takes the time. The generated code uses rbp for something else, and different amounts of stack.
 * none: no unwind information. wrong: it is wrong by 8 bytes. lies: it is of other code (inner), of the right
 * code in records whose lengths are wrong, and of any bytes. late: in place of jit_second is a trampoline of
 * CPython, whose records the file has not got yet.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, CODE = 32, LOAD = 0, UNWINDING = 4, EH_FRAME = 64, EH_FRAME_HDR = 20 };

typedef uint64_t callee(uint64_t x);
typedef uint64_t generated(callee *f, uint64_t x);

typedef uint64_t trampoline(uint64_t x, const void *frame, int flag, callee *f);

static generated *jit[2];
static trampoline *late; /* NULL: jit[1] is called */

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline, noipa)) uint64_t inner(uint64_t x)
{
	for (int i = 0; i < 2000000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static __attribute__((noinline, noipa)) uint64_t middle(uint64_t x)
{
	return (late ? late(x, NULL, 0, inner) : jit[1](inner, x)) + 1;
}

static __attribute__((noinline, noipa)) uint64_t outer(uint64_t x)
{
	return jit[0](middle, x) + 1;
}

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* Generates a function of two arguments that calls the first with the second, with `room` bytes of stack. */
static void generate(uint8_t *p, uint32_t room)
{
	static const uint8_t code[CODE] = {
		0x55,				       /* push %rbp */
		0x48, 0xc7, 0xc5, 1,	0,    0,    0, /* mov $1,%rbp */
		0x48, 0x81, 0xec, 0,	0,    0,    0, /* sub $room,%rsp */
		0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7,    /* mov %rdi,%rax; mov %rsi,%rdi */
		0xff, 0xd0,			       /* call *%rax */
		0x48, 0x81, 0xc4, 0,	0,    0,    0, /* add $room,%rsp */
		0x5d, 0xc3,			       /* pop %rbp; ret */
	};

	memcpy(p, code, sizeof(code));
	put32(p + 11, room);
	put32(p + 26, room);
}

static void generate_late(uint8_t *p)
{
	/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
	static const uint8_t code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };

	memcpy(p, code, sizeof(code));
	__builtin___clear_cache((char *)p, (char *)p + sizeof(code));
	memcpy(&late, &p, sizeof(p));
}

/* Writes an .eh_frame. distance: from there to its code. perf takes it to be after the code. */
static void describe(uint8_t *p, int64_t distance, uint32_t room)
{
	static const uint8_t cie[] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0,
		1, 0x78, 16, 1, 0x1b, /* pointers are relative, four bytes */
		0x0c, 7, 8, 0x90, 1, 0, 0, /* CFA is rsp + 8, and the return address at CFA - 8 */
	};
	uint8_t *fde = p + sizeof(cie), *at;

	memset(p, 0, EH_FRAME);
	memcpy(p, cie, sizeof(cie));
	put32(fde, EH_FRAME - sizeof(cie) - 4 - 4);
	put32(fde + 4, sizeof(cie) + 4);
	put32(fde + 8, (uint32_t)(distance - (fde + 8 - p)));
	put32(fde + 12, CODE);
	at = fde + 16;
	*at++ = 0;
	*at++ = 0x41; /* after the push */
	*at++ = 0x0e, *at++ = 16;
	*at++ = 0x86, *at++ = 2; /* rbp is at CFA - 16 */
	*at++ = 0x40 | 14;	 /* after the subtraction */
	*at++ = 0x0e, *at++ = (uint8_t)((room + 16) & 127) | 128,
	*at++ = (uint8_t)((room + 16) >> 7 & 127) | 128, *at++ = (uint8_t)((room + 16) >> 14);
	*at++ = 0x40 | 15; /* after the addition */
	*at++ = 0x0e, *at++ = 16;
	*at++ = 0x41; /* after the pop */
	*at++ = 0xc6, *at++ = 0x0e, *at++ = 8;
}

static void put_number(FILE *f, uint64_t v, size_t bytes)
{
	fwrite(&v, bytes, 1, f);
}

static void put_record(FILE *f, uint32_t id, uint32_t size)
{
	put_number(f, id, 4);
	put_number(f, size, 4);
	put_number(f, now(CLOCK_MONOTONIC), 8);
}

/* size: of the unwind information as the record has it; there are EH_FRAME + EH_FRAME_HDR bytes. */
static void put_unwinding(FILE *f, const uint8_t *eh_frame, uint64_t size, uint64_t header)
{
	uint8_t nothing[EH_FRAME_HDR + 4] = { 0 };

	put_record(f, UNWINDING, 40 + EH_FRAME + sizeof(nothing));
	put_number(f, size, 8);
	put_number(f, header, 8);
	put_number(f, 0, 8);
	fwrite(eh_frame, EH_FRAME, 1, f);
	fwrite(nothing, sizeof(nothing), 1, f);
}

static void put_load(FILE *f, const uint8_t *at, const char *name)
{
	size_t n = strlen(name) + 1;

	put_record(f, LOAD, (uint32_t)(56 + n + CODE));
	put_number(f, (uint64_t)getpid(), 4);
	put_number(f, (uint64_t)getpid(), 4);
	put_number(f, (uintptr_t)at, 8);
	put_number(f, (uintptr_t)at, 8);
	put_number(f, CODE, 8);
	put_number(f, 1, 8);
	fwrite(name, n, 1, f);
	fwrite(at, CODE, 1, f);
}

/* Each lie is followed by a load, of code that nobody runs. */
static void tell_lies(FILE *f, uint8_t *at)
{
	uint8_t eh_frame[EH_FRAME];

	srand(7);
	for (int i = 0; i < 200; i++, at += 64) {
		describe(eh_frame, i & 1 ? (int64_t)((uintptr_t)inner - (uintptr_t)(at + CODE)) : -CODE, 48);
		for (int k = 0; i >= 16 && k < i / 8; k++)
			eh_frame[rand() % EH_FRAME] = (uint8_t)rand();
		if (i % 5 == 0)
			put32(eh_frame + 28, 4); /* the distance to its CIE: it is its own */
		put_unwinding(f, eh_frame,
			      i % 7 == 3   ? UINT64_MAX
			      : i % 7 == 4 ? 1
					   : EH_FRAME + EH_FRAME_HDR,
			      i % 7 == 5 ? UINT64_MAX - 8 : EH_FRAME_HDR);
		put_load(f, at, "a_lie");
	}
	describe(eh_frame, (int64_t)((uintptr_t)inner - (uintptr_t)(at + CODE)), 48);
	put_unwinding(f, eh_frame, EH_FRAME + EH_FRAME_HDR, EH_FRAME_HDR);
	put_load(f, at, "of_other_code");
}

static void put_header(FILE *f)
{
	put_number(f, 0x4a695444, 4);
	put_number(f, 1, 4);
	put_number(f, 40, 4);
	put_number(f, 62, 4);
	put_number(f, 0, 4);
	put_number(f, (uint64_t)getpid(), 4);
	put_number(f, now(CLOCK_MONOTONIC), 8);
	put_number(f, 0, 8);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "jit_first", "jit_second" };
	static const uint32_t rooms[] = { 48, 4096 + 32 };
	uint64_t most = argc > 1 ? (uint64_t)(strtod(argv[1], NULL) * 1e9) : 0, x = 1;
	const char *mode = argc > 2 ? argv[2] : "";
	uint8_t eh_frame[EH_FRAME], *pages;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	f = fopen(path, "w+e");
	pages = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (most == 0 || pages == MAP_FAILED || !f || setvbuf(f, NULL, _IONBF, 0) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		return 1;
	put_header(f);
	for (int i = 0; i < 2; i++) {
		uint8_t *at = pages + i * 3 * (int)PAGE / 2;

		if (i == 1 && strcmp(mode, "late") == 0) {
			generate_late(at);
			break;
		}
		generate(at, rooms[i]);
		__builtin___clear_cache((char *)at, (char *)at + CODE);
		memcpy(&jit[i], &at, sizeof(at));
		describe(eh_frame, -CODE, rooms[i] + (strcmp(mode, "wrong") == 0 ? 8 : 0));
		if (strcmp(mode, "none") != 0)
			put_unwinding(f, eh_frame, EH_FRAME + EH_FRAME_HDR, EH_FRAME_HDR);
		put_load(f, at, names[i]);
	}
	if (strcmp(mode, "lies") == 0)
		tell_lies(f, pages + 4 * PAGE);
	while (now(CLOCK_PROCESS_CPUTIME_ID) < most)
		x = outer(x);
	fclose(f);
	unlink(path);
	return x == 0;
}
