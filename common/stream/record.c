#include "common/stream/record_fields.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const root_names[] = {
	[ROOT_COMPLETE] = "complete",
	[ROOT_FP_END] = "fp-end",
	[ROOT_DEPTH] = "depth",
	[ROOT_UNREADABLE] = "unreadable",
	[ROOT_BROKEN] = "broken",
	[ROOT_NO_REGS] = "no-regs",
	[ROOT_KTHREAD] = "kthread",
	[ROOT_NO_TABLE] = "no-table",
	[ROOT_NO_MAPPING] = "no-mapping",
	[ROOT_GAP] = "gap",
	[ROOT_BAD_RULE] = "bad-rule",
	[ROOT_FAILED] = "failed",
	[ROOT_NOT_ASKED] = "not-asked",
	[ROOT_COPY] = "copy",
	[ROOT_BUDGET] = "budget",
	[ROOT_FORGOTTEN] = "forgotten",
};
_Static_assert(ROOTS <= NODE_FIRST && COUNT(root_names) == ROOTS, "each root has a name and is below the nodes");

static const char *const outcome_names[] = {
	[OUTCOME_EXPECTED] = "expected",
	[OUTCOME_EMITTED] = "emitted",
	[OUTCOME_IDLE] = "idle",
	[OUTCOME_FILTERED] = "filtered",
	[OUTCOME_GUEST] = "guest",
	[OUTCOME_RING_FULL] = "ring-full",
	[OUTCOME_NESTED] = "nested",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_THROTTLED] = "throttled",
	[OUTCOME_OFFLINE] = "offline",
	[OUTCOME_NO_MEMORY] = "no-memory",
	[OUTCOME_MISSED] = "missed",
	[OUTCOME_SIDEBAND_LOST] = "sideband-lost",
	[OUTCOME_NO_SPACE] = "no-space",
	[OUTCOME_WAITS_LOST] = "waits-lost",
	[OUTCOME_REST] = "rest",
};

static const char *const cost_names[] = {
	[COST_USER_NS] = "user-ns",
	[COST_SYSTEM_NS] = "system-ns",
	[COST_BPF_NS] = "bpf-ns",
	[COST_BPF_RUNS] = "bpf-runs",
	[COST_BYTES] = "bytes",
	[COST_RSS_BYTES] = "rss-bytes",
	[COST_TABLE_BYTES] = "table-bytes",
	[COST_TABLES] = "tables",
	[COST_TABLES_REFUSED] = "tables-refused",
	[COST_TABLES_EVICTED] = "tables-evicted",
	[COST_STACKS_DEFERRED] = "stacks-deferred",
	[COST_MAPPINGS_UNREAD] = "mappings-unread",
	[COST_MAPPINGS_CUT] = "mappings-cut",
	[COST_MAPPINGS_LEFT_OUT] = "mappings-left-out",
	[COST_FILES_UNOPENED] = "files-unopened",
};

static const char *const jitcode_names[] = {
	[JITCODE_LOAD] = "load", [JITCODE_MOVE] = "move", [JITCODE_CLOSE] = "close", [JITCODE_MARK] = "mark",
};
static const char *const kind_names[] = { [FRAME_EXACT] = "exact", [FRAME_RETURN] = "return" };
static const char *const via_names[] = { "snapshot", "fork", "exec" };
static const char *const end_names[] = { "closed", "continues", "error" };

static const char *const woken_names[] = {
	[WOKEN_BY_UNKNOWN] = "unknown",   [WOKEN_BY_TASK] = "task",	    [WOKEN_BY_TIMER] = "timer",
	[WOKEN_BY_DISK] = "disk",	  [WOKEN_BY_NETWORK] = "network", [WOKEN_BY_INTERRUPT] = "interrupt",
	[WOKEN_BY_SOFTIRQ] = "softirq", [WOKEN_BY_IDLE] = "idle",	    [WOKEN_BY_BRIEF] = "brief",
};
_Static_assert(COUNT(woken_names) == WOKEN_BYS, "each has a name");

static const char *const lock_names[] = {
	[LOCK_FUTEX] = "futex",   [LOCK_MUTEX] = "mutex",   [LOCK_PI] = "pi-mutex",
	[LOCK_ROBUST] = "robust", [LOCK_RWLOCK] = "rwlock", [LOCK_JOIN] = "join",
};
_Static_assert(COUNT(lock_names) == LOCK_KINDS, "each has a name");

static const char *const name_names[] = {
	[NAME_NONE] = "none",     [NAME_DYNSYM] = "dynsym", [NAME_PLT] = "plt",     [NAME_PERFMAP] = "perfmap",
	[NAME_SYMTAB] = "symtab", [NAME_KSYM] = "ksym",     [NAME_DEBUG] = "debug",   [NAME_GO] = "go",
	[NAME_MINIDEBUG] = "minidebug", [NAME_BOUNDS] = "bounds", [NAME_JITDUMP] = "jitdump",
	[NAME_LABEL] = "label",
};

static const char *const language_names[] = {
	[LANGUAGE_NONE] = "none", [LANGUAGE_PYTHON] = "python", [LANGUAGE_RUBY] = "ruby",
	[LANGUAGE_PHP] = "php",   [LANGUAGE_PERL] = "perl", [LANGUAGE_JAVASCRIPT] = "javascript",
	[LANGUAGE_JAVA] = "java",
};
_Static_assert(COUNT(language_names) == LANGUAGES, "each language has a name");

static const char *const lang_state_names[] = {
	[LANG_OK] = "ok",
	[LANG_NO_METADATA] = "no-metadata",
	[LANG_UNSUPPORTED] = "unsupported-version",
	[LANG_NOT_YET] = "not-yet",
	[LANG_UNREADABLE] = "unreadable",
	[LANG_OVER_BUDGET] = "over-budget",
	[LANG_LOST] = "lost",
	[LANG_DEPTH] = "depth",
};
static const char *const lang_tier_names[] = {
	[LANG_TIER_NONE] = "none",	 [LANG_TIER_INTERPRETED] = "interpreted", [LANG_TIER_BASELINE] = "baseline",
	[LANG_TIER_OPTIMIZED] = "optimized", [LANG_TIER_BUILTIN] = "builtin",	  [LANG_TIER_NATIVE] = "native",
	[LANG_TIER_STUB] = "stub",
};
_Static_assert(COUNT(lang_tier_names) == LANG_TIERS, "each tier has a name");
_Static_assert(COUNT(lang_state_names) == LANG_STATES, "each state has a name");

static const char *const status_names[] = {
	[SOURCE_OK] = "ok",
	[SOURCE_NO_FILE] = "no-file",
	[SOURCE_MISMATCH] = "build-id-mismatch",
	[SOURCE_STRIPPED] = "stripped",
	[SOURCE_NOT_ELF] = "not-elf",
	[SOURCE_PERMISSION] = "permission",
	[SOURCE_DAMAGED] = "damaged",
	[SOURCE_NOT_A_FILE] = "not-a-file",
	[SOURCE_CHANGED] = "changed",
};

#define AT(m)        offsetof(struct record, m)
#define U(n, m)      { n, FIELD_U, AT(m), NULL, 0 }
#define X(n, m)      { n, FIELD_X, AT(m), NULL, 0 }
#define TIME(n, m)   { n, FIELD_TIME, AT(m), NULL, 0 }
#define TEXT(n, m)   { n, FIELD_TEXT, AT(m), NULL, 0 }
#define HEX(n, m)    { n, FIELD_HEX, AT(m), NULL, 0 }
#define ENUM(n, m, t) { n, FIELD_ENUM, AT(m), t, COUNT(t) }

static const struct field segment_fields[] = {
	U("major", segment.major), U("minor", segment.minor), U("least", segment.least),
};
static const struct field meta_fields[] = { TEXT("key", meta.key), TEXT("value", meta.value) };
static const struct field event_fields[] = {
	U("id", event.id),         TEXT("name", event.name),          TEXT("unit", event.unit),
	U("period", event.period), U("millihertz", event.millihertz),
};
static const struct field process_fields[] = {
	U("id", process.id),         TIME("time", process.time),          U("pid", process.pid),
	U("nspid", process.nspid),   U("parent", process.parent),         U("start", process.start),
	U("gen", process.generation), ENUM("via", process.via, via_names),
};
static const struct field thread_fields[] = {
	U("id", thread.id), TIME("time", thread.time), U("process", thread.process), U("tid", thread.tid),
};
static const struct field comm_fields[] = {
	TIME("time", comm.time), U("thread", comm.thread), TEXT("comm", comm.comm),
};
static const struct field exit_fields[] = { TIME("time", exit.time), U("thread", exit.thread) };
static const struct field file_fields[] = {
	U("id", file.id),          U("major", file.dev_major),    U("minor", file.dev_minor),
	U("inode", file.inode),    U("generation", file.generation), HEX("build-id", file.build_id),
	TEXT("path", file.path),
};
static const struct field mapping_fields[] = {
	TIME("time", mapping.time),   U("process", mapping.process), X("start", mapping.start),
	X("length", mapping.length),  X("offset", mapping.offset),   U("prot", mapping.prot),
	U("file", mapping.file),
};
static const struct field unmap_fields[] = {
	TIME("time", unmap.time), U("process", unmap.process), X("start", unmap.start),
	X("length", unmap.length),
};
static const struct field frame_fields[] = {
	U("id", frame.id), U("process", frame.process), ENUM("kind", frame.kind, kind_names),
	X("address", frame.address),
};
static const struct field node_fields[] = {
	U("id", node.id), U("parent", node.parent), U("frame", node.frame),
};
static const struct field sample_fields[] = {
	TIME("time", sample.time),  U("event", sample.event), U("cpu", sample.cpu),
	U("thread", sample.thread), U("user", sample.user),   U("kernel", sample.kernel),
	U("weight", sample.weight),
};
static const struct field ksym_fields[] = {
	TIME("time", ksym.time), X("address", ksym.address), X("size", ksym.size),
	TEXT("name", ksym.name), TEXT("module", ksym.module),
};
static const struct field image_fields[] = {
	TEXT("name", image.name), HEX("build-id", image.build_id), HEX("data", image.data),
};
static const struct field jitmap_fields[] = {
	TIME("time", jitmap.time), U("process", jitmap.process), U("generation", jitmap.generation),
	TEXT("data", jitmap.data),
};
static const struct field cgroup_fields[] = { U("id", cgroup.id), TEXT("path", cgroup.path) };
static const struct field member_fields[] = {
	TIME("time", member.time), U("process", member.process), U("cgroup", member.cgroup),
};
static const struct field ledger_fields[] = {
	TIME("time", ledger.time), U("cpu", ledger.cpu), ENUM("outcome", ledger.outcome, outcome_names),
	U("count", ledger.count),
};
static const struct field cost_fields[] = {
	TIME("time", cost.time), ENUM("what", cost.what, cost_names), U("count", cost.count),
};
static const struct field end_fields[] = {
	TIME("time", end.time), ENUM("reason", end.reason, end_names), U("samples", end.samples),
};
static const struct field damage_fields[] = {
	U("offset", damage.offset), U("bytes", damage.bytes), U("blocks", damage.blocks),
	TEXT("what", damage.what),
};
static const struct field string_fields[] = { U("id", string.id), TEXT("text", string.text) };
static const struct field symbol_fields[] = {
	U("frame", symbol.frame),   TIME("from", symbol.from), U("level", symbol.level),
	ENUM("source", symbol.source, name_names), U("name", symbol.name), U("offset", symbol.offset),
	U("file", symbol.file),     U("line", symbol.line),
};
static const struct field source_fields[] = {
	U("file", source.file), ENUM("status", source.status, status_names),
	ENUM("kind", source.kind, name_names), TEXT("path", source.path),
};
static const struct field jitcode_fields[] = {
	TIME("time", jitcode.time),    U("process", jitcode.process), ENUM("kind", jitcode.kind, jitcode_names),
	X("address", jitcode.address), X("size", jitcode.size),       X("old", jitcode.old),
	TEXT("name", jitcode.name),
};
static const struct field tally_fields[] = {
	TIME("time", tally.time), U("event", tally.event), ENUM("outcome", tally.outcome, outcome_names),
	U("count", tally.count),
};
static const struct field ran_fields[] = {
	TIME("time", ran.time), U("thread", ran.thread), U("ns", ran.ns), U("span", ran.span),
};
static const struct field woken_fields[] = {
	TIME("time", woken.time),   U("thread", woken.thread),	       U("slept", woken.slept),
	U("queued", woken.queued), ENUM("by", woken.by, woken_names), U("waker", woken.waker),
	U("user", woken.user),	    U("kernel", woken.kernel),	       U("lock", woken.lock),
	U("owner", woken.owner),    U("throttled", woken.throttled),
};
static const struct field lock_fields[] = {
	U("id", lock.id), U("process", lock.process), ENUM("kind", lock.kind, lock_names),
	X("address", lock.address),
};
static const struct field outside_fields[] = {
	TIME("time", outside.time), U("event", outside.event), U("cpu", outside.cpu),
	U("thread", outside.thread),
};

static const struct field user_fields[] = {
	U("id", user.id), TEXT("name", user.name),
};
static const struct field owner_fields[] = {
	TIME("time", owner.time), U("process", owner.process), U("user", owner.user),
};
static const struct field parallel_fields[] = {
	TIME("time", parallel.time), U("process", parallel.process), U("running", parallel.running),
	U("group", parallel.group_running),
};
static const struct field left_out_fields[] = {
	TIME("first", left_out.first), U("event", left_out.event),   U("thread", left_out.thread),
	U("samples", left_out.samples), U("weight", left_out.weight), TIME("last", left_out.last),
};

static const struct field script_fields[] = {
	U("id", script.id), ENUM("language", script.language, language_names), U("process", script.process),
	TEXT("path", script.path), U("units", script.units), U("file", script.file), X("offset", script.offset),
	U("width", script.width),
};
static const struct field function_fields[] = {
	U("id", function.id),     U("script", function.script), TEXT("name", function.name),
	U("line", function.line), U("flags", function.flags),   U("start", function.start),
};
static const struct field lang_frame_fields[] = {
	U("id", lang_frame.id),             U("process", lang_frame.process),
	ENUM("language", lang_frame.language, language_names),
	U("function", lang_frame.function), U("line", lang_frame.line),
	ENUM("state", lang_frame.state, lang_state_names), ENUM("tier", lang_frame.tier, lang_tier_names),
	U("inlined", lang_frame.inlined), U("position", lang_frame.position),
};
static const struct field lang_line_fields[] = {
	U("frame", lang_line.frame), U("function", lang_line.function), U("line", lang_line.line),
};
static const struct field script_source_fields[] = {
	U("script", script_source.script), ENUM("status", script_source.status, status_names),
	TEXT("path", script_source.path),
};

#define ROW(type, name) [RECORD_##type] = { #name, name##_fields, COUNT(name##_fields), COUNT(name##_fields), false }
/* Minor versions 5 and 7 have added fields; least is their number before. */
#define ROW_SINCE(type, name, fields, least) [RECORD_##type] = { name, fields, COUNT(fields), least, false }

static const struct record_desc descs[RECORD_TYPES] = {
	[RECORD_FLUSH] = { .name = "flush" },
	ROW(SEGMENT, segment), ROW(META, meta),       ROW(EVENT, event),     ROW(PROCESS, process),
	ROW(THREAD, thread),   ROW(COMM, comm),       ROW(EXIT, exit),       ROW(FILE, file),
	ROW(MAPPING, mapping), ROW(UNMAP, unmap),     ROW(FRAME, frame),     ROW(NODE, node),
	ROW(SAMPLE, sample),   ROW(KSYM, ksym),       ROW(IMAGE, image),     ROW(JITMAP, jitmap),
	ROW(CGROUP, cgroup),   ROW(MEMBER, member),   ROW(LEDGER, ledger),   ROW(COST, cost),
	ROW(END, end),         ROW(DAMAGE, damage),   ROW(STRING, string),   ROW(SYMBOL, symbol),
	ROW(SOURCE, source),   ROW(JITCODE, jitcode), ROW(TALLY, tally),
	ROW(RAN, ran),         ROW(PARALLEL, parallel), ROW(LOCK, lock),
	[RECORD_WOKEN] = { "woken", woken_fields, COUNT(woken_fields), 6, true },
	ROW(OUTSIDE, outside), ROW(USER, user),       ROW(OWNER, owner),
	ROW_SINCE(SCRIPT, "script", script_fields, 4), ROW_SINCE(FUNCTION, "function", function_fields, 5),
	ROW_SINCE(LANG_FRAME, "lang-frame", lang_frame_fields, 6),
	ROW_SINCE(LANG_LINE, "lang-line", lang_line_fields, COUNT(lang_line_fields)),
	ROW_SINCE(SCRIPT_SOURCE, "script-source", script_source_fields, COUNT(script_source_fields)),
	ROW_SINCE(LEFT_OUT, "left-out", left_out_fields, COUNT(left_out_fields)),
};

const struct record_desc *record_desc(uint32_t type)
{
	return type < COUNT(descs) && descs[type].name ? &descs[type] : NULL;
}

static const char *name_of(const char *const *names, size_t n, uint64_t v)
{
	return v < n && names[v] ? names[v] : "unknown";
}

const char *root_name(uint64_t root)
{
	return name_of(root_names, COUNT(root_names), root);
}

const char *outcome_name(uint64_t outcome)
{
	return name_of(outcome_names, COUNT(outcome_names), outcome);
}

const char *source_status_name(uint64_t status)
{
	return name_of(status_names, COUNT(status_names), status);
}

const char *name_source_name(uint64_t source)
{
	return name_of(name_names, COUNT(name_names), source);
}

const char *language_name(uint64_t language)
{
	return name_of(language_names, COUNT(language_names), language);
}

const char *lang_state_name(uint64_t state)
{
	return name_of(lang_state_names, COUNT(lang_state_names), state);
}

const char *woken_by_name(uint64_t by)
{
	return name_of(woken_names, COUNT(woken_names), by);
}

const char *lock_kind_name(uint64_t kind)
{
	return name_of(lock_names, COUNT(lock_names), kind);
}

bool record_decode(struct record *r, uint32_t type, struct slice body, uint64_t *time)
{
	const struct record_desc *d = record_desc(type);
	struct cursor c = cursor_over(body.p, body.n);

	r->type = type;
	for (size_t i = 0; d && i < d->n; i++) {
		const struct field *f = &d->fields[i];
		uint64_t v;

		if (i >= d->least && cursor_left(&c) == 0) {
			*number_at(r, f) = 0;
			continue;
		}
		if (is_slice(f->kind)) {
			if (!cursor_slice(&c, slice_at(r, f)))
				return false;
			continue;
		}
		if (!cursor_varint(&c, &v))
			return false;
		if (f->kind == FIELD_TIME)
			v = *time += (uint64_t)unzigzag(v);
		*number_at(r, f) = v;
	}
	r->tail = (struct slice){ c.p, cursor_left(&c) };
	return true;
}

uint8_t *record_store_symbol(uint8_t *p, const struct record_symbol *s, uint64_t *time)
{
	_Static_assert(COUNT(symbol_fields) * VARINT_MAX == RECORD_SYMBOL_MAX, "room for each field, as its table has them");
	p = varint_store(p, s->frame);
	p = varint_store(p, zigzag((int64_t)(s->from - *time)));
	*time = s->from;
	p = varint_store(p, s->level);
	p = varint_store(p, s->source);
	p = varint_store(p, s->name);
	p = varint_store(p, s->offset);
	p = varint_store(p, s->file);
	return varint_store(p, s->line);
}

/* Returns the number of fields to write. A tail is preceded by all of them. */
static size_t count_fields(const struct record_desc *d, const struct record *r)
{
	struct record *lookup = (struct record *)r; /* number_at is only used to read here */
	size_t n = d ? d->n : 0;

	while (d && d->trims && !r->tail.n && n > d->least && *number_at(lookup, &d->fields[n - 1]) == 0)
		n--;
	return n;
}

static void encode_fields(struct buf *out, const struct record *r, uint64_t *time)
{
	const struct record_desc *d = record_desc(r->type);
	struct record *lookup = (struct record *)r; /* number_at and slice_at are only used to read here */

	for (size_t i = 0, n = count_fields(d, r); i < n; i++) {
		const struct field *f = &d->fields[i];

		if (is_slice(f->kind)) {
			buf_slice(out, *slice_at(lookup, f));
		} else if (f->kind == FIELD_TIME) {
			uint64_t t = *number_at(lookup, f);

			buf_varint(out, zigzag((int64_t)(t - *time)));
			*time = t;
		} else {
			buf_varint(out, *number_at(lookup, f));
		}
	}
}

void record_encode(struct buf *out, const struct record *r, uint64_t *time)
{
	encode_fields(out, r, time);
	if (r->tail.n)
		buf_bytes(out, r->tail.p, r->tail.n);
}
