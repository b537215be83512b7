/*
 * cprof-record: samples stacks and writes them as a stream, with all that symbolizing needs later.
 *
 * The order makes the capture complete: the side-band is on before /proc is read, /proc is read before the
 * first sample is taken, and side-band and samples are written merged by time.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "cmd/shared/cli.h"
#include "cmd/cprof-record/choose_engine.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/hotplug.h"
#include "cmd/cprof-record/metrics.h"
#include "cmd/cprof-record/host/priority.h"
#include "cmd/cprof-record/host/refusal.h"
#include "cmd/cprof-record/report.h"
#include "cmd/cprof-record/drain.h"
#include "cmd/cprof-record/housekeeping.h"
#include "common/base/libc.h"

enum {
	SECOND = 1000000000,
	MILLISECOND = 1000000,
	JIT_INTERVAL = 10 * MILLISECOND,
	/* Limits how late a JIT compiler is noticed: names are dated by when they are first seen. */
	STEP_INTERVAL = 250 * MILLISECOND,
	INTERPRETER_TIME = 250 * MILLISECOND, /* after the start of an unknown interpreter, drains are frequent */
	REST_AFTER = SECOND,          /* time with samples of known mappings and names only */
	SILENT_AT_START = 2,          /* silent file systems to wait for at the start, at most */
	STALL_MS = 1000,              /* until a stalled output is reported; for a pipe, after a signal */
	FILE_MS = 10000,              /* time for a stalled file system, after a signal */
	LARGE = 256 << 10,            /* bytes: larger blocks return to the system after a burst */
};

/* Signals come through the epoll loop like other input, so none is missed when the rings are busy. */
static void catch_signals(struct recorder *r)
{
	struct sigaction hangup;
	sigset_t caught;

	signal(SIGCHLD, SIG_DFL); /* if it is ignored, the kernel reaps children, and nobody hears of it */
	sigemptyset(&caught);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGCHLD);
	sigaddset(&caught, SIGUSR1); /* it may be meant for another recorder, and must not end this one */
	if (r->o.rotate_ns || r->o.rotate_bytes || r->o.ring_ns ||
	    (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)) /* nohup(1) */
		sigaddset(&caught, SIGHUP);
	sigaddset(&caught, SIGPIPE); /* messages may have no reader; see end_by_signal in output.c */
	sigprocmask(SIG_BLOCK, &caught, &r->mask_before);
	sigdelset(&caught, SIGPIPE);
	r->signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0)
		cli_die(STATUS_SYSTEM, "signalfd: %s", strerror(errno));
}

static void take_signals(struct recorder *r)
{
	struct signalfd_siginfo s;

	while (read(r->signals, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGUSR1 || (s.ssi_signo == SIGHUP && r->output.kind != OUTPUT_ONE)) {
			r->output.file_requested = r->output.kind != OUTPUT_ONE;
		} else if (s.ssi_signo != SIGCHLD) {
			r->interrupted = true;
		} else {
			command_reap(&r->command);
			hooks_reap(&r->output.hooks);
		}
	}
}

static void warn_stalled(const struct recorder *r, bool file)
{
	const char *name = output_is_standard(&r->output) ? "standard output" : r->o.output;

	if (!file)
		cli_warn("%s is not read: one more signal ends the wait", name);
	else
		cli_warn("%s: waiting until it can be %s; %s signal ends the wait", name,
			 r->started ? "written" : "opened",
			 r->interrupted ? "one more" : r->started ? "a second" : "a");
}

/*
 * Waits until the output is ready: a pipe whose reader may stall, or the process that opens and writes a file
 * on a file system that may not answer. Signals are handled meanwhile. One signal ends the recording, and all
 * of it may still be written; a second one gives it up. A file system has FILE_MS for that.
 */
static const char *wait_for_output(void *arg, int fd, short events)
{
	static const char gave_up[] = "its file system did not answer, and a signal ended the wait";
	struct recorder *r = arg;
	struct pollfd fds[] = { { fd, events, 0 }, { r->signals, POLLIN, 0 } };
	bool file = events == POLLIN, warned = false;
	uint64_t since = host_mono_ns();

	for (;;) {
		bool before = r->interrupted;
		int n = poll(fds, 2, (file || before) && !warned ? STALL_MS : file && before ? FILE_MS : -1);

		if (n < 0 && errno != EINTR)
			return strerror(errno);
		if (n > 0 && fds[0].revents)
			return NULL;
		if (n == 0 && warned && host_mono_ns() - since >= FILE_MS * (uint64_t)MILLISECOND)
			return gave_up;
		if (n == 0 && !warned && !r->o.quiet)
			warn_stalled(r, file);
		warned |= n == 0;
		if (n <= 0)
			continue;
		r->interrupted = false;
		take_signals(r);
		if (r->interrupted)
			since = host_mono_ns();
		if (r->interrupted && (before || !r->started)) {
			if (r->command.pid)
				kill(r->command.pid, SIGTERM);
			return file ? gave_up : "it was not read, and a signal ended the wait";
		}
		r->interrupted |= before;
	}
}

/* Memory that runs out before anything is written has made the start fail. */
static const char *may_replace(void *arg)
{
	const struct recorder *r = arg;

	bool none = r->procs.failed || ledger_total(&r->ledger, OUTCOME_NO_MEMORY);

	return none ? "out of memory before anything was written" : NULL;
}

static void prepare_command(struct recorder *r)
{
	command_prepare(&r->command, r->o.command, &r->mask_before, !output_is_standard(&r->output));
	if (options_times_command(&r->o))
		return;
	r->o.pids = malloc(sizeof(*r->o.pids));
	if (!r->o.pids)
		cli_die(STATUS_SYSTEM, "out of memory");
	r->o.pids[0] = r->command.pid;
	r->o.n_pids = 1;
}

static void check_targets(const struct options *o)
{
	for (size_t i = 0; i < o->n_pids + o->n_tids; i++) {
		pid_t id = (o->n_pids ? o->pids : o->tids)[i];

		if (kill(id, 0) < 0 && errno == ESRCH)
			cli_die(STATUS_SYSTEM, "no %s has the id %d", o->n_pids ? "process" : "thread", (int)id);
		if (targets_exited(id, o->n_tids > 0))
			cli_die(STATUS_SYSTEM, "%s %d has exited, and its parent has not waited for it yet",
				o->n_pids ? "process" : "thread", (int)id);
	}
}

static void scan_procs(struct recorder *r)
{
	if (!options_targeted(&r->o) || r->engine->by_cpu) {
		procs_scan(&r->procs);
		return;
	}
	for (size_t i = 0; i < r->o.n_pids; i++) {
		struct proc *p = procs_new(&r->procs, (uint32_t)r->o.pids[i]);

		if (p)
			procs_read(&r->procs, p);
	}
}

/* A service gets a new control group at each start, so the group that is at the path now is recorded. */
static void follow_groups(struct recorder *r)
{
	for (size_t i = 0; i < r->o.n_groups; i++) {
		struct cgroup_place *p = &r->o.groups[i];
		enum cgroup_found found = cgroup_look(p);

		if (found == CGROUP_OTHER && !r->engine->ops->regroup(r->engine, i))
			p->id = 0; /* the group is gone by now, or will be tried again */
		if (found == CGROUP_GONE && !p->missed && !r->o.quiet)
			cli_warn("the control group %s is gone; if it is made again, it is recorded again", p->path);
		p->missed |= found == CGROUP_GONE;
	}
}

/*
 * A task's event ends with the task, and also when the task executes a program that its user may not trace.
 * If the task still lives a while later, it did the latter.
 */
static void look_for_privilege(struct recorder *r, uint64_t now)
{
	if (!r->hung_up || now - r->hung_up < STEP_INTERVAL || r->targets.n == 0 || r->o.n_pids != 1)
		return;
	if (kill(r->o.pids[0], 0) == 0 || errno == EPERM)
		cli_warn("sampling of process %d ended before the process: it executed a program that is set-user-ID or that "
			 "its user may not read", (int)r->o.pids[0]);
	r->hung_up = 0;
}

static void wait_until(struct recorder *r, uint64_t next)
{
	uint64_t now = host_mono_ns();
	struct epoll_event ev[16];
	int ms = next > now ? (int)((next - now + MILLISECOND - 1) / MILLISECOND) : 0;
	bool rests = r->engine->ops->rest && next > now + STEP_INTERVAL;
	int n;

	if (rests)
		r->engine->ops->rest(r->engine, true);
	n = epoll_wait(r->epoll, ev, 16, ms);
	if (rests)
		r->engine->ops->rest(r->engine, false);
	r->rest_ended = rests && n > 0;
	if (n < 0 && errno != EINTR)
		cli_die(STATUS_SYSTEM, "epoll: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		if (ev[i].data.fd == r->signals)
			take_signals(r);
		/* The task is gone; its event would wake us for ever. Others may still use its ring. */
		if (ev[i].events & (EPOLLHUP | EPOLLERR)) {
			epoll_ctl(r->epoll, EPOLL_CTL_DEL, ev[i].data.fd, NULL);
			if (!r->emit.user_walk || ev[i].data.fd != table_cache_fd(&r->tables))
				r->hung_up = now;
		}
	}
}

/* A metrics file that cannot be written is reported once, and does not end the recording. */
static void say_metrics(struct recorder *r, uint64_t now, bool last)
{
	if (metrics_write(r, now, last)) {
		r->metrics_failed = false;
		return;
	}
	if (!r->metrics_failed)
		cli_warn("%s: %s", r->o.metrics, output_process_error(errno));
	r->metrics_failed = true;
}

static void give_sign(struct recorder *r, uint64_t now)
{
	struct buf status = { 0 };

	if (!notify_due(&r->notify, now))
		return;
	report_status(r, now, &status);
	notify_alive(&r->notify, now, buf_cstr(&status));
	buf_release(&status);
}

/*
 * Returns true if the recorder may sleep from one flush to the next: nothing new happens, and waking up would
 * be most of its cost. A new process wakes it with its first sample, because the walk by tables does not know
 * the process yet. The recorder may not sleep if the end of a process ends it, or if programs other than the
 * clock's take stacks.
 */
static bool may_rest(const struct recorder *r, uint64_t now)
{
	return r->engine->ops->rest && r->engine->by_tables && !options_targeted(&r->o) && !r->o.command && !r->o.off_cpu &&
	       !r->o.n_events && now - r->last_change > REST_AFTER;
}

/* Returns the time by which the next drain is due. */
static uint64_t next_step(const struct recorder *r, uint64_t now, uint64_t latest)
{
	uint64_t next = now + STEP_INTERVAL;

	if (r->rest_ended || readings_busy(&r->procs.readings) ||
	    now - r->engine->interpreter < INTERPRETER_TIME || perf_maps_busy(r->emit.perf_maps, now))
		next = now + JIT_INTERVAL;
	else if (may_rest(r, now))
		return latest;
	return next < latest ? next : latest;
}

static void change_epoch(void *arg, unsigned int cpu, uint64_t before, uint64_t after)
{
	struct recorder *r = arg;
	struct ledger_epoch epoch = ledger_epoch_now(r->engine, cpu, after);

	epoch.since[0] = before;
	ledger_change(&r->ledger, cpu, &epoch);
}

static void record(struct recorder *r)
{
	uint64_t end = r->o.seconds > 0 ? r->started + (uint64_t)(r->o.seconds * SECOND) : UINT64_MAX;
	uint64_t next_flush = r->started + SECOND;

	for (;;) {
		uint64_t now = host_mono_ns();

		wait_until(r, next_step(r, now, next_flush < end ? next_flush : end));
		now = host_mono_ns();
		if (r->interrupted || now >= end || (r->o.command ? !r->command.pid : options_targeted(&r->o) && !r->targets.n))
			break;
		if (r->o.off_cpu && now >= r->report_due)
			drain_report_waits(r);
		if (r->engine->ops->dither)
			r->engine->ops->dither(r->engine, now, change_epoch, r);
		if (now < next_flush && !r->output.file_requested) {
			drain_until(r, now - MARGIN);
			continue;
		}
		housekeeping_flush(r, now);
		hotplug_follow(r, host_mono_ns()); /* later than any change of a period above */
		follow_groups(r);
		targets_look(&r->targets);
		look_for_privilege(r, now);
		say_metrics(r, now, false);
		report_complaints(r);
		report_progress(r, now);
		give_sign(r, now);
		next_flush += SECOND;
		if (next_flush < now || next_flush > now + SECOND) /* late; or early, because of a signal */
			next_flush = now + SECOND;
	}
}

/* Returns the recorder's CPU time so far, but for programs that it loaded late: they belong to the start. */
static uint64_t steady_ns(const struct recorder *r)
{
	return ledger_own_ns(&r->emit) - r->engine->late_ns;
}

static void finish(struct recorder *r)
{
	uint64_t now;

	r->own_stopped = steady_ns(r);
	notify_stopping(&r->notify);
	r->engine->ops->stop(r->engine);
	hotplug_end(r);
	r->stopped = now = host_mono_ns();
	drain_finish(r);
	emit_jit(&r->emit, now);
	writer_flush(r->emit.w); /* the ledger is to count these bytes */
	housekeeping_ledger(r, now, true);
	emit_end(&r->emit, now, END_CLOSED);
	if (output_flush(&r->output, now) == OUTPUT_LOST) { /* the next file at least records the loss */
		housekeeping_next_file(r, now, OUTPUT_LOST);
		housekeeping_ledger(r, now, true);
		emit_end(&r->emit, now, END_CLOSED);
		output_flush(&r->output, now);
	}
	if (r->command.pid)
		kill(r->command.pid, SIGTERM);
}

/* Waits for the commands of --on-rotate. One more signal ends the wait and the commands. */
static void wait_for_hooks(struct recorder *r)
{
	struct pollfd signals = { r->signals, POLLIN, 0 };
	uint64_t since = host_mono_ns();
	bool said = false;

	r->interrupted = false;
	while (hooks_left(&r->output.hooks) && !r->interrupted) {
		if (poll(&signals, 1, 100) > 0)
			take_signals(r);
		hooks_reap(&r->output.hooks);
		give_sign(r, host_mono_ns());
		if (!said && host_mono_ns() - since > SECOND) {
			cli_warn("waiting for the command of --on-rotate, for %zu file%s; one more signal ends the command",
				 hooks_left(&r->output.hooks), hooks_left(&r->output.hooks) == 1 ? "" : "s");
			said = true;
		}
	}
	if (hooks_left(&r->output.hooks))
		cli_warn("the command of --on-rotate was ended by a signal, and is incomplete for %zu of the files",
			 hooks_stop(&r->output.hooks));
	if (r->output.hooks.failed)
		cli_warn("the command of --on-rotate failed %" PRIu64 " time%s", r->output.hooks.failed,
			 r->output.hooks.failed == 1 ? "" : "s");
}

static void keep_command_line(struct recorder *r, char **argv)
{
	for (; *argv; argv++)
		buf_printf(&r->command_line, "%s%s", r->command_line.n ? " " : "", *argv);
	r->emit.command_line = buf_cstr(&r->command_line);
}

/* Warns if -d exceeds the kernel's limit, unless user stacks, which may be deep, are unwound by tables. */
static void warn_depth(const struct recorder *r)
{
	const struct options *o = &r->o;

	if (o->depth_asked && !o->quiet && o->depth > o->chain_depth && (o->kernel_only || !r->engine->by_tables))
		cli_warn("stacks are cut at %u addresses, the limit of kernel.perf_event_max_stack", o->chain_depth);
}

static void forget_exe(void *arg, struct exe *x)
{
	table_cache_forget(arg, x->table, host_mono_ns());
}

/* The languages need the BPF engine, tables, BTF and tail calls. */
static void warn_languages(const struct recorder *r)
{
	const struct options *o = &r->o;

	if (r->engine->lang || !o->languages || o->quiet || o->kernel_only || !(o->languages_asked || o->verbose))
		return;
	cli_warn("frames of interpreted languages are not available: %s",
		 !r->engine->accounts_program ? "plain perf has none" :
		 !r->engine->by_tables ? "they require unwinding by tables" : "they require Linux 5.10");
}

static void prepare_tables(struct recorder *r)
{
	if (!r->engine->by_tables)
		return;
	r->tables.store = r->engine->store;
	if (r->o.mem)
		r->tables.spare = r->o.memory.budget - r->o.memory.total + store_held(r->tables.store);
	r->user_walk = (struct user_walk){ .tables = &r->tables, .procs = &r->procs, .engine = r->engine };
	r->emit.user_walk = &r->user_walk;
	if (r->engine->lang) {
		runtimes_init(&r->runtimes);
		r->runtimes.options = &r->o;
		r->runtimes.bpf = r->engine->lang;
		r->runtimes.procs = &r->procs;
		r->runtimes.targets = &r->targets;
		r->runtimes.tables = &r->tables;
		r->runtimes.user_walk = &r->user_walk;
		r->tables.interpreter = runtimes_found;
		r->tables.interpreter_arg = &r->runtimes;
		r->emit.runtimes = &r->runtimes;
	}
	r->procs.exe_gone = forget_exe;
	r->procs.exe_gone_arg = &r->tables;
}

static void prepare(struct recorder *r, char **argv)
{
	struct idle_ranges idle;

	keep_command_line(r, argv);
	refusal_listen(r->o.verbose ? cli_warn : NULL);
	output_open(&r->output, &r->o, &r->mask_before,
		    &(struct output_asks){ wait_for_output, may_replace, r });
	metrics_file_open(&r->metrics_file, r->o.metrics);
	hotplug_read(r);
	if (r->o.command)
		prepare_command(r);
	check_targets(&r->o);
	priority_raise(!r->o.command); /* this and the next after the command's fork: it keeps its own values */
	r->descriptors = host_raise_files();
	choose_engine_check(r);
	if (!targets_init(&r->targets, &r->o))
		cli_die(STATUS_SYSTEM, "out of memory");
	r->emit.ksym = ksym_new(r->o.engine != ENGINE_PERF);
	if (!r->emit.ksym)
		cli_die(STATUS_SYSTEM, "out of memory");
	ksym_idle(r->emit.ksym, &idle);
	procs_init(&r->procs);
	r->opener = r->procs.scan.opener = opener_new();
	if (!r->opener)
		cli_die(STATUS_SYSTEM, "cannot start the process that opens files: %s", strerror(errno));
	if (!maps_reader_begin(&r->procs.scan.maps))
		cli_die(STATUS_SYSTEM, "cannot start the process that reads mappings: %s", strerror(errno));
	if (r->o.unwind != BY_FP && !r->o.kernel_only && !table_cache_init(&r->tables, &r->procs))
		cli_die(STATUS_SYSTEM, "cannot start the process that builds unwind tables: %s", strerror(errno));
	r->engine = choose_engine(r, &idle);
	r->hertz = r->engine->rate.hertz;
	prepare_tables(r);
	warn_depth(r);
	warn_languages(r);
	cost_limit_begin(&r->cost_limit, &r->o);
	if (r->o.max_cost > 0 && !r->engine->ops->rate)
		cli_die(STATUS_SYSTEM, "--max-cost requires the BPF engine: the rate of plain perf cannot change");
}

/* Runs only once sampling has begun. An existing file stays as it is until the first flush. */
static void begin_output(struct recorder *r, uint64_t since)
{
	output_begin(&r->output);
	r->emit.output = &r->output;
	r->emit.w = r->output.w;
	emit_segment(&r->emit, since);
}

static void start(struct recorder *r)
{
	struct buf error = { 0 };

	r->procs.scan.patient = SILENT_AT_START;
	scan_procs(r);
	r->procs.scan.patient = 0;
	r->emit.options = &r->o;
	r->emit.engine = r->engine;
	r->emit.procs = &r->procs;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->runtimes.epoll = r->epoll;
	if (!emit_init(&r->emit) || r->epoll < 0)
		cli_die(STATUS_SYSTEM, "cannot start: %s", strerror(errno));
	if (r->engine->accounts_program) /* otherwise samples have no control group */
		cgroups_watch(r->emit.cgroups);
	r->reported[0] = r->reported[1] = r->reported_end[0] = r->reported_end[1] = host_mono_ns();
	r->emit.waits_since = r->reported[0];
	epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->signals, &(struct epoll_event){ EPOLLIN, { .fd = r->signals } });
	r->engine->ops->watch(r->engine, r->epoll);
	epoll_ctl(r->epoll, EPOLL_CTL_ADD, opener_fd(r->opener), &(struct epoll_event){ EPOLLIN, { .fd = opener_fd(r->opener) } });
	if (r->emit.user_walk)
		epoll_ctl(r->epoll, EPOLL_CTL_ADD, table_cache_fd(&r->tables),
			  &(struct epoll_event){ EPOLLIN, { .fd = table_cache_fd(&r->tables) } });
	if (!r->engine->ops->sample(r->engine, &error))
		cli_die(STATUS_SYSTEM, "%s", buf_cstr(&error));
	r->started = r->looked = r->last_change = host_mono_ns();
	begin_output(r, r->reported[0]);
	r->report_due = r->started + WAITS_INTERVAL;
	hotplug_begin(r);
	ledger_classify(&r->ledger, &r->cpus, 0, false);
	if (r->o.command)
		command_go(&r->command);
	notify_ready(&r->notify);
	r->own_started = steady_ns(r);
}

int main(int argc, char **argv)
{
	static struct recorder r;
	bool no_memory, incomplete;

	mallopt(M_MMAP_THRESHOLD, LARGE);
	options_parse(&r.o, argc, argv);
	r.progress = isatty(STDERR_FILENO) && !r.o.quiet;
	catch_signals(&r);
	r.notify.fd = -1;
	if (!r.o.command) /* otherwise the service is the command, which notifies for itself */
		notify_open(&r.notify);
	prepare(&r, argv);
	start(&r);
	record(&r);
	finish(&r);
	report_complaints(&r);
	report_summary(&r);
	no_memory = r.procs.failed || ledger_total(&r.ledger, OUTCOME_NO_MEMORY);
	r.emit.user_walk = NULL;
	r.emit.runtimes = NULL;
	runtimes_release(&r.runtimes);
	user_walk_release(&r.user_walk);
	table_cache_release(&r.tables);
	r.procs.exe_gone = NULL;
	r.engine->ops->close(r.engine);
	r.engine = NULL;
	output_close(&r.output);
	incomplete = r.output.incomplete;
	report_complaints(&r);
	wait_for_hooks(&r);
	say_metrics(&r, r.stopped, true);
	metrics_file_close(&r.metrics_file);
	opener_free(r.opener);
	output_release(&r.output);
	emit_release(&r.emit);
	ksym_free(r.emit.ksym);
	procs_release(&r.procs);
	queue_release(&r.queue);
	ledger_release(&r.ledger);
	targets_release(&r.targets);
	notify_close(&r.notify);
	if (no_memory)
		cli_die(STATUS_SYSTEM, "out of memory: the capture is incomplete, and counts what it lacks as no-memory");
	if (incomplete)
		cli_die(STATUS_SYSTEM, "the recording is incomplete: not all of it could be written");
	return report_exit_status(&r);
}
