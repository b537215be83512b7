#include "cmd/cprof-record/config/call_probes.h"

#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cprof-record/config/code_files.h"
#include "common/base/array.h"
#include "common/stream/record.h"

/* A probe of a provider, and the numbers of its arguments, from 1; 0: it has none. */
struct call_probe {
	const char *name;
	enum call_what what;
	bool builtin;
	uint8_t args[CALL_ARGS]; /* class, name, path, line */
};

enum { PROBES_MOST = 5 };

struct provider {
	const char *name;
	enum language language;
	char joint;
	struct call_probe probes[PROBES_MOST];
	const char *hint;
};

/*
 * Sources: doc/dtrace_probes.rdoc of Ruby, Doc/howto/instrumentation.rst of CPython, Zend/zend_dtrace.d of
 * PHP, perldtrace.d of Perl. The place that Ruby gives for a function in C is that of its caller.
 */
static const struct provider providers[] = {
	{ "ruby",
	  LANGUAGE_RUBY,
	  '#',
	  { { "method__entry", CALL_ENTRY, false, { 1, 2, 3, 4 } },
	    { "method__return", CALL_RETURN, false, { 0, 2, 0, 0 } },
	    { "cmethod__entry", CALL_ENTRY, true, { 1, 2, 0, 0 } },
	    { "cmethod__return", CALL_RETURN, true, { 0, 2, 0, 0 } } },
	  "Ruby reports methods only if the program has enabled a TracePoint for :call and :return" },
	{ "python",
	  LANGUAGE_PYTHON,
	  0,
	  { { "function__entry", CALL_ENTRY, false, { 0, 2, 1, 3 } },
	    { "function__return", CALL_RETURN, false, { 0, 2, 0, 0 } } },
	  "CPython 3.11 to 3.14 do not report calls from Python to Python" },
	{ "php",
	  LANGUAGE_PHP,
	  ':',
	  { { "function__entry", CALL_ENTRY, false, { 4, 1, 2, 3 } },
	    { "function__return", CALL_RETURN, false, { 0, 1, 0, 0 } },
	    { "request__startup", CALL_RESET, false, { 0, 0, 0, 0 } } },
	  "PHP has call probes only if USE_ZEND_DTRACE=1 is in its environment" },
	{ "perl",
	  LANGUAGE_PERL,
	  ':',
	  { { "sub__entry", CALL_ENTRY, false, { 4, 1, 2, 3 } },
	    { "sub__return", CALL_RETURN, false, { 0, 1, 0, 0 } } },
	  "Perl has call probes only if it was built with -Dusedtrace" },
};

/* Adds the places of one probe. A probe that the file lacks is left out. */
static bool add_probe(struct call_probes *c, const struct elf_file *f, const struct call_probe *p,
		      unsigned int machine)
{
	struct probe_sites found = { 0 };
	bool good = true;

	if (probe_sites_usdt(f, c->provider, p->name, &found) == PROBE_SITES_NO_MEMORY)
		good = false;
	for (size_t i = 0; good && i < found.n; i++) {
		struct call_site site = { .what = p->what, .builtin = p->builtin };
		struct probe_sites *all = &c->probe.sites;
		size_t same = all->n;

		for (int k = 0; k < CALL_ARGS; k++)
			site.has[k] = p->args[k] && probe_arg_parse(machine, found.items[i].args, p->args[k],
								    &site.args[k]);
		if (p->what != CALL_RESET && !site.has[CALL_NAME])
			continue;
		good = grow_array(&all->items, &all->cap, all->n, sizeof(*all->items)) &&
		       grow_array(&c->sites, &c->cap, same, sizeof(*c->sites));
		if (!good)
			break;
		c->sites[same] = site;
		all->items[all->n] = found.items[i];
		all->items[all->n++].args = NULL;
	}
	probe_sites_release(&found);
	return good;
}

static bool has_both(const struct call_probes *c)
{
	bool has[CALL_RESET + 1] = { false };

	for (size_t i = 0; i < c->probe.sites.n; i++)
		has[c->sites[i].what] = true;
	return has[CALL_ENTRY] && has[CALL_RETURN];
}

struct look {
	struct call_probes *c;
	const struct provider *provider;
};

/* Takes the probes of a file. Returns false if they are not there. */
static bool look_at_file(void *arg, const char *path)
{
	const struct look *l = arg;
	struct call_probes *c = l->c;
	struct elf_file *f = NULL;
	struct buf unused = { 0 };
	GElf_Ehdr h;
	bool good = probe_open_file(path, &c->probe.fd, &unused) == EVENT_FOUND &&
		    probe_open_elf(path, c->probe.fd, &f, &unused) == EVENT_FOUND && gelf_getehdr(f->elf, &h);

	for (int i = 0; good && i < PROBES_MOST && l->provider->probes[i].name; i++)
		good = add_probe(c, f, &l->provider->probes[i], h.e_machine);
	elf_close(f);
	buf_release(&unused);
	if (good && has_both(c) && (c->file = strdup(path)))
		return true;
	if (c->probe.fd >= 0)
		close(c->probe.fd);
	c->probe.fd = -1;
	c->probe.sites.n = 0;
	return false;
}

static const struct provider *provider_of(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
		if (strlen(providers[i].name) == n && memcmp(providers[i].name, text, n) == 0)
			return &providers[i];
	}
	return NULL;
}

static bool find_file(struct look *l, const char *file, char *const *command)
{
	if (file)
		return look_at_file(l, file);
	return command && code_files_of_command(command[0], look_at_file, l);
}

enum event_found call_probes_find(struct call_probes **to, const char *text, char *const *command,
				  struct buf *error)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	const struct provider *p = provider_of(text, n);
	struct call_probes *c = calloc(1, sizeof(*c));

	*to = c;
	if (!c) {
		buf_text(error, "out of memory");
		return EVENT_REFUSED;
	}
	if (!p) {
		buf_text(error, "ruby, python, php or perl, and perhaps :FILE");
		return EVENT_UNKNOWN;
	}
	c->probe.fd = -1;
	c->provider = p->name;
	c->language = p->language;
	c->joint = p->joint;
	c->hint = p->hint;
	if (!colon && !command) {
		buf_printf(error, "with -p, name the file: %s:FILE (/proc/PID/maps lists those of a process)", p->name);
		return EVENT_REFUSED;
	}
	if (!find_file(&(struct look){ c, p }, colon ? colon + 1 : NULL, command)) {
		buf_printf(error, "%s has no call probes of %s (readelf -n lists those of a file)",
			   colon ? colon + 1 : "the command, with the libraries that it names,", p->name);
		return EVENT_REFUSED;
	}
	return probe_find_type(&c->probe, error);
}
