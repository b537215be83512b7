#include "cmd/cprof-record/config/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bpf/sample.h"
#include "cmd/cprof-record/config/options_settle.h"
#include "cmd/shared/cli.h"
#include "common/stream/record.h"
#include "common/base/array.h"

enum { OPTION_ROTATE = 0x100, OPTION_KEEP, OPTION_ON_ROTATE, OPTION_METRICS, OPTION_CGROUP, OPTION_CONTAINER, OPTION_RING,
       OPTION_WHEN, OPTION_MAX_COST, OPTION_OFF_CPU, OPTION_MEM, OPTION_MODE, OPTION_NO_DITHER, OPTION_LANG,
       OPTION_USDT_STACKS, OPTION_ENGINE, OPTION_UNWIND, OPTION_UNWIND_MEM,
       OPTION_CALL_GRAPH, OPTION_EXIT_STATUS, OPTION_LATENCY };
/* At 100,000 Hz a machine only takes samples: not even the recorder gets to run. */
enum { HERTZ_DEFAULT = 99, HERTZ_MAX = 20000, DEPTH_DEFAULT = 512, MOST_DEFAULT = 1000 };

static const uint64_t off_cpu_default = 1000000;

static const struct option_row rows[] = {
	{ OPTIONS_TARGET, 'a', "all", NULL, "everything, on all CPUs" },
	{ OPTIONS_TARGET, 'p', "pid", "PID,...", "these processes, and those that they start" },
	{ OPTIONS_TARGET, 't', "tid", "TID,...", "these threads" },
	{ OPTIONS_TARGET, OPTION_CGROUP, "cgroup", "PATH", "the processes of this control group" },
	{ OPTIONS_TARGET, OPTION_CONTAINER, "container", "ID", "the processes of this container" },
	{ OPTIONS_TARGET, 'C', "cpus", "CPUS", "only these CPUs, like 0-3,8" },
	{ OPTIONS_TARGET, 'U', "user", NULL, "only user stacks" },
	{ OPTIONS_TARGET, 'K', "kernel", NULL, "only kernel stacks" },
	{ OPTIONS_TARGET, 'e', "event", "EVENT[/COUNT],...", "sample events, as page-faults, sched:sched_switch" },
	{ OPTIONS_TARGET, OPTION_OFF_CPU, "off-cpu", "[=MIN]", "waits too, of MIN or longer (1ms)" },
	{ OPTIONS_TARGET, OPTION_LATENCY, "latency", NULL, "how many threads run at each sample, too" },
	{ OPTIONS_TARGET, OPTION_LANG, "lang", "LIST|none", "scripts of these languages only, like python,ruby" },
	{ OPTIONS_TARGET, OPTION_USDT_STACKS, "usdt-stacks", "ruby|python|php|perl[:FILE]",
	  "scripts by the interpreter's probes" },
	{ OPTIONS_HOW, 'F', "freq", "HZ", "samples a second and CPU (99)" },
	{ OPTIONS_HOW, OPTION_NO_DITHER, "no-dither", NULL, "sample at equal distances" },
	{ OPTIONS_HOW, 'd', "depth", "N", "frames of a stack, at most (512)" },
	{ OPTIONS_HOW, OPTION_MAX_COST, "max-cost", "PERCENT", "sample less often if recording costs more" },
	{ OPTIONS_HOW, OPTION_UNWIND, "unwind", "auto|table|fp", "walk user stacks by tables or frame pointers" },
	{ OPTIONS_HOW, OPTION_UNWIND_MEM, "unwind-mem", "SIZE", "memory for unwind tables" },
	{ OPTIONS_HOW, OPTION_MEM, "mem", "SIZE", "memory of the recorder, at most" },
	{ OPTIONS_HOW, OPTION_ENGINE, "engine", "auto|bpf|perf", "sample by BPF or by plain perf events" },
	{ OPTIONS_HOW, 'g', "", NULL, NULL }, /* perf's; stacks need no option here */
	{ OPTIONS_HOW, OPTION_CALL_GRAPH, "call-graph", "WAY", NULL },
	{ OPTIONS_SERIES, OPTION_ROTATE, "rotate", "TIME|SIZE", "a new file after each, without end" },
	{ OPTIONS_SERIES, OPTION_KEEP, "keep", "TIME|SIZE", "remove older files" },
	{ OPTIONS_SERIES, OPTION_ON_ROTATE, "on-rotate", "COMMAND", "run this for each complete file" },
	{ OPTIONS_SERIES, OPTION_RING, "ring", "TIME", "keep the last TIME in memory, and write on demand" },
	{ OPTIONS_SERIES, OPTION_WHEN, "when", "CONDITION", "write the flight buffer if this is so" },
	{ OPTIONS_OUTPUT, 'o', "output", "FILE", "write the capture to FILE" },
	{ OPTIONS_OUTPUT, OPTION_MODE, "mode", "MODE", "permissions of files (600)" },
	{ OPTIONS_OUTPUT, 'l', "label", "KEY=VALUE", "put this label into the capture" },
	{ OPTIONS_OUTPUT, OPTION_METRICS, "metrics", "FILE", "keep counters of the recorder in FILE" },
	{ OPTIONS_OUTPUT, OPTION_EXIT_STATUS, "exit-status", NULL, "end with the status of the command" },
	{ OPTIONS_OUTPUT, 'q', "quiet", NULL, "print only errors" },
	{ OPTIONS_OUTPUT, 'v', "verbose", NULL, "report BPF programs that the kernel rejects" },
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = {
	"cprof-record", "record CPU samples with their stacks", "[SECONDS] [-- COMMAND ...]", rows,
};

/* Adds to those of earlier options. */
static void add_ids(const char *option, char *text, pid_t **ids, size_t *n)
{
	pid_t *grown = realloc(*ids, (*n + strlen(text) + 1) * sizeof(*grown));

	if (!grown)
		cli_die(STATUS_SYSTEM, "out of memory");
	*ids = grown;
	for (char *at; (at = strsep(&text, ","));) {
		if (isalpha((unsigned char)at[0]))
			cli_usage("invalid %s \"%s\" (expected a number, as from pgrep %s)", option, at, at);
		grown[(*n)++] = (pid_t)cli_number(option, at, 1, INT32_MAX);
	}
}

enum unit { UNIT_NS, UNIT_US, UNIT_MS, UNIT_S, UNIT_M, UNIT_H, UNIT_D };

/* Returns the nanoseconds of a unit of time, if it is one of these; otherwise 0. */
static uint64_t unit_ns(const char *text, enum unit first, enum unit last)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		[UNIT_NS] = { "ns", 1 },
		[UNIT_US] = { "us", 1000 },
		[UNIT_MS] = { "ms", 1000000 },
		[UNIT_S] = { "s", 1000000000 },
		[UNIT_M] = { "m", 60000000000 },
		[UNIT_H] = { "h", 3600000000000 },
		[UNIT_D] = { "d", 86400000000000 },
	};

	for (unsigned int i = first; i <= last; i++) {
		if (strcmp(text, units[i].name) == 0)
			return units[i].ns;
	}
	return 0;
}

/* "1ms", "10us", "2s", "0" */
static uint64_t parse_short(const char *option, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	bool good = digits && digits < 10;
	uint64_t n = good ? strtoull(text, NULL, 10) : 0, unit = unit_ns(text + digits, UNIT_NS, UNIT_S);

	if (good && (unit || (n == 0 && !text[digits])))
		return n * unit;
	cli_usage("invalid %s \"%s\" (expected a time like 1ms, 10us or 0)", option, text);
}

/*
 * Refuses a command without "--" before it, and shows how to write it. seconds: the duration before it, or NULL.
 */
static void refuse_command(const char *seconds, char *const *words, int n) __attribute__((noreturn));
static void refuse_command(const char *seconds, char *const *words, int n)
{
	struct buf text = { 0 };

	for (int i = 0; i < n; i++)
		buf_printf(&text, strpbrk(words[i], " \t\"$;&|<>*?()") ? " '%s'" : " %s", words[i]);
	if (text.failed)
		cli_no_memory();
	cli_usage("a command comes after --: cprof-record%s%s --%s", seconds ? " " : "", seconds ? seconds : "", buf_cstr(&text));
}

/*
 * Refuses a command whose own options would be taken for ours: "cprof-record perl -e 1". Its name is the first word
 * or comes after a duration, an option that takes no argument, or an argument.
 */
static void check_words(char *const *argv, int argc)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *before = argv[i - 1];
		bool named = isalpha((unsigned char)word[0]) || strncmp(word, "./", 2) == 0 || word[0] == '/';
		bool alone = i == 1 || before[0] != '-' || strcmp(before, "-a") == 0 || strcmp(before, "-q") == 0;

		if (named && alone)
			refuse_command(i > 1 && isdigit((unsigned char)before[0]) ? before : NULL, argv + i,
				       argc - i);
	}
}

static bool is_duration(const char *text, double *seconds)
{
	char *unit;
	double v = strtod(text, &unit);
	uint64_t ns = unit_ns(*unit ? unit : "s", UNIT_MS, UNIT_D);

	*seconds = v * ((double)ns / 1e9);
	return unit != text && *seconds > 0 && *seconds <= 1e9;
}

static double parse_seconds(const char *text)
{
	double v;

	if (!is_duration(text, &v))
		cli_usage(
			"invalid duration \"%s\" (expected seconds, like 60 or 0.5, or a time like 500ms or 5m)",
			text);
	return v;
}

/* Refuses the second of two durations; options: the arguments before them. */
static void refuse_duration(char *const *options, char *const *durations) __attribute__((noreturn));
static void refuse_duration(char *const *options, char *const *durations)
{
	for (; options < durations; options++) {
		if (strcmp(*options, "--off-cpu") == 0)
			cli_usage("invalid duration \"%s\" (expected --off-cpu=%s, or one duration)",
				  durations[1], durations[0]);
	}
	cli_usage("invalid duration \"%s\" (expected one, and \"%s\" is given)", durations[1], durations[0]);
}

/* Parses octal permissions as for chmod(1). The owner must be able to read and write. */
static mode_t parse_mode(const char *text)
{
	size_t digits = strspn(text, "01234567");
	unsigned long mode = digits && digits < 5 && !text[digits] ? strtoul(text, NULL, 8) : ~0ul;

	if (mode & ~0666ul || (mode & 0600) != 0600)
		cli_usage("invalid mode \"%s\" (expected 600, 640 or 644: octal, readable and writable by the owner)", text);
	return (mode_t)mode;
}

/* The file is replaced by a rename, which would remove a device or a pipe. */
static const char *check_replaceable(const char *option, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		cli_usage("invalid %s \"%s\" (expected a regular file, because it is replaced)", option, path);
	return path;
}

/* Parses a time like "60s" or a size like "64M". */
static void parse_span(const char *option, const char *text, uint64_t *ns, uint64_t *bytes)
{
	static const char sizes[] = "KMGT";
	size_t digits = strspn(text, "0123456789");
	uint64_t n = digits && digits < 10 ? strtoull(text, NULL, 10) : 0;
	uint64_t time = unit_ns(text + digits, UNIT_S, UNIT_D), unit = time;

	for (unsigned int i = 0; i < strlen(sizes); i++) {
		if (text[digits] == sizes[i] && !text[digits + 1])
			unit = 1ull << (10 * (i + 1));
	}
	if (!unit || !n || __builtin_mul_overflow(n, unit, &n))
		cli_usage("invalid %s \"%s\" (expected a time like 60s, 5m, 24h, 7d, or a size like 64M, 10G)", option, text);
	*(time ? ns : bytes) = n;
}

/* Returns the index of the word. */
static int parse_word(const char *option, const char *text, const char *const names[3])
{
	for (int i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0)
			return i;
	}
	cli_invalid(option, text);
}

static void add_group(struct options *o, const char *text, bool container)
{
	struct buf error = { 0 };
	struct cgroup_place place;

	if (o->n_groups == SAMPLE_GROUPS_MAX)
		cli_usage("at most %d control groups can be recorded at once", SAMPLE_GROUPS_MAX);
	if (!(container ? cgroup_open_container : cgroup_open)(&place, text, &error))
		cli_die(STATUS_SYSTEM, "%s", buf_cstr(&error));
	if (!grow_array(&o->groups, &o->cap_groups, o->n_groups, sizeof(*o->groups)))
		cli_die(STATUS_SYSTEM, "out of memory");
	o->groups[o->n_groups++] = place;
}

/* Keys have letters, digits, `_`, `.`, `-` and `/`, as in labels of Kubernetes; the value may be anything. */
static void add_label(struct options *o, const char *text)
{
	size_t n = strcspn(text, "=");

	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)text[i]) && !strchr("_.-/", text[i]))
			n = 0;
	}
	if (n == 0 || text[n] != '=')
		cli_usage("invalid label \"%s\" (expected KEY=VALUE)", text);
	for (size_t i = 0; i < o->n_labels; i++) {
		if (strncmp(o->labels[i], text, n + 1) == 0)
			cli_usage("-l: %.*s is given twice, as \"%s\" and as \"%s\"", (int)n, text, o->labels[i] + n + 1, text + n + 1);
	}
	if (!grow_array(&o->labels, &o->cap_labels, o->n_labels, sizeof(*o->labels)))
		cli_die(STATUS_SYSTEM, "out of memory");
	o->labels[o->n_labels++] = text;
}

static double parse_percent(const char *option, const char *text)
{
	double v = cli_percent(option, text);

	if (v <= 0)
		cli_usage("invalid %s \"%s\" (expected a percentage like 0.5%%)", option, text);
	return v;
}

static void add_when(struct options *o, const char *text)
{
	struct buf error = { 0 };

	if (!grow_array(&o->whens, &o->cap_whens, o->n_whens, sizeof(*o->whens)))
		cli_die(STATUS_SYSTEM, "out of memory");
	if (!trigger_parse(&o->whens[o->n_whens++], text, &error))
		cli_usage("--when: %s", buf_cstr(&error));
}

static void add_event(struct options *o, const char *text)
{
	struct buf error = { 0 };
	struct event e;
	enum event_found found;

	if (strcmp(text, "cpu-clock") == 0) {
		o->ticks = true;
		return;
	}
	if (strncmp(text, "cpu-clock/", 10) == 0)
		cli_usage("invalid event \"%s\" (expected cpu-clock without a count; -F sets its rate)", text);
	found = event_find(&e, text, &error);
	if (found == EVENT_UNKNOWN)
		cli_usage("invalid event \"%s\" (expected %s)", text, buf_cstr(&error));
	if (found == EVENT_REFUSED)
		cli_die(STATUS_SYSTEM, "event \"%s\" is not available: %s", text, buf_cstr(&error));
	for (size_t i = 0; i < o->n_events; i++) {
		if (strcmp(o->events[i].name, e.name) == 0)
			cli_usage("-e: %s is given twice", e.name);
	}
	if (o->n_events == EVENTS_MAX)
		cli_usage("-e: at most %d events can be recorded at once", EVENTS_MAX);
	o->events[o->n_events++] = e;
}

/* Parses names separated by commas. */
static void add_events(struct options *o, const char *text)
{
	char *copy = strdup(text), *rest = copy;

	if (!copy)
		cli_die(STATUS_SYSTEM, "out of memory");
	o->events_asked = true;
	for (char *one; (one = strsep(&rest, ","));)
		add_event(o, one);
	free(copy);
}

/* Parses options of what to record. Returns false for other options. */
static bool parse_what(struct options *o, int c)
{
	struct buf error = { 0 };

	switch (c) {
	case 'a':
		o->all = true;
		return true;
	case 'p':
		add_ids("-p", optarg, &o->pids, &o->n_pids);
		return true;
	case 't':
		add_ids("-t", optarg, &o->tids, &o->n_tids);
		return true;
	case 'C':
		if (!host_choose_cpus(&o->cpus, optarg, &error))
			cli_usage("-C: %s", buf_cstr(&error));
		return true;
	case 'U':
		o->user_only = true;
		return true;
	case 'K':
		o->kernel_only = true;
		return true;
	case OPTION_CGROUP:
	case OPTION_CONTAINER:
		add_group(o, optarg, c == OPTION_CONTAINER);
		return true;
	default:
		return false;
	}
}

/* Returns the language of this name; LANGUAGES: there is none. */
static unsigned int find_language(const char *name)
{
	unsigned int i = 1;

	if (strcmp(name, "js") == 0 || strcmp(name, "node") == 0)
		return LANGUAGE_JAVASCRIPT;
	while (i < LANGUAGES && strcmp(name, language_name(i)) != 0)
		i++;
	return i;
}

/* Parses names separated by commas, or "none", into bits by enum language. */
static unsigned int parse_languages(const char *text)
{
	char *copy = strdup(text), *rest = copy;
	unsigned int languages = 0, i;

	if (!copy)
		cli_die(STATUS_SYSTEM, "out of memory");
	for (char *one; strcmp(text, "none") != 0 && (one = strsep(&rest, ","));) {
		i = find_language(one);
		if (i == LANGUAGES)
			cli_usage("invalid --lang \"%s\" (expected none, or python, ruby, php, perl, javascript or java, separated by commas)",
				  one);
		languages |= 1u << i;
	}
	free(copy);
	return languages;
}

/* Parses options of how to record. Returns false for other options. */
static bool parse_how(struct options *o, int c)
{
	static const char *const engines[] = { "auto", "bpf", "perf" }, *const ways[] = { "auto", "table", "fp" };

	switch (c) {
	case 'F':
		o->hertz = o->most = (unsigned int)cli_number("-F", optarg, 1, HERTZ_MAX);
		return true;
	case 'e':
		add_events(o, optarg);
		return true;
	case 'd':
		o->depth_asked = true;
		o->depth = (unsigned int)cli_number("-d", optarg, 1, SAMPLE_DEPTH_MAX);
		return true;
	case OPTION_ENGINE:
		o->engine = (enum engine_kind)parse_word("--engine", optarg, engines);
		return true;
	case OPTION_UNWIND:
		o->unwind = (enum unwind_by)parse_word("--unwind", optarg, ways);
		return true;
	case OPTION_UNWIND_MEM:
		o->unwind_mem = cli_size("--unwind-mem", optarg, 1, 16); /* 32-bit page index, 4-byte rows */
		return true;
	case OPTION_MEM:
		o->mem = cli_size("--mem", optarg, 1, 64);
		return true;
	case OPTION_MAX_COST:
		o->max_cost = parse_percent("--max-cost", optarg) / 100;
		return true;
	case OPTION_LANG:
		o->languages = parse_languages(optarg);
		o->languages_asked = true;
		return true;
	case OPTION_USDT_STACKS:
		o->calls_text = optarg;
		return true;
	case OPTION_NO_DITHER:
		o->dither = false;
		return true;
	case 'g':
	case OPTION_CALL_GRAPH:
		cli_warn("%s is not needed: stacks are always recorded", c == 'g' ? "-g" : "--call-graph");
		return true;
	case OPTION_LATENCY:
		return o->latency = true;
	case OPTION_OFF_CPU:
		o->off_cpu = true;
		o->off_cpu_ns = optarg ? parse_short("--off-cpu", optarg) : off_cpu_default;
		return true;
	default:
		return false;
	}
}

/* Parses options of output, messages and labels. Returns false for other options. */
static bool parse_where(struct options *o, int c)
{
	switch (c) {
	case 'o':
		o->output = optarg;
		return true;
	case OPTION_MODE:
		o->mode = parse_mode(optarg);
		return true;
	case 'v':
		o->verbose = true;
		return true;
	case 'q':
		o->quiet = true;
		return true;
	case OPTION_EXIT_STATUS:
		o->exit_status = true;
		return true;
	case OPTION_ROTATE:
		parse_span("--rotate", optarg, &o->rotate_ns, &o->rotate_bytes);
		return true;
	case OPTION_KEEP:
		parse_span("--keep", optarg, &o->keep_ns, &o->keep_bytes);
		return true;
	case OPTION_ON_ROTATE:
		o->on_rotate = optarg;
		return true;
	case 'l':
		add_label(o, optarg);
		return true;
	case OPTION_RING:
		parse_span("--ring", optarg, &o->ring_ns, &o->ring_bytes);
		return true;
	case OPTION_WHEN:
		add_when(o, optarg);
		return true;
	case OPTION_METRICS:
		o->metrics = check_replaceable("--metrics", optarg);
		return true;
	default:
		return false;
	}
}

static void parse_option(struct options *o, int c)
{
	if (!parse_what(o, c) && !parse_how(o, c) && !parse_where(o, c))
		cli_other(c);
}

void options_parse(struct options *o, int argc, char **argv)
{
	int c, end = 1; /* end of our own arguments; the command comes after "--" */
	double second;

	*o = (struct options){ .hertz = HERTZ_DEFAULT, .most = MOST_DEFAULT, .depth = DEPTH_DEFAULT, 
			       .mode = 0600, .dither = true, .languages = ~0u };
	cli_begin(&command);
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end == argc)
		check_words(argv, argc);
	while ((c = cli_option(end, argv)) != -1)
		parse_option(o, c);
	if (optind < end)
		o->seconds = parse_seconds(argv[optind++]);
	if (optind < end && is_duration(argv[optind], &second))
		refuse_duration(argv + 1, argv + optind - 1);
	if (optind < end && end == argc)
		refuse_command(argv[optind - 1], argv + optind, end - optind);
	if (optind < end)
		cli_usage("invalid argument \"%s\" (expected -- before a command)", argv[optind]);
	if (end + 1 < argc)
		o->command = argv + end + 1;
	else if (end < argc)
		cli_usage("-- requires a command");
	o->timed_pids = o->n_pids > 0;
	options_settle(o);
}
