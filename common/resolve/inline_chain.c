#include "common/resolve/inline_chain.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/dwarf/lines.h"

struct inline_chain {
	struct lines *lines; /* or NULL */
	struct unread *unread;
	struct buf path; /* the file with the lines */
	size_t cut;      /* units noted in unread */
	const struct gonames *go;
	unsigned int what;
	uint32_t *names, *files; /* by text number of lines: the number of the text here, + 1 */
	size_t cap_names, cap_files;
	struct buf scratch;
	struct level found[LINES_LEVELS_MAX];
};

_Static_assert((int)GONAMES_DEPTH <= (int)LINES_LEVELS_MAX, "there is room for all of Go's levels");

/* A request for the alternate (dwz) file of a debug file. */
struct wanted {
	struct finder *finder;
	struct slice path; /* the debug file's */
	struct buf *alt;   /* the name of the alternate file */
};

static struct elf_file *open_alt(void *arg, struct slice name, struct slice build_id)
{
	const struct wanted *w = arg;

	buf_bytes(w->alt, name.p, name.n);
	return finder_alt(w->finder, name, build_id, w->path);
}

static bool note_unread(const struct inline_chain_options *o, struct slice path, const struct lines_unread *u)
{
	return u->n == 0 || unread_add(&o->finder->unread, path, u->n, u->why);
}

/* Notes units that are beyond a limit; there are more with each unit that is read. */
static bool note_cut(struct inline_chain *l)
{
	size_t n = lines_cut(l->lines);

	if (n == l->cut)
		return true;
	l->cut = n;
	return unread_units(l->unread, buf_view(&l->path), n, "too many lines, calls or units");
}

static enum lines_opened open_lines(const struct inline_chain_options *o, const struct elf_file *file, struct slice path,
				    struct lines **l)
{
	struct lines_unread unread = { 0 }, alt_unread = { 0 };
	struct buf alt = { 0 };
	struct wanted w = { o->finder, path, &alt };
	struct lines_options lo = { .open_alt = open_alt, .arg = &w, .bytes_max = o->bytes_max,
				    .split = o->finder->symfs == NULL, .unread = &unread, .alt_unread = &alt_unread };
	enum lines_opened got = lines_open(file, &lo, l);

	if (alt.failed || !note_unread(o, path, &unread) || !note_unread(o, buf_view(&alt), &alt_unread)) {
		lines_close(*l);
		*l = NULL;
		got = LINES_NO_MEMORY;
	}
	buf_release(&alt);
	return got;
}

/* Opens the lines of the file at this path, or of a debug file. path becomes that of the opened one. */
static enum lines_opened find_lines_file(const struct inline_chain_options *o, const struct elf_file *file,
					 const struct module_identity *is, struct buf *path, struct lines **l)
{
	enum lines_opened got = file ? open_lines(o, file, buf_view(path), l) : LINES_NONE;
	struct elf_file *debug;
	size_t step = 0;

	while (got != LINES_OPENED && got != LINES_NO_MEMORY &&
	       (debug = finder_debug(o->finder, &step, file, is, path))) {
		got = open_lines(o, debug, buf_view(path), l);
		elf_close(debug);
	}
	return got;
}

bool inline_chain_open(const struct inline_chain_options *o, const struct elf_file *file, const struct module_identity *is,
		 struct slice path, const struct gonames *go, struct inline_chain **l)
{
	struct inline_chain *new = calloc(1, sizeof(*new));
	enum lines_opened got = LINES_NO_MEMORY;
	bool good;

	*l = NULL;
	if (!new)
		return false;
	new->go = go;
	new->what = o->what;
	new->unread = &o->finder->unread;
	buf_bytes(&new->path, path.p, path.n);
	if (!new->path.failed)
		got = find_lines_file(o, file, is, &new->path, &new->lines);
	good = got != LINES_NO_MEMORY && (!new->lines || note_cut(new));
	if (good && (got == LINES_OPENED || go))
		*l = new;
	else
		inline_chain_close(new);
	return good;
}

void inline_chain_close(struct inline_chain *l)
{
	if (!l)
		return;
	lines_close(l->lines);
	free(l->names);
	free(l->files);
	buf_release(&l->scratch);
	buf_release(&l->path);
	free(l);
}

/* Translates a text of lines to one of texts, once each. */
static bool text_of(struct inline_chain *l, uint32_t id, uint32_t **known, size_t *cap, struct intern *texts,
		    enum demangle_mode mode, uint32_t *text)
{
	struct slice s = lines_text(l->lines, id);

	if (!grow_array(known, cap, id, sizeof(**known)))
		return false;
	if ((*known)[id] == 0) {
		buf_clear(&l->scratch);
		if (s.n > 1 && s.p[0] == '_')
			demangle(&l->scratch, s, mode);
		else
			demangle_plain(&l->scratch, s, mode);
		if (l->scratch.failed || !intern_add(texts, buf_view(&l->scratch), text))
			return false;
		(*known)[id] = *text + 1;
	}
	*text = (*known)[id] - 1;
	return true;
}

/* Converts one level of the chain; its file and line only if they are wanted. */
static bool take_level(struct inline_chain *l, const struct lines_level *from, struct intern *texts,
		       enum demangle_mode mode, struct level *to)
{
	*to = (struct level){ 0 };
	if (!text_of(l, from->name, &l->names, &l->cap_names, texts, mode, &to->name))
		return false;
	if (!(l->what & INLINE_CHAIN_LINES))
		return true;
	to->line = from->line;
	return text_of(l, from->file, &l->files, &l->cap_files, texts, DEMANGLE_NONE, &to->file);
}

/*
 * Cuts the chain to the wanted part: without inlined calls, the function alone with the innermost line.
 * Returns the number of levels.
 */
static uint32_t shorten_chain(const struct inline_chain *l, struct lines_chain *chain)
{
	/* A level without a name cannot be shown: the dwz file that names it is missing. */
	for (uint32_t i = 1; i < chain->n; i++) {
		if (!chain->level[i].name)
			chain->n = i;
	}
	if (!(l->what & INLINE_CHAIN_INLINED)) {
		chain->level[chain->n - 1].name = chain->level[0].name;
		chain->level[0] = chain->level[chain->n - 1];
		chain->n = 1;
	}
	return chain->n == 1 && !(l->what & INLINE_CHAIN_LINES) ? 0 : chain->n;
}

static long find_go(struct inline_chain *l, uint64_t vaddr, struct intern *texts)
{
	struct goname_call calls[GONAMES_DEPTH];
	size_t n = gonames_chain(l->go, vaddr, calls);

	if (n && !(l->what & INLINE_CHAIN_INLINED)) {
		calls[n - 1].name = calls[0].name;
		calls[0] = calls[n - 1];
		n = 1;
	}
	if (n == 1 && !(l->what & INLINE_CHAIN_LINES))
		return 0;
	for (size_t i = 0; i < n; i++) {
		bool lines = l->what & INLINE_CHAIN_LINES;

		l->found[i] = (struct level){ .line = lines ? calls[i].line : 0 };
		if (!intern_add(texts, calls[i].name, &l->found[i].name) ||
		    (lines && !intern_add(texts, calls[i].file, &l->found[i].file)))
			return -1;
	}
	return (long)n;
}

long inline_chain_find(struct inline_chain *l, uint64_t vaddr, struct intern *texts, enum demangle_mode mode,
		 const struct level **found)
{
	struct lines_chain chain;
	int got = l->lines ? lines_find(l->lines, vaddr, &chain) : 0;
	uint32_t n;

	*found = l->found;
	if (l->lines && !note_cut(l))
		return -1;
	if (got == 0 && l->go)
		return find_go(l, vaddr, texts);
	if (got <= 0)
		return got;
	n = shorten_chain(l, &chain);
	for (uint32_t i = 0; i < n; i++) {
		if (!take_level(l, &chain.level[i], texts, mode, &l->found[i]))
			return -1;
	}
	return n;
}

size_t inline_chain_bytes(const struct inline_chain *l)
{
	return l ? sizeof(*l) + (l->lines ? lines_bytes(l->lines) : 0) + (l->cap_names + l->cap_files) * sizeof(uint32_t) : 0;
}
