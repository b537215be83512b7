#include "common/blame/blame_culprits.h"

#include <stdlib.h>

#include "common/gather/gather_keys.h"
#include "common/select/select.h"

void blame_culprits_sample(struct blame *b, const struct record_sample *r, uint32_t thread)
{
	if (capture_wait(&b->gather.capture, r->event) == CAPTURE_RUNS)
		culprits_sample(&b->culprits,
				&(struct culprit_sample){ b->tap.time, b->tap.weight, (uint32_t)r->cpu,
							  thread, b->tap.key + 1 });
	else
		b->threads[thread].queue_cpu = (uint32_t)r->cpu;
}

void blame_culprits_outside(struct blame *b, const struct record_outside *r, uint32_t thread)
{
	gather_keys_outside(&b->gather, r);
	if (b->gather.failed)
		return;
	culprits_sample(&b->culprits,
			&(struct culprit_sample){ r->time, b->gather.capture.events[r->event].period,
						  (uint32_t)r->cpu, thread, b->tap.key + 1 });
}

uint64_t blame_throttled(const struct record_woken *r)
{
	return r->throttled < r->queued ? r->throttled : r->queued;
}

/* The CPU is the one that it got in the end. The wait's sample, which names it, came right before. */
void blame_culprits_queue(struct blame *b, const struct record_woken *r, uint32_t thread)
{
	const struct select window = { &b->view, &b->gather.capture, b->gather.base };
	const struct select asked = { b->asked, &b->gather.capture, b->gather.base };
	uint64_t throttled = blame_throttled(r), queued = r->queued - throttled, after, n;

	if (!b->gather.based || !select_thread(&asked, r->thread))
		return;
	b->throttled += select_overlap(&window, r->time - queued, throttled, &after);
	n = select_overlap(&window, r->time, queued, &after);
	if (n)
		culprits_queue(&b->culprits, b->threads[thread].queue_cpu, thread, r->time - after - n,
			       r->time - after);
}

void blame_culprits_segment(struct blame *b, const uint32_t *leaves)
{
	struct culprits *c = &b->culprits;

	for (; b->samples_done < c->n_samples; b->samples_done++)
		c->samples[b->samples_done].who = leaves[c->samples[b->samples_done].who - 1];
}

/* A node of the caller's profile, and the length of the stack's text. */
struct copy {
	uint32_t node;
	size_t bytes;
	bool needed;
};

static bool append_frame(struct blame *b, struct copy *at, struct slice text)
{
	uint32_t label;

	at->bytes += text.n + (at->node != 0);
	return profile_label(b->p, text, &label) && profile_child(b->p, at->node, label, &at->node);
}

/* Makes the nodes of the stacks that are shown, by node of wall. Parents come before their children. */
static bool copy_stacks(struct blame *b, struct copy *copies)
{
	const struct profile *wall = &b->wall;

	for (size_t i = 0; i < b->culprits.n_found; i++) {
		uint32_t at = b->culprits.found[i].who;

		if (at == CULPRITS_NOBODY)
			continue;
		for (; at && !copies[at].needed; at = wall->nodes[at].parent)
			copies[at].needed = true;
	}
	for (size_t i = 1; i < wall->n; i++) {
		if (!copies[i].needed)
			continue;
		copies[i] = copies[wall->nodes[i].parent];
		if (!append_frame(b, &copies[i], profile_text(wall, wall->nodes[i].label)))
			return false;
		copies[i].needed = true;
	}
	return true;
}

/* The stack of time that no thread had: the same words in place of each key, and of the command. */
static bool push_nobody(struct blame *b, const char *words, struct copy *at)
{
	size_t n = view_roots(b->asked) + b->asked->container + view_shows_frames(b->asked);

	*at = (struct copy){ 0 };
	for (size_t i = 0; i < n; i++) {
		if (!append_frame(b, at, slice_of(words)))
			return false;
	}
	return true;
}

bool blame_culprits_write(struct blame *b)
{
	struct culprits *c = &b->culprits;
	struct copy *copies = calloc(b->wall.n, sizeof(*copies)), nobody, quota;
	bool good;

	culprits_find(c);
	good = copies && !c->failed && copy_stacks(b, copies) && push_nobody(b, "[nobody sampled]", &nobody);
	for (size_t i = 0; good && i < c->n_found; i++) {
		uint32_t who = c->found[i].who;
		const struct copy *at = who == CULPRITS_NOBODY ? &nobody : &copies[who];

		good = profile_claim(b->p, b->side, c->found[i].ns) &&
		       profile_add_at(b->p, at->node, at->bytes, b->side, c->found[i].ns);
	}
	good = good && (!b->throttled || (push_nobody(b, "[throttled]", &quota) &&
					  profile_claim(b->p, b->side, b->throttled) &&
					  profile_add_at(b->p, quota.node, quota.bytes, b->side,
							 b->throttled)));
	free(copies);
	return good;
}
