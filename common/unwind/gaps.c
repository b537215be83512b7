#include <stdlib.h>
#include <unistd.h>

#include "common/base/le.h"
#include "common/base/search.h"
#include "common/elf/parts.h"
#include "common/elf/probe_sites.h"
#include "common/unwind/edges.h"
#include "common/unwind/insn.h"
#include "common/elf/unwind_sections.h"

/* mov $15,%rax; syscall */
static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
/* push %rbp; cmpq $0,...: within __do_global_dtors_aux */
static const uint8_t dtors[] = { 0x55, 0x48, 0x83, 0x3d };

static const struct unwind_rule stop = { .kind = UNWIND_STOP };
static const struct unwind_rule at_entry = { .kind = UNWIND_CFA_RSP, .cfa = 8 };
static const struct unwind_rule word_pushed = { .kind = UNWIND_CFA_RSP, .cfa = 16 };
static const struct unwind_rule rbp_pushed = { .kind = UNWIND_CFA_RSP, .cfa = 16, .bp = UNWIND_AT_CFA, .bp_at = -16 };

enum {
	SCANNED_MAX = ELF_PART_MAX, /* bytes of one file, which may be sparse and claim any size */
	INIT_MAX = 4096,            /* bytes of .init: other start files put only calls into its middle */
	/* bytes of the code that a process starts with: it sets up a call, and never returns */
	ENTRY_MAX = 64,
	BEFORE = 0x80, BEHIND = 0x60, /* bytes examined around `dtors` */
	LAST_MAX = 24,                /* bytes of the code that a context's function returns to */
	CONTEXT_MAX = 768,            /* bytes of makecontext */
};

struct gap_scan {
	int fd;
	struct spans *s;
	uint64_t left;
	uint8_t bytes[1 << 16];
};

/* Compares bytes with a pattern: two hexadecimal digits for each byte, or dots for any. */
static bool match_code(const uint8_t *p, const char *pattern)
{
	static const char digits[] = "0123456789abcdef";

	for (; *pattern; pattern += 2, p++) {
		if (*pattern != '.' && (digits[*p >> 4] != pattern[0] || digits[*p & 15] != pattern[1]))
			return false;
	}
	return true;
}

/*
 * gcc compiles its crtstuff.c without tables. So each program and library has deregister_tm_clones,
 * register_tm_clones, __do_global_dtors_aux and frame_dummy, in this order and 0x30, 0x40 and 0x40 bytes
 * apart. at: the file offset of `dtors`.
 */
static void start_file_spans(struct gap_scan *scan, uint64_t at)
{
	enum { POPPED = 39, REGISTER = 0x40, DEREGISTER = 0x70, DUMMY = 0x40 };
	uint8_t window[BEFORE + BEHIND];
	const uint8_t *p = window + BEFORE, *first;
	uint64_t start;

	if (at < BEFORE || pread(scan->fd, window, sizeof(window), (off_t)(at - BEFORE)) != sizeof(window) ||
	    !match_code(p - 9, "803d........0075..5548833d........004889e5740c488b3d........e8........e8........c605........015dc3") ||
	    p[-1] > DUMMY || p[p[-1]] != 0xc3)
		return;
	first = p - 9 - (match_code(p - 13, "f30f1efa") ? 4 : 0);
	start = at - (uint64_t)(p - first);
	spans_add(scan->s, SPAN_CODE, start, at + 1, &at_entry);
	spans_add(scan->s, SPAN_CODE, at + 1, at + POPPED, &rbp_pushed);
	spans_add(scan->s, SPAN_CODE, at + POPPED, at + p[-1] + 1, &at_entry);
	if (match_code(first - REGISTER, "488d3d........488d35........4829fe") &&
	    match_code(first - DEREGISTER, "488d3d........488d05........4839f8"))
		spans_add(scan->s, SPAN_CODE, start - DEREGISTER, start, &at_entry);
	if (match_code(first + DUMMY, "f30f1efae9"))
		spans_add(scan->s, SPAN_CODE, start + DUMMY, start + DUMMY + 9, &at_entry);
	else if (match_code(first + DUMMY, "e9"))
		spans_add(scan->s, SPAN_CODE, start + DUMMY, start + DUMMY + 5, &at_entry);
}

/* Adds spans for code that starts with sub $8,%rsp, ends with add $8,%rsp; ret, and keeps rsp in between. */
static void section_spans(const struct elf_file *f, const struct code_map *code, const char *name, struct spans *s)
{
	uint64_t offset, left, body, end;
	struct section section;

	if (!section_find(f, name, &section) || section.bytes.n < 9 || section.bytes.n > INIT_MAX ||
	    !code_map_offset(code, section.vaddr, &offset, &left) || left < section.bytes.n)
		return;
	body = section.bytes.n >= 13 && match_code(section.bytes.p, "f30f1efa") ? 4 : 0;
	if (!match_code(section.bytes.p + body, "4883ec08") ||
	    !match_code(section.bytes.p + section.bytes.n - 5, "4883c408c3"))
		return;
	body += offset + 4;
	end = offset + section.bytes.n;
	spans_add(s, SPAN_CODE, offset, body, &at_entry);
	spans_add(s, SPAN_CODE, body, end - 1, &word_pushed);
	spans_add(s, SPAN_CODE, end - 1, end, &at_entry);
}

/* Adds spans for each occurrence in the bytes that were read. */
static void find_each(struct gap_scan *scan, size_t n, uint64_t at, uint64_t start, bool is_signal)
{
	static const struct unwind_rule signal = { .kind = UNWIND_SIGNAL };
	const uint8_t *what = is_signal ? sigreturn : dtors, *p = scan->bytes, *found;
	size_t length = is_signal ? sizeof(sigreturn) : sizeof(dtors);

	while ((found = memmem(p, (size_t)(scan->bytes + n - p), what, length))) {
		uint64_t code = at + (uint64_t)(found - scan->bytes);

		/*
		 * A signal frame's address is the first byte; as a return address it is looked up one before.
		 */
		if (is_signal)
			spans_add(scan->s, SPAN_CODE, code > start ? code - 1 : code, code + length, &signal);
		else
			start_file_spans(scan, code);
		p = found + length;
	}
}

/* Returns the start of a call that ends with these bytes, NULL if there is none. */
static const uint8_t *call_before(const uint8_t *end)
{
	return end[-5] == 0xe8 ? end - 5 : end[-6] == 0xff && end[-5] == 0x15 ? end - 6 : NULL;
}

/* Returns true if instructions without jumps lead from p to end. */
static bool leads_to(const uint8_t *p, const uint8_t *end)
{
	struct insn i;

	while (p < end && insn_decode((struct slice){ p, (size_t)(end - p) }, &i) && i.kind == INSN_OTHER)
		p += i.length;
	return p == end;
}

/*
 * Ends stacks of contexts (coroutines, fibers) that assembly begins, as Boost.Context's: it jumps to the
 * context's function, with the address of the next instruction as the return address. The code there calls exit
 * or the like, and hlt follows, which user space cannot run. A return address is looked up one byte before.
 */
static void find_last_calls(struct gap_scan *scan, size_t n, uint64_t at)
{
	const uint8_t *first = scan->bytes + 2, *p = scan->bytes + 6, *end = scan->bytes + n, *call;

	for (; p < end && (p = memchr(p, 0xf4, (size_t)(end - p))); p++) {
		call = call_before(p);
		for (const uint8_t *start = call; call && start >= first && p - start <= LAST_MAX - 2; start--) {
			if (start[-2] != 0xff || (start[-1] & 0xf8) != 0xe0 || !leads_to(start, call))
				continue;
			spans_add(scan->s, SPAN_CODE, at + (uint64_t)(start - 1 - scan->bytes),
				  at + (uint64_t)(p + 1 - scan->bytes), &stop);
			break;
		}
	}
}

/* Scans a range of the file: code that nothing is known of. */
static void scan_gap(void *arg, uint64_t start, uint64_t end)
{
	struct gap_scan *scan = arg;
	uint64_t at = start;

	while (at < end && end - at >= sizeof(sigreturn) && scan->left) {
		size_t want = end - at < sizeof(scan->bytes) ? (size_t)(end - at) : sizeof(scan->bytes);
		ssize_t got = pread(scan->fd, scan->bytes, want, (off_t)at);

		if (got < (ssize_t)sizeof(sigreturn))
			return;
		find_each(scan, (size_t)got, at, start, true);
		find_each(scan, (size_t)got, at, start, false);
		find_last_calls(scan, (size_t)got, at);
		if ((size_t)got <= LAST_MAX)
			return;
		at += (size_t)got - LAST_MAX; /* parts overlap, so that nothing is cut */
		scan->left -= scan->left < (uint64_t)got ? scan->left : (uint64_t)got;
	}
}

static uint64_t edge_start(const struct edges *e, size_t i)
{
	return e->base + e->items[i].start;
}

/* Returns the first edge beyond this offset. */
static size_t edge_after(const struct edges *e, uint64_t offset)
{
	return SEARCH_COUNT(e->n, middle, edge_start(e, middle) <= offset);
}

bool gap_contains(const struct edges *e, uint64_t start, uint64_t end)
{
	size_t k = edge_after(e, start);

	return (k == 0 || e->items[k - 1].rule == EDGE_GAP) && (k == e->n || edge_start(e, k) >= end);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool has_interpreter(const struct elf_file *f)
{
	size_t n = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(f->elf, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_INTERP)
			return true;
	return false;
}

static const uint8_t *skip_endbr(const uint8_t *p)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return memcmp(p, endbr, sizeof(endbr)) == 0 ? p + sizeof(endbr) : p;
}

/* Returns true for the start of loaders and static programs: mov %rsp,%rdi; xor %rbp,%rbp; xor %ebp,%ebp. */
static bool is_beginning(const struct elf_file *f, uint64_t offset)
{
	uint8_t bytes[8];
	const uint8_t *p;

	if (pread(f->fd, bytes, sizeof(bytes), (off_t)offset) != sizeof(bytes))
		return false;
	p = skip_endbr(bytes);
	return memcmp(p, "\x48\x89\xe7", 3) == 0 || memcmp(p, "\x48\x31\xed", 3) == 0 || memcmp(p, "\x31\xed", 2) == 0;
}

/*
 * Ends stacks at the entry point, which the kernel or the loader starts: that of the dynamic loader has no
 * table, nor has musl's.
 */
static void entry_span(const struct elf_file *f, const struct code_map *code, const struct edges *e, struct spans *s)
{
	uint64_t offset, left;
	GElf_Ehdr header;
	size_t k;

	if (!gelf_getehdr(f->elf, &header) || !header.e_entry || !code_map_offset(code, header.e_entry, &offset, &left))
		return;
	/* The linker gives libraries an entry, too: the start of their code. */
	if (header.e_type == ET_DYN && !has_interpreter(f) && !is_beginning(f, offset))
		return;
	k = edge_after(e, offset);
	if (k > 0 && e->items[k - 1].rule != EDGE_GAP)
		return;
	left = min_u64(left, ENTRY_MAX);
	if (k < e->n)
		left = min_u64(left, edge_start(e, k) - offset);
	spans_add(s, SPAN_CODE, offset, offset + left, &stop);
}

bool gap_each(const struct elf_file *f, const struct edges *e, gap_visit *visit, void *arg)
{
	size_t n = 0;
	struct code_range *ranges = code_ranges(f, &n);

	for (size_t i = 0; ranges && i < n; i++) {
		uint64_t at = ranges[i].start, next;

		for (size_t k = edge_after(e, at); at < ranges[i].end; at = next, k++) {
			next = k < e->n ? min_u64(edge_start(e, k), ranges[i].end) : ranges[i].end;
			if (k == 0 || e->items[k - 1].rule == EDGE_GAP)
				visit(arg, at, next);
		}
	}
	free(ranges);
	return ranges;
}

/* Is the code at this file offset glibc's __start_context? It begins with mov %rbx,%rsp. */
static bool is_start_context(const struct elf_file *f, uint64_t offset)
{
	uint8_t bytes[7];

	return pread(f->fd, bytes, sizeof(bytes), (off_t)offset) == sizeof(bytes) &&
	       memcmp(skip_endbr(bytes), "\x48\x89\xdc", 3) == 0;
}

/*
 * Ends stacks of contexts at the function that makecontext(3) has them return to, which no table marks: a word
 * above its frame would be taken for a return address. makecontext has its address, at the end of an
 * instruction, relative to the next one or absolute.
 */
static void context_span(const struct elf_file *f, const struct code_map *code, uint64_t makecontext,
			 struct spans *s)
{
	uint8_t bytes[CONTEXT_MAX];
	ssize_t n = pread(f->fd, bytes, sizeof(bytes), (off_t)makecontext);
	struct insn i;

	for (size_t at = 0; n > 0 && insn_decode((struct slice){ bytes + at, (size_t)n - at }, &i);) {
		uint64_t target, left;
		int32_t value;

		at += i.length;
		if (i.kind == INSN_RETURN)
			return;
		if (i.length <= 4)
			continue;
		value = (int32_t)le32_load(bytes + at - 4);
		target = makecontext + at + (uint64_t)(int64_t)value;
		if (!is_start_context(f, target) && (!code_map_offset(code, (uint32_t)value, &target, &left) ||
						     !is_start_context(f, target)))
			continue;
		spans_add(s, SPAN_CODE, target - 1, target, &stop);
		return;
	}
}

static void context_spans(const struct elf_file *f, const struct code_map *code, struct spans *s)
{
	struct probe_sites sites = { 0 };

	if (probe_sites_symbol(f, "makecontext", 0, &sites) == PROBE_SITES_FOUND) {
		for (size_t i = 0; i < sites.n; i++)
			context_span(f, code, sites.items[i].offset, s);
	}
	probe_sites_release(&sites);
}

void gap_spans(const struct elf_file *f, const struct code_map *code, const struct edges *e, struct spans *s)
{
	struct gap_scan *scan = malloc(sizeof(*scan));

	if (scan)
		*scan = (struct gap_scan){ .fd = f->fd, .s = s, .left = SCANNED_MAX };
	s->failed |= !scan || !gap_each(f, e, scan_gap, scan);
	free(scan);
	entry_span(f, code, e, s);
	context_spans(f, code, s);
	section_spans(f, code, ".init", s);
	section_spans(f, code, ".fini", s);
}
