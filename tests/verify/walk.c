#include "tests/verify/walk.h"

#include <stdlib.h>

enum { DEPTH_MAX = 1023 };

static void push(struct chain *c, uint64_t pc, bool exact)
{
	if (!c->frames) {
		c->frames = calloc(DEPTH_MAX, sizeof(*c->frames));
		if (!c->frames)
			die("out of memory");
	}
	c->frames[c->n++] = (struct frame){ pc, exact };
}

void walk_fp(struct states *all, struct state *s)
{
	uint64_t bp = s->regs[UNWIND_RBP], sp = s->regs[UNWIND_RSP], saved[2];
	struct chain *c = &s->ours;

	push(c, s->regs[UNWIND_RIP], true);
	c->end = CHAIN_CUT;
	c->why = "no frame pointer";
	while (c->n < DEPTH_MAX && bp >= sp && state_read(all, s, bp, saved, sizeof(saved)) && saved[1]) {
		push(c, saved[1], false);
		sp = bp + sizeof(saved);
		bp = saved[0];
	}
}
