#include "cmd/cprof-record/source/bpf_ticks.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/rings/perf_ring.h"
#include "common/base/array.h"

struct tick_event {
	unsigned int cpu;
	int fd;
	struct bpf_link *link;
	uint64_t began; /* host_mono_ns */
};

bool bpf_ticks_init(struct bpf_ticks *t, const struct engine *e, struct bpf_sampler *sampler,
		    bool idle_known)
{
	*t = (struct bpf_ticks){ .engine = e, .sampler = sampler, .idle_known = idle_known };
	return dither_init(&t->dither, sampler->percpu.n, engine_period(e), e->options->dither);
}

static bool is_sampled(const struct bpf_ticks *t, unsigned int cpu)
{
	return t->engine->options->ticks && options_samples(t->engine->options, cpu);
}

bool bpf_ticks_prepare(struct bpf_ticks *t, unsigned int cpu)
{
	return !is_sampled(t, cpu) || percpu_add(&t->sampler->percpu, cpu);
}

/*
 * If the kernel skips our program while those of other events run, our program looks for missing ticks. It
 * cannot do so if the kernel leaves out idle ticks: they would look missing.
 */
static void period_changed(struct bpf_ticks *t, unsigned int cpu, uint64_t now)
{
	bool looks = t->kept_out && t->idle_known;

	dither_changed(&t->dither, cpu, now);
	percpu_period(&t->sampler->percpu, cpu, looks ? dither_period(&t->dither, cpu) : 0);
}

/* Opens the CPU's event, and lets it call the program. False: errno. */
static bool open_event(struct bpf_ticks *t, struct tick_event *ev)
{
	struct perf_event_attr attr;
	int saved;

	engine_attr(&attr, t->engine);
	if (!t->engine->options->cycles)
		attr.sample_period = dither_choose(&t->dither, ev->cpu);
	attr.exclude_idle = !t->idle_known;
	ev->fd = event_open(&attr, -1, (int)ev->cpu);
	if (ev->fd < 0)
		return false;
	ev->link = bpf_program__attach_perf_event(t->sampler->ticks, ev->fd);
	if (ev->link)
		return true;
	saved = errno;
	close(ev->fd);
	errno = saved;
	return false;
}

bool bpf_ticks_add(struct bpf_ticks *t, unsigned int cpu)
{
	struct tick_event *ev;

	if (!is_sampled(t, cpu))
		return true;
	if (!percpu_add(&t->sampler->percpu, cpu))
		return false;
	if (!grow_array(&t->events, &t->cap, t->n, sizeof(*t->events))) {
		errno = ENOMEM;
		return false;
	}
	ev = &t->events[t->n];
	ev->cpu = cpu;
	if (!open_event(t, ev))
		return false;
	ev->began = host_mono_ns();
	period_changed(t, cpu, ev->began);
	t->n++;
	return true;
}

/* NULL: the CPU has no event. */
static struct tick_event *find_event(const struct bpf_ticks *t, unsigned int cpu)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->events[i].cpu == cpu)
			return &t->events[i];
	}
	return NULL;
}

bool bpf_ticks_has(const struct bpf_ticks *t, unsigned int cpu)
{
	return !is_sampled(t, cpu) || find_event(t, cpu);
}

uint64_t bpf_ticks_began(const struct bpf_ticks *t, unsigned int cpu)
{
	const struct tick_event *ev = find_event(t, cpu);

	return ev ? ev->began : host_mono_ns();
}

void bpf_ticks_drop(struct bpf_ticks *t, unsigned int cpu)
{
	struct tick_event *ev = find_event(t, cpu);

	if (!ev)
		return;
	bpf_link__destroy(ev->link);
	*ev = t->events[--t->n];
}

/* Returns false if the event keeps its old period. */
static bool change_period(struct bpf_ticks *t, const struct tick_event *ev, uint64_t period)
{
	if (ioctl(ev->fd, PERF_EVENT_IOC_PERIOD, &period) != 0)
		return false;
	period_changed(t, ev->cpu, host_mono_ns());
	return true;
}

void bpf_ticks_rate(struct bpf_ticks *t)
{
	dither_rate(&t->dither, engine_period(t->engine));
	for (size_t i = 0; i < t->n; i++)
		change_period(t, &t->events[i], t->engine->options->cycles ? t->engine->rate.hertz :
					dither_choose(&t->dither, t->events[i].cpu));
}

void bpf_ticks_dither(struct bpf_ticks *t, uint64_t now, engine_epoch_fn *changed, void *arg)
{
	for (size_t i = 0; i < t->n; i++) {
		unsigned int cpu = t->events[i].cpu;
		uint64_t before;

		if (!dither_due(&t->dither, cpu, now))
			continue;
		before = host_mono_ns();
		if (change_period(t, &t->events[i], dither_choose(&t->dither, cpu)))
			changed(arg, cpu, before, dither_since(&t->dither, cpu));
	}
}

void bpf_ticks_stop(struct bpf_ticks *t)
{
	for (size_t i = 0; i < t->n; i++)
		ioctl(t->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void bpf_ticks_detach(struct bpf_ticks *t)
{
	while (t->n)
		bpf_link__destroy(t->events[--t->n].link); /* closes the event too */
}

void bpf_ticks_release(struct bpf_ticks *t)
{
	bpf_ticks_detach(t);
	dither_release(&t->dither);
	free(t->events);
	*t = (struct bpf_ticks){ 0 };
}
