/*
 * Runs the side modules of cprof-record by hand: each command prints the results of one of them.
 * tests/unit/record-{elfid,host,kernel,cgroup,perf-map,diagnose,queue}.t check the output.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/cgroup.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/host/build_id.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/process/jit_dumps.h"
#include "cmd/cprof-record/process/perf_maps.h"
#include "cmd/cprof-record/host/kernel_symbols.h"
#include "cmd/cprof-record/host/ksym.h"
#include "cmd/cprof-record/rings/perf_ring.h"
#include "cmd/cprof-record/rings/queue.h"
#include "cmd/cprof-record/host/refusal.h"
#include "cmd/cprof-record/host/vdso.h"
#include "common/stream/record.h"

static void print_hex(const struct buf *b)
{
	for (size_t i = 0; i < b->n; i++)
		printf("%02x", b->p[i]);
	putchar('\n');
}

static int print_id(bool ok, struct buf *id)
{
	if (ok)
		print_hex(id);
	else
		puts("none");
	buf_release(id);
	return 0;
}

/* Prints the build ID of each file. */
static int elfid(char **args)
{
	struct buf id = { 0 };

	for (; *args; args++) {
		int fd = open(*args, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		print_id(elf_build_id_fd(fd, &id), &id);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

/* Checks each prefix of the file for an ID, in memory of exactly its size. */
static int elfid_cut(char **args)
{
	struct buf file = { 0 }, id = { 0 };
	size_t found = 0, n = 0;
	uint8_t *copy;

	if (!host_read(args[0], &file))
		return 1;
	for (n = 0; n <= file.n; n++) {
		copy = malloc(n ? n : 1);
		memcpy(copy, file.p, n);
		buf_clear(&id);
		found += elf_build_id_image((struct slice){ copy, n }, &id);
		free(copy);
	}
	/* And with each byte of its headers flipped. */
	for (n = 0; n < file.n && n < 1024; n++) {
		file.p[n] ^= 0xff;
		buf_clear(&id);
		elf_build_id_image(buf_view(&file), &id);
		file.p[n] ^= 0xff;
	}
	printf("%s\n", found ? "some" : "none");
	buf_release(&file);
	buf_release(&id);
	return 0;
}

static int vdso(char **args)
{
	struct buf image = { 0 }, id = { 0 };
	FILE *out = fopen(args[0], "wb");

	if (!out || !vdso_image(&image, &id))
		return 1;
	fwrite(image.p, 1, image.n, out);
	fclose(out);
	buf_release(&image);
	return print_id(true, &id);
}

static int kernel_id(char **args)
{
	struct buf id = { 0 };

	(void)args;
	return print_id(kernel_build_id(&id), &id);
}

/* Prints the address of _stext from KALLSYMS, or else from KCORE. */
static int stext(char **args)
{
	printf("%" PRIx64 "\n", kernel_stext(args[0], args[1]));
	return 0;
}

static void print_found(const struct kernel_symbol *s, uint64_t address)
{
	if (s)
		printf("%" PRIx64 " %.*s %" PRIx64 " %" PRIu64 "%s%.*s\n", address, (int)s->name.n, s->name.p, s->address,
		       s->size, s->module.n ? " " : "", (int)s->module.n, s->module.p);
	else
		printf("%" PRIx64 " none\n", address);
}

static void print_symbol(struct kernel *k, uint64_t address)
{
	struct kernel_symbol s;

	print_found(kernel_symbol(k, address, &s) ? &s : NULL, address);
}

/*
 * Operands: KALLSYMS MODULES. Then reads commands, a line each: an address; "add ADDRESS SIZE NAME"; "remove
 * ADDRESS SIZE"; "forget"; "why"; "! SHELL COMMAND".
 */
static int kernel(char **args)
{
	struct kernel *k = args[0] ? kernel_new_over(args[0], args[1]) : kernel_new();
	char line[512], name[256];
	uint64_t address, size;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "add %" SCNx64 " %" SCNu64 " %255s", &address, &size, name) == 3)
			kernel_add(k, address, size, slice_of(name));
		else if (sscanf(line, "remove %" SCNx64 " %" SCNu64, &address, &size) == 2)
			kernel_remove(k, address, size);
		else if (line[0] == '!' && system(line + 1) != 0)
			puts("the command failed");
		else if (strcmp(line, "forget\n") == 0)
			kernel_forget(k);
		else if (strcmp(line, "why\n") == 0)
			puts(kernel_why(k) ? kernel_why(k) : "no reason");
		else if (sscanf(line, "%" SCNx64, &address) == 1)
			print_symbol(k, address);
	}
	kernel_free(k);
	return 0;
}

/* Reads addresses, a line each; at the end prints how much memory is kept, in kB. */
static int ksym(char **args)
{
	struct ksym *k = ksym_new(true);
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct kernel_symbol s;
	uint64_t address;

	(void)args;
	while (scanf("%" SCNx64, &address) == 1)
		print_found(ksym_find(k, address, &s) ? &s : NULL, address);
	printf("%zu kB\n", (mallinfo2().uordblks + mallinfo2().hblkhd - before) / 1024);
	ksym_free(k);
	return 0;
}

static void print_fact(void *arg, const char *key, const char *value)
{
	(void)arg;
	printf("%s=%s\n", key, value);
}

static int facts(char **args)
{
	(void)args;
	host_facts(print_fact, NULL, host_mono_ns());
	return 0;
}

static void print_cpus(bool ok, struct cpu_list *cpus, struct buf *error)
{
	for (size_t i = 0; ok && i < cpus->n; i++)
		printf("%s%u", i ? " " : "", cpus->items[i]);
	puts(ok ? "" : buf_cstr(error));
	cpu_list_release(cpus);
	buf_release(error);
}

static int cpus_of(char **args)
{
	for (; *args; args++) {
		struct cpu_list cpus = { 0 };
		struct buf error = { 0 };

		print_cpus(cpu_list_parse(&cpus, *args, &error), &cpus, &error);
	}
	return 0;
}

static int choose(char **args)
{
	struct cpu_list cpus = { 0 };
	struct buf error = { 0 };

	if (args[0])
		print_cpus(host_choose_cpus(&cpus, args[0], &error), &cpus, &error);
	else
		print_cpus(host_online_cpus(&cpus), &cpus, &error);
	return 0;
}

/*
 * Reads commands, a line each: "id N"; "pid N"; "text FILE" (as /proc/PID/cgroup); "! SHELL COMMAND". All use
 * one object, so that remembered results show.
 */
static void print_place(bool (*open_place)(struct cgroup_place *, const char *, struct buf *),
			const char *name)
{
	struct cgroup_place place;
	struct buf error = { 0 };
	bool opened = open_place(&place, name, &error);

	puts(opened ? place.path : buf_cstr(&error));
	if (opened)
		close(place.fd);
	free(opened ? place.path : NULL);
	buf_release(&error);
}

static int cgroup(char **args)
{
	struct cgroups *cs = cgroups_new();
	struct buf path = { 0 }, text = { 0 };
	char line[512], name[256];
	uint64_t id;
	int pid;

	(void)args;
	while (fgets(line, sizeof(line), stdin)) {
		const char *known;
		bool ok = false;

		buf_clear(&path);
		buf_clear(&text);
		if (line[0] == '!') {
			if (system(line + 1) != 0)
				puts("the command failed");
		} else if (sscanf(line, "id %" SCNu64, &id) == 1) {
			known = cgroup_path(cs, id);
			puts(known ? known : "none");
		} else if (sscanf(line, "open %255s", name) == 1) {
			print_place(cgroup_open, name);
		} else if (sscanf(line, "container %255s", name) == 1) {
			print_place(cgroup_open_container, name);
		} else {
			if (sscanf(line, "pid %d", &pid) == 1)
				ok = cgroup_of_pid(cs, pid, &id, &path);
			else if (sscanf(line, "text %255s", name) == 1 && host_read(name, &text) && *buf_cstr(&text))
				ok = cgroup_of_text(cs, (char *)text.p, &id, &path);
			known = ok ? cgroup_path(cs, id) : NULL;
			printf("%s %s %s\n", ok ? buf_cstr(&path) : "none", known ? known : "none",
			       ok && id >> 63 ? "made-up" : "real");
		}
		fflush(stdout);
	}
	buf_release(&path);
	buf_release(&text);
	cgroups_free(cs);
	return 0;
}

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
static int jit(char **args)
{
	static struct jit_budget budget;
	struct opener *o = opener_new();
	struct perf_maps *js = perf_maps_new(o, &budget);
	uint64_t now = host_mono_ns(), id, ms;
	struct jit_sums sums = { 0 };
	char line[512];
	int pid, nspid;

	(void)args;
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
static int dumps(char **args)
{
	static struct jit_budget budget;
	struct opener *o = opener_new();
	struct jit_dumps *js = jit_dumps_new(o, &budget);
	char line[512], path[256];
	uint64_t id, inode;
	size_t codes = 0;
	int pid;

	(void)args;
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

/* Operands: bpf ERRNO, perf ERRNO, perf-wide ERRNO, or kallsyms. Prints the diagnosis. */
static int diagnose(char **args)
{
	struct buf s = { 0 };
	int err = args[1] ? atoi(args[1]) : 0;

	if (strcmp(args[0], "bpf") == 0)
		diagnose_bpf(err, &s);
	else if (strcmp(args[0], "kallsyms") == 0)
		diagnose_kallsyms(&s);
	else
		diagnose_perf(err, strcmp(args[0], "perf-wide") == 0, &s);
	puts(buf_cstr(&s));
	buf_release(&s);
	return 0;
}

/* Operands: FILE, and up to eight of TYPE MEMBER. Prints the members' offsets; "none" if one is missing. */
static int btf(char **args)
{
	struct btf_place places[BTF_PLACES];
	size_t n = 0;

	for (; n < BTF_PLACES && args[1 + 2 * n] && args[2 + 2 * n]; n++)
		places[n] = (struct btf_place){ args[1 + 2 * n], args[2 + 2 * n], 0 };
	if (!btf_find(args[0], places, n)) {
		puts("none");
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		printf("%" PRIu32 "\n", places[i].at);
	return 0;
}

/* Prints the offset of one member, found by libbpf. */
static int btf_by_libbpf(char **args)
{
	struct btf *b = btf__parse(args[0], NULL);
	int id = b ? btf__find_by_name_kind(b, args[1], BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(b, (uint32_t)id) : NULL;

	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		if (strcmp(btf__name_by_offset(b, btf_members(t)[i].name_off), args[2]) == 0)
			printf("%" PRIu32 "\n", btf_member_bit_offset(t, i) / 8);
	}
	btf__free(b);
	return 0;
}

/* Prints the reason found in a verifier's log. */
static int reason(char **args)
{
	char log[4096];
	size_t n = fread(log, 1, sizeof(log) - 1, stdin);
	const char *line;

	(void)args;
	log[n] = '\0';
	line = refusal_reason(log, &n);
	printf("%.*s\n", line ? (int)n : 4, line ? line : "none");
	return 0;
}

static int capability(char **args)
{
	puts(have_capability(atoi(args[0])) ? "yes" : "no");
	return 0;
}

/* Reads lines: "TIME KIND" is pushed, with its line as its bytes; "until TIME" prints the items ripe then. */
static int queue(char **args)
{
	struct queue q = { 0 };
	uint64_t time, n;
	unsigned int kind;
	char line[128];

	(void)args;
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%" SCNu64 " %u", &time, &kind) == 2) {
			queue_push(&q, kind, time, line, strlen(line));
		} else if (sscanf(line, "until %" SCNu64, &time) == 1) {
			n = queue_ripe(&q, time);
			for (size_t i = 0; i < n; i++)
				fwrite(queue_bytes(&q, &q.items[i]), 1, q.items[i].n, stdout);
			queue_drop(&q, n);
			printf("until %" PRIu64 ": %zu left\n", time, q.n);
		}
	}
	queue_release(&q);
	return 0;
}

/* Pushes one item of each kind that no memory is large enough for. Prints how many were lost, by kind. */
static int queue_lost(char **args)
{
	struct queue q = { 0 };

	(void)args;
	for (int kind = 0; kind < ITEM_KINDS; kind++)
		for (int i = 0; i <= kind; i++)
			queue_push(&q, kind, 1, "", SIZE_MAX / 4);
	queue_push(&q, ITEM_SAMPLE, 1, "a", 1);
	for (int kind = 0; kind < ITEM_KINDS; kind++)
		printf("%" PRIu64 "%s", q.lost[kind], kind + 1 < ITEM_KINDS ? " " : "");
	printf(", %zu left\n", q.n);
	queue_release(&q);
	return 0;
}

static void print_record(void *arg, unsigned int cpu, const struct perf_event_header *h)
{
	(void)arg;
	printf("record of %u on %u\n", h->size, cpu);
}

/* A ring with records of these sizes, of no type. Prints those delivered, and the rest of the ring. */
static int ring(char **args)
{
	static struct perf_event_mmap_page page;
	static uint8_t data[4096];
	struct perf_ring r = { .fd = -1, .cpu = 3, .page = &page, .data = data, .size = sizeof(data) };
	bool whole;

	for (; *args; args++) {
		struct perf_event_header h = { .size = (uint16_t)atoi(*args) };

		memcpy(data + page.data_head, &h, sizeof(h));
		page.data_head += h.size ? h.size : sizeof(h);
	}
	whole = perf_ring_drain(&r, print_record, NULL);
	printf("%s, %llu left\n", whole ? "whole" : "damaged", page.data_head - page.data_tail);
	return 0;
}

/* Reads lines: "SECONDS USER BYTES": the user wants so many bytes then. Prints how many it takes. */
static int budget(char **args)
{
	struct jit_budget b = { 0 };
	unsigned long long bytes;
	unsigned int uid;
	double s;

	(void)args;
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
	static const struct {
		const char *name;
		int (*run)(char **args);
		int args;
	} commands[] = {
		{ "elfid", elfid, 1 },	     { "elfid-cut", elfid_cut, 1 }, { "vdso", vdso, 1 },
		{ "kernel-id", kernel_id, 0 }, { "kernel", kernel, 0 },	    { "facts", facts, 0 },
		{ "cpus", cpus_of, 1 },	     { "choose", choose, 0 },	    { "cgroup", cgroup, 0 },
		{ "jit", jit, 0 },	     { "diagnose", diagnose, 1 },   { "capability", capability, 1 },
		{ "dumps", dumps, 0 },	     { "stext", stext, 2 },
		{ "reason", reason, 0 },    { "btf", btf, 1 },	    { "btf-by-libbpf", btf_by_libbpf, 3 },    { "ksym", ksym, 0 },	     { "queue", queue, 0 },
		{ "queue-lost", queue_lost, 0 }, { "ring", ring, 1 },	    { "budget", budget, 0 },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0 && argc >= 2 + commands[i].args)
			return commands[i].run(argv + 2);
	return 2;
}
