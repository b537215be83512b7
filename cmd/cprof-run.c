/*
 * cprof-run: records a command, names the capture and draws its flame graph, by the programs that do this.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/shared/cli.h"
#include "cmd/shared/result_file.h"
#include "cmd/shared/sibling.h"
#include "common/base/buf.h"

enum { RUN_OFF_CPU = 256, RUN_CAPTURE };
enum { ARGUMENTS = 16 }; /* more than any program gets, without the command */

static const struct option_row options[] = {
	{ OPTIONS_HOW, 'F', "freq", "HZ", "samples a second and CPU (99)" },
	{ OPTIONS_HOW, RUN_OFF_CPU, "off-cpu", "[=MIN]", "waits too, of MIN or longer (1ms)" },
	{ OPTIONS_FILES, 'i', "inlined", NULL, "inlined calls as frames" },
	{ OPTIONS_OUTPUT, 'o', "output", "html|svg|FILE", "the page, a picture, or a file of either" },
	{ OPTIONS_OUTPUT, RUN_CAPTURE, "capture", "FILE", "keep the capture, with names, in FILE" },
	{ OPTIONS_OUTPUT, 'q', "quiet", NULL, "print neither the recorder's summary nor the path" },
	CLI_ROWS,
	{ 0 },
};
static const struct command_line command = {
	"cprof-run", "record a command and draw a flame graph of it", "COMMAND [ARGUMENT ...]", options,
};

/* An argument vector that is being made. */
struct arguments {
	const char *list[ARGUMENTS];
	size_t n;
};

struct run {
	const char *hertz, *off_cpu; /* NULL: not given; off_cpu "": without a value */
	const char *kind;            /* html or svg */
	const char *page, *capture;  /* NULL: not given */
	bool waits, inlined, quiet;
	char made[NAME_MAX + 64];    /* the page's name unless it is given */
	char directory[PATH_MAX];    /* temporary, of the captures */
	char raw[PATH_MAX + 16], named[PATH_MAX + 16];
	const char *kept;            /* the capture that remains because no page was drawn; NULL: a page was */
};

static volatile sig_atomic_t child; /* the pid of the program that runs now; 0: none */

static void take_option(struct run *r, int c)
{
	switch (c) {
	case 'F':
		r->hertz = optarg;
		break;
	case RUN_OFF_CPU:
		r->waits = true;
		r->off_cpu = optarg;
		break;
	case 'i':
		r->inlined = true;
		break;
	case 'o':
		r->kind = result_kind(optarg);
		if (strcmp(r->kind, "txt") == 0)
			cli_invalid("-o", optarg);
		r->page = r->kind == optarg ? NULL : optarg;
		break;
	case RUN_CAPTURE:
		r->capture = optarg;
		break;
	case 'q':
		r->quiet = true;
		break;
	default:
		cli_other(c);
	}
}

/* Fails before the command runs, which may take hours, if the file cannot be written after it. */
static void check_writable(const char *path)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX] = ".";
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
	} else if (access(path, F_OK) != 0) {
		if (slash)
			snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path + 1), path);
		path = access(directory, W_OK | X_OK) != 0 ? directory : NULL;
	} else if (access(path, W_OK) == 0) {
		path = NULL;
	}
	if (path)
		cli_die(STATUS_SYSTEM, "cannot write to %s: %s", path, strerror(errno));
}

static void choose_files(struct run *r, const char *name)
{
	const char *slash = strrchr(name, '/'), *tmp = getenv("TMPDIR");

	snprintf(r->made, sizeof(r->made), "cprof-%.*s-%ld.%s", NAME_MAX, slash ? slash + 1 : name,
		 (long)getpid(), r->kind);
	if (!r->page)
		r->page = r->made;
	check_writable(r->page);
	if (r->capture)
		check_writable(r->capture);
	snprintf(r->directory, sizeof(r->directory), "%s/cprof-run.XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	if (!mkdtemp(r->directory))
		cli_die(STATUS_SYSTEM, "cannot create %s: %s", r->directory, strerror(errno));
	snprintf(r->raw, sizeof(r->raw), "%s/raw.bin", r->directory);
	snprintf(r->named, sizeof(r->named), "%s/named.bin", r->directory);
	if (!r->capture)
		r->capture = r->named;
}

/* A command that ran for hours is not run again only to draw its page: the capture remains. */
static void remove_files(const struct run *r)
{
	if (r->kept)
		cli_warn("no page was drawn; the capture is kept in %s", r->kept);
	if (r->kept != r->raw)
		unlink(r->raw);
	if (r->kept != r->named)
		unlink(r->named);
	rmdir(r->directory);
}

/* A signal from a terminal reaches the program as well; one that another process sends is passed on. */
static void pass_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (child && info->si_code <= 0)
		kill((pid_t)child, number);
}

/* Survives the signals that end the recording: the page is still to be drawn. */
static void catch_signals(sigset_t *caught)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_sigaction = pass_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction before;

	sigemptyset(caught);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &before) != 0 || before.sa_handler == SIG_IGN)
			continue;
		sigaction(numbers[i], &action, NULL);
		sigaddset(caught, numbers[i]);
	}
}

/* Runs a program to its end. Returns its status; 128 and the number of the signal that ended it. */
static int run_program(const char **argv, const sigset_t *caught)
{
	sigset_t before;
	int status = 0;
	pid_t pid;

	sigprocmask(SIG_BLOCK, caught, &before); /* until the handler knows the pid */
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		sibling_exec((char **)argv);
	}
	child = pid > 0 ? pid : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		cli_warn("cannot start %s: %s", argv[0], strerror(errno));
		return STATUS_SYSTEM;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void add(struct arguments *a, const char *text)
{
	a->list[a->n++] = text;
}

/* Returns the status of the command, or of the recorder if it fails; then there is no capture. */
static int record_command(const struct run *r, char **operands, size_t n, const sigset_t *caught)
{
	struct arguments first = { .n = 0 };
	struct buf off_cpu = { 0 };
	const char **argv;
	int status;

	buf_printf(&off_cpu, "--off-cpu%s%s", r->off_cpu ? "=" : "", r->off_cpu ? r->off_cpu : "");
	argv = calloc(ARGUMENTS + n + 1, sizeof(*argv));
	if (!argv || off_cpu.failed)
		cli_no_memory();
	add(&first, "cprof-record");
	add(&first, "--exit-status");
	add(&first, "-o");
	add(&first, r->raw);
	if (r->quiet)
		add(&first, "-q");
	if (r->hertz) {
		add(&first, "-F");
		add(&first, r->hertz);
	}
	if (r->waits)
		add(&first, buf_cstr(&off_cpu));
	add(&first, "--");
	memcpy(argv, first.list, first.n * sizeof(*argv));
	memcpy(argv + first.n, operands, n * sizeof(*argv));
	status = run_program(argv, caught);
	free(argv);
	buf_release(&off_cpu);
	return status;
}

/*
 * Names the capture and draws the page. Returns the worse status of the two programs. Options come first,
 * because with POSIXLY_CORRECT they end at the first operand.
 */
static int draw_page(struct run *r, const sigset_t *caught)
{
	const char *sym[] = { "cprof-sym", "-o", r->capture, r->inlined ? "-i" : "--", r->raw, NULL };
	struct arguments flame = { .n = 0 };
	int named = run_program(sym, caught), drawn;

	r->kept = r->raw;
	if (named != STATUS_OK && named != STATUS_DAMAGED)
		return named;
	r->kept = r->capture;
	add(&flame, "cprof-flame");
	add(&flame, "-o");
	add(&flame, r->page);
	if (r->inlined)
		add(&flame, "-i");
	if (r->waits)
		add(&flame, "--wall");
	add(&flame, "--");
	add(&flame, r->capture);
	drawn = run_program(flame.list, caught);
	if (drawn == STATUS_OK || drawn == STATUS_DAMAGED) {
		r->kept = NULL;
		if (!r->quiet)
			cli_line("%s", r->page);
	}
	return drawn ? drawn : named;
}

int main(int argc, char **argv)
{
	struct run r = { .kind = "html" };
	sigset_t caught;
	struct stat st;
	int c, status, drawn;

	cli_begin(&command);
	while ((c = cli_option(argc, argv)) != -1)
		take_option(&r, c);
	argv += optind;
	if (!argv[0])
		cli_usage("recording requires a command");
	choose_files(&r, argv[0]);
	catch_signals(&caught);
	status = record_command(&r, argv, (size_t)(argc - optind), &caught);
	if (stat(r.raw, &st) == 0 && st.st_size > 0) {
		drawn = draw_page(&r, &caught);
		status = drawn ? drawn : status;
	}
	remove_files(&r);
	return status;
}
