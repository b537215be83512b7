/* Attributes of functions that a profile must show as they are written: gcc's, and clang's for the same. */
#ifndef CPROF_TESTS_LOADS_ATTRIBUTES_H
#define CPROF_TESTS_LOADS_ATTRIBUTES_H

/* Neither inlined nor copied for a caller. */
#if __has_attribute(noipa)
#define AS_WRITTEN __attribute__((noipa))
#else
#define AS_WRITTEN __attribute__((noinline))
#endif

/* Code that may be copied to another place: it refers to nothing outside. */
#if __has_attribute(no_stack_protector)
#define MOVABLE AS_WRITTEN __attribute__((no_stack_protector))
#else
#define MOVABLE AS_WRITTEN __attribute__((optimize("no-stack-protector")))
#endif

#endif
