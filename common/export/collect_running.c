#include "common/export/collect_running.h"

#include "common/export/collect_sums.h"
#include "common/select/recordings.h"

bool collect_running_asked(const struct collect *c)
{
	const struct view *v = c->view;

	return v->wall && v->weight == WEIGHT_NS && v->half == HALF_BOTH && !c->s->timed;
}

/* Before the segment's first sample, time counts from the recording's, if that is known. */
static struct select select_of(const struct collect *c)
{
	uint64_t base = c->based ? c->base : recordings_base(c->view->recordings, &c->capture, UINT64_MAX);

	return (struct select){ c->view, &c->capture, base };
}

static struct slice bytes_of(const struct collect_key *key)
{
	return (struct slice){ (const uint8_t *)key, sizeof(*key) };
}

static struct collect_key key_of(const struct collect *c, uint64_t thread)
{
	const struct capture_thread *t = &c->capture.threads[thread];

	return (struct collect_key){
		.process = t->process,
		.thread = (uint32_t)thread,
		.comm = t->comm,
		.event = COLLECT_RAN,
		.cgroup = c->capture.processes[t->process].cgroup,
	};
}

/* If times count from the first sample, there is no time before it. */
static bool is_based(struct collect *c, const struct record_ran *part)
{
	const struct view *v = c->view;
	uint64_t base = recordings_base(v->recordings, &c->capture, part->time);

	if (!c->based && base < part->time) {
		c->based = true;
		c->base = base;
	}
	return c->based || (v->from.kind != TIME_ARG_OFFSET && v->to.kind != TIME_ARG_OFFSET);
}

/* Compares the run time inside the window with the samples since the previous RAN of the thread. */
static const char *add_ran(struct collect *c, const struct record_ran *part)
{
	const struct select select = select_of(c);
	const char *wrong;
	struct collect_key key;
	uint32_t who, id;

	if (part->span == 0 || !select_thread(&select, part->thread) || !is_based(c, part)) {
		running_drop(&c->running, part->thread);
		return NULL;
	}
	wrong = collect_claim(c, part->ns);
	if (wrong)
		return wrong;
	key = key_of(c, part->thread);
	if (!collect_add_key(c, &key, 0, part->ns, &id) || !intern_add(&c->runners, bytes_of(&key), &who) ||
	    !running_span(&c->running, part->thread, who, part->ns))
		c->failed = true;
	return NULL;
}

const char *collect_running_due(struct collect *c, const struct record *r)
{
	const struct select select = select_of(c);
	const char *wrong = NULL;
	struct record_ran part;

	while (collect_running_asked(c) && run_spans_due(&c->spans, &select, r, &part)) {
		const char *w = add_ran(c, &part);

		wrong = w ? w : wrong;
	}
	return wrong;
}

void collect_running_ran(struct collect *c, const struct record_ran *r)
{
	if (!collect_running_asked(c))
		return;
	if (!run_spans_makes_sense(r))
		running_drop(&c->running, r->thread);
	else if (!run_spans_add(&c->spans, &c->capture, r))
		c->failed = true;
}

void collect_running_sample(struct collect *c, const struct record_sample *r, enum select_answer answer,
			    const struct record_sample *part)
{
	const struct select select = select_of(c);

	if (!collect_running_asked(c))
		return;
	if (!run_spans_wait(&c->spans, &select, r))
		c->failed = true;
	/* A thread that does not count may become one that does before its run time is reported. */
	if (answer != SELECT_OUT && capture_wait(&c->capture, r->event) == CAPTURE_RUNS &&
	    !running_sample(&c->running, r->thread, part->weight))
		c->failed = true;
}

/* Finds the account that the key belongs to, and its part in the account. */
static bool find_runner(const struct collect *c, const struct collect_key *k, uint32_t *who,
			enum running_part *what)
{
	struct collect_key key = {
		.process = k->process,
		.thread = k->thread,
		.comm = k->comm,
		.event = COLLECT_RAN,
		.cgroup = k->cgroup,
	};

	*what = k->event == COLLECT_RAN ? RUNNING_SPANS : RUNNING_SAMPLED;
	return capture_wait(&c->capture, k->event) == CAPTURE_RUNS &&
	       intern_find(&c->runners, bytes_of(&key), who);
}

static struct collect_key key_at(const struct collect *c, size_t i)
{
	struct collect_key key;

	memcpy(&key, intern_get(&c->keys, (uint32_t)i).p, sizeof(key));
	return key;
}

void collect_running_correct(struct collect *c)
{
	enum running_part what;
	uint32_t who;

	run_spans_forget(&c->spans);
	for (size_t i = 0; c->runners.n && i < c->keys.n; i++) {
		struct collect_key key = key_at(c, i);

		if (find_runner(c, &key, &who, &what))
			running_add(&c->running, who, what, c->by_key[i].weight);
	}
	for (size_t i = 0; c->runners.n && i < c->keys.n; i++) {
		struct collect_key key = key_at(c, i);

		if (find_runner(c, &key, &who, &what))
			c->by_key[i].weight = running_share(&c->running, who, what, c->by_key[i].weight);
	}
	intern_release(&c->runners);
	running_forget(&c->running);
}
