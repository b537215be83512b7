/* The strings that ksym.bpf.c and user space share through its data section. */
#ifndef CPROF_BPF_KSYM_H
#define CPROF_BPF_KSYM_H

enum { KSYM_TEXT = 512, KSYM_NAME = 64 };

#endif
