/* Users of JVMs: one whose memory does not answer, or with very many, costs others none of theirs. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/lang/java_procs.h"
#include "cmd/cprof-record/lang/java_reader.h"
#include "tests/lib/check.h"

#define SECOND UINT64_C(1000000000)

enum { ATTACKER = 1000, VICTIM, MANY = 2 * JAVA_PROCS };

/* Processes from MANY on are the victim's, those from 2 * MANY on root's. */
bool nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid)
{
	*uid = pid < MANY ? ATTACKER : pid < 2 * MANY ? VICTIM : 0;
	*nspid = pid;
	return true;
}

static uint64_t now = 1000 * SECOND;

uint64_t host_mono_ns(void)
{
	return now;
}

/* The BPF programs' part. */
int bpf_lang_map(const struct bpf_lang *l, uint32_t language, const char *name)
{
	(void)l, (void)language, (void)name;
	return 3;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd, (void)key, (void)value, (void)flags;
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	(void)fd, (void)key;
	return 0;
}

/* The reader: takes one question at a time; the attacker's memory is silent, other JVMs are there. */
static struct java_question question;
static bool is_asked;
static unsigned int vain;

struct java_reader *java_reader_new(void)
{
	return (struct java_reader *)&question;
}

void java_reader_free(struct java_reader *r)
{
	(void)r;
}

int java_reader_fd(const struct java_reader *r)
{
	(void)r;
	return 4;
}

uint64_t java_reader_cpu_ns(const struct java_reader *r)
{
	(void)r;
	return 0;
}

bool java_reader_ask(struct java_reader *r, const struct java_question *q)
{
	(void)r;
	if (is_asked)
		return false;
	question = *q;
	is_asked = true;
	return true;
}

const struct java_answer *java_reader_take(struct java_reader *r, uint64_t at)
{
	static struct java_answer a;

	(void)r, (void)at;
	if (!is_asked)
		return NULL;
	is_asked = false;
	a = (struct java_answer){ .id = question.id, .found = JAVA_FOUND };
	if (question.pid >= MANY)
		return &a;
	vain++;
	now += JAVA_PATIENCE;
	a.found = JAVA_UNREADABLE;
	a.error = ETIMEDOUT;
	return &a;
}

static struct proc procs[3 * MANY];

static struct proc *add(struct java_procs *js, uint32_t pid)
{
	static const struct lang_image image = { .language = LANG_JAVA };

	procs[pid].pid = pid;
	procs[pid].serial = pid;
	java_procs_add(js, &procs[pid], &image, 0);
	return &procs[pid];
}

static void check_silent(void)
{
	struct java_procs *js = java_procs_new(NULL);
	struct buf complaint = { 0 };
	struct proc *own, *other;

	for (uint32_t i = 1; i <= 20; i++)
		own = add(js, i);
	other = add(js, MANY);
	for (int i = 0; i < 50 && java_procs_state(js, other, UINT64_MAX) != LANG_OK; i++)
		java_procs_step(js, now, &complaint);
	check(java_procs_state(js, other, UINT64_MAX) == LANG_OK, "a JVM is read after others' that are silent");
	check_is(vain, 2, "... which are waited for twice");
	check(java_procs_state(js, own, UINT64_MAX) == LANG_UNREADABLE, "the others are not readable for now");
	now += 600 * SECOND;
	for (int i = 0; i < 3; i++)
		java_procs_step(js, now, &complaint);
	check(vain > 2, "... and are tried again later");
	buf_release(&complaint);
	java_procs_free(js);
}

/* Returns how many of n processes from a number on are taken. */
static size_t add_many(struct java_procs *js, uint32_t first, size_t n)
{
	size_t taken = 0;

	for (uint32_t pid = first; pid < first + n; pid++)
		taken += java_procs_state(js, add(js, pid), 0) != LANG_OVER_BUDGET;
	return taken;
}

static void check_many(void)
{
	struct java_procs *js = java_procs_new(NULL);
	size_t before = JAVA_PROCS / 4 - 1;

	check_is(add_many(js, 1, before), before, "a user may have a quarter of all JVMs");
	java_procs_forked(js, &procs[1], &(struct proc){ .pid = MANY - 1, .serial = MANY - 1 });
	check_is(add_many(js, 2 + (uint32_t)before, 600), 0, "... forked ones included, and no more");
	check_is(add_many(js, MANY, 100), 100, "there is room for another user's");
	check_is(add_many(js, 2 * MANY, JAVA_PROCS), JAVA_PROCS - JAVA_PROCS / 4 - 100,
		 "and for root's, up to all");
	java_procs_free(js);
}

int main(void)
{
	check_silent();
	check_many();
	return checks_done();
}
