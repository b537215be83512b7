/*
 * The settings of the sampling object (bpf/sample.bpf.c): its constants and the sizes of its maps, as the
 * options and this kernel want them. The constants include offsets within the kernel's structures, by BTF.
 *
 *	s = sample_bpf__open();
 *	bpf_settings_apply(s, options, &idle, &way);
 *	sample_bpf__load(s);
 */
#ifndef CPROF_RECORD_PROGRAMS_BPF_SETTINGS_H
#define CPROF_RECORD_PROGRAMS_BPF_SETTINGS_H

#include "bpf/sample.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/host/host.h"

struct sample_bpf;

/* A way to load the object: older kernels refuse the better ones. */
struct bpf_way {
	bool by_table;
	bool preallocate;
	bool calls; /* tail calls beside functions, for languages: 5.10 */
	enum sample_regs regs;
};

/* Call it before the object is loaded. */
void bpf_settings_apply(struct sample_bpf *s, const struct options *o, const struct idle_ranges *idle,
			const struct bpf_way *way);
/*
 * Sets where the kernel keeps mappings, in the object that is opened again for the walk alone (bpf_tables.h).
 * Without these offsets user space finishes the first walks of a process.
 */
void bpf_settings_mappings(struct sample_bpf *walk);

#endif
