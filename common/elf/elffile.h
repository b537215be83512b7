/*
 * One ELF file: its segments, its build IDs and the links to its debug files.
 *
 *	struct elf_file *f;
 *	uint64_t vaddr;
 *
 *	if (elf_open(fd, &f) != ELF_OPENED)	// takes over the descriptor, even on failure
 *		...
 *	if (elf_vaddr(f, offset, &vaddr))	// the linked address of this byte
 *		...
 *	elf_close(f);
 *
 * Files are untrusted and may shrink while they are read: libelf reads only the parts requested, sizes are
 * checked before (bounds.h), and no part is larger than ELF_PART_MAX. Only large symbol tables are mapped,
 * under the guard of mapped.h.
 */
#ifndef CPROF_ELF_ELFFILE_H
#define CPROF_ELF_ELFFILE_H

#include "common/base/cursor.h"

enum { ELF_CRC_GIB = 4 }; /* size of a file whose checksum is computed, at most */
enum {
	ELF_PART_MAX = 1 << 29,
	ELF_SECTIONS_MAX = 1 << 17,
	ELF_SEGMENTS_MAX = 1 << 12,
	ELF_BUILD_ID_MAX = 128,
};

enum elf_opened {
	ELF_OPENED = 0,
	ELF_NOT_ELF = 1,
	ELF_DAMAGED = 2,
	ELF_NO_MEMORY = 3,
	/* ELF files beyond the limits of bounds.h, which no real program reaches. */
	ELF_TOO_MANY_SECTIONS = 4,
	ELF_TOO_MANY_SEGMENTS = 5,
	ELF_TOO_LONG_NAMES = 6,
	ELF_TOO_MANY_NOTES = 7,
	ELF_SPARSE = 8,
	/* Limits of elf_crc32 only. */
	ELF_TOO_LARGE = 9,
	ELF_MOSTLY_HOLES = 10,
};

/* Returns "too many sections (expected at most 131072)" and the like, or NULL if it is not about a limit. */
const char *elf_refusal(enum elf_opened opened);

/* The contents of a file from an archive (slim.h). */
enum { ARCHIVED_VERSION = 1 };
enum elf_archived {
	ARCHIVED = 1,          /* it is a file from an archive */
	ARCHIVED_OFFSETS = 2,  /* its segments have the file offsets of the original runtime file */
	ARCHIVED_SYMTAB = 4,
	ARCHIVED_OWN = 8,      /* the .symtab is from the runtime file, not from a separate debug file */
	ARCHIVED_DYNSYM = 16,
	ARCHIVED_FRAMES = 32,  /* .gnu_debugdata or .eh_frame */
	ARCHIVED_GO = 64,
	ARCHIVED_DWARF = 128,
	ARCHIVED_DOUBTFUL = 256, /* neither root nor the user who archived it owned the runtime file */
	ARCHIVED_NAMES = ARCHIVED_SYMTAB | ARCHIVED_DYNSYM | ARCHIVED_FRAMES | ARCHIVED_GO | ARCHIVED_DWARF,
};

enum { ELF_IDS = 2 };
#define ELF_NO_OWNER UINT64_MAX
struct elf_id {
	uint8_t bytes[ELF_BUILD_ID_MAX];
	size_t n;
};

/* A PT_LOAD. */
struct elf_segment {
	uint64_t offset, vaddr; /* in the file; as linked */
	uint64_t filesz, memsz; /* bytes */
	bool exec;
};

struct elf_file {
	struct Elf *elf; /* libelf's handle; NULL after elf_settle */
	int fd;
	struct elf_segment *segments;
	size_t n_segments;
	size_t code; /* the largest executable segment that no earlier one overlaps, or n_segments */
	/*
	 * The notes in sections and the notes in PT_NOTE segments may hold different IDs, because linkers let
	 * one of them cover only a part (Go 1.24). Both belong to the file; debug files are filed under the
	 * first. In each, Go's own ID counts if there is no GNU build ID.
	 */
	struct elf_id ids[ELF_IDS];
	size_t n_ids;
	uint64_t dev, inode;
	/*
	 * The loaded parts with their offsets in this file: usually the segments. In a file from an archive,
	 * whose segments have the offsets of the runtime file, the sections that were kept.
	 */
	struct elf_segment *loaded;
	size_t n_loaded;
	uint32_t archived; /* enum elf_archived; 0: any other file */
	uint64_t stamp; /* hash of its device, inode, size and mtime when it was opened */
	bool own;       /* no other process can write to it */
	uint64_t owner; /* user ID; ELF_NO_OWNER: unknown, or only the file system says so */
};

/* Opens the file of this descriptor, a regular file or a memfd. *f is NULL after a failure. */
enum elf_opened elf_open(int fd, struct elf_file **f);
/* Opens bytes, which are copied, as if they were a file (the vDSO's image). */
enum elf_opened elf_open_bytes(struct slice bytes, struct elf_file **f);
/*
 * Both return true if the file's size and mtime are as they were when it was opened. elf_quiet first waits
 * 50 ms if the mtime is so recent that another write could leave it the same, or that writing may still go
 * on. Data read between elf_quiet and elf_unchanged is consistent if both return true, unless a single write
 * takes longer than that or a program writes through a mapping.
 */
bool elf_quiet(const struct elf_file *f);
bool elf_unchanged(const struct elf_file *f);
/* Closes the descriptor and libelf's handle, and keeps the segments and the build IDs. */
void elf_settle(struct elf_file *f);
void elf_close(struct elf_file *f);

/*
 * Finds the linked address of the byte at this file offset: by the PT_LOAD that contains it, an executable
 * one if two do (linkers let segments share a page of the file), otherwise by the executable one whose last
 * page includes it. Returns false if no segment loads it.
 */
bool elf_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr);

/*
 * A debug file made by objcopy --only-keep-debug keeps the addresses of its segments and loses their file
 * offsets; elf_lost_offsets returns true for one. elf_adopt_mapping restores them from an executable mapping
 * of the runtime file: the only executable segment with as many pages gets the mapping's offset. It returns
 * false if there is no such segment, or more than one.
 */
bool elf_lost_offsets(const struct elf_file *f);
bool elf_adopt_mapping(struct elf_file *f, uint64_t file_offset, uint64_t length);

/* Finds the value of the first defined symbol of .symtab with this name. */
bool elf_symbol(const struct elf_file *f, const char *name, uint64_t *value);

/* Returns true if two build IDs are the same. The kernel pads short ones with zeros to 20 bytes. */
bool elf_same_build(struct slice a, struct slice b);
static inline struct slice elf_build_id_at(const struct elf_file *f, size_t i)
{
	return i < f->n_ids ? (struct slice){ f->ids[i].bytes, f->ids[i].n } : (struct slice){ NULL, 0 };
}
static inline struct slice elf_build_id(const struct elf_file *f)
{
	return elf_build_id_at(f, 0);
}
/* Returns true if either ID of the file is the same as id. */
bool elf_is_build(const struct elf_file *f, struct slice id);
/* Returns true if the files have an ID in common. */
bool elf_share_build(const struct elf_file *a, const struct elf_file *b);

/*
 * Reads .gnu_debuglink: the name of the debug file (copied, at most cap bytes with the NUL) and the CRC32 of
 * its bytes. Returns false if there is none, or if the name contains a slash.
 */
bool elf_debuglink(const struct elf_file *f, char *name, size_t cap, uint32_t *crc);
/*
 * Reads .gnu_debugaltlink: the path and the build ID of the dwz file, which several debug files share. Both
 * are valid until elf_settle or elf_close.
 */
bool elf_altlink(const struct elf_file *f, const char **path, struct slice *build_id);
/* Returns true if the file has DWARF itself, compressed or not. */
bool elf_has_dwarf(const struct elf_file *f);
bool elf_has_symtab(const struct elf_file *f);
/* Returns true if the file has everything that its headers refer to, so false for a truncated copy. */
bool elf_is_whole(const struct elf_file *f);
/*
 * Computes the CRC32 (IEEE 802.3) of the whole file, unless it is larger than ELF_CRC_GIB or mostly holes.
 * A file of terabytes may take a few kB on disk. Returns ELF_DAMAGED if it cannot be read.
 */
enum elf_opened elf_crc32(const struct elf_file *f, uint32_t *crc);

#endif
