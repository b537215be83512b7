/*
 * Unwind information of Go programs from .gopclntab, which every Go binary has, stripped or not. Only for
 * this directory.
 *
 * CFA is rsp + depth + 8. The table does not say where rbp is: Go's compiler and assembler save it in one of
 * two ways at the start of a frame, so the code there is examined. .debug_frame, if present, has neither rbp
 * nor the ends of Go's stacks, so SPAN_GO is the better source.
 *
 * Stacks end in runtime.goexit, a goroutine's first return address; in mstart, a thread's, and rt0_go, the
 * process's (Go marks all three as outermost); and where a function switches to another stack for good, which
 * ends there: mcall, morestack, clone.
 *
 * systemstack, asmcgocall and callers of the vDSO switch to another stack and come back. Their callers are
 * found by rbp (UNWIND_SWITCH), which is exact if they have a frame. systemstack has none before Go 1.21, and
 * no register leads to its caller: the system stack ends there, as it does for Go's own unwinder. asmcgocall
 * has none then either; by rbp one frame is missed, its caller's, which is nearly always runtime.cgocall's.
 */
#ifndef CPROF_UNWIND_GOLANG_H
#define CPROF_UNWIND_GOLANG_H

#include "common/elf/elffile.h"
#include "common/unwind/spans.h"

/*
 * Adds the spans; none for a file without the table or with an unknown version of it. Returns false if the
 * table is damaged; its readable part has been added. Sets s->failed if out of memory.
 */
bool golang_spans(const struct elf_file *f, struct spans *s);

#endif
