/*
 * The build ID of an ELF file or image, read with nothing but checked loads.
 *
 *	struct buf id = { 0 };
 *	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
 *
 *	if (fd >= 0 && elf_build_id_fd(fd, &id))
 *		...id.p, id.n: raw bytes, not hexadecimal...
 *
 * The recorder may run as root on files that someone hostile made, and needs one note of each: so no
 * ELF library, no mmap (a file that shrinks would kill us), and a bounded number of small reads.
 * 32 and 64 bits, little-endian.
 *
 * The GNU note of a segment counts (PT_NOTE), as for the kernel. If there is none, that of a section does: Go 1.24
 * writes one that no segment covers. If there is none either, Go's own note does, as it is, unless it says
 * "redacted". A reader accepts what the sections say and what the segments say (elffile.h).
 */
#ifndef CPROF_RECORD_ELFID_H
#define CPROF_RECORD_ELFID_H

#include "common/base/buf.h"

enum {
	ELF_ID_MAX = 128,  /* bytes; longer notes are no build IDs */
	NOTE_GNU_ID = 3,   /* type, with the owner "GNU" */
	NOTE_GO_ID = 4,    /* type, with the owner "Go" */
};

/* Appends the ID to id. False: no regular file, not ELF, damaged, or it has none; id is as it was. */
bool elf_build_id_fd(int fd, struct buf *id);
/* The same for an image in memory. */
bool elf_build_id_image(struct slice image, struct buf *id);
/* The same for bare notes of this alignment (4 or 8), as in /sys/kernel/notes. */
bool elf_build_id_notes(struct slice notes, uint64_t align, struct buf *id);

#endif
