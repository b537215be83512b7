/*
 * Runs the modules of cprof-record/host by hand: each command prints the results of one of them.
 * tests/unit/record-{btf,cgroup,diagnose,elfid,host,kernel}.t check the output.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "cmd/cprof-record/host/kernel_symbols.h"
#include "cmd/cprof-record/host/ksym.h"
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
	host_facts(print_fact, NULL, host_epoch_ns() + host_mono_ns());
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
	bool section = args[1][0] == '.';
	int id = b ? btf__find_by_name_kind(b, args[1], section ? BTF_KIND_DATASEC : BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(b, (uint32_t)id) : NULL;

	for (uint32_t i = 0; t && section && i < btf_vlen(t); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(t) + i;

		if (strcmp(btf__name_by_offset(b, btf__type_by_id(b, v->type)->name_off), args[2]) == 0)
			printf("%" PRIu32 "\n", v->offset);
	}
	for (uint32_t i = 0; t && !section && i < btf_vlen(t); i++) {
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

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **args);
		int args;
	} commands[] = {
		{ "elfid", elfid, 1 },	       { "elfid-cut", elfid_cut, 1 }, { "vdso", vdso, 1 },
		{ "kernel-id", kernel_id, 0 }, { "kernel", kernel, 0 },	      { "facts", facts, 0 },
		{ "cpus", cpus_of, 1 },	       { "choose", choose, 0 },	      { "cgroup", cgroup, 0 },
		{ "diagnose", diagnose, 1 },   { "capability", capability, 1 }, { "stext", stext, 2 },
		{ "reason", reason, 0 },       { "btf", btf, 1 },	      { "ksym", ksym, 0 },
		{ "btf-by-libbpf", btf_by_libbpf, 3 },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0 && argc >= 2 + commands[i].args)
			return commands[i].run(argv + 2);
	return 2;
}
