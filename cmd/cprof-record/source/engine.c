#include "cmd/cprof-record/source/engine.h"

#include <linux/perf_event.h>
#include <time.h>

uint64_t engine_period(const struct engine *e)
{
	/* cycles: the kernel adjusts the period to the rate, and each sample has its own. */
	return e->options->cycles || !e->options->ticks ? 0 : 1000000000ull / e->rate.hertz;
}

uint64_t engine_cpu_period(struct engine *e, unsigned int cpu)
{
	return e->ops->period ? e->ops->period(e, cpu) : engine_period(e);
}

void engine_attr(struct perf_event_attr *attr, const struct engine *e)
{
	const struct options *o = e->options;

	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = o->cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = o->cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	if (o->cycles) {
		attr->freq = 1;
		attr->sample_freq = e->rate.hertz;
	} else {
		attr->sample_period = engine_period(e);
	}
}
