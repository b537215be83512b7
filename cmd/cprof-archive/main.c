/*
 * cprof-archive: stores the files that name a capture's frames, by build ID.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-archive/archive.h"
#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/symbol_files.h"
#include "cmd/shared/terminal/progress.h"
#include "common/base/array.h"
#include "common/capture/capture.h"
#include "common/elf/slim.h"
#include "common/stream/reader.h"

enum { PROCESSES_MAX = 64 };

static void or_die(bool good)
{
	if (!good)
		cli_no_memory();
}

/* The files to make an archived file from; one already in the archive may replace either. */
struct sources {
	struct elf_file *there, *runtime, *debug;
	struct buf runtime_path, debug_path;
};

static void sources_release(struct sources *s)
{
	elf_close(s->there);
	elf_close(s->runtime);
	elf_close(s->debug);
	buf_release(&s->runtime_path);
	buf_release(&s->debug_path);
}

/*
 * Returns a file of the archive if it is whole and has the build ID of its name, otherwise NULL. Takes
 * ownership of the descriptor.
 */
static struct elf_file *open_archived(int fd, struct slice id)
{
	struct elf_file *f = NULL;

	enum elf_opened opened = fd < 0 ? ELF_DAMAGED : elf_open(fd, &f);

	or_die(opened != ELF_NO_MEMORY);
	if (opened != ELF_OPENED)
		return NULL;
	if (elf_is_whole(f) && elf_is_build(f, id))
		return f;
	elf_close(f);
	return NULL;
}

static bool is_complete(const struct elf_file *f, bool dwarf, bool shared)
{
	uint32_t need = (shared ? 0 : ARCHIVED_OFFSETS | ARCHIVED_SYMTAB) | (dwarf ? ARCHIVED_DWARF : 0);

	return (f->archived & (need | ARCHIVED_DOUBTFUL)) == need;
}

/* Finds the first debug file that has everything missing, or the one that has most of it. */
static void find_debug(struct archive *a, const struct module_identity *is, struct sources *s)
{
	bool symtab = !s->runtime || !elf_has_symtab(s->runtime);
	bool dwarf = a->dwarf && !(s->runtime && elf_has_dwarf(s->runtime));
	int need = 4 * symtab + 2 * dwarf;
	struct buf opened = { 0 };
	struct elf_file *f;
	int best = 0;
	size_t step = 0;

	while (best < need &&
	       (f = finder_debug(&a->finder, &step, s->runtime, is, &opened))) {
		int good = 4 * (symtab && elf_has_symtab(f)) + 2 * (dwarf && elf_has_dwarf(f)) +
			   (!s->runtime && f->archived); /* from another archive: the only file there is */

		if (good > best) {
			elf_close(s->debug);
			s->debug = f;
			buf_clear(&s->debug_path);
			buf_bytes(&s->debug_path, opened.p, opened.n);
			best = good;
		} else {
			elf_close(f);
		}
	}
	buf_release(&opened);
}

/* The new file, to compare with the one in the archive. */
struct rival {
	struct slice id;
	uint32_t holds;
};

static bool keep_rival(void *arg, int fd)
{
	const struct rival *r = arg;
	struct elf_file *f = open_archived(fd, r->id);
	bool keep = f && (!f->archived || !slim_is_better(f->archived, r->holds));

	elf_close(f);
	return keep;
}

static unsigned int store_slim(struct archive *a, const struct slim *slim, struct slice id)
{
	struct rival rival = { id, slim_holds(slim) };
	struct build_id_dir_file new;
	enum slim_result wrote;
	enum build_id_dir_put put;
	int error;

	if (!build_id_dir_begin(&a->shelf, &new))
		cli_die(STATUS_SYSTEM, "%s: %s", a->dir, strerror(errno));
	wrote = slim_write(slim, new.fd);
	if (wrote == SLIM_DONE) {
		put = build_id_dir_put(&a->shelf, &new, id, keep_rival, &rival);
		if (put != BUILD_ID_DIR_FAILED)
			return put == BUILD_ID_DIR_PUT ? WRITTEN : THERE;
	} else {
		build_id_dir_drop(&a->shelf, &new);
	}
	if (wrote == SLIM_DAMAGED)
		return SOURCE_DAMAGED;
	or_die(wrote != SLIM_NO_MEMORY);
	error = errno;
	buf_clear(&a->scratch);
	build_id_dir_name(&a->scratch, id);
	cli_die(STATUS_SYSTEM, "%s/%s: %s", a->dir, buf_cstr(&a->scratch), strerror(error));
}

static uint64_t size_of(const struct elf_file *f)
{
	struct stat st;

	return f && !f->archived && fstat(f->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Stores the file also under its own build IDs, if they differ from the recorded one. */
static void store_aliases(struct archive *a, const struct slim *slim, const struct elf_file *f, struct slice recorded)
{
	for (size_t i = 0; i < f->n_ids; i++) {
		struct slice own = elf_build_id_at(f, i);

		if (!slice_equal(own, recorded) && own.n >= BUILD_ID_DIR_ID_LEAST && own.n <= BUILD_ID_DIR_ID_MOST)
			store_slim(a, slim, own);
	}
}

/* Makes the small file and stores it, also under the file's other IDs. */
static unsigned int make_slim(struct archive *a, const struct module_identity *is, const struct sources *s,
			 struct item *item)
{
	const struct elf_file *runtime = s->runtime ? s->runtime : s->there;
	const struct elf_file *debug = s->debug || !s->runtime ? s->debug : s->there;
	bool dwarf = a->dwarf || (s->there && (s->there->archived & ARCHIVED_DWARF));
	bool doubtful = s->runtime && !finder_trusts(&a->finder, s->runtime);
	unsigned int outcome = SOURCE_STRIPPED;
	struct slim *slim;
	enum slim_result planned = slim_plan(&slim, runtime, debug, (dwarf ? SLIM_DWARF : 0) |
								    (doubtful ? SLIM_DOUBTFUL : 0));

	or_die(planned != SLIM_NO_MEMORY);
	if (planned != SLIM_DONE)
		return SOURCE_DAMAGED;
	item->holds = slim_holds(slim);
	if (s->there && !slim_is_better(s->there->archived, slim_holds(slim))) {
		outcome = THERE;
	} else if (slim_holds(slim) & ARCHIVED_NAMES) {
		outcome = store_slim(a, slim, is->build_id);
		if (outcome == WRITTEN)
			store_aliases(a, slim, runtime ? runtime : debug, is->build_id);
		item->bytes = slim_bytes(slim);
		item->original = size_of(s->runtime) + size_of(s->debug);
	}
	slim_free(slim);
	return outcome;
}

static void archive_module(struct archive *a, const struct module_identity *is, bool shared);

/*
 * Archives the file that the debug files of a package share (dwz). It is found by the recorded path, which
 * may be relative to the debug file's directory, and by build ID.
 */
static void archive_shared(struct archive *a, const struct module_identity *of, const struct elf_file *f,
			   struct slice user)
{
	struct module_identity is = { .host = of->host, .user = of->user };
	struct buf path = { 0 };
	size_t symfs = a->finder.symfs ? strlen(a->finder.symfs) : 0;
	const uint8_t *slash;
	const char *name;

	if (!f || !elf_altlink(f, &name, &is.build_id))
		return;
	if (symfs && user.n > symfs && memcmp(user.p, a->finder.symfs, symfs) == 0)
		user = (struct slice){ user.p + symfs, user.n - symfs };
	slash = user.n ? memrchr(user.p, '/', user.n) : NULL;
	if (name[0] != '/' && slash)
		buf_bytes(&path, user.p, (size_t)(slash - user.p) + 1);
	buf_text(&path, name);
	is.path = buf_view(&path);
	or_die(!path.failed);
	archive_module(a, &is, true);
	buf_release(&path);
}

/*
 * Anybody can copy a build ID into a file of his own. So a file of another user is archived, but its contents
 * are never mixed with those of a trusted one, which replaces it.
 */
static void drop_doubtful(struct archive *a, struct sources *s)
{
	bool trusted = s->there && !(s->there->archived & ARCHIVED_DOUBTFUL);
	struct elf_file **worse = trusted ? &s->runtime : &s->there;

	if (!s->there || !s->runtime || finder_trusts(&a->finder, s->runtime) == trusted)
		return;
	elf_close(*worse);
	*worse = NULL;
	a->finder.doubtful = false; /* because it is not used, or was not doubtful */
}

static unsigned int archive_file(struct archive *a, const struct module_identity *is, bool shared, struct item *item)
{
	struct sources s = { 0 };
	unsigned int outcome;
	bool by_path, absent;
	int fd = build_id_dir_look(&a->shelf, is->build_id, &absent);

	s.there = open_archived(fd, is->build_id);
	item->holds = s.there ? s.there->archived : 0;
	if (fd < 0 && !absent) {
		outcome = UNREADABLE;
	} else if (s.there && !s.there->archived) {
		outcome = FOREIGN;
	} else if (s.there && is_complete(s.there, a->dwarf, shared)) {
		outcome = THERE;
	} else {
		outcome = finder_open(&a->finder, is, &s.runtime, &s.runtime_path, &by_path);
		drop_doubtful(a, &s);
		find_debug(a, is, &s);
		if (s.runtime || s.debug)
			outcome = make_slim(a, is, &s, item);
		else if (s.there)
			outcome = THERE;
	}
	if (a->dwarf && !shared) {
		if (s.debug && elf_has_dwarf(s.debug))
			archive_shared(a, is, s.debug, buf_view(&s.debug_path));
		else
			archive_shared(a, is, s.runtime ? s.runtime : s.there, buf_view(&s.runtime_path));
	}
	sources_release(&s);
	return outcome;
}

/*
 * Returns whether to search again for a missing file as this process sees it. True once per process; scratch
 * has the key.
 */
static bool is_for_process(struct archive *a, const struct module_identity *is, const struct item *item)
{
	size_t n = a->tried.n;
	uint32_t dummy;

	if (is->host != HOST_BOOT || !is->user.pid || item->tries > PROCESSES_MAX || item->outcome >= WRITTEN ||
	    !finder_may_retry(is, (enum source_status)item->outcome))
		return false;
	buf_printf(&a->scratch, " of %" PRIu64 " %" PRIu64, is->user.pid, is->user.start);
	or_die(!a->scratch.failed && intern_add(&a->tried, buf_view(&a->scratch), &dummy));
	return a->tried.n > n;
}

/*
 * Archives a build once. If that fails, tries again under each of its paths, and as each process sees them.
 */
static void archive_module(struct archive *a, const struct module_identity *is, bool shared)
{
	bool has_id = is->build_id.n >= BUILD_ID_DIR_ID_LEAST, first, settled;
	struct item found = { 0 }, was;
	size_t n_tried = a->tried.n;
	uint32_t id = 0, dummy;

	buf_clear(&a->scratch);
	buf_bytes(&a->scratch, is->build_id.p, has_id ? is->build_id.n : 0);
	if (!has_id)
		buf_bytes(&a->scratch, is->path.p, is->path.n);
	buf_byte(&a->scratch, has_id);
	or_die(!a->scratch.failed && intern_add(&a->keys, buf_view(&a->scratch), &id) &&
	       grow_array(&a->items, &a->cap, id, sizeof(*a->items)));
	first = id >= a->n;
	was = a->items[id];
	if (was.holds & ARCHIVED_DOUBTFUL) /* another file of this path may be trusted */
		buf_printf(&a->scratch, "%" PRIx64 ":%" PRIx64 " %" PRIx64 " ", is->dev_major,
			   is->dev_minor, is->inode);
	buf_bytes(&a->scratch, is->path.p, is->path.n);
	or_die(!a->scratch.failed && intern_add(&a->tried, buf_view(&a->scratch), &dummy));
	settled = archive_is_good(was.outcome) && !(was.holds & ARCHIVED_DOUBTFUL);
	if (!first && (settled || (a->tried.n == n_tried && !is_for_process(a, is, &was))))
		return;
	if (first)
		a->n = id + 1;
	or_die(intern_add(&a->texts, is->path, &found.path));
	if (!has_id)
		found.outcome = NO_BUILD_ID;
	else if (is->build_id.n > BUILD_ID_DIR_ID_MOST)
		found.outcome = LONG_BUILD_ID;
	else
		found.outcome = archive_file(a, is, shared, &found);
	if (!first && found.outcome < WRITTEN && was.outcome < WRITTEN &&
	    finder_worse((enum source_status)found.outcome, (enum source_status)was.outcome) != found.outcome)
		found = was; /* the earlier reason says more */
	if (!first && was.outcome == WRITTEN && found.outcome != WRITTEN)
		found = was;
	found.tries = was.tries + 1;
	a->items[id] = found;
}

/*
 * One stream. Its files are archived as stacks reach them, while those of short-lived processes exist.
 */
struct pass {
	struct capture capture;
	size_t n_placed; /* places below this index have been seen */
	uint32_t *seen;  /* by the segment's file number: the process whose stack reached it last; 0: none */
	size_t cap_seen;
	bool host_known;
	enum identity_host host;
};

static void identify_host(struct pass *p)
{
	const struct capture *c = &p->capture;

	if (p->host_known)
		return;
	p->host_known = true;
	p->host = identity_host(capture_meta(c, "machine-id"), capture_meta(c, "boot-id"));
}

static void archive_place(struct archive *a, struct pass *p, const struct capture_place *place)
{
	const struct capture *c = &p->capture;
	const struct capture_file *file = &c->files[place->file];
	uint32_t number = c->frames[place->frame].process;
	const struct capture_process *process = &c->processes[number];
	struct module_identity is = { .dev_major = file->dev_major, .dev_minor = file->dev_minor,
				      .inode = file->inode, .generation = file->generation,
				      .build_id = file->build_id, .path = file->path };

	is.user = (struct module_user){ process->pid, process->start, place->map_start, place->map_end,
					capture_text(c, process->cgroup) };
	or_die(grow_array(&p->seen, &p->cap_seen, place->file, sizeof(*p->seen)));
	if (p->seen[place->file] == number)
		return;
	p->seen[place->file] = number;
	if (!capture_file_has_names(file))
		return;
	identify_host(p);
	is.host = p->host;
	is.seen = capture_realtime(c, place->sample);
	archive_module(a, &is, false);
}

static void archive_new_places(struct archive *a, struct pass *p)
{
	for (; p->n_placed < p->capture.n_places; p->n_placed++) {
		if (p->capture.places[p->n_placed].file)
			archive_place(a, p, &p->capture.places[p->n_placed]);
	}
}

static void forget_segment(struct pass *p)
{
	p->n_placed = 1;
	p->host_known = false;
	clear_array(&p->seen, &p->cap_seen, sizeof(*p->seen));
}

static enum status archive_capture(struct archive *a, const char *path)
{
	int fd = operand_open(path), got;
	struct reader *reader = reader_new(fd, operand_name(path));
	enum status status;
	struct pass p = { .n_placed = 1 };
	struct record r;

	or_die(reader && capture_init(&p.capture));
	progress_begin(operand_name(path), fd);
	while ((got = reader_next(reader, &r)) > 0) {
		const char *wrong = capture_apply(&p.capture, &r);

		or_die(!p.capture.no_memory);
		if (wrong)
			reader_complain(reader, wrong);
		else if (r.type == RECORD_SEGMENT)
			forget_segment(&p);
		else
			archive_new_places(a, &p);
	}
	capture_release(&p.capture);
	free(p.seen);
	status = operand_reader_done(reader, got, fd);
	operand_close(fd);
	return directory_done(path, status);
}

static enum status archive_captures(struct archive *a, char **paths, bool verbose)
{
	enum status status = STATUS_OK;

	if (!build_id_dir_open(&a->shelf, a->dir))
		cli_die(STATUS_SYSTEM, "%s: %s", a->dir, strerror(errno));
	for (paths = directory_operands(paths, NULL); *paths; paths++) {
		enum status s = archive_capture(a, *paths);

		status = s == STATUS_SYSTEM || status == STATUS_OK ? s : status;
	}
	archive_report(a, verbose);
	symbol_files_unread(&a->finder.unread, verbose);
	build_id_dir_release(&a->shelf);
	finder_release(&a->finder);
	intern_release(&a->keys);
	intern_release(&a->tried);
	intern_release(&a->texts);
	free(a->items);
	buf_release(&a->scratch);
	return status;
}

int main(int argc, char **argv)
{
	enum { DEBUG = 256 };
	static const struct option_row options[] = {
		{ OPTIONS_OUTPUT, 'd', "directory", "DIR", "write into DIR (symbols)" },
		{ OPTIONS_OUTPUT, DEBUG, "debug", NULL, "keep DWARF, for inlined calls and source lines" },
		{ OPTIONS_OUTPUT, 'v', "verbose", NULL, "list each file and its result" },
		SYMBOL_FILES_ROWS,
		CLI_ROWS,
		{ 0 },
	};
	static const struct command_line command = {
		"cprof-archive", "keep the symbols of a capture's files", "[FILE ...]", options,
	};
	struct archive a = { .dir = "symbols" };
	struct symbol_files files = { 0 };
	bool verbose = false;
	enum status status;
	int c;

	cli_begin(&command);
	while ((c = cli_option(argc, argv)) != -1) {
		switch (c) {
		case 'd':
			a.dir = optarg;
			break;
		case DEBUG:
			a.dwarf = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			if (!symbol_files_option(&files, c, optarg))
				cli_other(c);
		}
	}
	finder_init(&a.finder, files.symfs, files.n_debug_dirs ? files.debug_dirs : NULL, files.n_debug_dirs);
	a.finder.debuginfod = files.debuginfod;
	intern_init(&a.keys);
	intern_init(&a.tried);
	intern_init(&a.texts);
	status = archive_captures(&a, argv + optind, verbose);
	symbol_files_done(&files);
	return status;
}
