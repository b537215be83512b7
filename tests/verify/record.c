/*
 * States from the recorder itself: all of it is linked in and runs here, set to send each user stack along
 * with its sample. A wrapper (ld --wrap) keeps each stack that user_walk_finish has finished, with the
 * registers, the copied stack and the mappings as of that sample.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/unwind/user_walk.h"
#include "tests/verify/state.h"

int record_main(int argc, char **argv); /* cmd/cprof-record/main.c */
void __real_options_parse(struct options *o, int argc, char **argv);
void __wrap_options_parse(struct options *o, int argc, char **argv);
bool __real_user_walk_finish(struct user_walk *s, struct proc *p, const struct sample_head *head, struct user_stack *out);
bool __wrap_user_walk_finish(struct user_walk *s, struct proc *p, const struct sample_head *head, struct user_stack *out);

static struct {
	struct states *states;
	size_t most;
	uint32_t *files; /* our number + 1, by the recorder's exe number */
	size_t cap_files;
	uint64_t serial, version; /* whose mappings the last image has */
} keep;

void __wrap_options_parse(struct options *o, int argc, char **argv)
{
	__real_options_parse(o, argc, argv);
	o->always_copy = true;
}

static uint32_t file_of(const struct user_walk *s, const struct proc *p, uint32_t exe)
{
	char *path;

	if (!exe)
		return 0;
	while (keep.cap_files <= exe)
		GROW(keep.files, keep.cap_files, keep.cap_files);
	if (!keep.files[exe]) {
		const struct slice *said = &s->procs->exes[exe - 1].path;

		path = strndup((const char *)said->p, said->n);
		keep.files[exe] = path ? states_file(keep.states, (pid_t)p->pid, path) + 1 : 1;
		free(path);
	}
	return keep.files[exe] - 1;
}

static size_t image_of(const struct user_walk *s, const struct proc *p)
{
	struct maps maps = { 0 };
	bool changed = false;
	size_t image;

	if (keep.states->n_images && keep.serial == p->serial && keep.version == p->version)
		return keep.states->n_images - 1;
	keep.serial = p->serial;
	keep.version = p->version;
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		struct map ours = *m;

		ours.file = file_of(s, p, m->file);
		if (!maps_add(&maps, &ours, &changed))
			die("out of memory");
	}
	image = states_image(keep.states, &maps);
	maps_release(&maps);
	return image;
}

static void keep_chain(struct chain *c, const struct user_stack *stack)
{
	c->frames = calloc((size_t)stack->n + 1, sizeof(*c->frames));
	if (!c->frames)
		die("out of memory");
	for (int i = 0; i < stack->n; i++)
		c->frames[c->n++] = (struct frame){ stack->addresses[i] & ~SAMPLE_EXACT,
						    (stack->addresses[i] & SAMPLE_EXACT) != 0 };
	c->end = stack->end == ROOT_COMPLETE ? CHAIN_COMPLETE : stack->end == ROOT_DEPTH ? CHAIN_DEPTH : CHAIN_CUT;
	if (c->end == CHAIN_CUT)
		c->why = root_name((uint64_t)stack->end);
}

static void keep_state(const struct user_walk *s, const struct proc *p, const struct sample_head *head)
{
	const uint64_t *addresses = (const void *)(head + 1);
	const struct sample_state *from = (const void *)(addresses + (head->kernel_n > 0 ? head->kernel_n : 0) +
							 (head->user_n > 0 ? head->user_n : 0));
	struct state *to = states_add(keep.states);

	to->time = head->time;
	to->pid = head->pid;
	to->tid = head->tid;
	to->in_kernel = !head->deferred;
	memcpy(to->regs, from->regs, sizeof(to->regs));
	to->stack_n = head->stack_n;
	to->stack = malloc(to->stack_n + 1);
	if (!to->stack)
		die("out of memory");
	memcpy(to->stack, from + 1, to->stack_n);
	to->image = image_of(s, p);
}

bool __wrap_user_walk_finish(struct user_walk *s, struct proc *p, const struct sample_head *head, struct user_stack *out)
{
	if (!__real_user_walk_finish(s, p, head, out))
		return false; /* it waits for a table, and will be called again */
	if (!head->has_state) {
		keep.states->lost++; /* the ring was too full for its stack */
	} else if (keep.states->n < keep.most) {
		keep_state(s, p, head);
		keep_chain(&keep.states->items[keep.states->n - 1].ours, out);
		if (keep.states->n == keep.most)
			kill(getpid(), SIGINT); /* as a user ends a recording */
	}
	return true;
}

void record_states(struct states *s, const struct source_options *o, const char *engine)
{
	char hertz[16], seconds[16];
	const char *head[] = { "cprof-record", "-q", "-U", "--engine", engine, "-F", hertz, "-d", "1023",
			       "-o", "/dev/null", seconds, "--", "sh", "-c", "exec \"$@\" >/dev/null 2>&1", "sh" };
	size_t n_head = sizeof(head) / sizeof(*head), n = 0;
	char **argv;

	while (o->argv[n])
		n++;
	argv = calloc(n_head + n + 1, sizeof(*argv));
	if (!argv)
		die("out of memory");
	memcpy(argv, head, sizeof(head));
	memcpy(argv + n_head, o->argv, n * sizeof(*argv));
	snprintf(hertz, sizeof(hertz), "%u", o->frequency);
	snprintf(seconds, sizeof(seconds), "%u", o->seconds);
	keep.states = s;
	keep.most = o->most;
	optind = 0;
	if (record_main((int)(n_head + n), argv) != 0)
		die("the recorder failed");
	free(keep.files);
	free(argv);
}
