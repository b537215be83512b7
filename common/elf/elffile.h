/*
 * One ELF file: what it is, where its segments lie, which build it comes from.
 *
 *	struct elf_file *f;
 *	uint64_t vaddr;
 *
 *	if (elf_open(fd, &f) != ELF_OPENED)	// takes the descriptor over, whatever comes of it
 *		...
 *	if (elf_vaddr(f, offset, &vaddr))	// the address that the linker gave this byte
 *		...
 *	elf_close(f);
 *
 * Files come from anywhere and may shrink while they are read: libelf reads the parts that are
 * asked for, sizes are checked before (bounds.h), and no part is larger than ELF_PART_MAX. Nothing is mapped but large
 * tables of symbols, behind the guard of mapped.h.
 * Only this room includes libelf.
 */
#ifndef CPROF_ELF_ELFFILE_H
#define CPROF_ELF_ELFFILE_H

#include "common/base/cursor.h"

enum { ELF_PART_MAX = 1 << 29, ELF_SECTIONS_MAX = 1 << 17, ELF_SEGMENTS_MAX = 1 << 16, ELF_BUILD_ID_MAX = 128 };

enum elf_opened {
	ELF_OPENED = 0,
	ELF_NOT_ELF = 1,
	ELF_DAMAGED = 2,
	ELF_NO_MEMORY = 3,
	/* An ELF file that asks for more than any program does (bounds.h). */
	ELF_TOO_MANY_SECTIONS = 4,
	ELF_TOO_MANY_SEGMENTS = 5,
	ELF_TOO_LONG_NAMES = 6,
	ELF_TOO_MANY_NOTES = 7,
	ELF_SPARSE = 8,
};

/* "too many sections (expected at most 131072)"; NULL where the result is none of those that bounds.h gives. */
const char *elf_refusal(enum elf_opened opened);

/* What a file from an archive holds (slim.h). */
enum { ARCHIVED_VERSION = 1 };
enum elf_archived {
	ARCHIVED = 1,          /* it is one */
	ARCHIVED_OFFSETS = 2,  /* its segments have the offsets of the file that ran */
	ARCHIVED_SYMTAB = 4,
	ARCHIVED_OWN = 8,      /* the .symtab is from the file that ran, not from a separate debug file */
	ARCHIVED_DYNSYM = 16,
	ARCHIVED_FRAMES = 32,  /* .gnu_debugdata or .eh_frame */
	ARCHIVED_GO = 64,
	ARCHIVED_DWARF = 128,
	ARCHIVED_NAMES = ARCHIVED_SYMTAB | ARCHIVED_DYNSYM | ARCHIVED_FRAMES | ARCHIVED_GO | ARCHIVED_DWARF,
};

enum { ELF_IDS = 2 };
struct elf_id {
	uint8_t bytes[ELF_BUILD_ID_MAX];
	size_t n;
};

/* A PT_LOAD. */
struct elf_segment {
	uint64_t offset, vaddr; /* in the file; as linked */
	uint64_t filesz, memsz;
	bool exec;
};

struct elf_file {
	struct Elf *elf; /* libelf's */
	int fd;
	struct elf_segment *segments;
	size_t n_segments;
	size_t code; /* the largest executable one of those that no executable one before them overlaps, or n_segments */
	/*
	 * The notes of its sections and those of its PT_NOTE segments may name it differently: linkers let one of them cover
	 * only a part (Go 1.24). Both are the file's; the first is the one that debug files are filed under. In each, Go's
	 * own ID counts if there is no GNU one.
	 */
	struct elf_id ids[ELF_IDS];
	size_t n_ids; /* 0: it has none */
	uint64_t dev, inode;
	/*
	 * What is loaded and where its bytes are in this file: the segments, but in a file of an archive, whose segments tell
	 * where things were in the file that ran, the sections that were kept.
	 */
	struct elf_segment *loaded;
	size_t n_loaded;
	uint32_t archived; /* enum elf_archived; 0: any other file */
	uint64_t stamp; /* of its inode, size and time of change when it was opened */
	bool own;       /* nobody else can write to it */
};

/* The file of this descriptor, which must be a regular one or a memfd; *f is NULL after a failure. */
enum elf_opened elf_open(int fd, struct elf_file **f);
/* Bytes as if they were a file (the vDSO's image). */
enum elf_opened elf_open_bytes(struct slice bytes, struct elf_file **f);
/*
 * Is its descriptor's file as it was when it was opened? That is seen by its size and time of change. Where this is so
 * recent that the next one could be the same, or that writing may still go on, elf_quiet waits until it is not:
 * what is read between elf_quiet and elf_unchanged belongs together, if both are true. (Not where one single
 * write takes longer than that, or a program writes through a mapping.)
 */
bool elf_quiet(const struct elf_file *f);
bool elf_unchanged(const struct elf_file *f);
/* Gives back the descriptor and what libelf holds; the segments and the build IDs stay. */
void elf_settle(struct elf_file *f);
void elf_close(struct elf_file *f);

/*
 * The linked address of the byte at this file offset: by the PT_LOAD that contains it, an executable
 * one if two do (linkers let segments share a page of the file), else by the executable one whose
 * last page it lies on. False: no segment loads it.
 */
bool elf_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr);

/*
 * A debug file made by objcopy --only-keep-debug keeps its segments' addresses and loses their file
 * offsets. This gives them back from a mapping of the true file that is known to be executable:
 * the one executable segment with this many pages lies there. False: none or more than one has.
 */
bool elf_lost_offsets(const struct elf_file *f);
bool elf_adopt_mapping(struct elf_file *f, uint64_t file_offset, uint64_t length);

/* The value of the first symbol of .symtab that has this name and is defined. */
bool elf_symbol(const struct elf_file *f, const char *name, uint64_t *value);

/* Are two build IDs the same? The kernel pads short ones with zeros to 20 bytes. */
bool elf_same_build(struct slice a, struct slice b);
static inline struct slice elf_build_id_at(const struct elf_file *f, size_t i)
{
	return i < f->n_ids ? (struct slice){ f->ids[i].bytes, f->ids[i].n } : (struct slice){ NULL, 0 };
}
static inline struct slice elf_build_id(const struct elf_file *f)
{
	return elf_build_id_at(f, 0);
}
/* Is the file of this build? True if either of its IDs is the same. */
bool elf_is_build(const struct elf_file *f, struct slice id);
/* Has one file an ID of the other? */
bool elf_share_build(const struct elf_file *a, const struct elf_file *b);

/*
 * .gnu_debuglink: the name of the debug file (copied, at most cap bytes with the NUL) and the CRC32
 * of its bytes. False: there is none, or it names a path.
 */
bool elf_debuglink(const struct elf_file *f, char *name, size_t cap, uint32_t *crc);
/* .gnu_debugaltlink: the path and the build ID of the file that holds what several debug files share. Lent. */
bool elf_altlink(const struct elf_file *f, const char **path, struct slice *build_id);
/* Has it DWARF of its own, be it compressed? */
bool elf_has_dwarf(const struct elf_file *f);
bool elf_has_symtab(const struct elf_file *f);
/* Does all that its headers tell of lie in it? One whose copying was cut short is not. */
bool elf_is_whole(const struct elf_file *f);
/* CRC32 (IEEE 802.3) of the whole file; false where it cannot be read. */
bool elf_crc32(const struct elf_file *f, uint32_t *crc);

#endif
