#include "common/annotate/line_files.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/array.h"
#include "common/foreign/foreign.h"

enum { BUILD_ID_LEAST = 8 }; /* bytes; a shorter one does not tell builds apart */

bool line_files_init(struct line_files *f, const struct modules_options *options)
{
	struct modules_options o = *options;

	*f = (struct line_files){ 0 };
	o.levels = INLINE_CHAIN_INLINED | INLINE_CHAIN_LINES;
	intern_init(&f->texts);
	finder_init(&f->finder, o.symfs, o.debug_dirs, o.n_debug_dirs);
	f->finder.debuginfod = o.debuginfod;
	f->modules = modules_new(&o);
	return f->modules;
}

void line_files_release(struct line_files *f)
{
	modules_free(f->modules);
	finder_release(&f->finder);
	intern_release(&f->texts);
	free(f->files);
	free(f->origins);
	*f = (struct line_files){ 0 };
}

static bool keep_text(struct line_files *f, struct slice *s)
{
	uint32_t text;

	if (!intern_add(&f->texts, *s, &text))
		return false;
	*s = intern_get(&f->texts, text);
	return true;
}

bool line_files_note(void *context, uint32_t mapping, const struct module_identity *is)
{
	struct line_files *f = context;
	struct line_file *file;

	if (!grow_array(&f->files, &f->cap_files, mapping, sizeof(*f->files)))
		return false;
	file = &f->files[mapping];
	if (file->is.path.n)
		return true;
	file->is = *is;
	file->is.image = (struct slice){ NULL, 0 };
	return keep_text(f, &file->is.path) && keep_text(f, &file->is.build_id) &&
	       keep_text(f, &file->is.user.cgroup);
}

static struct line_file *file_of(struct line_files *f, uint32_t mapping)
{
	return mapping < f->cap_files && f->files[mapping].is.path.n ? &f->files[mapping] : NULL;
}

bool line_files_place(struct line_files *f, const struct traces *s, uint32_t location,
		      struct code_place *place)
{
	const struct traces_location *l = &s->locations[location];
	const struct traces_mapping *m = &s->mappings[l->mapping];

	if (!l->mapping || !file_of(f, l->mapping))
		return false;
	*place = (struct code_place){ l->mapping, l->address - m->start + m->offset };
	return true;
}

/* Finds the module of a file at its first use. */
static bool find_module(struct line_files *f, struct line_file *file)
{
	uint32_t module;

	if (file->module)
		return true;
	if (!modules_get(f->modules, &file->is, &module))
		return false;
	file->module = module + 1;
	return true;
}

static struct module_place place_in(const struct code_place *place, const struct line_file *file)
{
	return (struct module_place){ .offset = place->offset,
				      .map_length = file->is.user.map_end - file->is.user.map_start };
}

long line_files_levels(struct line_files *f, const struct code_place *place, const struct level **levels)
{
	struct line_file *file = file_of(f, place->mapping);
	struct module_place where;

	if (!file)
		return 0;
	where = place_in(place, file);
	return find_module(f, file) ? modules_levels(f->modules, file->module - 1, &where, levels) : -1;
}

int line_files_name(struct line_files *f, const struct code_place *place, struct module_name *name)
{
	struct line_file *file = file_of(f, place->mapping);
	struct module_place where;

	if (!file)
		return 0;
	where = place_in(place, file);
	return find_module(f, file) ? modules_name(f->modules, file->module - 1, &where, name) : -1;
}

enum source_status line_files_open(struct line_files *f, uint32_t mapping, struct elf_file **file,
				   struct buf *opened)
{
	struct line_file *of = file_of(f, mapping);
	bool by_path;

	*file = NULL;
	return of ? finder_open(&f->finder, &of->is, file, opened, &by_path) : SOURCE_NOT_A_FILE;
}

/* Opens the file once more to learn its owner and the time of its last write. */
static struct code_origin find_origin(struct line_files *f, uint32_t mapping)
{
	struct code_origin origin = { .trust = CODE_NONE };
	struct buf opened = { 0 };
	struct elf_file *file;
	struct stat st;

	line_files_open(f, mapping, &file, &opened);
	if (file && foreign_stat(file->fd, &st)) {
		origin.owner = st.st_uid;
		origin.written = st.st_mtime;
		if (!slice_begins(buf_view(&opened), "/proc/"))
			origin.trust = f->files[mapping].is.build_id.n >= BUILD_ID_LEAST ? CODE_TRUSTED
											 : CODE_BY_PATH;
	}
	elf_close(file);
	buf_release(&opened);
	return origin;
}

struct code_origin line_files_origin(struct line_files *f, uint32_t mapping)
{
	struct line_file *file = file_of(f, mapping);
	struct code_origin *origin;

	if (!file || !find_module(f, file) ||
	    !grow_array(&f->origins, &f->cap_origins, file->module - 1, sizeof(*f->origins)))
		return (struct code_origin){ .trust = CODE_NONE };
	origin = &f->origins[file->module - 1];
	if (origin->trust == CODE_UNKNOWN)
		*origin = find_origin(f, mapping);
	return *origin;
}
