#include "common/locate/script_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/le.h"
#include "common/base/search.h"
#include "common/foreign/foreign.h"
#include "common/lang/runtime_file.h"

static bool add_end(struct script_ends *ends, uint64_t position)
{
	if (!grow_array(&ends->items, &ends->cap, ends->n, sizeof(*ends->items)))
		return false;
	ends->items[ends->n++] = (uint32_t)position;
	return true;
}

/* ECMAScript's line terminators, as V8 counts lines: "\r\n" is one. */
static bool ends_line(uint32_t c, uint32_t next)
{
	return c == '\n' || (c == '\r' && next != '\n') || c == 0x2028 || c == 0x2029;
}

/* Returns how many bytes of a character of n bytes are here: fewer if others follow, or the text ends. */
static size_t count_bytes(const uint8_t *p, size_t left, size_t n)
{
	uint8_t low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	uint8_t high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
	size_t i = 1;

	if (n > 1 && left > 1 && (p[1] < low || p[1] > high))
		return 1;
	while (i < n && i < left && (p[i] & 0xc0) == 0x80)
		i++;
	return i;
}

/*
 * Reads one character. The bytes of one that is not whole are U+FFFD, as in the Encoding standard's decoder
 * (WHATWG, 8.1.1). Returns its bytes.
 */
static size_t read_utf8(const uint8_t *p, size_t left, uint32_t *c)
{
	size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
	size_t got = n ? count_bytes(p, left, n) : 1;

	*c = 0xfffd;
	if (got != n)
		return got;
	*c = n == 1 ? *p : *p & (0x7f >> n);
	for (size_t i = 1; i < n; i++)
		*c = *c << 6 | (p[i] & 0x3f);
	return n;
}

bool script_utf8_ends(struct slice text, uint64_t *units, struct script_ends *ends)
{
	size_t at = 0;
	uint32_t c;

	*units = 0;
	if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0) /* Node.js leaves it out */
		at = 3;
	while (at < text.n) {
		at += read_utf8(text.p + at, text.n - at, &c);
		*units += c >= 0x10000;
		if (ends_line(c, at < text.n ? text.p[at] : 0) && !add_end(ends, *units))
			return false;
		++*units;
	}
	return true;
}

static uint32_t unit_at(struct slice text, uint64_t width, size_t at)
{
	return width == 2 ? le16_load(text.p + at) : text.p[at];
}

bool script_unit_ends(struct slice text, uint64_t width, struct script_ends *ends)
{
	for (size_t at = 0; at + width <= text.n; at += width) {
		uint32_t next = at + 2 * width <= text.n ? unit_at(text, width, at + width) : 0;

		if (ends_line(unit_at(text, width, at), next) && !add_end(ends, at / width))
			return false;
	}
	return true;
}

uint32_t script_line(const struct script_ends *ends, uint64_t position)
{
	return (uint32_t)SEARCH_COUNT(ends->n, i, ends->items[i] < position) + 1;
}

static int hex_digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Writes the path of a script: a path, or that of "file:///...". Returns false if it is neither. */
static bool write_path(struct buf *out, struct slice path)
{
	static const char scheme[] = "file://";
	bool url = slice_begins(path, scheme);

	if (url)
		path = (struct slice){ path.p + sizeof(scheme) - 1, path.n - (sizeof(scheme) - 1) };
	if (path.n == 0 || path.p[0] != '/')
		return false;
	for (size_t i = 0; i < path.n; i++) {
		int high = url && path.p[i] == '%' && i + 2 < path.n ? hex_digit(path.p[i + 1]) : -1,
		    low = high >= 0 ? hex_digit(path.p[i + 2]) : -1;
		uint8_t c = low >= 0 ? (uint8_t)(high << 4 | low) : path.p[i];

		if (url && (path.p[i] == '?' || path.p[i] == '#'))
			break;
		if (c == 0)
			return false;
		buf_byte(out, c);
		i += low >= 0 ? 2 : 0;
	}
	return !out->failed;
}

static int open_here(const char *path, struct buf *opened)
{
	buf_clear(opened);
	buf_text(opened, path);
	return opened->failed ? -1 : foreign_open(AT_FDCWD, path);
}

/* Opens the path as the process sees it; if the process has exited, as it is here. */
static int open_script(struct finder *f, const char *path, const struct module_user *user,
		       enum identity_host host, struct buf *opened)
{
	struct procroot root;
	int fd = -1, saved;

	if (f->symfs)
		return procroot_open_below(f->tree, f->symfs, path, opened);
	if (host != HOST_BOOT || procroot_open(&root, user) != PROCROOT_FOREIGN)
		return open_here(path, opened);
	fd = procroot_file(&root, path, opened);
	saved = errno;
	procroot_close(&root);
	errno = saved;
	return fd;
}

static bool read_whole(int fd, uint8_t *to, size_t n)
{
	size_t at = 0;

	for (ssize_t got = 1; at < n && got > 0; at += got > 0 ? (size_t)got : 0)
		got = pread(fd, to + at, n - at, (off_t)at);
	return at == n;
}

/* Reads the file's text and compares its length. Closes the descriptor. */
static enum source_status read_script(int fd, uint64_t units, struct script_ends *ends)
{
	enum source_status status = SOURCE_CHANGED;
	uint64_t found = 0;
	uint8_t *text;
	struct stat st;

	/* A unit has one to three bytes in UTF-8; one mark may come before. */
	if (fstat(fd, &st) != 0 || st.st_size < 0 || (uint64_t)st.st_size < units ||
	    (uint64_t)st.st_size > 3 * units + 3) {
		close(fd);
		return SOURCE_CHANGED;
	}
	text = malloc((size_t)st.st_size + 1);
	if (text && read_whole(fd, text, (size_t)st.st_size) &&
	    script_utf8_ends((struct slice){ text, (size_t)st.st_size }, &found, ends) && found == units)
		status = SOURCE_OK;
	free(text);
	close(fd);
	return status;
}

/* The symbol of a built-in script: of "node:internal/timers", one that ends in "19internal_timers_rawE". */
struct built_in {
	char name[256];
	size_t n;
	uint64_t units, address, width;
};

static void name_symbol(struct built_in *b, struct slice path)
{
	size_t skip = strlen("node:"), n = path.n > skip && path.n < 200 ? path.n - skip : 0;

	b->n = n ? (size_t)snprintf(b->name, sizeof(b->name), "%zu%.*s_rawE", n + strlen("_raw"), (int)n,
				    (const char *)path.p + skip) : 0;
	for (size_t i = 0; i < b->n; i++) {
		if (b->name[i] == '/' || b->name[i] == '-')
			b->name[i] = '_';
	}
}

static void take_symbol(void *arg, const struct runtime_symbol *s)
{
	struct built_in *b = arg;
	size_t n = strlen(s->name);

	if (n < b->n || memcmp(s->name + n - b->n, b->name, b->n) != 0 ||
	    (s->size != b->units && s->size != 2 * b->units))
		return;
	b->address = s->value;
	b->width = s->size / b->units;
}

/* Finds the text by its symbol, if its address is not recorded. Returns false if there is none. */
static bool find_built_in(const struct elf_file *file, const struct script_text *text, struct built_in *b)
{
	*b = (struct built_in){ .units = text->units, .address = text->address, .width = text->width };
	if (!b->width)
		name_symbol(b, text->path);
	if (b->n)
		runtime_each_symbol(file, take_symbol, b);
	return b->width == 1 || b->width == 2;
}

/* The text is in a file of machine code. A slim copy in an archive does not have it. */
static enum source_status read_built_in(struct finder *f, const struct script_text *text, struct buf *opened,
					struct script_ends *ends)
{
	enum source_status status;
	uint8_t *bytes = NULL;
	struct elf_file *file;
	struct built_in b;
	bool by_path;
	size_t n;

	status = finder_open(f, text->file, &file, opened, &by_path);
	if (!file)
		return status;
	status = SOURCE_STRIPPED;
	if (!file->archived && find_built_in(file, text, &b)) {
		n = (size_t)(b.units * b.width);
		bytes = malloc(n + 1);
		status = SOURCE_DAMAGED;
		if (bytes && runtime_read(file, b.address, bytes, n) &&
		    !(b.width == 1 && memchr(bytes, 0, n)) &&
		    script_unit_ends((struct slice){ bytes, n }, b.width, ends))
			status = SOURCE_OK;
	}
	free(bytes);
	elf_close(file);
	return status;
}

enum source_status script_file_ends(struct finder *f, const struct script_text *text,
				    const struct module_user *user, enum identity_host host, struct buf *opened,
				    struct script_ends *ends)
{
	struct buf path = { 0 };
	enum source_status status = SOURCE_NOT_A_FILE;
	int fd;

	ends->n = 0;
	buf_clear(opened);
	if (text->units == 0 || text->units > SCRIPT_UNITS_MOST)
		return SOURCE_NOT_A_FILE;
	if (text->file && text->width <= 2)
		return read_built_in(f, text, opened, ends);
	if (!text->file && write_path(&path, text->path)) {
		fd = open_script(f, buf_cstr(&path), user, host, opened);
		status = fd >= 0			      ? read_script(fd, text->units, ends) :
			 errno == EACCES || errno == EPERM ? SOURCE_PERMISSION : SOURCE_NO_FILE;
	}
	buf_release(&path);
	return status;
}
