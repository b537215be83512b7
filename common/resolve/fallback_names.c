#include "common/resolve/fallback_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/unwind/functions.h"

struct fallback_names {
	struct gonames *go;
	struct function_list functions;
	uint32_t *tags; /* of those */
};

bool fallback_names_open(const struct elf_file *f, bool bounds, struct fallback_names **mp)
{
	struct fallback_names *m = calloc(1, sizeof(*m));
	bool good = m && gonames_open(f, &m->go) && (!bounds || functions_read(f, &m->functions));

	*mp = NULL;
	if (good && m->functions.n) {
		m->tags = calloc(m->functions.n, sizeof(*m->tags));
		good = m->tags != NULL;
	}
	if (good && (m->go || m->functions.n)) {
		*mp = m;
		return true;
	}
	fallback_names_free(m);
	return good;
}

void fallback_names_free(struct fallback_names *m)
{
	if (!m)
		return;
	gonames_free(m->go);
	functions_release(&m->functions);
	free(m->tags);
	free(m);
}

bool fallback_names_find(struct fallback_names *m, uint64_t vaddr, struct fallback_names_hit *hit)
{
	uint32_t i = m && m->go ? gonames_find(m->go, vaddr) : GONAME_NONE;
	size_t k;

	if (i != GONAME_NONE) {
		*hit = (struct fallback_names_hit){ NAME_GO, gonames_start(m->go, i), gonames_name(m->go, i),
					  gonames_tag(m->go, i) };
		return true;
	}
	if (!m || !functions_find(&m->functions, vaddr, &k))
		return false;
	*hit = (struct fallback_names_hit){ .source = NAME_BOUNDS, .start = m->functions.items[k].start, .tag = &m->tags[k] };
	return true;
}

/* Returns the last part of a path; "vdso" for "[vdso]". */
static struct slice base_of(struct slice path)
{
	size_t deleted = strlen(" (deleted)");

	if (path.n > 2 && path.p[0] == '[' && path.p[path.n - 1] == ']')
		return (struct slice){ path.p + 1, path.n - 2 };
	if (path.n > deleted && memcmp(path.p + path.n - deleted, " (deleted)", deleted) == 0)
		path.n -= deleted;
	for (size_t i = path.n; i > 0; i--) {
		if (path.p[i - 1] == '/')
			return (struct slice){ path.p + i, path.n - i };
	}
	return path;
}

void fallback_names_text(const struct fallback_names_hit *hit, struct slice path, struct buf *out)
{
	struct slice base;

	if (hit->source == NAME_GO) {
		buf_bytes(out, hit->name.p, hit->name.n);
		return;
	}
	base = base_of(path);
	buf_byte(out, '[');
	buf_bytes(out, base.p, base.n);
	buf_printf(out, "+0x%" PRIx64 "]", hit->start);
}

struct gonames *fallback_names_go(const struct fallback_names *m)
{
	return m ? m->go : NULL;
}

enum name_source fallback_names_kind(const struct fallback_names *m)
{
	return !m ? NAME_NONE : m->go ? NAME_GO : NAME_BOUNDS;
}

size_t fallback_names_bytes(const struct fallback_names *m)
{
	return !m ? 0 : sizeof(*m) + (m->go ? gonames_bytes(m->go) : 0) +
			m->functions.n * (sizeof(*m->functions.items) + sizeof(*m->tags));
}
