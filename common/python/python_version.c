#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/python/python_internal.h"

/* Files are read in pieces, which overlap by the longest text. */
enum { PIECE = 1 << 16, OVERLAP = 32, SEGMENT_MOST = 1 << 28, MINORS = 64, MICROS = 256 };

struct texts {
	unsigned int paths[MINORS]; /* how often "python3.N" was seen */
	bool micros[MINORS][MICROS];
};

/* Reads a number of up to three digits. Returns false if there is none below `most`. */
static bool read_number(const char **p, unsigned int most, unsigned int *number)
{
	unsigned int n = 0, digits = 0;

	for (; digits < 4 && isdigit((unsigned char)**p); digits++)
		n = n * 10 + (unsigned int)(*(*p)++ - '0');
	*number = n;
	return digits > 0 && digits < 4 && n < most;
}

/*
 * Takes the text after "3.": of "python3.9", a directory or a program, or of PY_VERSION, as "3.9.2" and
 * "3.9.2+". The linker may store the latter as the end of a longer text, as "Python 3.9.2".
 */
static void take_text(struct texts *t, const char *before, const char *p)
{
	unsigned int minor, micro;
	bool path = memcmp(before, "python", 6) == 0;

	if (!read_number(&p, MINORS, &minor))
		return;
	if (path && (!*p || *p == 'm' || *p == '/'))
		t->paths[minor]++;
	if (!path && !isdigit((unsigned char)before[5]) && before[5] != '.' && *p++ == '.' &&
	    read_number(&p, MICROS, &micro) && (!*p || *p == '+' || *p == 'a' || *p == 'b' || *p == 'r'))
		t->micros[minor][micro] = true;
}

/* The bytes have a margin of OVERLAP, zeros or the bytes of the pieces beside them, before and after them. */
static void take_piece(struct texts *t, const char *bytes, size_t n)
{
	const char *p = bytes, *end = bytes + n;

	while (p < end && (p = memchr(p, '3', (size_t)(end - p)))) {
		if (p[1] == '.')
			take_text(t, p - 6, p + 2);
		p++;
	}
}

static void read_segment(const struct elf_file *f, const struct elf_segment *s, char *room, struct texts *t)
{
	for (uint64_t at = 0; at < s->filesz && at < SEGMENT_MOST; at += PIECE) {
		size_t before = at ? OVERLAP : 0;
		ssize_t n;

		memset(room, 0, OVERLAP + PIECE + OVERLAP);
		n = pread(f->fd, room + OVERLAP - before, before + PIECE + OVERLAP,
			  (off_t)(s->offset + at - before));
		if (n < (ssize_t)before)
			return;
		n -= (ssize_t)before;
		if ((uint64_t)n > s->filesz - at)
			n = (ssize_t)(s->filesz - at);
		take_piece(t, room + OVERLAP, (size_t)n < PIECE ? (size_t)n : PIECE);
	}
}

/* The minor version that the paths name, if they name only one. */
static uint32_t choose_version(const struct texts *t)
{
	uint32_t minor = 0, micro = 0, n = 0;

	for (uint32_t i = 0; i < MINORS; i++) {
		if (t->paths[i] && minor)
			return 0;
		minor = t->paths[i] ? i : minor;
	}
	for (uint32_t i = 0; minor && i < MICROS; i++) {
		n += t->micros[minor][i];
		micro = t->micros[minor][i] ? i : micro;
	}
	return minor ? 3u << 16 | minor << 8 | (n == 1 ? micro : 0) : 0;
}

uint32_t python_version(const struct elf_file *f)
{
	struct texts *t = calloc(1, sizeof(*t));
	char *room = malloc(OVERLAP + PIECE + OVERLAP + 1);
	uint32_t version = 0;

	if (t && room) {
		room[OVERLAP + PIECE + OVERLAP] = '\0';
		for (size_t i = 0; i < f->n_segments; i++) {
			if (!f->segments[i].exec)
				read_segment(f, &f->segments[i], room, t);
		}
		version = choose_version(t);
	}
	free(room);
	free(t);
	return version;
}
