#include "cmd/cprof-record/encode/emit_internal.h"

#include "cmd/cprof-record/host/vdso.h"

/*
 * After that many mappings in a segment, a process has only those of its frames in the stream. Any user can
 * have processes with 65,000, each of which would fill captures with a megabyte, and can replace a single one
 * all the time.
 */
enum {
	MAPPINGS_MANY = 512,
	MISSED_MOST = 256, /* frames of a process that are noted because they have no mapping */
};

void emit_record(struct emit *e, struct record r)
{
	writer_put(e->w, &r); /* the writer keeps its first error, which the flush checks */
}

static uint64_t file_id(struct emit *e, uint32_t file)
{
	struct exe *x;

	if (file == 0)
		return 0;
	x = &e->procs->exes[file - 1];
	if (x->segment != e->segment) {
		x->segment = e->segment;
		x->id = e->next_file++;
		emit_record(e, (struct record){ .type = RECORD_FILE,
						.file = { x->id, x->major, x->minor, x->inode, x->generation,
							  x->build_id, x->path } });
	}
	return x->id;
}

/* A process that writes a jitdump file has the file mapped. */
static void watch_dump(struct emit *e, struct proc *p, const struct map *m)
{
	const struct exe *x = m->file ? &e->procs->exes[m->file - 1] : NULL;

	if (x && jit_dumps_is(x->path))
		jit_dumps_watch(e->jit_dumps, emit_watch_id(p), (pid_t)p->pid,
			       &(struct jitdump_mapping){ x->path, m->start, m->end, x->inode });
}

/* A JIT compiler's code is in memory that has no file on disk. */
static void watch_jit(struct emit *e, struct proc *p, const struct map *m)
{
	if (p->jit_segment == e->segment ||
	    (m->file && e->procs->exes[m->file - 1].path.p[0] == '/' &&
	     e->procs->exes[m->file - 1].inode + e->procs->exes[m->file - 1].build_id.n != 0 &&
	     strncmp((const char *)e->procs->exes[m->file - 1].path.p, "/memfd:", 7) != 0 &&
	     strncmp((const char *)e->procs->exes[m->file - 1].path.p, "/dev/", 5) != 0))
		return;
	if (m->file && e->procs->exes[m->file - 1].path.p[0] == '[')
		return; /* [vdso], [vsyscall], [uprobes] */
	if (perf_maps_watch(e->perf_maps, emit_watch_id(p), (pid_t)p->pid, 0))
		p->jit_segment = e->segment;
}

void emit_mapping(struct emit *e, struct proc *p, const struct map *m, uint64_t time)
{
	uint64_t file = file_id(e, m->file);

	emit_record(e, (struct record){ .type = RECORD_MAPPING,
					.mapping = { time, p->id, m->start, m->end - m->start, m->offset,
						     m->prot, file } });
	watch_jit(e, p, m);
	watch_dump(e, p, m);
}

/* Returns the address to look up: for a return address, one byte back, inside the call. */
static uint64_t looked_up(const struct calltree_frame *f)
{
	return f->kind == FRAME_RETURN ? f->address - 1 : f->address;
}

static bool is_native(const struct calltree_frame *f, const struct proc *p)
{
	return f->process == p->id && f->kind != STACK_FRAME_LANG && f->kind != STACK_FRAME_LABEL;
}

/* Forgets that the stream has mappings which the new one changes: their frames need it. */
static void replace_said(struct proc *p, const struct map *m)
{
	struct maps after = { 0 };
	bool changed = false;

	maps_copy(&after, &p->said);
	if (maps_add(&after, m, &changed) && changed)
		maps_remove(&p->said, m->start, m->end, &changed);
	maps_release(&after);
}

/* Notes a frame without a mapping, which may come later if records were lost. */
static void note_missed(struct proc *p, uint64_t address)
{
	const struct map none = { .start = address, .end = address + 1 };
	bool changed = false;

	if (maps_count(&p->missed) < MISSED_MOST)
		maps_add(&p->missed, &none, &changed);
}

/* Writes the mapping of a frame, unless the stream has it. */
static void emit_needed(struct emit *e, struct proc *p, const struct map *m, uint64_t address, uint64_t time)
{
	bool changed = false;

	if (!p->by_frames || maps_find(&p->said, address))
		return;
	maps_add(&p->said, m, &changed);
	emit_mapping(e, p, m, time);
}

void emit_mapped(struct emit *e, struct proc *p, const struct map *m, uint64_t time)
{
	const struct map *missed = maps_from(&p->missed, m->start);
	bool changed = false;

	if (!p->by_frames) {
		emit_mapping(e, p, m, time);
		p->by_frames = ++p->mappings > MAPPINGS_MANY;
		if (p->by_frames)
			maps_copy(&p->said, &p->maps);
		return;
	}
	replace_said(p, m);
	p->said_is_old = true;
	if (missed && missed->start < m->end) {
		emit_needed(e, p, m, missed->start, time);
		maps_remove(&p->missed, m->start, m->end, &changed);
	}
	watch_jit(e, p, m);
	watch_dump(e, p, m);
}

/* Writes the mappings of a new process, unless it inherits them, and watches those of JIT compilers. */
static void put_mappings(struct emit *e, struct proc *p, const struct proc *parent)
{
	p->mappings = maps_count(&p->maps);
	p->by_frames = parent ? parent->by_frames : p->mappings > MAPPINGS_MANY;
	p->said_is_old = false; /* all its frames are still to come */
	maps_release(&p->said);
	maps_release(&p->missed);
	if (parent)
		maps_copy(&p->said, &parent->said);
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		if (!parent && !p->by_frames) {
			emit_mapping(e, p, m, p->time);
			continue;
		}
		watch_jit(e, p, m);
		if (!parent) /* otherwise the dump that is mapped there is the parent's */
			watch_dump(e, p, m);
	}
}

/* Returns the parent if the child has just the parent's mappings at this point of the stream, or NULL. */
static const struct proc *parent_to_inherit(const struct emit *e, const struct proc *p)
{
	const struct proc *parent = p->via == VIA_FORK ? procs_find(e->procs, p->parent_pid) : NULL;

	if (!parent || parent->serial != p->parent_serial || parent->segment != e->segment ||
	    parent->version != p->parent_version || p->version != 0)
		return NULL;
	return parent;
}

void emit_process(struct emit *e, struct proc *p)
{
	const struct proc *parent = parent_to_inherit(e, p);
	uint64_t before = p->via == VIA_EXEC && p->exec_segment == e->segment ? p->exec_of : 0;

	if (p->segment == e->segment)
		return;
	p->segment = e->segment;
	p->id = e->next_process++;
	p->cgroup = 0;
	p->owner = 0;
	e->processes++;
	emit_record(e, (struct record){ .type = RECORD_PROCESS,
					.process = { p->id, p->time, p->pid, 0, parent ? parent->id : before,
						     p->start, p->generation, p->via } });
	put_mappings(e, p, parent);
}

static void put_comm(struct emit *e, struct task *t, uint64_t time)
{
	t->renamed = 0;
	emit_record(e, (struct record){ .type = RECORD_COMM, .comm = { time, t->id, slice_of(t->comm) } });
}

/* A thread can change its name all the time: of the names between two samples, the last is written. */
static void put_thread(struct emit *e, struct task *t, uint64_t time)
{
	if (t->segment == e->segment) {
		if (t->renamed)
			put_comm(e, t, t->renamed);
		return;
	}
	t->segment = e->segment;
	t->id = e->next_thread++;
	emit_record(e, (struct record){ .type = RECORD_THREAD,
					.thread = { t->id, time, t->proc->id, t->tid } });
	put_comm(e, t, time);
}

/* The main thread goes with the first thread of its process, because its name is that of the process. */
void emit_task(struct emit *e, struct task *t, uint64_t time)
{
	struct task *leader = t->tid == t->proc->pid ? NULL : procs_known_task(e->procs, t->proc->pid);

	emit_process(e, t->proc);
	if (leader && leader->proc == t->proc)
		put_thread(e, leader, time);
	put_thread(e, t, time);
}

/* Writes that the process with this id is in the group, unless *last is that. */
static void put_member(struct emit *e, uint64_t process, uint64_t *last, uint64_t cgroup, uint64_t time)
{
	uint32_t said;

	if (cgroup == 0 || *last == cgroup)
		return;
	*last = cgroup;
	if (!idmap_find(&e->said_cgroups, cgroup, &said)) {
		const char *path = cgroup_path(e->cgroups, cgroup);

		if (!path)
			return;
		idmap_set(&e->said_cgroups, cgroup, 0);
		emit_record(e, (struct record){ .type = RECORD_CGROUP,
						.cgroup = { cgroup, slice_of(path) } });
	}
	emit_record(e, (struct record){ .type = RECORD_MEMBER, .member = { time, process, cgroup } });
}

void emit_cgroup(struct emit *e, struct proc *p, uint64_t cgroup, uint64_t time)
{
	put_member(e, p->id, &p->cgroup, cgroup, time);
}

void emit_owner(struct emit *e, struct proc *p, uint32_t owner, uint64_t time)
{
	uint32_t said;

	if (owner == 0 || p->owner == owner)
		return;
	p->owner = owner;
	if (!idmap_find(&e->said_users, owner, &said)) {
		idmap_set(&e->said_users, owner, 0);
		emit_record(e, (struct record){ .type = RECORD_USER,
						.user = { owner - 1,
							  user_names_find(&e->users, owner - 1) } });
	}
	emit_record(e, (struct record){ .type = RECORD_OWNER, .owner = { time, p->id, owner - 1 } });
}

uint64_t emit_outsider(struct emit *e, uint32_t pid, uint32_t tid, uint64_t cgroup, uint64_t time)
{
	struct task *t = procs_task(e->procs, pid, pid, time);
	struct proc_outside *o = t ? &t->proc->outside : NULL;

	if (t && t->proc->segment == e->segment)
		t = procs_task(e->procs, pid, tid, time);
	if (!t)
		return 0;
	if (t->proc->segment == e->segment) {
		emit_task(e, t, time);
		emit_cgroup(e, t->proc, cgroup, time);
		return t->id;
	}
	if (o->segment != e->segment) {
		*o = (struct proc_outside){ e->segment, e->next_process++, e->next_thread++, 0, "" };
		emit_record(e, (struct record){ .type = RECORD_PROCESS,
						.process = { o->process, t->proc->time, pid, 0, 0,
							     t->proc->start, t->proc->generation,
							     VIA_SNAPSHOT } });
		emit_record(e, (struct record){ .type = RECORD_THREAD,
						.thread = { o->thread, time, o->process, pid } });
	}
	if (strcmp(o->comm, t->comm) != 0) {
		memcpy(o->comm, t->comm, sizeof(o->comm));
		emit_record(e, (struct record){ .type = RECORD_COMM,
						.comm = { time, o->thread, slice_of(t->comm) } });
	}
	put_member(e, o->process, &o->cgroup, cgroup, time);
	return o->thread;
}

static void put_vdso(struct emit *e)
{
	struct buf image = { 0 }, id = { 0 };

	if (vdso_image(&image, &id))
		emit_record(e, (struct record){ .type = RECORD_IMAGE,
						.image = { slice_of("[vdso]"), buf_view(&id),
							   buf_view(&image) } });
	buf_release(&image);
	buf_release(&id);
}

/* Writes the symbol of a kernel address, once a segment. Returns false if the address has none. */
static bool put_ksym(struct emit *e, uint64_t address, uint64_t time)
{
	struct kernel_symbol s;
	struct buf key = { 0 };
	uint32_t id;

	if (!ksym_find(e->ksym, address, &s))
		return false;
	buf_varint(&key, s.address);
	buf_slice(&key, s.name);
	if (!key.failed && !intern_find(&e->said_ksyms, buf_view(&key), &id) &&
	    intern_add(&e->said_ksyms, buf_view(&key), &id))
		emit_record(e, (struct record){ .type = RECORD_KSYM,
						.ksym = { time, s.address, s.size, s.name, s.module } });
	buf_release(&key);
	return true;
}

/*
 * Counts the new frames of a process by origin, and writes mappings that only they need. The first frame in
 * the vDSO also writes its image, 8 kB.
 */
static void look_at_frames(struct emit *e, struct proc *p, uint64_t time)
{
	for (uint32_t i = e->said_frames; i < e->stacks.tree.n_frames; i++) {
		const struct calltree_frame *f = &e->stacks.tree.frames[i];
		const struct map *m;

		if (!is_native(f, p))
			continue;
		m = maps_find(&p->maps, looked_up(f));
		e->origins[!m ? FRAME_NOWHERE : m->file ? FRAME_IN_FILE : FRAME_IN_MEMORY]++;
		if (m)
			emit_needed(e, p, m, looked_up(f), time);
		else
			note_missed(p, looked_up(f));
		if (m && m->file && !e->said_vdso && slice_is(e->procs->exes[m->file - 1].path, "[vdso]")) {
			put_vdso(e);
			e->said_vdso = true;
		}
	}
}

/* Writes the mappings of a stack's frames that the process has added or changed since the frames were new. */
static void look_at_stack(struct emit *e, struct proc *p, uint64_t node, uint64_t time)
{
	const struct calltree *t = &e->stacks.tree;

	for (; node >= NODE_FIRST; node = t->nodes[node].parent) {
		const struct calltree_frame *f = &t->frames[t->nodes[node].frame];
		const struct map *m;

		if (!is_native(f, p) || maps_find(&p->said, looked_up(f))) /* mostly */
			continue;
		m = maps_find(&p->maps, looked_up(f));
		if (m)
			emit_needed(e, p, m, looked_up(f), time);
	}
}

/* Writes the function, and its script, unless the segment has them. Returns its id. */
static uint64_t write_function(struct emit *e, struct function *f)
{
	struct script *s = &e->runtimes->functions.scripts[f->script];

	if (s->segment != e->segment) {
		if (s->place.file && e->procs->exes[s->place.file - 1].image != s->place.image)
			s->place = (struct script_place){ 0 }; /* nobody runs that file any more */
		s->segment = e->segment;
		s->id = e->next_script++;
		emit_record(e, (struct record){ .type = RECORD_SCRIPT,
						.script = { .id = s->id, .language = s->language, .path = s->path,
							    .units = s->units, .file = file_id(e, s->place.file),
							    .offset = s->place.offset, .width = s->place.width } });
	}
	if (f->segment != e->segment) {
		f->segment = e->segment;
		f->id = e->next_function++;
		emit_record(e, (struct record){ .type = RECORD_FUNCTION,
						.function = { .id = f->id, .script = s->id, .name = f->name,
							      .line = f->line, .flags = f->flags,
							      .start = f->end > f->start ? (uint64_t)f->start + 1 : 0 } });
	}
	return f->id;
}

/* See script_functions_at. */
static void fill_walked(struct record_lang_frame *r, uint32_t bits)
{
	r->line = r->position = 0;
	if (r->language == LANGUAGE_JAVASCRIPT)
		r->position = bits & SCRIPT_AT;
	else
		r->line = bits & SCRIPT_AT;
	r->tier = bits >> SCRIPT_TIER_SHIFT & 7;
	if (r->tier >= LANG_TIERS)
		r->tier = LANG_TIER_NONE;
	r->inlined = (bits & SCRIPT_INLINED) != 0;
}

/* A frame whose function's record was lost says nothing of its language: it is that of the process. */
static enum language language_of_process(const struct emit *e, uint64_t process)
{
	for (size_t i = 0; i < e->procs->n; i++) {
		const struct proc *p = e->procs->items[i];

		if (p->segment == e->segment && p->id == process && p->lang.image)
			return e->runtimes->images[p->lang.image - 1].language;
	}
	return LANGUAGE_NONE;
}

static void write_lang_frame(struct emit *e, uint64_t id, const struct calltree_frame *frame)
{
	uint64_t at = frame->address >> 32;
	struct function *f = at ? &e->runtimes->functions.items[at - 1] : NULL;
	struct record r = { .type = RECORD_LANG_FRAME,
			    .lang_frame = { .id = id, .process = frame->process } };

	if (f) {
		r.lang_frame.function = write_function(e, f);
		r.lang_frame.language = f->language;
		r.lang_frame.line = (uint32_t)frame->address;
		if (lang_is_walked(f->language))
			fill_walked(&r.lang_frame, (uint32_t)frame->address);
		if (f->language == LANG_JAVASCRIPT && (f->flags & FUNCTION_BUILTIN))
			r.lang_frame.tier = LANG_TIER_BUILTIN;
	} else {
		r.lang_frame.state = frame->address & ((1 << STACK_LANG_STATE_BITS) - 1);
		r.lang_frame.language = frame->address >> STACK_LANG_STATE_BITS;
		if (r.lang_frame.state == LANG_OK || r.lang_frame.state >= LANG_STATES)
			r.lang_frame.state = LANG_UNREADABLE;
		if (r.lang_frame.language == LANGUAGE_NONE || r.lang_frame.language >= LANGUAGES)
			r.lang_frame.language = language_of_process(e, frame->process);
	}
	emit_record(e, r);
}

/* Writes the frame of a label, and the label as its name. */
static void write_label(struct emit *e, uint64_t id, const struct calltree_frame *frame)
{
	uint32_t label = (uint32_t)(frame->address - STACK_LABELS);

	while (e->labels.written < label) {
		uint32_t next = ++e->labels.written;

		emit_record(e, (struct record){ .type = RECORD_STRING,
						.string = { next, probe_labels_text(&e->labels, next) } });
	}
	emit_record(e, (struct record){ .type = RECORD_FRAME,
					.frame = { id, frame->process, FRAME_EXACT, frame->address } });
	emit_record(e, (struct record){ .type = RECORD_SYMBOL,
					.symbol = { .frame = id, .source = NAME_LABEL, .name = label } });
}

void emit_tree(struct emit *e, struct proc *p, uint64_t user, uint64_t time)
{
	look_at_frames(e, p, time);
	if (p->said_is_old)
		look_at_stack(e, p, user, time);
	for (uint32_t i = e->said_frames; i < e->stacks.tree.n_frames; i++) {
		const struct calltree_frame *f = &e->stacks.tree.frames[i];

		if (f->process == 0)
			e->origins[put_ksym(e, looked_up(f), time) ? FRAME_IN_KERNEL :
								     FRAME_IN_KERNEL_UNNAMED]++;
	}
	for (; e->said_frames < e->stacks.tree.n_frames; e->said_frames++) {
		const struct calltree_frame *f = &e->stacks.tree.frames[e->said_frames];

		if (f->kind == STACK_FRAME_LANG) {
			write_lang_frame(e, e->said_frames, f);
			continue;
		}
		if (f->kind == STACK_FRAME_LABEL) {
			write_label(e, e->said_frames, f);
			continue;
		}
		emit_record(e, (struct record){ .type = RECORD_FRAME,
						.frame = { e->said_frames, f->process, f->kind,
							   f->address } });
	}
	for (; e->said_nodes < e->stacks.tree.n_nodes; e->said_nodes++) {
		const struct calltree_node *n = &e->stacks.tree.nodes[e->said_nodes];

		emit_record(e, (struct record){ .type = RECORD_NODE,
						.node = { e->said_nodes, n->parent, n->frame } });
	}
}

void emit_put_sample(struct emit *e, const struct record *r)
{
	writer_put(e->w, r);
	e->segment_samples++;
}
