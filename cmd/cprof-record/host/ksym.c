#include "cmd/cprof-record/host/ksym.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/ksym.h"
#include "bpf/ksym.skel.h"
#include "common/base/array.h"
#include "common/base/search.h"

/* A function of the kernel proper. Its address is the same as long as the kernel runs. */
struct known {
	uint64_t address, size;
	uint32_t name; /* offset in names */
	uint32_t length;
};

/* Time until kallsyms is read again after it did not help: few names are only there (pages of kprobes). */
#define SILENT_NS 600000000000u

struct ksym {
	struct ksym_bpf *bpf; /* NULL: names come from kallsyms */
	struct kernel *kernel;
	struct known *known; /* cache by address: functions have many addresses, and a query is costly */
	size_t n, cap;
	struct buf names;
	bool asked_stext;
	uint64_t stext;
	/* Times until which kallsyms is not read: [0] for addresses without a name, [1] with a label. */
	uint64_t silent_until[2];
	uint64_t etext; /* functions below it never move; 0: unknown, every address is queried each time */
};

static bool run_query(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) == 0 && (int)opts.retval >= 0;
}

static unsigned long address_of(struct ksym *k, const char *name)
{
	if (!k->bpf)
		return 0;
	snprintf(k->bpf->bss->name, sizeof(k->bpf->bss->name), "%s", name);
	return run_query(k->bpf->progs.address_of) ? k->bpf->bss->address : 0;
}

struct ksym *ksym_new(bool use_bpf)
{
	struct ksym *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->kernel = kernel_new();
	if (!k->kernel) {
		ksym_free(k);
		return NULL;
	}
	if (use_bpf)
		k->bpf = ksym_bpf__open_and_load();
	k->etext = address_of(k, "_etext");
	return k;
}

void ksym_free(struct ksym *k)
{
	if (!k)
		return;
	ksym_bpf__destroy(k->bpf);
	kernel_free(k->kernel);
	free(k->known);
	buf_release(&k->names);
	free(k);
}

/*
 * Labels of sections, which the kernel prefers to the names of functions at the same address. A __pfx_ symbol
 * (the bytes before a function) is not a label: if a function was interrupted at its first instruction, the
 * address minus one is looked up, which is in those bytes.
 */
static bool is_label(const char *name)
{
	size_t n = strcspn(name, "+");

	return (n > 11 && strncmp(name + n - 11, "_text_start", 11) == 0) ||
	       (n > 9 && strncmp(name + n - 9, "_text_end", 9) == 0) || strncmp(name, "_stext+", 7) == 0 ||
	       strncmp(name, "_text+", 6) == 0;
}

/* BPF programs have a tag of 16 digits in their names; kernel functions with a similar name have none. */
static bool is_bpf(const char *name)
{
	static const char program[] = "bpf_prog_", trampoline[] = "bpf_trampoline_";

	if (strncmp(name, program, sizeof(program) - 1) == 0)
		return strspn(name + sizeof(program) - 1, "0123456789abcdef") >= 16;
	return strncmp(name, trampoline, sizeof(trampoline) - 1) == 0 && isdigit((unsigned char)name[sizeof(trampoline) - 1]);
}

/* Parses "name+0x10/0x40 [module]". For an address without a symbol, the kernel writes the number. */
static bool parse_symbol(char *text, uint64_t address, struct kernel_symbol *out)
{
	char *plus = strchr(text, '+'), *end, *open;
	uint64_t offset;

	if (!plus || plus == text || strncmp(text, "0x", 2) == 0 || is_label(text))
		return false;
	offset = strtoull(plus + 1, &end, 16);
	if (*end != '/')
		return false;
	out->size = strtoull(end + 1, &end, 16);
	out->address = address - offset;
	out->name = (struct slice){ (uint8_t *)text, (size_t)(plus - text) };
	out->module = (struct slice){ (uint8_t *)end, 0 };
	open = strchr(end, '[');
	if (open && strchr(open, ']'))
		out->module = (struct slice){ (uint8_t *)open, (size_t)(strchr(open, ']') + 1 - open) };
	else if (is_bpf(text))
		out->module = slice_of("[bpf]");
	return offset < out->size;
}

/* Returns how many known functions begin at or before this address. */
static size_t known_before(const struct ksym *k, uint64_t address)
{
	return SEARCH_COUNT(k->n, mid, k->known[mid].address <= address);
}

static bool recall_symbol(const struct ksym *k, uint64_t address, struct kernel_symbol *out)
{
	size_t at = known_before(k, address);
	const struct known *s = at ? &k->known[at - 1] : NULL;

	if (!s || address - s->address >= s->size)
		return false;
	*out = (struct kernel_symbol){ s->address, s->size, { k->names.p + s->name, s->length }, { k->names.p, 0 } };
	return true;
}

static bool remember_symbol(struct ksym *k, const struct kernel_symbol *s)
{
	size_t at = known_before(k, s->address), name = k->names.n;

	if (s->module.n || s->address >= k->etext || name + s->name.n > UINT32_MAX ||
	    !grow_array(&k->known, &k->cap, k->n, sizeof(*k->known)))
		return false;
	buf_bytes(&k->names, s->name.p, s->name.n);
	if (k->names.failed || k->names.n != name + s->name.n)
		return false;
	memmove(k->known + at + 1, k->known + at, (k->n++ - at) * sizeof(*k->known));
	k->known[at] = (struct known){ s->address, s->size, (uint32_t)name, (uint32_t)s->name.n };
	return true;
}

/* Looks up an address for which the kernel has no name or only a label. Frees the table again (5 MB). */
static bool find_in_table(struct ksym *k, uint64_t address, bool labelled, struct kernel_symbol *out)
{
	uint64_t now = host_mono_ns();
	bool found;

	if (kernel_added(k->kernel, address, out))
		return true;
	if (now < k->silent_until[labelled])
		return false;
	found = kernel_symbol(k->kernel, address, out);
	if (!found)
		k->silent_until[labelled] = now + SILENT_NS;
	else if (!remember_symbol(k, out))
		kernel_add(k->kernel, out->address, out->size, out->name);
	kernel_forget(k->kernel);
	return found && (recall_symbol(k, address, out) || kernel_added(k->kernel, address, out));
}

bool ksym_find(struct ksym *k, uint64_t address, struct kernel_symbol *out)
{
	char *text;

	if (!k->bpf)
		return kernel_symbol(k->kernel, address, out);
	if (recall_symbol(k, address, out))
		return true;
	k->bpf->bss->address = address;
	text = run_query(k->bpf->progs.name_of) ? k->bpf->bss->text : NULL;
	if (!text || !parse_symbol(text, address, out))
		return find_in_table(k, address, text && strchr(text, '+'), out);
	remember_symbol(k, out);
	return true;
}

void ksym_add(struct ksym *k, uint64_t address, uint64_t size, struct slice name)
{
	if (!k->bpf)
		kernel_add(k->kernel, address, size, name);
}

void ksym_remove(struct ksym *k, uint64_t address, uint64_t size)
{
	kernel_remove(k->kernel, address, size);
}

/* Reads the addresses of these labels from kallsyms, in one pass. */
static void read_labels(const char *const *names, unsigned long *found, size_t n)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	unsigned long address;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "_text_") || sscanf(line, "%lx %*c %255s", &address, name) != 2)
			continue;
		for (size_t i = 0; i < n; i++) {
			if (strcmp(name, names[i]) == 0)
				found[i] = address;
		}
	}
	if (f)
		fclose(f);
}

void ksym_idle(struct ksym *k, struct idle_ranges *idle)
{
	/* The idle routines are in .cpuidle.text, and since 6.3 some in .noinstr.text around it. */
	static const char *const names[] = { "__cpuidle_text_start", "__cpuidle_text_end", "__noinstr_text_start",
					     "__noinstr_text_end" };
	unsigned long found[4] = { 0 };

	for (size_t i = 0; k->bpf && i < 4; i++)
		found[i] = address_of(k, names[i]);
	if (!found[0])
		read_labels(names, found, 4);
	*idle = (struct idle_ranges){ { found[0], found[2] }, { found[1], found[3] } };
}

uint64_t ksym_stext(struct ksym *k)
{
	if (!k->asked_stext)
		k->stext = address_of(k, "_stext");
	if (!k->asked_stext && !k->stext)
		k->stext = kernel_stext("/proc/kallsyms", "/proc/kcore");
	k->asked_stext = true;
	return k->stext;
}

const char *ksym_why(const struct ksym *k)
{
	return k->bpf ? NULL : kernel_why(k->kernel);
}
