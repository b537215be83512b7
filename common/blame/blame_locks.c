#include "common/blame/blame_locks.h"

#include <inttypes.h>

#include "common/base/array.h"
#include "common/blame/lock_sums.h"

void blame_locks_note(struct blame *b, struct blame_span *span, const struct record_woken *r,
		      uint32_t holder)
{
	const struct capture *c = &b->gather.capture;
	const struct capture_lock *lock = &c->locks[r->lock];
	bool join = lock->kind == LOCK_JOIN;
	/* Each joined thread has a futex of its own, in its stack: those of a process count as one. */
	uint64_t identity[5] = { b->captures, c->processes[lock->process].pid, lock->kind,
				 join ? 0 : lock->address, holder };
	uint32_t at;

	if (!intern_add(&b->pairs, (struct slice){ (const uint8_t *)identity, sizeof(identity) }, &at))
		b->failed = true;
	else
		span->pair = at + 1;
}

/* The parts of a pair's identity. */
enum { CAPTURE, PID, KIND, ADDRESS, HOLDER, IDENTITY };

static void identity_of(const struct blame *b, uint32_t pair, uint64_t identity[IDENTITY])
{
	memcpy(identity, intern_get(&b->pairs, pair).p, IDENTITY * sizeof(*identity));
}

void blame_locks_explain(struct blame *b)
{
	for (size_t i = 0; !b->chain.failed && i < b->n_spans; i++) {
		if (b->spans[i].pair)
			chain_explain(&b->chain, b->spans[i].pair - 1, &b->spans[i].wait, b->spans[i].from,
				      b->spans[i].to);
	}
}

uint32_t blame_locks_holder(const struct blame *b, uint32_t pair)
{
	uint64_t identity[IDENTITY];

	identity_of(b, pair, identity);
	return (uint32_t)identity[HOLDER];
}

struct slice blame_locks_name(struct blame *b, uint32_t pair)
{
	uint64_t identity[IDENTITY];

	identity_of(b, pair, identity);
	buf_clear(&b->lock_name);
	buf_text(&b->lock_name, lock_kind_name(identity[KIND]));
	if (identity[ADDRESS])
		buf_printf(&b->lock_name, " 0x%" PRIx64, identity[ADDRESS]);
	buf_printf(&b->lock_name, " of pid %" PRIu64, identity[PID]);
	b->failed = b->failed || b->lock_name.failed;
	return buf_view(&b->lock_name);
}

/* Functions by which a program waits for a lock: the caller of the outermost one is the place of interest. */
static bool is_lock_call(struct slice name)
{
	static const char *const begins[] = {
		"pthread_",   "__pthread_",  "___pthread_",  "__GI_",     "__lll_",	 "lll_",
		"___lll_",
		"futex_",     "__futex_",    "do_futex_",    "sem_",	  "__sem_",	 "__new_sem_",
		"syscall",    "std::mutex",  "std::__1::",   "uv_mutex_", "uv_cond_", "uv_sem_", "__gthread_",
		"std::lock_", "std::unique", "std::thread::join", "std::condition_variable",
		"[libc",      "[libpthread", "[sleeping]",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (slice_begins(name, begins[i]))
			return true;
	}
	return false;
}

static bool is_kernel_entry(struct slice name)
{
	return slice_begins(name, "entry_SYSCALL") || slice_is(name, "do_syscall_64") ||
	       slice_begins(name, "el0t_64_sync") || slice_is(name, "el0_svc") ||
	       slice_is(name, "x64_sys_call");
}

struct slice blame_locks_site(const struct blame *b, uint32_t node)
{
	const struct profile *wall = &b->wall;
	uint32_t from = node, depth = 0;

	for (uint32_t n = node; n; n = wall->nodes[n].parent) {
		if (is_kernel_entry(profile_text(wall, wall->nodes[n].label)))
			from = wall->nodes[n].parent;
	}
	while (from && is_lock_call(profile_text(wall, wall->nodes[from].label)))
		from = wall->nodes[from].parent;
	for (uint32_t n = from; n; n = wall->nodes[n].parent)
		depth++;
	if (depth <= b->roots)
		return slice_of("[unknown]");
	return profile_text(wall, wall->nodes[from].label);
}

void blame_locks_sum(struct blame *b)
{
	struct lock_sums *sums = b->asked->locks;

	for (size_t i = 0; sums && i < b->n_spans; i++) {
		const struct blame_span *s = &b->spans[i];
		uint64_t identity[IDENTITY], ns = s->to - s->from;
		uint32_t lock;

		if (!s->pair)
			continue;
		identity_of(b, s->pair - 1, identity);
		lock = lock_sums_wait(sums, blame_locks_name(b, s->pair - 1), (enum lock_kind)identity[KIND],
				      ns);
		if (identity[HOLDER] != CHAIN_NO_THREAD)
			lock_sums_part(sums, lock, LOCK_HOLDER,
				       profile_text(&b->wall, b->threads[identity[HOLDER]].label), ns);
		lock_sums_part(sums, lock, LOCK_WAITER, profile_text(&b->wall, b->threads[s->wait.thread].label),
			       ns);
		lock_sums_part(sums, lock, LOCK_SITE, blame_locks_site(b, s->wait.place), ns);
		if (s->wait.waking)
			lock_sums_part(sums, lock, LOCK_RELEASE, blame_locks_site(b, s->wait.waking), ns);
	}
	b->failed = b->failed || (sums && sums->failed);
}
