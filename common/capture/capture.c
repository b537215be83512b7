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
		free(c->names[i].symbols);
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
	bool good;

	release_segment(c);
	good = capture_init_for(c, c->counting, c->context);
	t.first = t.last = 0;
	c->before = t;
	t.segments++;
	c->totals = t;
	return good ? NULL : capture_no_memory;
}

/* Not inlined, so that the fast path for NODE and FRAME, the most frequent records, stays small. */
static __attribute__((noinline)) const char *apply_other(struct capture *c, const struct record *r)
{
	switch (r->type) {
	case RECORD_SEGMENT:
		return begin_segment(c);
	case RECORD_META:
		return meta_apply(c, &r->meta);
	case RECORD_EVENT:
		return event_apply(c, &r->event);
	case RECORD_PROCESS:
		return process_apply(c, &r->process);
	case RECORD_THREAD:
		return thread_apply(c, &r->thread);
	case RECORD_COMM:
		return comm_apply(c, &r->comm);
	case RECORD_FILE:
		return file_apply(c, &r->file);
	case RECORD_MAPPING:
		return mapping_apply(c, &r->mapping);
	case RECORD_UNMAP:
		return unmap_apply(c, &r->unmap);
	case RECORD_SAMPLE:
		return sample_apply(c, &r->sample);
	case RECORD_KSYM:
		return ksym_apply(c, &r->ksym);
	case RECORD_IMAGE:
		return image_apply(c, &r->image);
	case RECORD_JITMAP:
		return jitmap_apply(c, &r->jitmap);
	case RECORD_JITCODE:
		return jitcode_apply(c, &r->jitcode);
	case RECORD_CGROUP:
		return cgroup_apply(c, &r->cgroup);
	case RECORD_MEMBER:
		return member_apply(c, &r->member);
	case RECORD_USER:
		return user_apply(c, &r->user);
	case RECORD_OWNER:
		return owner_apply(c, &r->owner);
	case RECORD_LEDGER:
		return ledger_apply(c, &r->ledger);
	case RECORD_TALLY:
		return tally_apply(c, &r->tally);
	case RECORD_RAN:
		return ran_apply(c, &r->ran);
	case RECORD_LOCK:
		return lock_apply(c, &r->lock);
	case RECORD_WOKEN:
		return woken_apply(c, &r->woken);
	case RECORD_PARALLEL:
		return parallel_apply(c, &r->parallel);
	case RECORD_OUTSIDE:
		return outside_apply(c, &r->outside);
	case RECORD_LEFT_OUT:
		return left_out_apply(c, &r->left_out);
	case RECORD_COST:
		return cost_apply(c, &r->cost);
	case RECORD_END:
		return end_apply(c, &r->end);
	case RECORD_DAMAGE:
		return damage_apply(c, &r->damage);
	case RECORD_STRING:
		return string_apply(c, &r->string);
	case RECORD_SYMBOL:
		return symbol_apply(c, &r->symbol);
	case RECORD_SCRIPT:
		return script_apply(c, &r->script);
	case RECORD_FUNCTION:
		return function_apply(c, &r->function);
	case RECORD_LANG_FRAME:
		return lang_frame_apply(c, &r->lang_frame);
	case RECORD_LANG_LINE:
		return lang_line_apply(c, &r->lang_line);
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
