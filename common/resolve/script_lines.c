#include "common/resolve/script_lines.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/locate/script_file.h"

struct script_state {
	uint64_t units, file, offset, width;
	bool defined, read, heard;
	uint32_t status, heard_status;
	struct script_ends ends;
};

/* A frame, or a function's start, that has no line yet. The other one is 0. */
struct pending {
	uint64_t frame, function, position;
	uint32_t script, process; /* process: one that runs the script; 0: unknown */
};

struct script_lines {
	struct finder finder;
	struct script_state *scripts; /* by id */
	size_t n_scripts, cap_scripts;
	struct pending *pending;
	size_t n_pending, cap_pending;
	struct buf opened;
	struct coverage tally;
	enum identity_host host;
	bool host_known;
};

struct script_lines *script_lines_new(const char *symfs)
{
	struct script_lines *l = calloc(1, sizeof(*l));

	if (l)
		finder_init(&l->finder, symfs, NULL, 0);
	return l;
}

static void forget_segment(struct script_lines *l)
{
	for (size_t i = 0; i < l->n_scripts; i++)
		free(l->scripts[i].ends.items);
	l->n_scripts = l->n_pending = 0;
	l->host_known = false;
}

void script_lines_free(struct script_lines *l)
{
	if (!l)
		return;
	forget_segment(l);
	free(l->scripts);
	free(l->pending);
	finder_release(&l->finder);
	buf_release(&l->opened);
	coverage_release(&l->tally);
	free(l);
}

struct coverage *script_lines_tally(struct script_lines *l)
{
	return &l->tally;
}

static bool see_script(struct script_lines *l, const struct record_script *r)
{
	while (l->n_scripts <= r->id) { /* ids are dense: capture_apply has accepted it */
		if (!grow_array(&l->scripts, &l->cap_scripts, l->n_scripts, sizeof(*l->scripts)))
			return false;
		l->scripts[l->n_scripts++] = (struct script_state){ 0 };
	}
	l->scripts[r->id] = (struct script_state){
		.defined = true, .units = r->units, .file = r->file, .offset = r->offset, .width = r->width
	};
	return true;
}

static bool add_pending(struct script_lines *l, struct pending p)
{
	if (p.script >= l->n_scripts || !l->scripts[p.script].defined)
		return true;
	if (!grow_array(&l->pending, &l->cap_pending, l->n_pending, sizeof(*l->pending)))
		return false;
	l->pending[l->n_pending++] = p;
	return true;
}

/* V8 does not always know where a function is: of code that it has thrown away, for example. */
static bool count_unplaced(struct script_lines *l, const struct capture *c,
			   const struct record_lang_frame *f)
{
	const struct capture_function *function = &c->functions[f->function];
	struct coverage_count one = { .why = slice_of("no-position"), .unnamed = 1 };

	if (f->language != LANGUAGE_JAVASCRIPT || (function->flags & FUNCTION_BUILTIN))
		return true;
	one.where = capture_function_path(c, function);
	return coverage_add(&l->tally, &one);
}

bool script_lines_see(struct script_lines *l, const struct capture *c, const struct record *r)
{
	const struct record_lang_frame *f = &r->lang_frame;

	switch (r->type) {
	case RECORD_SEGMENT:
		forget_segment(l);
		return true;
	case RECORD_SCRIPT:
		return see_script(l, &r->script);
	case RECORD_FUNCTION:
		if (!r->function.start || r->function.line)
			return true;
		return add_pending(l, (struct pending){ 0, r->function.id, r->function.start - 1,
							(uint32_t)r->function.script, 0 });
	case RECORD_LANG_FRAME:
		if (f->line || !f->function)
			return true;
		if (!f->position)
			return count_unplaced(l, c, f);
		return add_pending(l, (struct pending){ f->id, 0, f->position - 1,
							c->functions[f->function].script,
							(uint32_t)f->process });
	case RECORD_SCRIPT_SOURCE:
		if (r->script_source.script < l->n_scripts) {
			l->scripts[r->script_source.script].heard = true;
			l->scripts[r->script_source.script].heard_status = (uint32_t)r->script_source.status;
		}
		return true;
	default:
		return true;
	}
}

static struct module_user user_of(const struct capture *c, uint32_t process)
{
	const struct capture_process *p = &c->processes[process];

	if (!process)
		return (struct module_user){ 0 };
	return (struct module_user){ .pid = p->pid, .start = p->start, .cgroup = capture_text(c, p->cgroup) };
}

/* Reads the script, and says how that went unless the stream does already. */
static void read_script(struct script_lines *l, const struct capture *c, const struct pending *p,
			struct writer *w)
{
	struct script_state *s = &l->scripts[p->script];
	struct module_user user = user_of(c, p->process);
	struct module_identity is = { 0 };
	struct script_text text = { .path = capture_text(c, c->scripts[p->script].path), .units = s->units };

	if (!l->host_known)
		l->host = identity_host(capture_meta(c, "machine-id"), capture_meta(c, "boot-id"));
	l->host_known = true;
	if (s->file && s->file < c->n_files && c->files[s->file].defined) {
		const struct capture_file *file = &c->files[s->file];

		is = (struct module_identity){ .dev_major = file->dev_major,
					       .dev_minor = file->dev_minor,
					       .inode = file->inode,
					       .generation = file->generation,
					       .build_id = file->build_id,
					       .path = file->path,
					       .host = l->host,
					       .user = user };
		text.file = &is;
		text.address = s->offset;
		text.width = s->width;
	}
	s->read = true;
	s->status = script_file_ends(&l->finder, &text, &user, l->host, &l->opened, &s->ends);
	if (s->heard && (s->heard_status == s->status || s->heard_status == SOURCE_OK))
		return;
	s->heard = true;
	s->heard_status = s->status;
	writer_put(w, &(struct record){ .type = RECORD_SCRIPT_SOURCE,
					.script_source = { p->script, s->status, buf_view(&l->opened) } });
}

static bool has_line(const struct capture *c, const struct pending *p)
{
	return p->frame ? c->frames[p->frame].line != 0 : c->functions[p->function].line != 0;
}

static bool count_line(struct script_lines *l, const struct capture *c, const struct pending *p, bool found)
{
	struct slice why = slice_of(found ? "" : source_status_name(l->scripts[p->script].status));

	return !p->frame ||
	       coverage_add(&l->tally, &(struct coverage_count){ capture_text(c, c->scripts[p->script].path),
								 why, found, !found, false });
}

static bool say_line(struct script_lines *l, const struct capture *c, const struct pending *p,
		     struct writer *w)
{
	struct script_state *s = &l->scripts[p->script];
	bool found = has_line(c, p);

	if (!found && !s->read)
		read_script(l, c, p, w);
	if (!found && s->status == SOURCE_OK && p->position <= s->units) {
		writer_put(w, &(struct record){ .type = RECORD_LANG_LINE,
						.lang_line = { p->frame, p->function,
							       script_line(&s->ends, p->position) } });
		found = true;
	}
	return count_line(l, c, p, found);
}

/* Frames come first: they say which process sees the script. */
bool script_lines_say(struct script_lines *l, struct capture *c, struct writer *w)
{
	bool good = true;

	for (int functions = 0; functions < 2; functions++) {
		for (size_t i = 0; good && i < l->n_pending; i++) {
			if ((l->pending[i].function != 0) == (functions == 1))
				good = say_line(l, c, &l->pending[i], w);
		}
	}
	l->n_pending = 0;
	return good;
}
