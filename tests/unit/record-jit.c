/*
 * Runs the readers of perf maps and jitdump files by hand, by commands on standard input, and the budget of
 * their bytes.
 *
 *	record-jit maps		tests/unit/record-perf-map.t
 *	record-jit dumps	tests/cmd/record-jitdump.t
 *	record-jit budget	tests/unit/record-budget.t
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/process/jit_dumps.h"
#include "cmd/cprof-record/process/perf_maps.h"
#include "common/stream/record.h"

struct jit_sums {
	bool brief;
	size_t bytes, largest; /* since the last poll */
};

static void print_chunk(void *arg, uint64_t process_id, uint64_t generation, const uint8_t *data, size_t n)
{
	struct jit_sums *sums = arg;

	sums->bytes += n;
	sums->largest = n > sums->largest ? n : sums->largest;
	for (const uint8_t *p = data, *end; !sums->brief && p < data + n; p = end + 1) {
		end = memchr(p, '\n', (size_t)(data + n - p));
		printf("%" PRIu64 ".%" PRIu64 " %.*s\n", process_id, generation, (int)(end - p), p);
	}
}

/* Answers all pending requests. Returns whether there were any. */
static bool answer_jit(struct perf_maps *js, struct opener *o, uint64_t now)
{
	struct pollfd p = { opener_fd(o), POLLIN, 0 };
	struct opener_answer a;
	bool any = false;

	while (perf_maps_asked(js)) {
		if (opener_take(o, host_mono_ns(), &a))
			perf_maps_opened(js, &a, now);
		else
			poll(&p, 1, 100);
		any = true;
	}
	return any;
}

static void poll_jit(struct perf_maps *js, struct opener *o, uint64_t now, struct jit_sums *sums)
{
	int more;

	sums->bytes = sums->largest = 0;
	answer_jit(js, o, now);
	more = perf_maps_poll(js, now, print_chunk, sums);
	if (answer_jit(js, o, now))
		more = perf_maps_poll(js, now, print_chunk, sums);
	printf("poll %d", more);
	if (sums->brief)
		printf(": %zu bytes, %s", sums->bytes, sums->largest <= PERF_MAP_CHUNK ? "small chunks" : "a large chunk");
	putchar('\n');
}

/*
 * Reads commands, a line each: "watch ID PID NSPID", "note PID", "poll", "finish ID", "forget ID", "restart",
 * "busy", "open", "complaint", "brief" (only sums from now on), "pass MS" (time passes, without waiting),
 * "! SHELL COMMAND".
 */
static int run_maps(void)
{
	static struct jit_budget budget;
	struct opener *o = opener_new();
	struct perf_maps *js = perf_maps_new(o, &budget);
	uint64_t now = host_mono_ns(), id, ms;
	struct jit_sums sums = { 0 };
	char line[512];
	int pid, nspid;

	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == '!') {
			if (system(line + 1) != 0)
				puts("the command failed");
		} else if (sscanf(line, "watch %" SCNu64 " %d %d", &id, &pid, &nspid) == 3)
			perf_maps_watch(js, id, pid, nspid);
		else if (sscanf(line, "note %d", &pid) == 1)
			perf_maps_note(js, pid, now);
		else if (sscanf(line, "finish %" SCNu64, &id) == 1) {
			perf_maps_exited(js, id);
			answer_jit(js, o, now);
			perf_maps_finish(js, id, now, print_chunk, &sums);
		}
		else if (sscanf(line, "forget %" SCNu64, &id) == 1)
			perf_maps_forget(js, id);
		else if (sscanf(line, "pass %" SCNu64, &ms) == 1)
			now += ms * 1000000;
		else if (strcmp(line, "poll\n") == 0)
			poll_jit(js, o, now, &sums);
		else if (strcmp(line, "restart\n") == 0)
			perf_maps_restart(js);
		else if (strcmp(line, "brief\n") == 0)
			sums.brief = true;
		else if (strcmp(line, "busy\n") == 0)
			puts(perf_maps_busy(js, now) ? "busy" : "quiet");
		else if (strcmp(line, "open\n") == 0)
			printf("%zu of %zu\n", perf_maps_open(js), perf_maps_watched(js));
		else if (strcmp(line, "complaint\n") == 0) {
			const char *said = perf_maps_complaint(js);

			puts(said ? said : "no complaint");
		}
		answer_jit(js, o, now);
		fflush(stdout);
	}
	perf_maps_free(js);
	opener_free(o);
	return 0;
}

static void print_code(void *arg, uint64_t process_id, const struct jitfile_code *c)
{
	static const char *const kinds[] = { "load", "move", "close", "mark" };
	size_t *codes = arg;

	if (c->kind == JITCODE_MARK)
		return;
	if (++*codes <= 10)
		printf("%" PRIu64 " %s %" PRIx64 " %" PRIu64 " %" PRIx64 " %.*s%s\n", process_id, kinds[c->kind], c->address, c->size,
		       c->old, (int)c->name.n, (const char *)c->name.p, c->time + 1000000000 < host_mono_ns() ? "" : " now");
}

static void print_unwinding(void *arg, uint64_t process_id, uid_t uid, const struct jitfile_code *c,
			    struct slice eh_frame)
{
	bool right = eh_frame.n && eh_frame.p[0] == 'E' && eh_frame.p[eh_frame.n - 1] == 'e';

	(void)arg;
	printf("%" PRIu64 " unwinds %" PRIx64 " by %zu bytes%s%s\n", process_id, c->address, eh_frame.n,
	       right ? ", the right ones" : "", uid == geteuid() ? "" : " of another user");
}

static void answer_dumps(struct jit_dumps *js, struct opener *o)
{
	struct pollfd p = { opener_fd(o), POLLIN, 0 };
	struct opener_answer a;

	while (jit_dumps_asked(js)) {
		if (opener_take(o, host_mono_ns(), &a))
			jit_dumps_opened(js, &a);
		else
			poll(&p, 1, 100);
	}
}

/*
 * Likewise: "watch ID PID INODE PATH", where an INODE of 0 means the inode of PATH here; "poll", "finish ID",
 * "forget ID", "restart", "open", "unwind", "complaint", "! SHELL COMMAND".
 */
static int run_dumps(void)
{
	static struct jit_budget budget;
	struct opener *o = opener_new();
	struct jit_dumps *js = jit_dumps_new(o, &budget);
	char line[512], path[256];
	uint64_t id, inode;
	size_t codes = 0;
	int pid;

	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == '!') {
			if (system(line + 1) != 0)
				puts("the command failed");
		} else if (sscanf(line, "watch %" SCNu64 " %d %" SCNu64 " %255[^\n]", &id, &pid, &inode, path) == 4) {
			if (jit_dumps_is(slice_of(path)))
				jit_dumps_watch(js, id, pid, &(struct jitdump_mapping){ slice_of(path), 0, 4096, inode });
			else
				puts("no dump by its name");
		} else if (sscanf(line, "finish %" SCNu64, &id) == 1)
			jit_dumps_finish(js, id, print_code, &codes);
		else if (sscanf(line, "forget %" SCNu64, &id) == 1)
			jit_dumps_forget(js, id);
		else if (strcmp(line, "poll\n") == 0)
			printf("poll %d\n", jit_dumps_poll(js, print_code, &codes));
		else if (strcmp(line, "restart\n") == 0)
			jit_dumps_restart(js);
		else if (strcmp(line, "unwind\n") == 0)
			jit_dumps_unwind_by(js, print_unwinding, NULL);
		else if (strcmp(line, "open\n") == 0)
			printf("%zu\n", jit_dumps_open(js));
		else if (strcmp(line, "complaint\n") == 0) {
			const char *said = jit_dumps_complaint(js);

			puts(said ? said : "no complaint");
		}
		answer_dumps(js, o);
		fflush(stdout);
	}
	if (codes > 10)
		printf("%zu in all\n", codes);
	jit_dumps_free(js);
	opener_free(o);
	return 0;
}

/* Reads lines: "SECONDS USER BYTES": the user wants that number of bytes. Prints how many it takes. */
static int run_budget(void)
{
	struct jit_budget b = { 0 };
	unsigned long long bytes;
	unsigned int uid;
	double s;

	while (scanf("%lf %u %llu", &s, &uid, &bytes) == 3) {
		uint64_t left = jit_budget_left(&b, uid, (uint64_t)(s * 1e9) + 1);

		jit_budget_take(&b, uid, bytes < left ? bytes : left);
		printf("%u %llu\n", uid, bytes < left ? bytes : (unsigned long long)left);
	}
	jit_budget_release(&b);
	return 0;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (strcmp(command, "maps") == 0)
		return run_maps();
	if (strcmp(command, "dumps") == 0)
		return run_dumps();
	if (strcmp(command, "budget") == 0)
		return run_budget();
	return 2;
}
