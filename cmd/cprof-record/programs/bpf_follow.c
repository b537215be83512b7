#include "cmd/cprof-record/programs/bpf_follow.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/follow.skel.h"
#include "bpf/sample.skel.h"
#include "cmd/cprof-record/config/options.h"
#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/host/refusal.h"
#include "cmd/shared/cli.h"

static bool load_program(struct bpf_follow *f, const struct sample_bpf *sample, bool filter, bool by_tables)
{
	struct btf_place tgid = { "task_struct", "tgid", 0 };

	if (!btf_find(BTF_KERNEL, &tgid, 1)) {
		errno = ENOENT;
		return false;
	}
	f->bpf = follow_bpf__open();
	if (!f->bpf)
		return false;
	f->bpf->rodata->tgid_at = tgid.at;
	f->bpf->rodata->filter = filter;
	f->bpf->rodata->by_table = by_tables;
	bpf_map__set_map_flags(f->bpf->maps.spaces, bpf_map__map_flags(sample->maps.spaces));
	return bpf_map__reuse_fd(f->bpf->maps.wanted, bpf_map__fd(sample->maps.wanted)) == 0 &&
	       bpf_map__reuse_fd(f->bpf->maps.spaces, bpf_map__fd(sample->maps.spaces)) == 0 &&
	       follow_bpf__load(f->bpf) == 0 && (f->link = bpf_program__attach(f->bpf->progs.follow));
}

void bpf_follow_load(struct bpf_follow *f, const struct options *o, const struct sample_bpf *sample,
		     bool by_tables)
{
	bool filter = options_targeted(o) && o->n_tids == 0;
	struct buf why = { 0 };

	if (f->tried)
		return;
	f->tried = true;
	refusal_clear();
	if (load_program(f, sample, filter, by_tables) || !filter || o->quiet)
		return;
	diagnose_bpf(errno, &why);
	cli_warn("the first quarter of a second of new processes may be missing: %s", buf_cstr(&why));
	buf_release(&why);
}

void bpf_follow_release(struct bpf_follow *f)
{
	bpf_link__destroy(f->link);
	follow_bpf__destroy(f->bpf);
	*f = (struct bpf_follow){ 0 };
}
