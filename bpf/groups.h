/* Control groups created during the recording: shared by groups.bpf.c and user space. */
#ifndef CPROF_BPF_GROUPS_H
#define CPROF_BPF_GROUPS_H

enum {
	GROUPS_KEPT = 1024, /* the newest groups; a power of two */
	GROUP_PATH = 512,   /* bytes of a path, with its NUL */
};

struct group_path {
	char text[GROUP_PATH]; /* cut if it is longer */
};

#endif
