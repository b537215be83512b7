/*
 * Verifies stacks: takes states of a command and its children (registers, stack, mappings), and compares the
 * frames that cprof makes of each with those that elfutils' libdwfl finds.
 *
 *	unwind-verify [--by table|fp|bpf|engine] [-F hz] [-n states] [-t seconds] [--twin FILE=TWIN]
 *		[--name NAME] [--least PERCENT] [-v] -- COMMAND [ARGUMENT ...]
 *
 * --by table: states by perf events, walked by tables here, which requires no privilege. fp: the same, by
 * frame pointers alone. bpf: states and stacks of the recorder, walked in the kernel. engine: those of the
 * recorder without BPF.
 *
 * Prints one line: the number of states and of each verdict (compare.h), and the share in which every frame
 * is true as far as it can be proven. Describes the first few differences of each kind on stderr. Exits with
 * 1 if a frame is wrong or the share is less than PERCENT, with 2 if nothing could be verified.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/shared/cli.h"
#include "tests/verify/compare.h"
#include "tests/verify/walk.h"

enum { SHOWN = 3 }; /* cases of a kind */

struct tally {
	const char *name;
	size_t of[VERDICTS], n, in_kernel, frames, true_frames, by_rbp, ends[TRUTH_LIMIT + 1], strays;
	struct { const char *why; enum verdict verdict; size_t n; } kinds[64];
	size_t n_kinds;
	bool all_shown;
};

static size_t count_kind(struct tally *y, const struct comparison *c)
{
	const char *why = c->why ? c->why : "";
	size_t i = 0;

	while (i < y->n_kinds && (y->kinds[i].verdict != c->verdict || strcmp(y->kinds[i].why, why) != 0))
		i++;
	if (i == y->n_kinds && i < sizeof(y->kinds) / sizeof(*y->kinds)) {
		y->kinds[i].why = why;
		y->kinds[i].verdict = c->verdict;
		y->n_kinds++;
	}
	return i < y->n_kinds ? ++y->kinds[i].n : SIZE_MAX;
}

static void print_registers(const struct state *s)
{
	static const char *const names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
					     "r10", "r11", "r12", "r13", "r14", "r15", "rip" };

	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		fprintf(stderr, "  %s=%" PRIx64, names[i], s->regs[i]);
	fprintf(stderr, "  stack=%zu bytes\n", s->stack_n);
}

/* Prints both chains around the first difference, and libdw's knowledge there. */
static void show(struct truth *t, const struct state *s, const struct true_chain *c, const struct comparison *v)
{
	size_t from = v->at > 3 ? v->at - 3 : 0, to = v->at + 3;

	fprintf(stderr, "%s: %s, frame %zu: pid %u tid %u, ours %zu frames (%s), ", verdict_names[v->verdict],
		v->why ? v->why : "", v->at, s->pid, s->tid, s->ours.n,
		s->ours.end == CHAIN_COMPLETE ? "complete" : s->ours.why ? s->ours.why : "cut");
	fprintf(stderr, "truth %zu frames (%s%s%s, refused %" PRIx64 ")\n", c->n, truth_ends[c->end],
		c->error ? ": " : "", c->error ? c->error : "", c->refused);
	print_registers(s);
	for (size_t i = from; i < to; i++) {
		if (i < c->n) {
			fprintf(stderr, "  truth %3zu %s ", i, c->frames[i].activation ? "!" : " ");
			truth_describe(t, s, c->frames[i].pc, c->frames[i].activation, stderr);
			fputc('\n', stderr);
		}
		if (i < s->ours.n && (i >= c->n || s->ours.frames[i].pc != c->frames[i].pc)) {
			fprintf(stderr, "  ours  %3zu %s ", i, s->ours.frames[i].exact ? "!" : " ");
			truth_describe(t, s, s->ours.frames[i].pc, s->ours.frames[i].exact, stderr);
			fputc('\n', stderr);
		}
	}
}

static void print_image(const struct states *all, const struct state *s)
{
	const struct maps *maps = &all->images[s->image].maps;

	for (const struct map *m = maps_from(maps, 0); m; m = maps_from(maps, m->end))
		fprintf(stderr, "  %" PRIx64 "-%" PRIx64 " %" PRIx64 " %s\n", m->start, m->end, m->offset,
			m->file ? all->files[m->file].path : "-");
}

static void verify(struct tally *y, const struct states *all)
{
	struct true_chain *c = malloc(sizeof(*c));
	struct truth *t = truth_open(all);

	if (!c)
		die("out of memory");
	for (size_t i = 0; i < all->n; i++) {
		const struct state *s = &all->items[i];
		struct comparison v;

		truth_unwind(t, s, c);
		v = compare(all, s, c);
		if (y->all_shown && c->end != TRUTH_COMPLETE) {
			fprintf(stderr, "truth ends: %s at ", truth_ends[c->end]);
			truth_describe(t, s, c->frames[c->n - 1].pc, c->frames[c->n - 1].activation, stderr);
			fputc('\n', stderr);
		}
		y->of[v.verdict]++;
		y->frames += s->ours.n;
		y->true_frames += c->n;
		for (size_t k = 0; k + 1 < c->n; k++)
			y->by_rbp += !c->frames[k].has_cfi;
		y->in_kernel += s->in_kernel;
		y->ends[c->end]++;
		if (!maps_find(&all->images[s->image].maps, s->regs[UNWIND_RIP]) && y->strays++ < SHOWN) {
			fprintf(stderr, "code that is not mapped: pid %u, 0x%" PRIx64 ", of\n", s->pid, s->regs[UNWIND_RIP]);
			print_image(all, s);
		}
		if (v.verdict >= SHORT && (count_kind(y, &v) <= SHOWN || y->all_shown))
			show(t, s, c, &v);
	}
	y->n = all->n;
	truth_close(t);
	free(c);
}

static double share(const struct tally *y)
{
	return y->n ? 100.0 * (y->of[SAME] + y->of[BEYOND] + y->of[DEPTH] + y->of[EXPLAINED]) / y->n : 0;
}

static void print(const struct tally *y, const struct states *all)
{
	printf("%-24s states=%zu frames=%.1f", y->name, y->n, y->n ? (double)y->frames / y->n : 0);
	for (int i = 0; i < VERDICTS; i++)
		printf(" %s=%zu", verdict_names[i], y->of[i]);
	printf(" lost=%" PRIu64 " true=%.2f%%\n#   truth: frames=%.1f", all->lost, share(y),
	       y->n ? (double)y->true_frames / y->n : 0);
	for (int i = 0; i <= TRUTH_LIMIT; i++)
		printf("%s %s=%zu", i ? "," : "", truth_ends[i], y->ends[i]);
	printf(", code not mapped=%zu, frames by rbp=%.1f%%; walked in the kernel=%zu\n", y->strays,
	       y->true_frames ? 100.0 * (double)y->by_rbp / (double)y->true_frames : 0, y->in_kernel);
	for (size_t i = 0; i < y->n_kinds; i++)
		printf("#   %zu %s: %s\n", y->kinds[i].n, verdict_names[y->kinds[i].verdict], y->kinds[i].why);
}

static void split_twin(struct states *all, char *text)
{
	char *twin = strchr(text, '=');

	if (!twin)
		die("--twin FILE=TWIN");
	*twin = '\0';
	all->twin_of = text;
	all->twin = twin + 1;
}

static void take(struct states *all, const struct source_options *o, const char *by)
{
	if (strcmp(by, "bpf") == 0) {
		record_states(all, o, "bpf");
	} else if (strcmp(by, "engine") == 0) {
		record_states(all, o, "perf");
	} else {
		perf_states(all, o);
		if (strcmp(by, "fp") == 0)
			walk_fp(all);
		else
			walk_table(all);
	}
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "by", required_argument, NULL, 'b' }, { "twin", required_argument, NULL, 'T' },
		{ "name", required_argument, NULL, 'N' }, { "least", required_argument, NULL, 'l' },
		{ 0 },
	};
	struct source_options o = { .frequency = 499, .most = 1200, .seconds = 60 };
	const char *by = "table";
	struct states all = { 0 };
	struct tally y = { 0 };
	double least = 0;
	static const struct option_row none[] = { { 0 } };
	static const struct command_line command = { "unwind-verify", "compare stacks", "", none };
	int c;

	cli_begin(&command);
	while ((c = getopt_long(argc, argv, "+F:n:t:v", longs, NULL)) != -1) {
		switch (c) {
		case 'F': o.frequency = (unsigned int)cli_number("-F", optarg, 1, 10000); break;
		case 'n': o.most = cli_number("-n", optarg, 1, 100000); break;
		case 't': o.seconds = (unsigned int)cli_number("-t", optarg, 1, 3600); break;
		case 'v': y.all_shown = true; break;
		case 'b': by = optarg; break;
		case 'T': split_twin(&all, optarg); break;
		case 'N': y.name = optarg; break;
		case 'l': least = strtod(optarg, NULL); break;
		default: return 2;
		}
	}
	if (optind == argc)
		die("no command");
	o.argv = argv + optind;
	if (!y.name)
		y.name = argv[optind];
	take(&all, &o, by);
	if (!all.n)
		die("%s: no state was taken", y.name);
	verify(&y, &all);
	print(&y, &all);
	states_release(&all);
	return y.of[WRONG] || share(&y) < least;
}
