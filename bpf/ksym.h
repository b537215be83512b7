/* Sizes of the strings that ksym.bpf.c shares with user space through its data section, in bytes with NUL. */
#ifndef CPROF_BPF_KSYM_H
#define CPROF_BPF_KSYM_H

enum { KSYM_TEXT = 512, KSYM_NAME = 64 };

#endif
