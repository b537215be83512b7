/*
 * Unwind information of Go programs: from .gopclntab, which every Go binary has, stripped or not. For this
 * room only.
 *
 * CFA is rsp + depth + 8. Where rbp is the table does not say: Go's compiler and assembler save it in one of two
 * ways right where a frame begins, so the code there is looked at. .debug_frame, if there is one, knows neither
 * this nor where Go's stacks end: SPAN_GO is the better source.
 *
 * Stacks end in runtime.goexit, a goroutine's first return address; in mstart, a thread's, and rt0_go, the process's
 * (Go marks all three as outermost); and where a function goes over to another stack for good, which ends there: mcall,
 * morestack, clone.
 *
 * systemstack, asmcgocall and what calls the vDSO go over to another stack and come back. What called them is found
 * by rbp (UNWIND_SWITCH). That is exact where they have a frame. systemstack has none before Go 1.21, and who called
 * it cannot be told from any register: there the system stack ends, as it does for Go's own unwinder. asmcgocall
 * has none then either; by rbp one frame is missed, its caller's, which nearly always is runtime.cgocall's.
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
