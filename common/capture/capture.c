#include "common/capture/capture.h"

#include <stdlib.h>

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/counts.h"
#include "common/capture/capture_internal.h"
#include "common/capture/jit_code.h"
#include "common/capture/lang_frames.h"
#include "common/capture/mappings.h"
#include "common/capture/meta.h"
#include "common/capture/names.h"
#include "common/capture/nodes.h"
#include "common/capture/processes.h"

static void release_segment(struct capture *c)
{
	for (size_t i = 0; i < c->n_processes; i++) {
		maps_release(&c->processes[i].maps);
		maps_release(&c->processes[i].jitted);
	}
	for (size_t i = 0; i < c->n_images; i++)
		free((void *)c->images[i].data.p);
	for (size_t i = 0; i < c->n_names; i++)
		maps_release(&c->names[i]);
	free(c->processes);
	free(c->threads);
	free(c->files);
	free(c->frames);
	free(c->nodes);
	free(c->scripts);
	free(c->functions);
	free(c->locks);
	free(c->places);
	free(c->symbols);
	free(c->names);
	free(c->ksyms);
	free(c->images);
	free(c->ledger);
	intern_release(&c->texts);
	idmap_release(&c->strings);
	idmap_release(&c->cgroups);
	idmap_release(&c->users);
	idmap_release(&c->meta);
	idmap_release(&c->images_of);
	idmap_release(&c->names_of);
}

bool capture_init(struct capture *c)
{
	uint32_t empty;

	*c = (struct capture){ .n_places = 1, .n_symbols = 1 };
	intern_init(&c->texts);
	return intern_add(&c->texts, slice_of(""), &empty);
}

bool capture_init_for(struct capture *c, capture_counting *counting, const void *context)
{
	bool good = capture_init(c);

	c->counting = counting;
	c->context = context;
	return good;
}

void capture_release(struct capture *c)
{
	release_segment(c);
	*c = (struct capture){ 0 };
}

static const char *begin_segment(struct capture *c)
{
	struct capture_totals t = capture_totals(c);
	struct capture_gaps gaps = c->gaps;
	bool good;

	release_segment(c);
	good = capture_init_for(c, c->counting, c->context);
	t.first = t.last = 0;
	c->before = t;
	t.segments++;
	c->totals = t;
	c->gaps = gaps;
	return good ? NULL : capture_no_memory;
}

/* A record type and its member of struct record, for which the function is named. */
#define APPLY(TYPE, member)  \
	case RECORD_##TYPE:  \
		return member##_apply(c, &r->member)

/* Not inlined, so that the fast path for NODE and FRAME, the most frequent records, stays small. */
static __attribute__((noinline)) const char *apply_other(struct capture *c, const struct record *r)
{
	switch (r->type) {
	case RECORD_SEGMENT:
		return begin_segment(c);
	APPLY(META, meta);
	APPLY(EVENT, event);
	APPLY(PROCESS, process);
	APPLY(THREAD, thread);
	APPLY(COMM, comm);
	APPLY(FILE, file);
	APPLY(MAPPING, mapping);
	APPLY(UNMAP, unmap);
	APPLY(SAMPLE, sample);
	APPLY(KSYM, ksym);
	APPLY(IMAGE, image);
	APPLY(JITMAP, jitmap);
	APPLY(JITCODE, jitcode);
	APPLY(CGROUP, cgroup);
	APPLY(MEMBER, member);
	APPLY(USER, user);
	APPLY(OWNER, owner);
	APPLY(LEDGER, ledger);
	APPLY(TALLY, tally);
	APPLY(RAN, ran);
	APPLY(LOCK, lock);
	APPLY(WOKEN, woken);
	APPLY(PARALLEL, parallel);
	APPLY(OUTSIDE, outside);
	APPLY(LEFT_OUT, left_out);
	APPLY(COST, cost);
	APPLY(END, end);
	APPLY(DAMAGE, damage);
	APPLY(STRING, string);
	APPLY(SYMBOL, symbol);
	APPLY(SCRIPT, script);
	APPLY(FUNCTION, function);
	APPLY(LANG_FRAME, lang_frame);
	APPLY(LANG_LINE, lang_line);
	default: /* EXIT, SOURCE, SCRIPT_SOURCE, FLUSH and unknown records change no state */
		return NULL;
	}
}

static __attribute__((noinline)) const char *count_wrong(struct capture *c, const struct record *r, const char *wrong)
{
	if (wrong == capture_no_memory)
		c->no_memory = true;
	if (r->type == RECORD_SAMPLE)
		c->totals.refused++;
	else
		c->totals.refused_records++;
	return wrong;
}

const char *capture_apply(struct capture *c, const struct record *r)
{
	const char *wrong;

	c->gaps.records++;
	if (c->no_memory)
		wrong = capture_no_memory;
	else if (r->type == RECORD_NODE)
		wrong = node_apply(c, &r->node);
	else if (r->type == RECORD_FRAME)
		wrong = frame_apply(c, &r->frame);
	else
		wrong = apply_other(c, r);
	return wrong ? count_wrong(c, r, wrong) : NULL;
}
