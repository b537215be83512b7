#include "cmd/shared/symbol_files.h"

#include <inttypes.h>

#include "cmd/shared/cli.h"
#include "common/locate/debuginfod.h"
#include "common/locate/unread.h"

static struct debuginfod *open_debuginfod(void)
{
	struct buf error = { 0 };
	struct debuginfod *d;

	if (!debuginfod_configured())
		cli_usage("--debuginfod requires a server in DEBUGINFOD_URLS");
	d = debuginfod_new(&error);
	if (!d)
		cli_die(STATUS_SYSTEM, "--debuginfod: %s", buf_cstr(&error));
	return d;
}

bool symbol_files_option(struct symbol_files *s, int option, const char *argument)
{
	switch (option) {
	case SYMBOL_FILES_SYMFS:
		if (s->symfs)
			cli_usage("--symfs can be given only once");
		s->symfs = cli_directory("--symfs", argument);
		return true;
	case SYMBOL_FILES_DEBUG_DIR:
		if (s->n_debug_dirs == SYMBOL_FILES_DIRS_MAX)
			cli_usage("--debug-dir can be given at most %d times", SYMBOL_FILES_DIRS_MAX);
		s->debug_dirs[s->n_debug_dirs++] = cli_directory("--debug-dir", argument);
		return true;
	case SYMBOL_FILES_DEBUGINFOD:
		if (!s->debuginfod)
			s->debuginfod = open_debuginfod();
		return true;
	default:
		return false;
	}
}

void symbol_files_done(struct symbol_files *s)
{
	struct debuginfod_counts n;

	if (!s->debuginfod)
		return;
	n = debuginfod_counts(s->debuginfod);
	if (n.failed)
		cli_warn("debuginfod: %" PRIu64 " of %" PRIu64 " requests failed (%s)%s", n.failed, n.asked, n.error,
			 n.given_up ? "; no further requests were made" : "");
	debuginfod_free(s->debuginfod);
	s->debuginfod = NULL;
}

void symbol_files_unread(const struct unread *u, bool all)
{
	enum { UNREAD_MAX = 3 };
	size_t n = unread_count(u), most = all || n < UNREAD_MAX ? n : UNREAD_MAX;

	for (size_t i = 0; i < most; i++) {
		const struct unread_file *f = unread_get(u, i);

		if (f->sections)
			cli_warn("cannot read %zu debug section%s of %.*s: %s", f->sections, f->sections == 1 ? "" : "s",
				 (int)f->path.n, (const char *)f->path.p, f->why);
		else if (f->units)
			cli_warn("cannot read %zu unit%s of %.*s in full: %s", f->units,
				 f->units == 1 ? "" : "s", (int)f->path.n, (const char *)f->path.p, f->why);
		else
			cli_warn("cannot read %.*s: %s", (int)f->path.n, (const char *)f->path.p, f->why);
	}
	if (n > most)
		cli_warn("cannot read %zu more file%s (-v lists all)", n - most, n - most == 1 ? "" : "s");
}
