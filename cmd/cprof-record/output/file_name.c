#include "cmd/cprof-record/output/file_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define STAMP "%Y%m%dT%H%M%SZ"

enum file_name_at file_name_look(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
		return FILE_NAME_AT_FILE;
	return S_ISDIR(st.st_mode) ? FILE_NAME_AT_DIRECTORY : FILE_NAME_AT_OTHER;
}

/* Replaces '/' and '%', because a host name may contain anything. */
static void put_host(struct buf *out)
{
	struct utsname u;

	if (uname(&u) != 0 || !u.nodename[0])
		snprintf(u.nodename, sizeof(u.nodename), "localhost");
	for (const char *p = u.nodename; *p; p++)
		buf_byte(out, (uint8_t)(*p == '/' || *p == '%' ? '_' : *p));
}

/* Expands the directories of a path, in which %h is the only conversion. */
static bool expand_dir(struct buf *out, const char *text, size_t n, struct buf *error)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '%') {
			buf_byte(out, (uint8_t)text[i]);
		} else if (i + 1 < n && text[i + 1] == 'h') {
			put_host(out);
			i++;
		} else if (i + 1 < n && text[i + 1] == '%') {
			buf_byte(out, '%');
			i++;
		} else {
			buf_printf(error, "invalid directory \"%.*s\" (expected no conversion but %%h)", (int)n, text);
			return false;
		}
	}
	return true;
}

/* Expands the last part of a path: inserts the host, and appends a time if there is none. */
static bool expand_base(struct buf *out, const char *text, struct buf *error)
{
	bool timed = false;

	for (const char *p = text; *p; p++) {
		if (*p != '%') {
			buf_byte(out, (uint8_t)*p);
		} else if (p[1] == 'h') {
			put_host(out);
			p++;
		} else if (p[1] == '\0' || !strchr("%YmdHMSjyFTsGgVuwaAbBeIpC", p[1])) {
			buf_printf(error, "invalid conversion \"%.2s\" (expected %%h, the host, or a time of strftime(3))", p);
			return false;
		} else {
			timed = timed || p[1] != '%';
			buf_printf(out, "%%%c", p[1]);
			p++;
		}
	}
	if (!timed)
		buf_text(out, "." STAMP);
	return true;
}

#define DIGIT "[0-9]"

/* Returns a pattern of what strftime(3) writes for a conversion. It is close, because files of such names are removed. */
static const char *glob_of(char conversion)
{
	switch (conversion) {
	case 'Y':
	case 'G':
		return DIGIT DIGIT DIGIT DIGIT;
	case 'F':
		return DIGIT DIGIT DIGIT DIGIT "-" DIGIT DIGIT "-" DIGIT DIGIT;
	case 'T':
		return DIGIT DIGIT ":" DIGIT DIGIT ":" DIGIT DIGIT;
	case 'j':
		return DIGIT DIGIT DIGIT;
	case 's':
		return DIGIT DIGIT DIGIT "*";
	case 'u':
	case 'w':
		return DIGIT;
	case 'e':
		return "[ 0-9]" DIGIT;
	case 'a':
	case 'A':
	case 'b':
	case 'B':
	case 'p':
		return "*";
	default:
		return DIGIT DIGIT;
	}
}

/* Makes a pattern for fnmatch(3): all special characters beside those of conversions are escaped. */
static void put_glob(struct buf *out, const char *base)
{
	for (const char *p = base; *p; p++) {
		if (*p == '%' && p[1] && p[1] != '%') {
			buf_text(out, glob_of(p[1]));
			p++;
			continue;
		}
		if (strchr("*?[]\\", *p))
			buf_byte(out, '\\');
		buf_byte(out, (uint8_t)*p);
		p += *p == '%';
	}
}

/* Returns the length of the suffix from the last dot on, if it is the same in all names; otherwise 0. */
static size_t suffix_length(const char *base)
{
	const char *dot = strrchr(base, '.');

	return dot && dot != base && !strchr(dot, '%') ? strlen(dot) : 0;
}

bool file_name_init(struct file_name *p, const char *path, enum file_name_at at, struct buf *error)
{
	const char *slash = strrchr(path, '/');
	struct buf dir = { 0 }, base = { 0 }, glob = { 0 };
	bool good = true;

	if (at == FILE_NAME_AT_OTHER) {
		buf_printf(error, "invalid name \"%s\" (expected a directory or a regular file)", path);
		good = false;
	} else if (at == FILE_NAME_AT_DIRECTORY) {
		buf_text(&dir, path);
		good = expand_base(&base, "%h-" STAMP ".cprof", error);
	} else {
		if (slash)
			good = expand_dir(&dir, path, slash == path ? 1 : (size_t)(slash - path), error);
		else
			buf_text(&dir, ".");
		good = good && expand_base(&base, slash ? slash + 1 : path, error);
	}
	if (good && !base.n)
		buf_text(error, "the name of a file is missing");
	put_glob(&glob, good ? buf_cstr(&base) : "");
	*p = (struct file_name){ 0 };
	good = good && base.n && !dir.failed && !base.failed && !glob.failed;
	if (good)
		*p = (struct file_name){ strdup(buf_cstr(&dir)), strdup(buf_cstr(&base)), strdup(buf_cstr(&glob)),
				       suffix_length(buf_cstr(&base)) };
	buf_release(&dir);
	buf_release(&base);
	buf_release(&glob);
	return good && p->dir && p->base && p->glob;
}

void file_name_number(const struct file_name *p, struct slice name, unsigned int i, struct buf *to)
{
	size_t end = name.n > p->end ? p->end : 0;

	buf_bytes(to, name.p, name.n - end);
	if (i) /* in any locale, a shell's glob sorts it after the name without one and before a later time */
		buf_printf(to, "n%04u", i);
	buf_bytes(to, name.p + name.n - end, end);
}

bool file_name_name(const struct file_name *p, time_t when, struct buf *name)
{
	char text[512];
	struct tm tm;
	size_t n;

	if (!gmtime_r(&when, &tm))
		return false;
	n = strftime(text, sizeof(text), p->base, &tm);
	if (n == 0 || strchr(text, '/'))
		return false;
	buf_clear(name);
	buf_text(name, text);
	return !name->failed;
}

void file_name_release(struct file_name *p)
{
	free(p->dir);
	free(p->base);
	free(p->glob);
	*p = (struct file_name){ 0 };
}
