#include "cmd/shared/operands/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/compress/unpack.h"
#include "common/select/select.h"
#include "common/stream/block.h"
#include "common/stream/header_facts.h"

enum { NAMED = 3 }; /* files named in a message */

/* A capture of a directory. */
struct found {
	char *path;
	struct header_facts facts; /* start UINT64_MAX: unknown */
	bool packed;
};

/* A capture in a file, and its place in the list. */
struct given {
	char *name;
	size_t at;
	uint64_t series, start;
	bool fixed; /* it is in a directory, whose captures are in order */
};

/* Files that are reported together. */
struct others {
	size_t n;
	struct buf names; /* the first ones */
};

/* A directory, whose captures are the operands from first up to end. */
struct directory {
	const char *path;
	size_t first, end, read, damaged;
	bool unreadable;
};

static char **list;
static size_t n_list, cap_list;
static struct given *files; /* those of the list whose time is known */
static size_t n_files, cap_files;
static struct directory *directories;
static size_t n_directories, cap_directories, current;
static uint64_t earliest = UINT64_MAX, latest, left_first, left_last;

static void add_operand(char *name)
{
	if (!grow_array(&list, &cap_list, n_list + 1, sizeof(*list)))
		cli_no_memory();
	list[n_list++] = name;
	list[n_list] = NULL;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void note_other(struct others *o, const char *name, const char *why)
{
	if (o->n++ >= NAMED)
		return;
	buf_printf(&o->names, "%s%s", o->n > 1 ? ", " : "", name);
	if (why)
		buf_printf(&o->names, " (%s)", why);
}

static void report_others(struct others *o, const char *path, const char *what)
{
	if (o->n > NAMED)
		buf_printf(&o->names, " and %zu more", o->n - NAMED);
	if (o->n)
		cli_warn("%s: %s: %s", path, what, buf_cstr(&o->names));
	buf_release(&o->names);
}

static size_t read_start(int fd, uint8_t *to, size_t size)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < size && (got = read(fd, to + n, size - n)) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	return n;
}

/* Recognizes a capture by its first bytes, which are decompressed here. */
static bool is_capture(struct found *f, const char *name, struct slice start)
{
	enum packing packing = packing_of(start);
	struct buf plain = { 0 };
	bool good = strstr(name, ".cprof"); /* even if its beginning is damaged */

	f->packed = packing != PACKED_NOT;
	if (f->packed && !packing_lacks(packing)) {
		unpack_whole(packing, start, HEADER_FACTS_BYTES, &plain);
		start = buf_view(&plain);
	}
	if (start.n >= BLOCK_SYNC_BYTES && memcmp(start.p, BLOCK_SYNC, BLOCK_SYNC_BYTES) == 0)
		good = true;
	if (!header_facts_read(start, &f->facts))
		f->facts.start = UINT64_MAX;
	buf_release(&plain);
	return good;
}

/* The contents of a directory, while it is read. */
struct listing {
	const char *path;
	int fd;
	struct found *captures;
	size_t n, cap;
	struct others foreign, folders, parts, unreadable;
	struct stat output; /* that of standard output */
	uint8_t start[HEADER_FACTS_BYTES];
};

static void keep_capture(struct listing *l, const char *name, struct found f)
{
	if (asprintf(&f.path, "%s%s%s", l->path, l->path[strlen(l->path) - 1] == '/' ? "" : "/", name) < 0 ||
	    !grow_array(&l->captures, &l->cap, l->n, sizeof(*l->captures)))
		cli_no_memory();
	l->captures[l->n++] = f;
}

static bool is_part(const char *name)
{
	size_t n = strlen(name);

	return name[0] == '.' && n > 5 && strcmp(name + n - 5, ".part") == 0;
}

/* A command that reads its own output would never end. */
static bool is_output(const struct listing *l, const struct stat *st)
{
	return S_ISREG(l->output.st_mode) && st->st_dev == l->output.st_dev && st->st_ino == l->output.st_ino;
}

/* A FIFO is never opened: its writer would notice. */
static void look_at(struct listing *l, const char *name)
{
	struct found f = { 0 };
	struct stat st = { 0 };
	int fd;

	if (is_part(name))
		note_other(&l->parts, name, NULL);
	if (name[0] == '.')
		return;
	if (fstatat(l->fd, name, &st, 0) != 0 || !S_ISREG(st.st_mode)) {
		note_other(S_ISDIR(st.st_mode) ? &l->folders : &l->foreign, name, NULL);
		return;
	}
	if (is_output(l, &st))
		return;
	fd = openat(l->fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		note_other(&l->unreadable, name, strerror(errno));
		return;
	}
	if (is_capture(&f, name, (struct slice){ l->start, read_start(fd, l->start, sizeof(l->start)) }))
		keep_capture(l, name, f);
	else
		note_other(&l->foreign, name, NULL);
	close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Looks at all files in the order of their names, so that messages are the same each time. */
static void look_at_all(struct listing *l)
{
	DIR *d = opendir(l->path);
	struct dirent *entry;
	size_t n = 0, cap = 0;
	char **names = NULL;

	if (!d)
		cli_die(STATUS_SYSTEM, "%s: %s", l->path, strerror(errno));
	l->fd = dirfd(d);
	while ((entry = readdir(d))) {
		if (!grow_array(&names, &cap, n, sizeof(*names)) || !(names[n] = strdup(entry->d_name)))
			cli_no_memory();
		n++;
	}
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		look_at(l, names[i]);
		free(names[i]);
	}
	free(names);
	closedir(d);
}

static int by_time(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->facts.start != y->facts.start)
		return x->facts.start < y->facts.start ? -1 : 1;
	return strcmp(x->path, y->path);
}

/*
 * Returns whether the capture can have samples in the time window. A file that is not compressed tells its
 * end itself when it is read.
 */
static bool is_wanted(const struct listing *l, size_t i, const struct view *view)
{
	const struct found *f = &l->captures[i];
	struct segment_extent x = { .to = INT64_MAX };

	if (!view || !select_by_clock(view) || f->facts.start > INT64_MAX)
		return true;
	x.from = x.waits = f->facts.start > SEGMENT_REACH ? f->facts.start - SEGMENT_REACH : 0;
	for (size_t next = i + 1; f->packed && next < l->n; next++) {
		const struct header_facts *n = &l->captures[next].facts;

		if (n->series == f->facts.series && n->start <= INT64_MAX && n->start > f->facts.start) {
			x.to = n->start + SEGMENT_REACH;
			break;
		}
	}
	return select_wants(view, &x);
}

static int by_place(const void *a, const void *b)
{
	const struct given *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_start(const void *a, const void *b)
{
	const struct given *x = a, *y = b;

	return x->series == y->series && x->start != y->start ? (x->start < y->start ? -1 : 1)
							      : by_place(a, b);
}

/* Reads the header of an operand. Returns false if it is not a file with a capture whose time is known. */
static bool read_given(struct given *g)
{
	uint8_t start[HEADER_FACTS_BYTES];
	struct found f = { 0 };
	struct stat st;
	int fd = -1;

	if (strcmp(g->name, "-") != 0 && stat(g->name, &st) == 0 && S_ISREG(st.st_mode))
		fd = open(g->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!is_capture(&f, g->name, (struct slice){ start, read_start(fd, start, sizeof(start)) }))
		f.facts.start = UINT64_MAX;
	close(fd);
	g->series = f.facts.series;
	g->start = f.facts.start;
	return f.facts.start != UINT64_MAX && f.facts.booted;
}

static void note_file(struct given file)
{
	if (!grow_array(&files, &cap_files, n_files, sizeof(*files)))
		cli_no_memory();
	files[n_files++] = file;
}

/* Puts operands of one recording in the order of time, in the places of the list that they have. */
static void order_files(void)
{
	struct given *places = calloc(n_files + 1, sizeof(*places));
	struct given *given = calloc(n_files + 1, sizeof(*given));
	size_t n = 0;

	if (!places || !given)
		cli_no_memory();
	for (size_t i = 0; i < n_files; i++) {
		if (!files[i].fixed)
			places[n] = given[n] = files[i], n++;
	}
	if (n) {
		qsort(places, n, sizeof(*places), by_place);
		qsort(given, n, sizeof(*given), by_start);
	}
	for (size_t i = 0; i < n; i++)
		list[places[i].at] = given[i].name;
	free(places);
	free(given);
}

/*
 * Warns of captures that begin at the same nanosecond of one recording: copies, or parts cut from one segment,
 * which may overlap. A file that is named twice is not reported, because the command shows that.
 */
static void report_copies(void)
{
	static struct buf reported; /* both sides of a comparison may have them */
	struct others copies = { 0 };
	struct buf text = { 0 };

	if (n_files)
		qsort(files, n_files, sizeof(*files), by_start);
	for (size_t i = 1; i < n_files; i++) {
		const struct given *a = &files[i - 1], *b = &files[i];
		bool asked = !a->fixed && !b->fixed && strcmp(a->name, b->name) == 0;

		if (a->series != b->series || a->start != b->start || asked)
			continue;
		buf_printf(&text, "%s and %s", a->name, b->name);
		note_other(&copies, buf_cstr(&text), NULL);
		buf_clear(&text);
	}
	if (copies.n > NAMED)
		buf_printf(&copies.names, " and %zu more", copies.n - NAMED);
	if (copies.n && strcmp(buf_cstr(&copies.names), buf_cstr(&reported)) != 0)
		cli_warn("captures begin at the same nanosecond of one recording, so samples that both have count "
			 "twice: %s", buf_cstr(&copies.names));
	if (copies.n) {
		buf_clear(&reported);
		buf_text(&reported, buf_cstr(&copies.names));
	}
	buf_release(&copies.names);
	buf_release(&text);
}

static void note_start(uint64_t start)
{
	if (start == UINT64_MAX)
		return;
	earliest = start < earliest ? start : earliest;
	latest = start > latest ? start : latest;
}

static void note_left_out(uint64_t start)
{
	if (start == UINT64_MAX)
		return;
	left_first = !left_first || start < left_first ? start : left_first;
	left_last = start > left_last ? start : left_last;
}

bool directory_left_out(uint64_t *first, uint64_t *last)
{
	*first = left_first;
	*last = left_last;
	return left_last > 0;
}

uint64_t directory_span(void)
{
	return latest > earliest ? latest - earliest : 0;
}

/* Returns the name of the directory's entry that is the file, whatever the file is called; NULL: none is. */
static char *entry_of(const char *directory, const char *file)
{
	DIR *d = opendir(directory);
	struct stat st, entry;
	struct dirent *e;
	char *name = NULL;

	if (stat(file, &st) != 0 || !S_ISREG(st.st_mode))
		st.st_ino = 0;
	while (d && !name && st.st_ino && (e = readdir(d))) {
		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &entry, 0) != 0 ||
		    st.st_dev != entry.st_dev || st.st_ino != entry.st_ino)
			continue;
		name = strdup(e->d_name);
		if (!name)
			cli_no_memory();
	}
	if (d)
		closedir(d);
	return name;
}

bool directory_reads(const char *directory, const char *file)
{
	char *name = entry_of(directory, file);
	uint8_t start[HEADER_FACTS_BYTES];
	struct found f = { 0 };
	bool reads = false;
	int fd = name ? open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		reads = is_capture(&f, name, (struct slice){ start, read_start(fd, start, sizeof(start)) });
		close(fd);
	}
	free(name);
	return reads;
}

bool directory_given(char *const *operands)
{
	while (*operands && !is_directory(*operands))
		operands++;
	return *operands;
}

/* Adds the captures as operands; one at least, so that a view has something to say that it is empty. */
static void add_captures(struct listing *l, const struct view *view)
{
	struct directory d = { .path = l->path, .first = n_list, .unreadable = l->unreadable.n > 0 };

	qsort(l->captures, l->n, sizeof(*l->captures), by_time);
	for (size_t i = 0; i < l->n; i++) {
		if (is_wanted(l, i, view) || (i + 1 == l->n && n_list == d.first)) {
			add_operand(l->captures[i].path);
			note_start(l->captures[i].facts.start);
			if (l->captures[i].facts.start != UINT64_MAX && l->captures[i].facts.booted)
				note_file((struct given){ .name = l->captures[i].path, .fixed = true,
							  .series = l->captures[i].facts.series,
							  .start = l->captures[i].facts.start });
		} else {
			note_left_out(l->captures[i].facts.start);
			free(l->captures[i].path);
		}
	}
	d.end = n_list;
	if (!grow_array(&directories, &cap_directories, n_directories, sizeof(*directories)))
		cli_no_memory();
	directories[n_directories++] = d;
}

static void add_directory(const char *path, const struct view *view)
{
	struct listing *l = calloc(1, sizeof(*l));

	if (!l)
		cli_no_memory();
	l->path = path;
	if (fstat(STDOUT_FILENO, &l->output) != 0)
		l->output.st_mode = 0;
	look_at_all(l);
	report_others(&l->foreign, path, "left alone, because they are not captures");
	report_others(&l->folders, path, "its subdirectories are read only if they are operands, too");
	report_others(&l->parts, path, "left out, because a recorder still writes them or was killed");
	report_others(&l->unreadable, path, "cannot read");
	if (!l->n)
		cli_die(l->unreadable.n ? STATUS_SYSTEM : STATUS_DAMAGED, "%s: cannot find a capture in it",
			path);
	add_captures(l, view);
	free(l->captures);
	free(l);
}

char **directory_operands(char **given, const struct view *view)
{
	size_t first = n_list ? n_list + 1 : 0; /* after the NULL of an earlier list */

	n_list = first;
	n_files = 0;
	for (; *given; given++) {
		struct given one = { .name = *given, .at = n_list };

		if (is_directory(*given)) {
			add_directory(*given, view);
			continue;
		}
		add_operand(*given);
		if (view && read_given(&one))
			note_file(one);
	}
	if (view) {
		order_files();
		report_copies();
	}
	if (n_list == first)
		add_operand((char *)"-");
	return list + first;
}

enum status directory_done(const char *operand, enum status status)
{
	struct directory *d = &directories[current];

	if (current >= n_directories || d->first + d->read >= d->end || list[d->first + d->read] != operand)
		return status;
	d->damaged += status != STATUS_OK;
	if (d->first + ++d->read < d->end)
		return status;
	if (d->damaged)
		cli_warn("%s: %zu of %zu captures are damaged or cut short", d->path, d->damaged, d->read);
	current++;
	return d->unreadable && status < STATUS_SYSTEM ? STATUS_SYSTEM : status;
}
