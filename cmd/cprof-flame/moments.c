#include "cmd/cprof-flame/flame.h"

#include "cmd/shared/operands/directory.h"

/* The shortest slice of the heat map unless the user chooses one; the page shows longer ones at first. */
enum { SLICE_MS = 20, SLICES_MOST = 400 };

/*
 * A page of a directory shows lanes over all its time: at most SLICES_MOST slices of the clock, and the
 * weight of whole containers or processes, because an hour of many CPUs has millions of moments of threads.
 */
static void begin_over_time(struct flame_settings *s)
{
	static const uint64_t lengths_ms[] = { 20,   100,   200,   1000,  2000,	  5000,
					       10000, 30000, 60000, 300000, 600000 };
	enum { LENGTHS = sizeof(lengths_ms) / sizeof(lengths_ms[0]) };
	bool processes = s->lanes && strcmp(s->lanes, "process") == 0;
	size_t i = 0;

	if (s->lanes && !processes && strcmp(s->lanes, "container") != 0)
		return;
	while (i + 1 < LENGTHS && directory_span() / (lengths_ms[i] * 1000000) > SLICES_MOST)
		i++;
	s->heat_ms = s->slice_ms ? s->slice_ms : lengths_ms[i];
	s->origins.aligned = true;
	s->origins.grain = processes ? ORIGIN_PROCESS : ORIGIN_CONTAINER;
	if (!s->lanes)
		picture_option(&s->pic, "lanes", "container");
}

void flame_begin_moments(struct flame_settings *s, struct view *v)
{
	origins_init(&s->origins);
	s->origins.threads = true;
	s->heat_ms = s->slice_ms ? s->slice_ms : SLICE_MS;
	if (s->over_time)
		begin_over_time(s);
	if (s->heatmap)
		v->origins = &s->origins;
	if (s->slice_ms)
		picture_option(&s->pic, "slice", "1"); /* the page begins with cells of one slice */
	v->moment_ns = (s->heatmap ? s->heat_ms : s->diff ? CHANGES_SLICE_MS : 0) * 1000000;
}
