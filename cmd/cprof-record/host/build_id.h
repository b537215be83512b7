/*
 * The build ID of an ELF file or image, read with nothing but checked loads.
 *
 *	struct buf id = { 0 };
 *	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
 *
 *	if (fd >= 0 && elf_build_id_fd(fd, &id))
 *		...id.p, id.n: raw bytes, not hexadecimal...
 *
 * The recorder may run as root on files of a hostile user, and needs one note of each. So it uses no ELF
 * library, no mmap (a file that shrinks would kill us), and a bounded number of small reads. It reads
 * 32 and 64 bits, little-endian.
 *
 * Like the kernel, it prefers the GNU note of a segment (PT_NOTE). If there is none, it takes that of a
 * section: Go 1.24 writes one that no segment covers. Without that, it takes Go's own note as it is, unless
 * the note is "redacted". Readers accept the ID from the sections and the ID from the segments (elffile.h).
 */
#ifndef CPROF_RECORD_HOST_BUILD_ID_H
#define CPROF_RECORD_HOST_BUILD_ID_H

#include "common/base/buf.h"

enum {
	ELF_ID_MAX = 128,  /* bytes; longer notes are not build IDs */
	NOTE_GNU_ID = 3,   /* type, with the owner "GNU" */
	NOTE_GO_ID = 4,    /* type, with the owner "Go" */
};

/* Appends the ID to id. False: not a regular file, not ELF, damaged, or without an ID; id is unchanged. */
bool elf_build_id_fd(int fd, struct buf *id);
/* The same for an image in memory. */
bool elf_build_id_image(struct slice image, struct buf *id);
/* The same for bare notes of this alignment (4 or 8), as in /sys/kernel/notes. */
bool elf_build_id_notes(struct slice notes, uint64_t align, struct buf *id);

#endif
