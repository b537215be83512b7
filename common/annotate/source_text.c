#include "common/annotate/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/foreign/foreign.h"

enum { TAB = 8, READ_STEP = 1 << 16, LINES_MOST = 1 << 21 };

bool source_rules_init(struct source_rules *r, const char *const *dirs, size_t n, const char *symfs,
		       bool published)
{
	*r = (struct source_rules){ .dirs = dirs, .tree = -1, .published = published };
	for (; r->n < n && r->n < SOURCE_DIRS_MOST; r->n++) {
		r->handles[r->n] = open(dirs[r->n], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (r->handles[r->n] < 0) {
			r->failed = dirs[r->n];
			return false;
		}
	}
	if (symfs)
		r->tree = open(symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (symfs && r->tree < 0)
		r->failed = symfs;
	return !r->failed;
}

void source_rules_release(struct source_rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		close(r->handles[i]);
	if (r->tree >= 0)
		close(r->tree);
	*r = (struct source_rules){ .tree = -1 };
}

void source_text_release(struct source_text *text)
{
	buf_release(&text->bytes);
	buf_release(&text->path);
	free(text->lines);
	*text = (struct source_text){ 0 };
}

/* Endings of names of sources. A secret has another one. */
static bool is_source_name(struct slice path)
{
	/* The order is that of how common they are. */
	static const char *const ends[] = {
		"c",	"h",	 "cc",	  "cpp", "cxx", "c++",	 "hh",	"hpp", "hxx", "h++",  "C",   "H",
		"inc",	"inl",	 "ipp",	  "tcc", "tpp", "def",	 "S",	"s",   "asm", "go",   "rs",  "f",
		"F",	"for",	 "f77",	  "f90", "F90", "f95",	 "f03", "f08", "adb", "ads",  "d",   "di",
		"zig",	"nim",	 "swift", "m",	 "mm",	"pas",	 "pp",	"ml",  "mli", "mll",  "mly", "hs",
		"lhs",	"cu",	 "cuh",	  "y",	 "l",	"yy",	 "ll",	"cr",  "v",   "vala", "jl",  "kt",
		"java", "scala", "x",	  "re",	 "rl",	"gperf", "tbl",
	};
	struct slice base = slice_base(path);
	const uint8_t *dot = base.n ? memrchr(base.p, '.', base.n) : NULL;
	struct slice end =
		dot ? (struct slice){ dot + 1, base.n - (size_t)(dot + 1 - base.p) } : (struct slice){ 0 };

	if (!dot)
		return path.n > 5 && memmem(path.p, path.n, "/include/c++/", 13); /* <vector> */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (slice_is(end, ends[i]))
			return true;
	}
	return false;
}

static bool may_open(const struct source_rules *r, struct slice path, const struct source_origin *origin)
{
	if (origin->trust == CODE_TRUSTED && is_source_name(path))
		return true;
	return !r->published && (origin->script || origin->trust >= CODE_BY_PATH);
}

/* Returns whether the program's owner could have shown the file. */
static bool is_owners(const struct stat *st, const struct source_origin *origin,
		      const struct code_origin *code)
{
	if (origin->script && origin->trust < CODE_BY_PATH)
		return true;
	return st->st_uid == code->owner || code->owner == 0 || (st->st_uid == 0 && (st->st_mode & S_IROTH));
}

/* Returns whether the open file has the name of a source: a link could lead from such a name to anything. */
static bool is_source_file(int fd)
{
	char link[32], name[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name));
	return n > 0 && n < (ssize_t)sizeof(name) &&
	       is_source_name((struct slice){ (const uint8_t *)name, (size_t)n });
}

static enum source_text_result result_of_errno(void)
{
	return errno == EACCES || errno == EPERM ? SOURCE_TEXT_PERMISSION
	       : errno == ENOEXEC		 ? SOURCE_TEXT_NOT_REGULAR
						 : SOURCE_TEXT_ABSENT;
}

static bool note_line(struct source_text *text, size_t at)
{
	if (!extend_array(&text->lines, &text->cap_lines, text->n_lines, sizeof(*text->lines)))
		return false;
	text->lines[text->n_lines++] = (uint32_t)at;
	return true;
}

static enum source_text_result split_lines(struct source_text *text)
{
	const uint8_t *p = text->bytes.p;

	if (text->bytes.n && memchr(p, 0, text->bytes.n))
		return SOURCE_TEXT_NOT_TEXT;
	for (size_t i = 0; i < text->bytes.n && text->n_lines < LINES_MOST;) {
		const uint8_t *end = memchr(p + i, '\n', text->bytes.n - i);

		if (!note_line(text, i))
			return SOURCE_TEXT_NO_MEMORY;
		i = end ? (size_t)(end - p) + 1 : text->bytes.n;
	}
	return SOURCE_TEXT_READ;
}

/* Reads the open file, which may grow meanwhile, and closes it. */
static enum source_text_result read_text(struct source_text *text, int fd, const struct stat *st)
{
	ssize_t got = 1;

	text->written = st->st_mtime;
	while (got > 0 && text->bytes.n <= SOURCE_BYTES_MOST) {
		if (!buf_reserve(&text->bytes, READ_STEP))
			break;
		got = read(fd, text->bytes.p + text->bytes.n, READ_STEP);
		text->bytes.n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	if (text->bytes.failed)
		return SOURCE_TEXT_NO_MEMORY;
	return got < 0				   ? SOURCE_TEXT_PERMISSION
	       : text->bytes.n > SOURCE_BYTES_MOST ? SOURCE_TEXT_TOO_LARGE
						   : split_lines(text);
}

/* Looks for the path below a directory: all of it, then without its first folders. */
static int open_below(struct source_text *text, const char *dir, int handle, struct slice path)
{
	const char *at = (const char *)path.p;

	while (at) {
		int fd;

		at += strspn(at, "/");
		fd = *at ? foreign_open_below(handle, at) : -1;
		if (fd >= 0) {
			buf_clear(&text->path);
			buf_printf(&text->path, "%s/%s", dir, at);
			return fd;
		}
		at = strchr(at, '/');
	}
	return -1;
}

static int open_at_path(struct source_text *text, const struct source_rules *r, struct slice path)
{
	buf_clear(&text->path);
	buf_bytes(&text->path, path.p, path.n);
	if (r->tree >= 0)
		return foreign_open_below(r->tree, (const char *)path.p);
	return foreign_open(AT_FDCWD, (const char *)path.p);
}

/* Opens the file at its own path, if that is allowed. */
static enum source_text_result read_at_path(struct source_text *text, const struct source_rules *r,
					    struct slice path, const struct source_origin *origin,
					    const struct code_origin *code)
{
	struct stat st;
	int fd;

	if (path.p[0] != '/')
		return SOURCE_TEXT_ABSENT;
	if (!may_open(r, path, origin))
		return SOURCE_TEXT_UNTRUSTED;
	fd = open_at_path(text, r, path);
	if (fd < 0 || !foreign_stat(fd, &st))
		return result_of_errno();
	if ((r->published && !is_source_file(fd)) || !is_owners(&st, origin, code)) {
		close(fd);
		return is_owners(&st, origin, code) ? SOURCE_TEXT_UNTRUSTED : SOURCE_TEXT_NOT_OWNER;
	}
	return read_text(text, fd, &st);
}

enum source_text_result source_text_read(struct source_text *text, const struct source_rules *r,
					 struct slice path, const struct source_origin *origin,
					 const struct code_origin *code)
{
	struct stat st;

	buf_clear(&text->bytes);
	text->n_lines = 0;
	if (slice_begins(path, "file://")) /* a module of JavaScript */
		path = (struct slice){ path.p + 7, path.n - 7 };
	if (path.n == 0)
		return SOURCE_TEXT_NO_NAME;
	for (size_t i = 0; i < r->n; i++) {
		int fd = open_below(text, r->dirs[i], r->handles[i], path);

		if (fd >= 0 && foreign_stat(fd, &st))
			return read_text(text, fd, &st);
	}
	return read_at_path(text, r, path, origin, code);
}

struct slice source_text_line(const struct source_text *text, uint32_t line)
{
	size_t at, end;

	if (line == 0 || line > text->n_lines)
		return (struct slice){ (const uint8_t *)"", 0 };
	at = text->lines[line - 1];
	end = line < text->n_lines ? text->lines[line] - 1 : text->bytes.n;
	if (end > at && line == text->n_lines && text->bytes.p[end - 1] == '\n')
		end--;
	if (end > at && text->bytes.p[end - 1] == '\r')
		end--;
	return (struct slice){ text->bytes.p + at, end - at };
}

const char *source_text_why(enum source_text_result why)
{
	static const char *const texts[] = {
		[SOURCE_TEXT_READ] = "it was read",
		[SOURCE_TEXT_NO_NAME] = "no debug information names a source",
		[SOURCE_TEXT_ABSENT] = "no such file here (--source-dir DIR)",
		[SOURCE_TEXT_UNTRUSTED] = "only the capture names it: give its directory with --source-dir",
		[SOURCE_TEXT_NOT_OWNER] =
			"it belongs neither to the owner of the program nor to everyone (--source-dir DIR)",
		[SOURCE_TEXT_PERMISSION] = "no permission to read it",
		[SOURCE_TEXT_NOT_REGULAR] = "not a regular file",
		[SOURCE_TEXT_TOO_LARGE] = "the file is too large",
		[SOURCE_TEXT_NOT_TEXT] = "the file is not text",
		[SOURCE_TEXT_NO_MEMORY] = "out of memory",
	};

	return texts[why];
}

/* Returns the bytes of the character at p, 0 if it is not valid UTF-8 or would change how text is shown. */
static size_t character_size(const uint8_t *p, size_t left)
{
	size_t n = p[0] < 0x80	 ? 1
		   : p[0] < 0xc2 ? 0
		   : p[0] < 0xe0 ? 2
		   : p[0] < 0xf0 ? 3
		   : p[0] < 0xf5 ? 4
				 : 0;

	if (n == 1)
		return p[0] >= 0x20 && p[0] != 0x7f;
	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xe0 && p[1] < 0xa0) ||
	    (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	/* Separators, and characters that change the direction of the text after them */
	if (p[0] == 0xe2 &&
	    ((p[1] == 0x80 && ((p[2] >= 0x8e && p[2] <= 0x8f) || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
	     (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)))
		return 0;
	return n;
}

void source_text_plain(struct buf *out, struct slice line, size_t most)
{
	size_t column = 0, begin = out->n;

	for (size_t i = 0; i < line.n;) {
		size_t n = character_size(line.p + i, line.n - i);

		if (out->n - begin >= most) {
			buf_text(out, "...");
			return;
		}
		if (line.p[i] == '\t') {
			do
				buf_byte(out, ' ');
			while (++column % TAB);
			i++;
			continue;
		}
		if (n)
			buf_bytes(out, line.p + i, n);
		else
			buf_byte(out, '?');
		i += n ? n : 1;
		column++;
	}
}
