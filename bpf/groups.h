/* Control groups that were made while someone looked: what groups.bpf.c and user space share through its data section. */
#ifndef CPROF_BPF_GROUPS_H
#define CPROF_BPF_GROUPS_H

enum {
	GROUPS_KEPT = 1024, /* the newest; a power of two */
	GROUP_PATH = 512,   /* bytes of one's path, with a NUL */
};

struct group_path {
	char text[GROUP_PATH]; /* as long as there is room: cut */
};

#endif
