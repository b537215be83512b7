#include "common/jit/jitfile.h"

#include "common/base/le.h"
#include "common/stream/record.h"

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	VERSION = 1,
	HEADER = 40, HEADER_MAX = 1 << 16,
	PREFIX = 16,
	LOAD = 56,  /* its fixed part; the name follows, then the code */
	MOVE = 64,
	UNWINDING = 40, /* its fixed part; .eh_frame follows, then .eh_frame_hdr */
	ARCH_TIMES = 1, /* flag of the header */
};

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_CLOSE = 3, CODE_UNWINDING = 4 };

static enum jitfile_got reject_file(struct jitfile *f, const char *why)
{
	f->why = why;
	return JITFILE_BAD;
}

static enum jitfile_got read_header(struct jitfile *f, const uint8_t *p, size_t n)
{
	uint32_t size;

	if (n >= 4 && le32_load(p) != MAGIC && le32_load(p) != 0) /* 0: not written yet */
		return reject_file(f, "it is not a jitdump file of this byte order");
	if (n < HEADER || le32_load(p) == 0)
		return JITFILE_MORE;
	size = le32_load(p + 8);
	if (le32_load(p + 4) != VERSION)
		return reject_file(f, "its version is not 1");
	if (size < HEADER || size > HEADER_MAX)
		return reject_file(f, "its header has an impossible size");
	f->pid = le32_load(p + 20);
	f->arch_times = le64_load(p + 32) & ARCH_TIMES;
	f->begun = true;
	f->offset = size;
	return JITFILE_CODE;
}

/* Reads a move, whose fixed part is all there. Returns false if it contradicts itself. */
static bool read_move(const uint8_t *p, uint32_t size, struct jitfile_code *code)
{
	if (size < MOVE)
		return false;
	code->kind = JITCODE_MOVE;
	code->old = le64_load(p + 32);
	code->address = le64_load(p + 40);
	code->size = le64_load(p + 48);
	code->name = (struct slice){ NULL, 0 };
	return true;
}

/*
 * Reads a load. The name may extend to the start of the code; a long one is cut. Returns false if the record
 * contradicts itself; *whole says if all of it is there.
 */
static bool read_load(const uint8_t *p, size_t n, uint32_t size, struct jitfile_code *code, bool *whole)
{
	size_t room, most;
	const uint8_t *end;

	*whole = true;
	code->kind = JITCODE_LOAD;
	code->old = 0;
	code->address = le64_load(p + 32);
	code->size = le64_load(p + 40);
	if (size < LOAD || code->size > size - LOAD)
		return false;
	room = size - LOAD - (size_t)code->size;
	most = room < PERFMAP_NAME_MAX ? room : PERFMAP_NAME_MAX;
	if (most > n - LOAD) {
		most = n - LOAD;
		*whole = false;
	}
	end = most ? memchr(p + LOAD, 0, most) : NULL;
	if (!end && room <= PERFMAP_NAME_MAX && *whole)
		return false; /* it has no terminator */
	*whole |= end != NULL;
	code->name = (struct slice){ p + LOAD, end ? (size_t)(end - (p + LOAD)) : most };
	return true;
}

/* Notes where the unwind information of the next load is; none if the record contradicts itself. */
static void read_unwinding(struct jitfile *f, const uint8_t *p, uint32_t size)
{
	uint64_t n = le64_load(p + 16), header = le64_load(p + 24);

	f->unwinding = (struct jitfile_part){ 0 };
	if (header <= n && n <= size - UNWINDING)
		f->unwinding = (struct jitfile_part){ f->offset + UNWINDING, n - header };
}

static uint32_t fixed_part(uint32_t id)
{
	return id == CODE_LOAD ? LOAD : id == CODE_MOVE ? MOVE : id == CODE_UNWINDING ? UNWINDING : PREFIX;
}

static bool is_range(const struct jitfile_code *code)
{
	return code->size > 0 && code->address + code->size >= code->address && code->old + code->size >= code->old;
}

/* Reads one record at p. JITFILE_CODE with JITCODE_KINDS as code->kind: the record was skipped. */
static enum jitfile_got read_record(struct jitfile *f, const uint8_t *p, size_t n, struct jitfile_code *code)
{
	uint32_t id, size, fixed;
	bool good = false, whole = true;

	if (n < PREFIX)
		return JITFILE_MORE;
	id = le32_load(p);
	size = le32_load(p + 4);
	*code = (struct jitfile_code){ .time = le64_load(p + 8), .kind = JITCODE_KINDS };
	if (size == 0) /* space that is not written yet */
		return JITFILE_MORE;
	if (size < PREFIX)
		return reject_file(f, "a record has an impossible size");
	fixed = fixed_part(id);
	if (size >= fixed && n < fixed)
		return JITFILE_MORE;
	if (id == CODE_CLOSE)
		code->kind = JITCODE_CLOSE;
	else if (id == CODE_LOAD && size >= fixed)
		good = read_load(p, n, size, code, &whole);
	else if (id == CODE_MOVE && size >= fixed)
		good = read_move(p, size, code);
	else if (id == CODE_UNWINDING && size >= fixed)
		read_unwinding(f, p, size);
	if (!whole)
		return JITFILE_MORE;
	if (id == CODE_LOAD) {
		code->unwinding = f->unwinding;
		f->unwinding = (struct jitfile_part){ 0 };
	}
	if (id != CODE_CLOSE && (!good || !is_range(code) || (f->pid && le32_load(p + 16) && le32_load(p + 16) != f->pid)))
		code->kind = JITCODE_KINDS; /* also for another process, which this one forked */
	f->offset += size;
	return JITFILE_CODE;
}

enum jitfile_got jitfile_next(struct jitfile *f, struct slice bytes, uint64_t at, struct jitfile_code *code)
{
	while (f->offset >= at && f->offset - at <= bytes.n) {
		const uint8_t *p = bytes.p + (f->offset - at);
		size_t n = bytes.n - (size_t)(f->offset - at);
		enum jitfile_got got;

		code->kind = JITCODE_KINDS;
		got = f->begun ? read_record(f, p, n, code) : read_header(f, p, n);
		if (got != JITFILE_CODE || code->kind != JITCODE_KINDS)
			return got;
	}
	return JITFILE_MORE;
}
