#include "cmd/cprof-record/host/kernel_symbols.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/host/build_id.h"
#include "cmd/cprof-record/host/host.h"
#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/le.h"
#include "common/base/search.h"

enum {
	CHUNK = 64 * 1024,
	STEXT_LINES = 20000, /* some hundred lines of per-CPU data come before _stext */
};

#define MODULES_PERIOD_NS 1000000000u

/* Code added by kernel_add. */
struct extra {
	uint64_t address, size;
	char *name;
	size_t name_n;
};

struct kernel {
	const char *kallsyms, *modules;
	struct kallsyms table;
	bool loaded;           /* the table was read, or reading it failed */
	uint64_t modules_hash; /* /proc/modules at that time */
	uint64_t modules_time; /* when /proc/modules was last checked, CLOCK_MONOTONIC ns */
	struct extra *extras;  /* sorted by address */
	size_t n_extras, cap_extras;
	struct buf why;
};

struct kernel *kernel_new_over(const char *kallsyms, const char *modules)
{
	struct kernel *k = calloc(1, sizeof(*k));

	if (k) {
		k->kallsyms = kallsyms;
		k->modules = modules;
	}
	return k;
}

struct kernel *kernel_new(void)
{
	return kernel_new_over("/proc/kallsyms", "/proc/modules");
}

void kernel_forget(struct kernel *k)
{
	kallsyms_release(&k->table);
	k->loaded = false;
}

void kernel_free(struct kernel *k)
{
	if (!k)
		return;
	kallsyms_release(&k->table);
	for (size_t i = 0; i < k->n_extras; i++)
		free(k->extras[i].name);
	free(k->extras);
	buf_release(&k->why);
	free(k);
}

const char *kernel_why(const struct kernel *k)
{
	return k->why.n ? (const char *)k->why.p : NULL;
}

bool kernel_build_id(struct buf *id)
{
	struct buf notes = { 0 };
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t got = 0;
	bool ok;

	if (fd < 0)
		return false;
	while (notes.n < CHUNK && buf_reserve(&notes, CHUNK) && (got = read(fd, notes.p + notes.n, CHUNK)) > 0)
		notes.n += (size_t)got;
	close(fd);
	ok = got >= 0 && !notes.failed && elf_build_id_notes(buf_view(&notes), 4, id);
	buf_release(&notes);
	return ok;
}

/* --- start of the kernel's text --------------------------------------------------------------- */

static uint64_t stext_of_kallsyms(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long address = 0;
	char line[512], name[256];
	bool found = false;

	for (int i = 0; f && !found && i < STEXT_LINES && fgets(line, sizeof(line), f); i++)
		found = sscanf(line, "%lx %*c %255s", &address, name) == 2 && strcmp(name, "_stext") == 0;
	if (f)
		fclose(f);
	return found ? address : 0;
}

/* Finds "SYMBOL(_stext)=ffffffff81000000" among the lines of the note for readers of crash dumps. */
static uint64_t stext_of_note(struct slice text)
{
	static const char key[] = "SYMBOL(_stext)=";
	const uint8_t *at = memmem(text.p, text.n, key, sizeof(key) - 1);
	char number[17] = "";

	if (!at)
		return 0;
	at += sizeof(key) - 1;
	for (size_t i = 0; i < 16 && at + i < text.p + text.n && isxdigit(at[i]); i++)
		number[i] = (char)at[i];
	return strtoull(number, NULL, 16);
}

static uint64_t stext_of_notes(struct slice notes)
{
	static const char name[] = "VMCOREINFO";
	struct cursor c = cursor_over(notes.p, notes.n);

	while (cursor_left(&c) >= 12) {
		uint64_t name_n = le32_load(c.p), text_n = le32_load(c.p + 4), skip;

		c.p += 12;
		skip = ((name_n + 3) & ~3ull) + ((text_n + 3) & ~3ull);
		if (((name_n + 3) & ~3ull) + text_n > cursor_left(&c))
			break;
		if (name_n == sizeof(name) && memcmp(c.p, name, sizeof(name)) == 0)
			return stext_of_note((struct slice){ c.p + ((name_n + 3) & ~3ull), text_n });
		c.p += skip < cursor_left(&c) ? skip : cursor_left(&c);
	}
	return 0;
}

/* Reads the first note segment of the kernel as a core file. Its program header must come first. */
static uint64_t stext_of_kcore(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t head[64], ph[56];
	struct buf notes = { 0 };
	uint64_t found = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	if (pread(fd, head, sizeof(head), 0) == sizeof(head) && memcmp(head, "\177ELF\2\1", 6) == 0 &&
	    pread(fd, ph, sizeof(ph), (off_t)le64_load(head + 32)) == sizeof(ph) && le32_load(ph) == PT_NOTE &&
	    buf_reserve(&notes, CHUNK)) {
		uint64_t size = le64_load(ph + 32);

		n = pread(fd, notes.p, size < CHUNK ? size : CHUNK, (off_t)le64_load(ph + 8));
		found = n > 0 ? stext_of_notes((struct slice){ notes.p, (size_t)n }) : 0;
	}
	buf_release(&notes);
	close(fd);
	return found;
}

uint64_t kernel_stext(const char *kallsyms, const char *kcore)
{
	uint64_t found = stext_of_kallsyms(kallsyms);

	return found ? found : stext_of_kcore(kcore);
}

/* --- modules --------------------------------------------------------------------------------- */

/* Hashes names, sizes and addresses. The reference counts between them change all the time. */
static uint64_t hash_of_modules(struct buf *text)
{
	const char *line = buf_cstr(text);
	uint64_t hash = 0;

	while (*line) {
		size_t n = strcspn(line, "\n"), name_n = strcspn(line, " \n");
		const char *address = memmem(line, n, " 0x", 3);
		uint64_t size = strtoull(line + name_n, NULL, 10), at = address ? strtoull(address, NULL, 16) : 0;

		hash = hash_u64(hash ^ hash_bytes(line, name_n)) ^ hash_u64(size ^ hash_u64(at));
		line += n + (line[n] == '\n');
	}
	return hash;
}

static uint64_t modules_hash(const struct kernel *k)
{
	struct buf text = { 0 };
	uint64_t hash = 0;

	if (host_read(k->modules, &text))
		hash = hash_of_modules(&text);
	buf_release(&text);
	return hash;
}

/* Reads "name size references users state 0xaddress" for each module. */
static void read_modules(struct kernel *k)
{
	struct buf text = { 0 };
	char *save, *line;

	if (!host_read(k->modules, &text)) {
		buf_release(&text);
		return;
	}
	k->modules_hash = hash_of_modules(&text);
	line = text.failed ? NULL : strtok_r((char *)text.p, "\n", &save);
	for (; line; line = strtok_r(NULL, "\n", &save)) {
		char *name_end = strchr(line, ' ');
		char *address = strstr(line, " 0x");

		if (name_end && address)
			kallsyms_module_end(&k->table, (struct slice){ (uint8_t *)line, (size_t)(name_end - line) },
					    strtoull(address, NULL, 16) + strtoull(name_end, NULL, 10));
	}
	buf_release(&text);
}

/* --- the table ------------------------------------------------------------------------------- */

/* Returns false with errno. */
static bool read_symbols(struct kernel *k)
{
	int fd = open(k->kallsyms, O_RDONLY | O_CLOEXEC), error;
	bool good = fd >= 0 && kallsyms_read(&k->table, fd);

	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return good;
}

/* Returns true if there is a table now. After a failure, only kernel_forget permits another attempt. */
static bool load_symbols(struct kernel *k)
{
	struct kallsyms *t = &k->table;
	bool good;

	if (k->loaded)
		return t->n > 0;
	buf_clear(&k->why);
	good = read_symbols(k);
	if (!good)
		buf_printf(&k->why, "%s: %s: kernel frames get no names", k->kallsyms, strerror(errno));
	else if (t->n == 0 && t->lines == 0)
		buf_printf(&k->why, "%s is empty: kernel frames get no names (CONFIG_KALLSYMS is missing)",
			   k->kallsyms);
	else if (t->n == 0)
		diagnose_kallsyms(&k->why);
	buf_cstr(&k->why);
	if (good && t->n > 0)
		read_modules(k);
	else
		kallsyms_release(t);
	k->modules_time = host_mono_ns();
	k->loaded = true;
	return t->n > 0;
}

/* Reads the table again if /proc/modules has changed. */
static bool refresh_symbols(struct kernel *k, uint64_t address)
{
	uint64_t now = host_mono_ns();

	if (address >= k->table.text && address < k->table.etext)
		return true;
	if (now - k->modules_time < MODULES_PERIOD_NS)
		return true;
	k->modules_time = now;
	if (modules_hash(k) == k->modules_hash)
		return true;
	kernel_forget(k);
	return load_symbols(k);
}

/* --- symbols added by kernel_add --------------------------------------------------------------- */

/* Returns the index of the first extra that ends after address. */
static size_t extra_lower(const struct kernel *k, uint64_t address)
{
	return SEARCH_COUNT(k->n_extras, mid, k->extras[mid].address + k->extras[mid].size <= address);
}

static bool name_begins_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static struct slice extra_module(const char *name)
{
	if (name_begins_with(name, "bpf_"))
		return slice_of("[bpf]");
	if (name_begins_with(name, "ftrace_"))
		return slice_of("[__builtin__ftrace]");
	if (name_begins_with(name, "kprobe_"))
		return slice_of("[__builtin__kprobes]");
	return (struct slice){ NULL, 0 };
}

/* Removes every extra that overlaps the range. */
static void drop_extras(struct kernel *k, uint64_t address, uint64_t size)
{
	size_t first = extra_lower(k, address), last = first;

	while (last < k->n_extras && k->extras[last].address < address + size)
		free(k->extras[last++].name);
	if (first == last)
		return;
	memmove(k->extras + first, k->extras + last, (k->n_extras - last) * sizeof(*k->extras));
	k->n_extras -= last - first;
}

static bool put_extra(struct kernel *k, struct extra e)
{
	size_t at;

	if (!grow_array(&k->extras, &k->cap_extras, k->n_extras, sizeof(*k->extras)))
		return false;
	drop_extras(k, e.address, e.size);
	at = extra_lower(k, e.address);
	memmove(k->extras + at + 1, k->extras + at, (k->n_extras - at) * sizeof(*k->extras));
	k->extras[at] = e;
	k->n_extras++;
	return true;
}

bool kernel_add(struct kernel *k, uint64_t address, uint64_t size, struct slice name)
{
	struct extra e = { address, size, NULL, name.n };

	if (size == 0 || size > UINT64_MAX - address)
		return true;
	e.name = strndup(name.p ? (const char *)name.p : "", name.n);
	if (!e.name)
		return false;
	e.name_n = strlen(e.name);
	if (put_extra(k, e))
		return true;
	free(e.name);
	return false;
}

/* A later reading of kallsyms does not list the symbol any more. */
void kernel_remove(struct kernel *k, uint64_t address, uint64_t size)
{
	if (size == 0 || size > UINT64_MAX - address)
		return;
	drop_extras(k, address, size);
	kallsyms_remove(&k->table, address, size);
}

bool kernel_added(const struct kernel *k, uint64_t address, struct kernel_symbol *out)
{
	size_t at = extra_lower(k, address);
	const struct extra *e = &k->extras[at];

	if (at == k->n_extras || e->address > address)
		return false;
	*out = (struct kernel_symbol){ e->address, e->size, { (const uint8_t *)e->name, e->name_n }, extra_module(e->name) };
	return true;
}

bool kernel_symbol(struct kernel *k, uint64_t address, struct kernel_symbol *out)
{
	return kernel_added(k, address, out) || (load_symbols(k) && refresh_symbols(k, address) && kallsyms_find(&k->table, address, out));
}
