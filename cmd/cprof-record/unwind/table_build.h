/* Builds the table of an open file, in a process that may do nothing else: table_worker.h. */
#ifndef CPROF_RECORD_UNWIND_TABLE_BUILD_H
#define CPROF_RECORD_UNWIND_TABLE_BUILD_H

#include "common/lang/lang.h"
#include "common/unwind/build.h"

/* unwind_build and unwind_build_codes, or those of a test. */
typedef enum unwind_built table_build_of_file(struct elf_file *f, struct unwind_table *t);
typedef enum unwind_built table_build_of_codes(struct slice codes, struct unwind_table *t);

enum { TABLE_BUILD_IMAGE = 4 + sizeof(struct lang_image) };

/*
 * Both append the table of an open file to out if the result is UNWIND_BUILT. Nothing is freed, since the
 * process ends. interpreter: TABLE_BUILD_IMAGE bytes, for 1 and the layout of the interpreter in the file,
 * or for 0.
 */
enum unwind_built table_build_file(table_build_of_file *build, int fd, uint8_t *interpreter, struct buf *out);
/* The file holds pieces of JIT code, of unwind_codes_add. */
enum unwind_built table_build_codes(table_build_of_codes *build, int fd, struct buf *out);

#endif
