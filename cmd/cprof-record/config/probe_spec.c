#include "cmd/cprof-record/config/probe_spec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "common/unwind/insn_start.h"

#define PMU "/sys/bus/event_source/devices/uprobe/"

/*
 * The parts of the text, and the number of the argument for labels. at: the function with its distance, or
 * the address; NULL for a static probe.
 */
struct spec {
	char *file, *at, *provider, *name;
	unsigned int label;
	bool label_is_text;
};

static const char *const prefixes[] = { "uprobe:", "usdt:" };

bool probe_is(const char *text)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

/* Takes ":arg2" or ":arg2:string" off the end. False: the number is invalid. */
static bool take_label(char *text, struct spec *s)
{
	char *colon = strrchr(text, ':'), *end;

	s->label_is_text = colon && strcmp(colon, ":string") == 0;
	if (s->label_is_text) {
		*colon = '\0';
		colon = strrchr(text, ':');
	}
	if (!colon || strncmp(colon, ":arg", 4) != 0 || !isdigit((unsigned char)colon[4]))
		return !s->label_is_text;
	*colon = '\0';
	s->label = (unsigned int)strtoul(colon + 4, &end, 10);
	return !*end && s->label > 0 && s->label <= PROBE_ARG_NUMBER;
}

/* Cuts the text up. A function's name may have colons, as in Go; names of files may not. */
static bool split(char *text, struct spec *s)
{
	bool usdt = text[1] == 's';
	char *rest;

	*s = (struct spec){ 0 };
	if (!take_label(text, s))
		return false;
	rest = strchr(text, ':');
	if (!rest)
		return false;
	rest++;
	s->file = strsep(&rest, ":");
	if (!usdt) {
		s->at = rest;
		return *s->file && rest && *rest;
	}
	s->provider = strsep(&rest, ":");
	s->name = rest;
	return *s->file && s->provider && *s->provider && s->name && *s->name && !strchr(s->name, ':');
}

static bool parse_number(const char *text, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = isdigit((unsigned char)*text) ? strtoull(text, &end, 0) : 0;
	return isdigit((unsigned char)*text) && !*end && errno == 0;
}

enum event_found probe_open_file(const char *path, int *fd, struct buf *error)
{
	struct stat st;
	int why;

	host_user_begin();
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	why = errno;
	host_user_end();
	if (*fd < 0) {
		buf_printf(error, "cannot open %s: %s", path, strerror(why));
		return EVENT_REFUSED;
	}
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		return EVENT_FOUND;
	buf_printf(error, "%s is not a regular file", path);
	return EVENT_REFUSED;
}

enum event_found probe_open_elf(const char *path, int fd, struct elf_file **f, struct buf *error)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	enum elf_opened opened = own < 0 ? ELF_NO_MEMORY : elf_open(own, f);

	if (opened == ELF_OPENED)
		return EVENT_FOUND;
	if (opened == ELF_NO_MEMORY)
		buf_text(error, "out of memory");
	else
		buf_printf(error, "cannot read %s: %s", path, elf_refusal(opened) ? elf_refusal(opened) :
			   opened == ELF_NOT_ELF ? "it is not an ELF file" : "it is damaged");
	return EVENT_REFUSED;
}

/* Splits "FUNCTION+8" or "0x1136". Returns the length of the name; at: the number, or 0. */
static size_t split_at(const char *text, uint64_t *at)
{
	const char *plus = strrchr(text, '+');

	*at = 0;
	if (text[0] == '0' && text[1] == 'x')
		return parse_number(text, at) ? 0 : strlen(text);
	return plus && parse_number(plus + 1, at) ? (size_t)(plus - text) : strlen(text);
}

/* Returns true for a function without a distance. */
static bool is_name(const char *text)
{
	uint64_t at;

	return split_at(text, &at) == strlen(text);
}

static enum probe_sites_found find_at(const struct elf_file *f, const char *text, struct probe_sites *to)
{
	enum probe_sites_found found;
	uint64_t at;
	size_t n = split_at(text, &at);
	char *name;

	if (n == 0)
		return probe_sites_address(f, at, to);
	name = strndup(text, n);
	found = name ? probe_sites_symbol(f, name, at, to) : PROBE_SITES_NO_MEMORY;
	free(name);
	return found;
}

/* A probe inside an instruction makes another one of it, and the program fails. */
static bool are_starts(const struct elf_file *f, const struct probe_sites *sites)
{
	for (size_t i = 0; i < sites->n; i++) {
		uint64_t vaddr;

		if (!elf_vaddr(f, sites->items[i].offset, &vaddr) || !insn_starts(f, vaddr))
			return false;
	}
	return true;
}

static enum event_found find_sites(const struct elf_file *f, const struct spec *s, struct probe_sites *to,
				   struct buf *error)
{
	switch (s->at ? find_at(f, s->at, to) : probe_sites_usdt(f, s->provider, s->name, to)) {
	case PROBE_SITES_FOUND:
		if (!s->at || is_name(s->at) || are_starts(f, to))
			return EVENT_FOUND;
		buf_printf(error, "the start of an instruction in %s, as listed by objdump -d", s->file);
		return EVENT_UNKNOWN;
	case PROBE_SITES_TOO_MANY:
		buf_printf(error, "a probe with at most %d places", PROBE_SITES_MAX);
		return EVENT_UNKNOWN;
	case PROBE_SITES_NO_MEMORY:
		buf_text(error, "out of memory");
		return EVENT_REFUSED;
	case PROBE_SITES_NOT_CODE:
		buf_printf(error, "an address of code in %s", s->file);
		return EVENT_UNKNOWN;
	default:
		if (s->at)
			buf_printf(error,
				   "a function of %s, as listed by nm or nm -D, or an address like 0x1136",
				   s->file);
		else
			buf_printf(error, "a probe of %s, as listed by readelf -n", s->file);
		return EVENT_UNKNOWN;
	}
}

/* The kernel increments a semaphore while the probe is there; the program looks at it. */
enum event_found probe_find_type(struct probe *p, struct buf *error)
{
	struct buf text = { 0 };
	bool there = host_read(PMU "type", &text), counts = access(PMU "format/ref_ctr_offset", F_OK) == 0;

	if (there)
		p->type = (uint32_t)strtoul(buf_cstr(&text), NULL, 10);
	buf_release(&text);
	if (!there)
		buf_text(error, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	for (size_t i = 0; there && i < p->sites.n; i++) {
		if (p->sites.items[i].semaphore == 0 || (counts && p->sites.items[i].semaphore <= UINT32_MAX))
			continue;
		buf_text(error, "the kernel cannot set its semaphore");
		there = false;
	}
	return there ? EVENT_FOUND : EVENT_REFUSED;
}

static enum event_found find_label(struct probe *p, const struct elf_file *f, const struct spec *s,
				   struct buf *error)
{
	GElf_Ehdr h;

	p->label = s->label;
	p->label_is_text = s->label_is_text;
	p->label_args = calloc(p->sites.n, sizeof(*p->label_args));
	if (!p->label_args || !gelf_getehdr(f->elf, &h)) {
		buf_text(error, "out of memory");
		return EVENT_REFUSED;
	}
	for (size_t i = 0; i < p->sites.n; i++) {
		struct probe_arg *to = &p->label_args[i];

		if (s->at ? is_name(s->at) && probe_arg_of_function(h.e_machine, s->label, to)
			  : probe_arg_parse(h.e_machine, p->sites.items[i].args, s->label, to))
			continue;
		buf_printf(error, "an argument that is in %s",
			   s->at ? "a register, at the start of a function" :
				   "a register or in memory, as listed by readelf -n");
		return EVENT_UNKNOWN;
	}
	return EVENT_FOUND;
}

static enum event_found find(struct probe *p, const struct spec *s, struct buf *error)
{
	enum event_found found = probe_open_file(s->file, &p->fd, error);
	struct elf_file *f = NULL;

	if (found == EVENT_FOUND)
		found = probe_open_elf(s->file, p->fd, &f, error);
	if (found == EVENT_FOUND)
		found = find_sites(f, s, &p->sites, error);
	if (found == EVENT_FOUND && s->label)
		found = find_label(p, f, s, error);
	elf_close(f);
	return found == EVENT_FOUND ? probe_find_type(p, error) : found;
}

enum event_found probe_find(const struct probe **to, const char *text, struct buf *error)
{
	char *copy = strdup(text);
	struct probe *p = calloc(1, sizeof(*p));
	enum event_found found = EVENT_REFUSED;
	struct spec s;

	if (!copy || !p) {
		buf_text(error, "out of memory");
	} else if (!split(copy, &s)) {
		buf_text(error, copy[1] == 's' ? "usdt:FILE:PROVIDER:NAME" :
			 "uprobe:FILE:FUNCTION, uprobe:FILE:FUNCTION+OFFSET or uprobe:FILE:0xADDRESS");
		buf_text(error, ", and perhaps :arg1 or :arg1:string");
		found = EVENT_UNKNOWN;
	} else {
		found = find(p, &s, error);
	}
	free(copy);
	*to = p;
	return found;
}
