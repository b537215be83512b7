#include "cmd/cprof-record/lang/java_procs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/helper/silent_users.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/lang/java_reader.h"
#include "common/base/array.h"

#define MILLISECOND UINT64_C(1000000)

enum {
	TRIES = 8, /* questions about a process that is not set up, each for JAVA_AGAIN_MOST ms; or lost ones */
	TOLD_MOST = 4096,
	READS = 3, /* after the first read: some code is made later, and some is cut to its size */
	OF_ONE = JAVA_PROCS / 4, /* processes of a user, unless it is root: a fake JVM can fork as well */
};

/* When a JVM that was read is read again, after the first time. */
static const uint64_t again_after[READS] = { 1000 * MILLISECOND, 10000 * MILLISECOND, 60000 * MILLISECOND };

/* A process and its JVM. */
struct jvm {
	uint64_t serial; /* from the struct proc */
	uint32_t pid;
	uid_t uid; /* (uid_t)-1: it was gone */
	struct java_question question;
	uint64_t due; /* the time of the next question; UINT64_MAX: none */
	bool asked;
	uint32_t tries, reads;
	enum lang_state state;
	uint64_t since;	 /* when it was published */
	uint32_t layout; /* index + 1; 0: none */
	struct java_process process;
};

struct java_procs {
	struct bpf_lang *bpf;
	struct java_reader *reader;
	struct silent_users silent; /* users of JVMs whose memory did not answer */
	struct jvm *items;
	size_t n, cap;
	struct java_layout layouts[JAVA_LAYOUTS];
	uint32_t users[JAVA_LAYOUTS];
	uint32_t generation;
	uint64_t questions;
	struct buf told;       /* the reasons that were reported, one a line */
	struct buf *complaint; /* lent during a step */
};

struct java_procs *java_procs_new(struct bpf_lang *bpf)
{
	struct java_procs *js = calloc(1, sizeof(*js));

	if (!js)
		return NULL;
	js->bpf = bpf;
	js->reader = java_reader_new();
	if (js->reader)
		return js;
	free(js);
	return NULL;
}

void java_procs_free(struct java_procs *js)
{
	if (!js)
		return;
	java_reader_free(js->reader);
	free(js->items);
	buf_release(&js->told);
	free(js);
}

uint64_t java_procs_cpu_ns(const struct java_procs *js)
{
	return java_reader_cpu_ns(js->reader);
}

int java_procs_fd(const struct java_procs *js)
{
	return java_reader_fd(js->reader);
}

static struct jvm *find_jvm(const struct java_procs *js, uint64_t serial)
{
	for (size_t i = 0; i < js->n; i++) {
		if (js->items[i].serial == serial)
			return &js->items[i];
	}
	return NULL;
}

/* --- publishing ------------------------------------------------------------------------------ */

static int find_map(const struct java_procs *js, const char *name)
{
	return bpf_lang_map(js->bpf, LANG_JAVA, name);
}

/* Returns index + 1 of a layout, a new one if need be; 0: there are too many. */
static uint32_t use_layout(struct java_procs *js, const struct java_layout *l)
{
	uint32_t unused = JAVA_LAYOUTS;

	for (uint32_t i = JAVA_LAYOUTS; i-- > 0;) {
		if (js->users[i] && memcmp(&js->layouts[i], l, sizeof(*l)) == 0) {
			js->users[i]++;
			return i + 1;
		}
		unused = js->users[i] ? unused : i;
	}
	if (unused == JAVA_LAYOUTS ||
	    bpf_map_update_elem(find_map(js, "java_layouts"), &unused, l, BPF_ANY) != 0)
		return 0;
	js->layouts[unused] = *l;
	js->users[unused] = 1;
	return unused + 1;
}

static void release_layout(struct java_procs *js, struct jvm *v)
{
	if (v->layout)
		js->users[v->layout - 1]--;
	v->layout = 0;
}

static bool publish_jvm(const struct java_procs *js, const struct jvm *v)
{
	return bpf_map_update_elem(find_map(js, "java_procs"), &v->pid, &v->process, BPF_ANY) == 0;
}

/* A process that has executed another program has the same pid: the entry is that of the newer image. */
static bool is_newest(const struct java_procs *js, const struct jvm *v)
{
	for (size_t i = 0; i < js->n; i++) {
		if (js->items[i].pid == v->pid && js->items[i].layout && js->items[i].serial > v->serial)
			return false;
	}
	return true;
}

static void withdraw_jvm(struct java_procs *js, struct jvm *v)
{
	int fd = find_map(js, "java_procs");

	if (fd >= 0 && v->layout && is_newest(js, v))
		bpf_map_delete_elem(fd, &v->pid);
	release_layout(js, v);
}

/* --- reading --------------------------------------------------------------------------------- */

static void report_refusal(struct java_procs *js, const struct jvm *v, const char *why)
{
	struct buf line = { 0 };

	buf_printf(&line, "%s\n", why);
	if (js->complaint->n == 0 && js->told.n < TOLD_MOST && !line.failed &&
	    !strstr(js->told.n ? buf_cstr(&js->told) : "", buf_cstr(&line))) {
		buf_slice(&js->told, buf_view(&line));
		buf_printf(js->complaint, "frames of Java in process %u are missing: %s", v->pid, why);
	}
	buf_release(&line);
}

static void end_reading(struct jvm *v, enum lang_state state)
{
	v->state = state;
	v->due = UINT64_MAX;
}

/* Publishes the answer. A JVM keeps its generation. */
static void take_jvm(struct java_procs *js, struct jvm *v, const struct java_answer *a, uint64_t now)
{
	uint32_t generation = v->process.generation ? v->process.generation : ++js->generation;
	uint32_t layout = use_layout(js, &a->layout);

	release_layout(js, v);
	v->layout = layout;
	v->process = a->process;
	v->process.generation = generation;
	v->process.layout = layout - 1;
	if (!layout || !publish_jvm(js, v)) {
		withdraw_jvm(js, v);
		end_reading(v, LANG_OVER_BUDGET);
		report_refusal(js, v, "there are too many JVMs");
		return;
	}
	v->since = v->state == LANG_OK ? v->since : host_mono_ns();
	v->state = LANG_OK;
	v->due = v->reads < READS ? now + again_after[v->reads] : UINT64_MAX;
	v->reads++;
}

/* It is not set up, or the reader was lost; a process of which nothing is readable ends or has no such memory. */
static void take_failure(struct java_procs *js, struct jvm *v, const struct java_answer *a, uint64_t now)
{
	bool again = a->found == JAVA_LATER || a->error == EAGAIN || a->error == 0;

	if (a->found == JAVA_UNREADABLE && a->error == ETIMEDOUT && v->uid != (uid_t)-1)
		silent_users_note_uid(&js->silent, v->uid, now); /* the process may be gone */
	if (v->layout) { /* the JVM that is published already is exiting */
		v->due = UINT64_MAX;
	} else if (again && ++v->tries < TRIES) {
		v->due = now + (a->error == EAGAIN ? 0 : 100 * MILLISECOND);
	} else {
		end_reading(v, a->found == JAVA_LATER ? LANG_NOT_YET : LANG_UNREADABLE);
		if (a->found == JAVA_UNREADABLE && a->error && a->error != ESRCH && a->error != EAGAIN &&
		    a->error != EFAULT)
			report_refusal(js, v,
				       a->error == ETIMEDOUT ? "its memory does not answer"
							     : strerror(a->error));
	}
}

static struct jvm *find_asked(const struct java_procs *js, uint64_t id)
{
	for (size_t i = 0; i < js->n; i++) {
		if (js->items[i].asked && js->items[i].question.id == id)
			return &js->items[i];
	}
	return NULL;
}

static void take_answer(struct java_procs *js, const struct java_answer *a, uint64_t now)
{
	struct jvm *v = find_asked(js, a->id);

	if (!v)
		return; /* it is gone, or its libjvm is elsewhere now */
	v->asked = false;
	if (a->found == JAVA_FOUND) {
		take_jvm(js, v, a, now);
	} else if (a->found == JAVA_REFUSED) {
		withdraw_jvm(js, v);
		end_reading(v, LANG_UNSUPPORTED);
		report_refusal(js, v, a->why);
	} else {
		take_failure(js, v, a, now);
	}
}

void java_procs_step(struct java_procs *js, uint64_t now, struct buf *complaint)
{
	const struct java_answer *a;

	js->complaint = complaint;
	while ((a = java_reader_take(js->reader, now)) != NULL)
		take_answer(js, a, now);
	if (find_map(js, "java_procs") < 0)
		return;
	for (size_t i = 0; i < js->n; i++) {
		struct jvm *v = &js->items[i];

		if (v->asked || v->due > now)
			continue;
		if (silent_users_has(&js->silent, (pid_t)v->pid, now)) {
			v->state = v->layout ? v->state : LANG_UNREADABLE;
			v->due = now + again_after[READS - 1];
			continue;
		}
		v->question.again = v->layout == 0;
		v->question.id = ++js->questions;
		if (!java_reader_ask(js->reader, &v->question))
			break;
		v->asked = true;
	}
}

/* --- processes ------------------------------------------------------------------------------- */

static bool has_room(const struct java_procs *js, uid_t uid)
{
	size_t same = 0;

	for (size_t i = 0; uid && js->n >= OF_ONE && i < js->n; i++)
		same += js->items[i].uid == uid;
	return js->n < JAVA_PROCS && same < OF_ONE;
}

static struct jvm *add_jvm(struct java_procs *js, const struct proc *p)
{
	struct jvm *v = find_jvm(js, p->serial);
	uid_t uid;
	pid_t nspid;

	if (v)
		return v;
	if (!nsfile_status((pid_t)p->pid, &uid, &nspid))
		uid = (uid_t)-1;
	if (!has_room(js, uid) || !grow_array(&js->items, &js->cap, js->n, sizeof(*js->items)))
		return NULL;
	v = &js->items[js->n++];
	*v = (struct jvm){ .serial = p->serial, .pid = p->pid, .uid = uid };
	return v;
}

void java_procs_add(struct java_procs *js, const struct proc *p, const struct lang_image *image,
		    uint64_t bias)
{
	struct jvm *v = add_jvm(js, p);

	if (!v)
		return;
	withdraw_jvm(js, v);
	*v = (struct jvm){ .serial = p->serial, .pid = p->pid, .uid = v->uid, .state = LANG_NOT_YET };
	v->question = (struct java_question){ .pid = p->pid, .bias = bias, .state = image->state };
	memcpy(v->question.at, image->at, sizeof(v->question.at));
}

void java_procs_forked(struct java_procs *js, const struct proc *parent, const struct proc *child)
{
	const struct jvm *from = find_jvm(js, parent->serial);
	struct java_question question;
	struct java_process process;
	enum lang_state state;
	uint32_t layout;
	struct jvm *v;

	if (!from)
		return;
	question = from->question;
	process = from->process;
	state = from->state;
	layout = from->layout;
	v = add_jvm(js, child); /* may move the parent */
	if (!v || v->layout)
		return;
	v->question = question;
	v->question.pid = child->pid;
	v->state = state;
	v->due = layout ? UINT64_MAX : 0;
	if (!layout)
		return;
	v->since = host_mono_ns();
	v->process = process;
	v->process.generation = ++js->generation;
	v->layout = layout;
	js->users[layout - 1]++;
	publish_jvm(js, v);
}

void java_procs_gone(struct java_procs *js, const struct proc *p)
{
	struct jvm *v = find_jvm(js, p->serial);

	if (!v)
		return;
	withdraw_jvm(js, v);
	*v = js->items[--js->n];
}

/* The programs keep ids of methods by generation. */
void java_procs_restart(struct java_procs *js)
{
	for (size_t i = 0; i < js->n; i++) {
		struct jvm *v = &js->items[i];

		if (v->layout) {
			v->process.generation = ++js->generation;
			publish_jvm(js, v);
		}
	}
}

enum lang_state java_procs_state(const struct java_procs *js, const struct proc *p, uint64_t time)
{
	const struct jvm *v = find_jvm(js, p->serial);

	if (!v)
		return LANG_OVER_BUDGET;
	return v->state == LANG_OK && time < v->since ? LANG_NOT_YET : v->state;
}
