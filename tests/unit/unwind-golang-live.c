/*
 * Checks a Go program's rules against its execution: its main thread is stepped, instruction by instruction.
 *
 *	unwind-golang-live STEPS PROGRAM
 *
 * The program is a static one at fixed addresses. At each call the new frame is known: CFA is rsp + 8, the
 * caller's rbp is in rbp, the caller's frame is the one that was running. At each return the caller's frame
 * runs again. So the right rule is known at each instruction, whatever the code has done to rsp and rbp by
 * then. Every 64 instructions the whole stack is walked by the rules, and must give these frames.
 *
 * After a switch to another goroutine (gogo jumps there) the running frame is unknown until the next call or
 * return. Other threads run freely: a frame that they have overwritten is forgotten.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/idmap.h"
#include "tests/unit/unwind-golang.h"

enum { WALK_EVERY = 64, SHOWN = 20 };

struct frame {
	uint64_t cfa, ra, bp; /* the caller's */
	uint64_t caller;      /* CFA of the caller's frame; 0: not known */
};

struct counts {
	size_t steps, right, unknown, silent, outside, wrong;
	size_t walks, frames, complete, moved, lost, wrong_frames;
};

struct live {
	pid_t pid;
	int mem;
	struct table t;
	struct idmap by_cfa; /* to the index of a frame + 1 */
	struct frame *frames;
	size_t n_frames;
	uint64_t running; /* CFA of the frame that runs */
	struct counts n;
};

/* The registers that matter. */
struct regs {
	uint64_t ip, sp, bp;
};

static bool peek(const struct live *l, uint64_t at, void *to, size_t n)
{
	return pread(l->mem, to, n, (off_t)at) == (ssize_t)n;
}

static struct frame *frame_of(const struct live *l, uint64_t cfa)
{
	uint32_t i;
	uint64_t ra;

	if (cfa == 0 || !idmap_find(&l->by_cfa, cfa, &i))
		return NULL;
	/* It may have been overwritten. */
	return peek(l, cfa - 8, &ra, 8) && ra == l->frames[i].ra ? &l->frames[i] : NULL;
}

static void begin_frame(struct live *l, const struct frame *frame)
{
	uint32_t i;

	if (!idmap_find(&l->by_cfa, frame->cfa, &i)) {
		i = (uint32_t)l->n_frames++;
		idmap_set(&l->by_cfa, frame->cfa, i);
	}
	l->frames[i] = *frame;
	l->running = frame->cfa;
}

static const struct unwind_rule *rule_of(const struct live *l, uint64_t pc)
{
	for (size_t i = 0; i < l->t.f->n_segments; i++) {
		const struct elf_segment *seg = &l->t.f->segments[i];
		const struct span *s;

		if (!seg->exec || pc - seg->vaddr >= seg->filesz)
			continue;
		s = table_find(&l->t, pc - seg->vaddr + seg->offset);
		return s ? &l->t.s.rules[s->rule] : NULL;
	}
	return NULL;
}

/* Computes CFA and the caller's rbp by the rule. Returns false if it gives none. *lost: rbp is unknown. */
static bool apply(const struct live *l, const struct unwind_rule *r, const struct regs *g, uint64_t *cfa, uint64_t *bp,
		  bool *lost)
{
	*cfa = (r->kind == UNWIND_SWITCH ? g->bp : g->sp) + (uint64_t)(int64_t)r->cfa;
	*lost = r->bp == UNWIND_LOST;
	*bp = g->bp;
	if (r->kind != UNWIND_CFA_RSP && r->kind != UNWIND_SWITCH)
		return false;
	return r->bp != UNWIND_AT_CFA || peek(l, *cfa + (uint64_t)(int64_t)r->bp_at, bp, 8);
}

static void check_step(struct live *l, const struct regs *g)
{
	const struct unwind_rule *r = rule_of(l, g->ip);
	const struct frame *frame = frame_of(l, l->running);
	uint64_t cfa, bp;
	bool lost;

	if (!r)
		l->n.outside++;
	else if (!apply(l, r, g, &cfa, &bp, &lost))
		l->n.silent++;
	else if (!frame)
		l->n.unknown++;
	else if (cfa == frame->cfa && (lost || bp == frame->bp))
		l->n.right++;
	else if (l->n.wrong++ < SHOWN)
		printf("# %llx: CFA %llx, is %llx; rbp %llx, is %llx\n", (unsigned long long)g->ip, (unsigned long long)cfa,
		       (unsigned long long)frame->cfa, (unsigned long long)bp, (unsigned long long)frame->bp);
}

/* Walks the whole stack: each frame must be the caller of the one before. */
static void check_walk(struct live *l, struct regs g)
{
	uint64_t must = l->running, depth = 0, from = g.ip;

	l->n.walks++;
	for (;; depth++) {
		const struct unwind_rule *r = rule_of(l, g.ip - (depth > 0));
		const struct frame *frame = frame_of(l, must);
		uint64_t cfa, bp, ra;
		bool lost;

		if (!r || !apply(l, r, &g, &cfa, &bp, &lost)) {
			l->n.complete += r && r->kind == UNWIND_STOP;
			return;
		}
		if (!frame) {
			l->n.lost++;
			return;
		}
		l->n.moved += r->kind == UNWIND_SWITCH && depth > 0;
		if (cfa != frame->cfa || !peek(l, cfa - 8, &ra, 8) || ra != frame->ra || (!lost && bp != frame->bp)) {
			if (l->n.wrong_frames++ < SHOWN)
				printf("# from %llx: frame %llu at %llx\n", (unsigned long long)from, (unsigned long long)depth,
				       (unsigned long long)g.ip);
			return;
		}
		l->n.frames++;
		must = frame->caller;
		g = (struct regs){ ra, cfa, bp };
	}
}

/* Updates the frames for the instruction before. */
static void follow(struct live *l, const struct regs *before, const struct regs *g)
{
	uint64_t word = 0;
	const struct frame *frame;
	bool jumped = g->ip < before->ip || g->ip > before->ip + 15;

	if (g->sp == before->sp - 8 && peek(l, g->sp, &word, 8) && word > before->ip && word <= before->ip + 8 &&
	    g->ip != word) {
		begin_frame(l, &(struct frame){ g->sp + 8, word, g->bp, frame_of(l, l->running) ? l->running : 0 });
		return;
	}
	if (!jumped)
		return;
	frame = frame_of(l, g->sp);
	if (g->sp == before->sp + 8 && frame && frame->ra == g->ip)
		l->running = frame->caller; /* ret */
	else if (g->sp == before->sp + 8)
		l->running = 0;
	else if (rule_of(l, before->ip) && rule_of(l, before->ip)->kind == UNWIND_BAD)
		l->running = 0; /* gogo */
}

static int trace(struct live *l, size_t steps)
{
	struct regs before = { 0 };
	int signal = 0;

	for (; l->n.steps < steps; l->n.steps++) {
		struct user_regs_struct u;
		struct regs g;
		int status;

		if (ptrace(PTRACE_GETREGS, l->pid, NULL, &u) != 0)
			return 1;
		g = (struct regs){ u.rip, u.rsp, u.rbp };
		follow(l, &before, &g);
		check_step(l, &g);
		if (l->n.steps % WALK_EVERY == 0)
			check_walk(l, g);
		before = g;
		if (ptrace(PTRACE_SINGLESTEP, l->pid, NULL, signal) != 0 || waitpid(l->pid, &status, __WALL) != l->pid)
			return 1;
		if (!WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct live l = { 0 };
	char path[64];
	size_t steps;
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: unwind-golang-live STEPS PROGRAM\n");
		return 2;
	}
	steps = strtoul(argv[1], NULL, 10);
	l.frames = calloc(steps + 1, sizeof(*l.frames));
	idmap_init(&l.by_cfa);
	if (!l.frames || !table_open(&l.t, argv[2]))
		return 1;
	l.pid = fork();
	if (l.pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		setenv("GOMAXPROCS", "1", 1);
		setenv("GODEBUG", "asyncpreemptoff=1", 1);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execl(argv[2], argv[2], (char *)NULL);
		_exit(127);
	}
	if (waitpid(l.pid, &status, 0) != l.pid || !WIFSTOPPED(status)) {
		printf("steps=0\n");
		return 77;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)l.pid);
	l.mem = open(path, O_RDONLY | O_CLOEXEC);
	status = l.mem < 0 || trace(&l, steps);
	kill(l.pid, SIGKILL);
	printf("steps=%zu right=%zu unknown=%zu silent=%zu outside=%zu wrong=%zu\n", l.n.steps, l.n.right, l.n.unknown,
	       l.n.silent, l.n.outside, l.n.wrong);
	printf("walks=%zu frames=%zu complete=%zu moved=%zu lost=%zu wrong=%zu\n", l.n.walks, l.n.frames, l.n.complete,
	       l.n.moved, l.n.lost, l.n.wrong_frames);
	idmap_release(&l.by_cfa);
	free(l.frames);
	table_close(&l.t);
	return fflush(stdout) != 0 || status;
}
