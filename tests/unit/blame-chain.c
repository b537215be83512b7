/* Chains of waits with a known division, and random ones whose pieces must add up to the whole. */
#include "common/blame/chain.h"
#include "common/blame/culprits.h"
#include "tests/lib/check.h"

enum { A, B, C, THREADS = 5 };

static uint64_t sum_of(const struct chain *c, enum chain_kind kind, uint32_t what)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_links; i++)
		n += c->links[i].kind == kind && (what == UINT32_MAX || c->links[i].what == what)
			     ? c->links[i].ns
			     : 0;
	return n;
}

static uint64_t sum_of_all(const struct chain *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_links; i++)
		n += c->links[i].ns;
	return n;
}

static struct chain_wait wait_of(uint32_t thread, uint64_t start, uint64_t woken, uint64_t on, uint32_t waker)
{
	return (struct chain_wait){
		.start = start,
		.woken = woken,
		.on = on,
		.thread = thread,
		.waker = waker,
		.place = 10 + thread,
		.queue = 20 + thread,
		.by = waker == CHAIN_NO_THREAD ? WOKEN_BY_TIMER : WOKEN_BY_TASK,
	};
}

/* A sleeps from 0 to 100. B, which wakes it, sleeps from 20 to 50 and is queued until 60. */
static void check_known(void)
{
	const struct chain_wait a = wait_of(A, 0, 100, 101, B), b = wait_of(B, 20, 50, 60, CHAIN_NO_THREAD);
	struct chain c;

	chain_init(&c);
	chain_wait(&c, &a);
	chain_wait(&c, &b);
	chain_part(&c, &(struct chain_part){ 5, 10, B, 1, false });
	chain_part(&c, &(struct chain_part){ 70, 30, B, 2, false });
	chain_part(&c, &(struct chain_part){ 80, 20, B, 3, true });
	chain_part(&c, &(struct chain_part){ 40, 99, B, 4, false }); /* it slept then */
	chain_part(&c, &(struct chain_part){ 101, 99, B, 4, false });
	chain_sort(&c);
	chain_explain(&c, 7, &a, 0, 100);
	chain_settle(&c);
	check_is(sum_of(&c, CHAIN_BY, WOKEN_BY_TIMER), 30, "asleep until its timer");
	check_is(sum_of(&c, CHAIN_QUEUE, 20 + B), 10, "queued");
	check_is(sum_of(&c, CHAIN_SHORT, 3), 20, "short waits keep their time");
	check(sum_of(&c, CHAIN_PART, 1) == 10 && sum_of(&c, CHAIN_PART, 2) == 30, "samples share the rest");
	check(sum_of(&c, CHAIN_RAN, B) == 0 && sum_of(&c, CHAIN_PART, 4) == 0, "and no others");
	check_is(sum_of_all(&c), 100, "all of it");
	check(c.links[0].kind == CHAIN_ROOT && c.links[0].what == 7, "below its place");
	chain_release(&c);
}

static void check_window(void)
{
	const struct chain_wait a = wait_of(A, 0, 100, 101, B), b = wait_of(B, 20, 50, 60, C);
	struct chain c;

	chain_init(&c);
	chain_wait(&c, &a);
	chain_wait(&c, &b);
	chain_part(&c, &(struct chain_part){ 50, 1, C, 1, false });
	chain_sort(&c);
	chain_explain(&c, 7, &a, 40, 55);
	chain_settle(&c);
	check_is(sum_of(&c, CHAIN_NOT_RECORDED, UINT32_MAX), 10, "a waker of which nothing is known");
	check(sum_of(&c, CHAIN_QUEUE, 20 + B) == 5 && sum_of_all(&c) == 15, "a part of a wait");
	chain_release(&c);
	chain_init(&c);
	chain_wait(&c, &a);
	chain_since(&c, B, 70);
	chain_since(&c, B, 90);
	chain_sort(&c);
	chain_explain(&c, 7, &a, 10, 100);
	chain_settle(&c);
	check(sum_of(&c, CHAIN_NOT_STARTED, 0) == 60 && sum_of(&c, CHAIN_RAN, B) == 30,
	      "a waker that began later");
	chain_release(&c);
}

/* Each has woken the other at the same moment, which cannot be. */
static void check_loop(void)
{
	const struct chain_wait a = wait_of(A, 0, 100, 100, B), b = wait_of(B, 0, 100, 100, A);
	struct chain c;

	chain_init(&c);
	chain_wait(&c, &a);
	chain_wait(&c, &b);
	chain_sort(&c);
	chain_explain(&c, 1, &a, 0, 100);
	chain_settle(&c);
	check(sum_of(&c, CHAIN_TOO_DEEP, UINT32_MAX) == 100 && sum_of_all(&c) == 100, "a loop ends");
	chain_release(&c);
}

/* Waits of any length, by any waker; every third capture has waits that overlap. */
static void check_random(uint64_t seed)
{
	struct chain c;
	uint64_t whole = 0, roots[THREADS] = { 0 };
	size_t n;
	bool good = true;

	random_state = seed;
	chain_init(&c);
	for (uint32_t t = 0; t < THREADS; t++) {
		for (uint64_t at = random_below(50); at < 3000;) {
			uint64_t woken = at + random_below(200), on = woken + random_below(20);
			uint32_t waker = random_below(4) ? (uint32_t)random_below(THREADS) : CHAIN_NO_THREAD;
			struct chain_wait w = wait_of(t, at, woken, on, waker);

			chain_wait(&c, &w);
			at = seed % 3 ? on + random_below(100) : at + random_below(100);
		}
		for (int i = 0; i < 100; i++)
			chain_part(&c, &(struct chain_part){ random_below(3000), random_below(40), t,
							     (uint32_t)random_below(5), random_below(2) });
	}
	chain_sort(&c);
	n = c.n_waits;
	for (size_t i = 0; i < n; i++) {
		const struct chain_wait w = c.waits[i];

		chain_explain(&c, w.thread, &w, w.start, w.woken);
		roots[w.thread] += w.woken - w.start;
		whole += w.woken - w.start;
	}
	chain_settle(&c);
	for (size_t i = 0; i < c.n_links; i++)
		roots[c.links[c.links[i].root].what] -= c.links[i].ns;
	for (uint32_t t = 0; t < THREADS; t++)
		good = good && roots[t] == 0;
	check(good && !c.failed && sum_of_all(&c) == whole, "random waits: the pieces add up");
	chain_release(&c);
}

/* A sample of 50 ns */
static void add_sample(struct culprits *c, uint32_t cpu, uint64_t time, uint32_t thread)
{
	culprits_sample(c, &(struct culprit_sample){ time, 50, cpu, thread, thread });
}

/* A was in the queue of CPU 1 from 100 to 200 and from 300 to 400, B in that of CPU 2. */
static void check_culprits(void)
{
	struct culprits c = { 0 };

	culprits_queue(&c, 1, A, 300, 400);
	culprits_queue(&c, 1, A, 100, 200);
	culprits_queue(&c, 2, B, 100, 130);
	add_sample(&c, 1, 350, C);
	add_sample(&c, 1, 199, C);
	add_sample(&c, 1, 100, B);
	add_sample(&c, 1, 150, A); /* it cannot have run */
	add_sample(&c, 1, 200, B); /* afterwards */
	add_sample(&c, 2, 99, C);
	culprits_find(&c);
	check(c.n_found == 3 && c.found[0].who == B && c.found[0].ns == 66 && c.found[1].who == C &&
		      c.found[1].ns == 134,
	      "the samples of all times in the queue share them");
	check(c.found[2].who == CULPRITS_NOBODY && c.found[2].thread == B && c.found[2].ns == 30,
	      "nobody was sampled");
	check(c.hits > 2.7 && c.hits < 3, "three samples");
	culprits_release(&c);
}

/* The samples stand for half of the time: by chance if there are few, but not if there are many. */
static void check_lacking(uint32_t n, uint64_t expected, const char *what)
{
	struct culprits c = { 0 };

	culprits_queue(&c, 1, A, 0, n * 100);
	for (uint32_t i = 0; i < n; i++)
		add_sample(&c, 1, i * 100, i % 2 ? B : C);
	culprits_find(&c);
	check(c.found[0].ns + c.found[1].ns == expected &&
		      (c.n_found == 2 || (c.n_found == 3 && c.found[2].who == CULPRITS_NOBODY &&
					  c.found[2].ns == n * 100 - expected)),
	      what);
	culprits_release(&c);
}

int main(void)
{
	check_culprits();
	check_lacking(4, 400, "few samples share all of the time");
	check_lacking(100, 5000, "many share their own, and the rest is nobody's");
	check_known();
	check_window();
	check_loop();
	for (uint64_t seed = 1; seed <= 20; seed++)
		check_random(seed);
	return checks_done();
}
