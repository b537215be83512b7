#include "common/resolve/more.h"

#include <stdlib.h>

struct more {
	struct gonames *go;
};

bool more_open(const struct elf_file *f, struct more **mp)
{
	struct more *m = calloc(1, sizeof(*m));
	bool good = m && gonames_open(f, &m->go);

	*mp = NULL;
	if (good && m->go) {
		*mp = m;
		return true;
	}
	more_free(m);
	return good;
}

void more_free(struct more *m)
{
	if (!m)
		return;
	gonames_free(m->go);
	free(m);
}

bool more_find(struct more *m, uint64_t vaddr, struct more_hit *hit)
{
	uint32_t i = m && m->go ? gonames_find(m->go, vaddr) : GONAME_NONE;

	if (i == GONAME_NONE)
		return false;
	*hit = (struct more_hit){ NAME_GO, gonames_start(m->go, i), gonames_name(m->go, i), gonames_tag(m->go, i) };
	return true;
}

void more_text(const struct more_hit *hit, struct buf *out)
{
	buf_bytes(out, hit->name.p, hit->name.n);
}

struct gonames *more_go(const struct more *m)
{
	return m ? m->go : NULL;
}

enum name_source more_kind(const struct more *m)
{
	return m ? NAME_GO : NAME_NONE;
}

size_t more_bytes(const struct more *m)
{
	return m ? sizeof(*m) + gonames_bytes(m->go) : 0;
}
