/*
 * Unwind information of Go programs: from .gopclntab, which every Go binary has, stripped or not. For this
 * room only.
 *
 * CFA is rsp + depth + 8. Where rbp is the table does not say: Go's compiler and assembler save it in one of two
 * ways right where a frame begins, so the code there is looked at. .debug_frame, if there is one, knows neither
 * this nor where Go's stacks end: SPAN_GO is the better source.
 *
 * Stacks end in runtime.goexit (a goroutine's first return address), mstart (a thread's) and rt0_go (the
 * process's), and where a function goes over to another stack for good: mcall, morestack, clone. systemstack,
 * asmcgocall and what calls the vDSO go over to another stack and come back. What called them is found by rbp:
 * exactly, where they have a frame (CFA is rbp + 16, but it may be lower than rsp: it is another stack). Before Go
 * 1.21 systemstack and asmcgocall have none: there is UNWIND_GAP, and the step by frame pointers misses one frame,
 * their caller's.
 */
#ifndef CPROF_UNWIND_GOLANG_H
#define CPROF_UNWIND_GOLANG_H

#include "common/elf/elffile.h"
#include "common/unwind/spans.h"

/*
 * Adds the spans. A file without such a table, or of a version that is not known, adds nothing. False: the table is
 * damaged; what could be read of it has been added. Memory: s->failed.
 */
bool golang_spans(const struct elf_file *f, struct spans *s);

#endif
