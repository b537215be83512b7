/* Empties a map while programs still use it. */
#ifndef CPROF_RECORD_PROGRAMS_BPF_CLEAR_H
#define CPROF_RECORD_PROGRAMS_BPF_CLEAR_H

enum { BPF_CLEAR_KEY = 16 }; /* bytes of a key, at most */

/* Removes each entry that the hash map has now. A negative fd is no map. */
void bpf_clear_map(int fd);

#endif
