#include "cmd/cprof-record/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/machineid.h"

enum { FILE_MAX = 1 << 20 };

bool host_read(const char *path, struct buf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;
	int saved;

	if (fd < 0)
		return false;
	while (got > 0 && text->n < FILE_MAX && buf_reserve(text, 4096)) {
		got = read(fd, text->p + text->n, 4096);
		if (got > 0)
			text->n += (size_t)got;
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	saved = text->failed ? ENOMEM : errno;
	close(fd);
	while (text->n > 0 && strchr(" \t\r\n", text->p[text->n - 1]))
		text->n--;
	errno = saved;
	return got >= 0 && !text->failed;
}

int host_raise_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return 1024;
	if (l.rlim_cur < l.rlim_max) {
		struct rlimit most = { l.rlim_max, l.rlim_max };

		if (setrlimit(RLIMIT_NOFILE, &most) == 0)
			l = most;
	}
	return l.rlim_cur < INT_MAX ? (int)l.rlim_cur : INT_MAX;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3]; /* until host_user_end */
static bool are_kept;

void host_user_begin(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct less[_LINUX_CAPABILITY_U32S_3];

	if (geteuid() == 0 || syscall(SYS_capget, &head, kept) != 0)
		return;
	memcpy(less, kept, sizeof(less));
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		less[i].effective = 0;
	are_kept = syscall(SYS_capset, &head, less) == 0; /* dropping rights is always allowed */
}

void host_user_end(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	int error = errno;

	if (are_kept)
		syscall(SYS_capset, &head, kept);
	are_kept = false;
	errno = error;
}

uint64_t host_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t host_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t host_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

static uint64_t epoch_of(clockid_t clock)
{
	uint64_t best = UINT64_MAX, epoch = 0;

	/* On a busy machine, milliseconds can pass between two calls: take the closest of some readings. */
	for (int i = 0; i < 8 && best > 1000; i++) {
		uint64_t before = clock_ns(clock), real = clock_ns(CLOCK_REALTIME),
			 apart = clock_ns(clock) - before;

		if (apart < best) {
			best = apart;
			epoch = real - before - apart / 2;
		}
	}
	return epoch;
}

uint64_t host_epoch_ns(void)
{
	return epoch_of(CLOCK_MONOTONIC);
}

uint64_t host_boot_epoch_ns(void)
{
	return epoch_of(CLOCK_BOOTTIME);
}

bool cpu_list_has(const struct cpu_list *cpus, unsigned int cpu)
{
	size_t first = 0, n = cpus->n;

	while (n > 0) {
		size_t half = n / 2;

		if (cpus->items[first + half] == cpu)
			return true;
		if (cpus->items[first + half] < cpu) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return false;
}

void cpu_list_release(struct cpu_list *cpus)
{
	free(cpus->items);
	*cpus = (struct cpu_list){ 0 };
}

static bool add_cpu(struct cpu_list *cpus, unsigned int cpu)
{
	size_t i = cpus->n;

	while (i > 0 && cpus->items[i - 1] > cpu)
		i--;
	if (i > 0 && cpus->items[i - 1] == cpu)
		return true;
	if (!grow_array(&cpus->items, &cpus->cap, cpus->n, sizeof(*cpus->items)))
		return false;
	memmove(cpus->items + i + 1, cpus->items + i, (cpus->n - i) * sizeof(*cpus->items));
	cpus->items[i] = cpu;
	cpus->n++;
	return true;
}

/* Parses a number and moves *p after it; strtoul would accept signs and spaces, too. */
static bool parse_cpu(const char **p, unsigned int *v)
{
	if (**p < '0' || **p > '9')
		return false;
	for (*v = 0; **p >= '0' && **p <= '9'; (*p)++) {
		*v = *v * 10 + (unsigned int)(**p - '0');
		if (*v > CPU_MAX)
			return false;
	}
	return true;
}

bool cpu_list_parse(struct cpu_list *cpus, const char *text, struct buf *error)
{
	const char *p = text;

	for (;;) {
		unsigned int first, last;

		if (!parse_cpu(&p, &first))
			break;
		last = first;
		if (*p == '-') {
			p++;
			if (!parse_cpu(&p, &last) || last < first)
				break;
		}
		for (unsigned int cpu = first; cpu <= last; cpu++)
			if (!add_cpu(cpus, cpu))
				return false;
		if (*p == '\0')
			return true;
		if (*p++ != ',')
			break;
	}
	buf_printf(error, "invalid list of CPUs \"%s\" (expected one like 0-3,8)", text);
	return false;
}

static bool read_cpus(const char *path, struct cpu_list *cpus)
{
	struct buf text = { 0 }, error = { 0 };
	bool ok = host_read(path, &text) && cpu_list_parse(cpus, buf_cstr(&text), &error);

	buf_release(&text);
	buf_release(&error);
	return ok && cpus->n > 0;
}

bool host_online_cpus(struct cpu_list *cpus)
{
	long n;

	cpus->n = 0;
	if (read_cpus("/sys/devices/system/cpu/online", cpus))
		return true;
	cpus->n = 0;
	n = sysconf(_SC_NPROCESSORS_ONLN);
	for (long i = 0; i < n && i <= CPU_MAX; i++)
		if (!add_cpu(cpus, (unsigned int)i))
			return false;
	return n > 0;
}

uint64_t host_cpu_start(unsigned int cpu)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology", cpu);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

void host_idle_each(const struct cpu_list *cpus, void (*each)(void *arg, unsigned int cpu, uint64_t ns), void *arg)
{
	uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK), tick = hertz ? 1000000000 / hertz : 0;
	unsigned long long idle, iowait;
	FILE *f = fopen("/proc/stat", "re");
	unsigned int cpu;
	char line[256];

	/* The lines of the CPUs come first, so the long line of the interrupts is not read. */
	while (f && fgets(line, sizeof(line), f) && strncmp(line, "cpu", 3) == 0) {
		if (sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &iowait) == 3 && cpu_list_has(cpus, cpu))
			each(arg, cpu, (idle + iowait) * tick);
	}
	if (f)
		fclose(f);
}

bool host_choose_cpus(struct cpu_list *cpus, const char *text, struct buf *error)
{
	struct cpu_list online = { 0 };
	bool ok;

	cpus->n = 0;
	ok = cpu_list_parse(cpus, text, error) && host_online_cpus(&online);
	for (size_t i = 0; ok && i < cpus->n; i++) {
		if (cpu_list_has(&online, cpus->items[i]))
			continue;
		buf_printf(error, "CPU %u is not online", cpus->items[i]);
		ok = false;
	}
	cpu_list_release(&online);
	return ok;
}

static void say_file(void (*say)(void *arg, const char *key, const char *value), void *arg, const char *key,
		     const char *path)
{
	struct buf text = { 0 };

	if (host_read(path, &text) && text.n > 0)
		say(arg, key, buf_cstr(&text));
	buf_release(&text);
}

static void say_machine(void (*say)(void *arg, const char *key, const char *value), void *arg)
{
	struct buf text = { 0 };
	char id[MACHINE_ID_TEXT];

	if (host_read("/etc/machine-id", &text) && machine_id_derive(id, buf_view(&text)))
		say(arg, "machine-id", id);
	buf_release(&text);
}

void host_facts(void (*say)(void *arg, const char *key, const char *value), void *arg, uint64_t real)
{
	struct cpu_list possible = { 0 };
	struct utsname u;
	char text[32];

	if (uname(&u) == 0) {
		say(arg, "host", u.nodename);
		say(arg, "kernel-release", u.release);
		say(arg, "arch", u.machine);
	}
	say_file(say, arg, "boot-id", "/proc/sys/kernel/random/boot_id");
	say_machine(say, arg);
	say_file(say, arg, "cpus-online", "/sys/devices/system/cpu/online");
	if (read_cpus("/sys/devices/system/cpu/possible", &possible)) {
		snprintf(text, sizeof(text), "%zu", possible.n);
		say(arg, "cpus-possible", text);
	}
	cpu_list_release(&possible);
	snprintf(text, sizeof(text), "%" PRIu64, real);
	say(arg, "start-realtime-ns", text);
}
