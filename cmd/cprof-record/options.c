#include "cmd/cprof-record/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/sample.h"
#include "cmd/cli.h"

/* At 100,000 a machine does nothing else than to take samples: the recorder itself comes no more to run. */
enum { HERTZ_DEFAULT = 99, HERTZ_MAX = 20000, DEPTH_DEFAULT = 127 };

static const char usage[] =
	"cprof-record [-KUq] [-a | -p PID,... | -t TID,...] [-C CPUS] [-F HZ] [-e cpu-clock|cycles]\n"
	"                    [--depth N] [--engine auto|bpf|perf] [-o FILE] [SECONDS] [-- COMMAND ...]";

bool options_targeted(const struct options *o)
{
	return o->n_pids || o->n_tids || o->command;
}

bool options_samples(const struct options *o, unsigned int cpu)
{
	return o->cpus.n == 0 || cpu_list_has(&o->cpus, cpu);
}

static pid_t *parse_ids(const char *option, char *text, size_t *n)
{
	pid_t *ids = calloc(strlen(text) + 1, sizeof(*ids));

	if (!ids)
		cli_die(STATUS_SYSTEM, "out of memory");
	*n = 0;
	for (char *at; (at = strsep(&text, ","));)
		ids[(*n)++] = (pid_t)cli_number(option, at, 1, INT32_MAX);
	return ids;
}

static double parse_seconds(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v > 0) || v > 1e9)
		cli_usage("\"%s\" is not a time in seconds, like 60 or 0.5", text);
	return v;
}

static enum engine_kind parse_engine(const char *text)
{
	static const char *const names[] = { "auto", "bpf", "perf" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0)
			return (enum engine_kind)i;
	}
	cli_usage("--engine: \"%s\" is none of auto, bpf, perf", text);
}

static void parse_option(struct options *o, int c)
{
	struct buf error = { 0 };

	switch (c) {
	case 'a':
		o->all = true;
		break;
	case 'p':
		o->pids = parse_ids("-p", optarg, &o->n_pids);
		break;
	case 't':
		o->tids = parse_ids("-t", optarg, &o->n_tids);
		break;
	case 'C':
		if (!host_choose_cpus(&o->cpus, optarg, &error))
			cli_usage("-C: %s", buf_cstr(&error));
		break;
	case 'F':
		o->hertz = (unsigned int)cli_number("-F", optarg, 1, HERTZ_MAX);
		break;
	case 'e':
		o->cycles = strcmp(optarg, "cycles") == 0;
		if (!o->cycles && strcmp(optarg, "cpu-clock") != 0)
			cli_usage("-e: \"%s\" is neither cpu-clock nor cycles", optarg);
		break;
	case 'U':
		o->user_only = true;
		break;
	case 'K':
		o->kernel_only = true;
		break;
	case 'o':
		o->output = optarg;
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'd':
		o->depth_asked = true;
		o->depth = (unsigned int)cli_number("--depth", optarg, 1, SAMPLE_DEPTH_MAX);
		break;
	case 'E':
		o->engine = parse_engine(optarg);
		break;
	case 'h':
		cli_help();
	case 'V':
		cli_version();
	default:
		cli_usage(NULL);
	}
}

static void check(const struct options *o)
{
	if (o->user_only && o->kernel_only)
		cli_usage("-U and -K leave no stack to record");
	if (o->all + (o->n_pids > 0) + (o->n_tids > 0) + (o->command != NULL) > 1)
		cli_usage("choose one of -a, -p, -t and a command");
	if (!o->all && !options_targeted(o))
		cli_usage("say what to record: -a for the system, -p PID, -t TID, or -- COMMAND");
}

void options_parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "all", no_argument, NULL, 'a' },        { "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },  { "cpus", required_argument, NULL, 'C' },
		{ "freq", required_argument, NULL, 'F' }, { "event", required_argument, NULL, 'e' },
		{ "user", no_argument, NULL, 'U' },       { "kernel", no_argument, NULL, 'K' },
		{ "output", required_argument, NULL, 'o' }, { "quiet", no_argument, NULL, 'q' },
		{ "depth", required_argument, NULL, 'd' }, { "engine", required_argument, NULL, 'E' },
		{ "help", no_argument, NULL, 'h' },       { "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	int end = 1; /* of what is ours: the command stands behind -- */

	*o = (struct options){ .hertz = HERTZ_DEFAULT, .depth = DEPTH_DEFAULT };
	cli_begin("cprof-record", usage);
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	while ((c = getopt_long(end, argv, "ap:t:C:F:e:UKo:qhV", longs, NULL)) != -1)
		parse_option(o, c);
	if (optind < end)
		o->seconds = parse_seconds(argv[optind++]);
	if (optind < end)
		cli_usage("\"%s\": a command stands behind --", argv[optind]);
	if (end + 1 < argc)
		o->command = argv + end + 1;
	else if (end < argc)
		cli_usage("no command behind --");
	check(o);
}
