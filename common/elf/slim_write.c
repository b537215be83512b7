#include "common/elf/slim_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/full_write.h"

enum { ALIGN_MAX = 64, WRITE_BLOCK = 1 << 16 };

void slim_number(struct buf *b, const struct slim *s, uint64_t v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		buf_byte(b, (uint8_t)(v >> 8 * (s->big ? n - 1 - i : i)));
}

static uint64_t align_offset(uint64_t at, uint64_t to)
{
	to = to > ALIGN_MAX ? ALIGN_MAX : to;
	return to > 1 && (to & (to - 1)) == 0 ? (at + to - 1) & ~(to - 1) : at;
}

static bool is_stored(const struct piece *p)
{
	return p->sh.sh_type != SHT_NOBITS && p->sh.sh_type != SHT_NULL && p->sh.sh_size;
}

/* Points a segment that consists of one section at that section, if it was kept. */
static void point_at_piece(const struct slim *s, GElf_Phdr *ph)
{
	for (size_t i = 1; i < s->n; i++) {
		const GElf_Shdr *sh = &s->pieces[i].sh;

		if (is_stored(&s->pieces[i]) && s->pieces[i].input && sh->sh_addr && sh->sh_addr == ph->p_vaddr) {
			ph->p_offset = sh->sh_offset;
			ph->p_filesz = sh->sh_size;
			return;
		}
	}
}

static int by_place(const void *x, const void *y)
{
	const struct piece *a = *(struct piece *const *)x, *b = *(struct piece *const *)y;
	bool a_loaded = a->sh.sh_flags & SHF_ALLOC, b_loaded = b->sh.sh_flags & SHF_ALLOC;

	if (a_loaded != b_loaded)
		return a_loaded ? -1 : 1;
	if (a_loaded && a->sh.sh_offset != b->sh.sh_offset)
		return a->sh.sh_offset < b->sh.sh_offset ? -1 : 1;
	return a < b ? -1 : a > b;
}

static uint64_t place_piece(struct piece *p, uint64_t at)
{
	at = align_offset(at, p->sh.sh_addralign);
	p->sh.sh_offset = at;
	return at + p->sh.sh_size;
}

enum slim_result slim_lay_out(struct slim *s)
{
	uint64_t at = (s->wide ? 64 : 52) + s->n_segments * (s->wide ? 56 : 32);

	s->order = calloc(s->n, sizeof(*s->order));
	if (!s->order)
		return SLIM_NO_MEMORY;
	for (size_t i = 1; i < s->n; i++) {
		if (is_stored(&s->pieces[i]))
			s->order[s->n_order++] = &s->pieces[i];
	}
	qsort(s->order, s->n_order, sizeof(*s->order), by_place);
	for (size_t i = 0; i < s->n_order; i++)
		at = place_piece(s->order[i], at);
	for (size_t i = 0; i < s->n_blobs; i++) {
		at = place_piece(&s->blobs[i], at);
		s->segments[s->blobs[i].sh.sh_info].p_offset = s->blobs[i].sh.sh_offset;
	}
	s->headers_at = align_offset(at, 8);
	s->bytes = s->headers_at + s->n * (s->wide ? 64 : 40);
	for (size_t i = 0; i < s->n_segments; i++) {
		GElf_Phdr *ph = &s->segments[i];

		if (ph->p_type == PT_PHDR)
			ph->p_offset = s->wide ? 64 : 52;
		if (ph->p_type == PT_GNU_EH_FRAME || ph->p_type == PT_INTERP || ph->p_type == PT_GNU_PROPERTY)
			point_at_piece(s, ph);
	}
	return SLIM_DONE;
}

/* The new file, written from its beginning to its end. */
struct out {
	int fd;
	uint64_t at; /* bytes so far, including those in the buffer */
	struct buf buf;
	enum slim_result result; /* the first failure */
};

static void out_flush(struct out *o)
{
	if (o->result == SLIM_DONE && !full_write(o->fd, o->buf.p, o->buf.n))
		o->result = SLIM_FAILED;
	if (o->buf.failed && o->result == SLIM_DONE)
		o->result = SLIM_NO_MEMORY;
	buf_clear(&o->buf);
}

static void out_pad(struct out *o, uint64_t to)
{
	for (; o->at < to; o->at++)
		buf_byte(&o->buf, 0);
}

static void out_bytes(struct out *o, const void *p, size_t n)
{
	out_flush(o);
	buf_bytes(&o->buf, p, n);
	o->at += n;
}

static void out_copy(struct out *o, int from, uint64_t at, uint64_t n)
{
	while (n && o->result == SLIM_DONE) {
		size_t want = n < WRITE_BLOCK ? (size_t)n : WRITE_BLOCK;
		ssize_t got;

		out_flush(o);
		if (!buf_reserve(&o->buf, want))
			continue;
		got = pread(from, o->buf.p, want, (off_t)at);
		if (got <= 0) {
			if (o->result == SLIM_DONE)
				o->result = SLIM_DAMAGED;
			return;
		}
		o->buf.n = (size_t)got;
		o->at += (uint64_t)got;
		at += (uint64_t)got;
		n -= (uint64_t)got;
	}
}

static void out_piece(struct out *o, const struct piece *p)
{
	out_pad(o, p->sh.sh_offset);
	if (p->own)
		out_bytes(o, p->own, (size_t)p->sh.sh_size);
	else
		out_copy(o, p->input->file->fd, p->at, p->sh.sh_size);
	out_flush(o);
}

/* Writes the ELF header. Numbers that do not fit into it go into section 0. */
static void out_header(struct out *o, const struct slim *s)
{
	unsigned int word = s->wide ? 8 : 4;
	struct buf *b = &o->buf;

	buf_bytes(b, s->eh.e_ident, EI_NIDENT);
	slim_number(b, s, s->eh.e_type, 2);
	slim_number(b, s, s->eh.e_machine, 2);
	slim_number(b, s, s->eh.e_version, 4);
	slim_number(b, s, s->eh.e_entry, word);
	slim_number(b, s, s->n_segments ? (s->wide ? 64 : 52) : 0, word);
	slim_number(b, s, s->headers_at, word);
	slim_number(b, s, s->eh.e_flags, 4);
	slim_number(b, s, s->wide ? 64 : 52, 2);
	slim_number(b, s, s->wide ? 56 : 32, 2);
	slim_number(b, s, s->n_segments, 2);
	slim_number(b, s, s->wide ? 64 : 40, 2);
	slim_number(b, s, s->n < SHN_LORESERVE ? s->n : 0, 2);
	slim_number(b, s, s->names_at < SHN_LORESERVE ? s->names_at : SHN_XINDEX, 2);
	o->at = s->wide ? 64 : 52;
}

static void out_segment(struct out *o, const struct slim *s, const GElf_Phdr *ph)
{
	unsigned int word = s->wide ? 8 : 4;
	struct buf *b = &o->buf;

	slim_number(b, s, ph->p_type, 4);
	if (s->wide)
		slim_number(b, s, ph->p_flags, 4);
	slim_number(b, s, ph->p_offset, word);
	slim_number(b, s, ph->p_vaddr, word);
	slim_number(b, s, ph->p_paddr, word);
	slim_number(b, s, ph->p_filesz, word);
	slim_number(b, s, ph->p_memsz, word);
	if (!s->wide)
		slim_number(b, s, ph->p_flags, 4);
	slim_number(b, s, ph->p_align, word);
	o->at += s->wide ? 56 : 32;
}

static void out_section(struct out *o, const struct slim *s, const GElf_Shdr *sh)
{
	unsigned int word = s->wide ? 8 : 4;
	struct buf *b = &o->buf;

	slim_number(b, s, sh->sh_name, 4);
	slim_number(b, s, sh->sh_type, 4);
	slim_number(b, s, sh->sh_flags, word);
	slim_number(b, s, sh->sh_addr, word);
	slim_number(b, s, sh->sh_offset, word);
	slim_number(b, s, sh->sh_size, word);
	slim_number(b, s, sh->sh_link, 4);
	slim_number(b, s, sh->sh_info, 4);
	slim_number(b, s, sh->sh_addralign, word);
	slim_number(b, s, sh->sh_entsize, word);
	o->at += s->wide ? 64 : 40;
}

enum slim_result slim_write(const struct slim *s, int fd)
{
	struct out o = { .fd = fd };
	GElf_Shdr null = { .sh_size = s->n < SHN_LORESERVE ? 0 : s->n,
			   .sh_link = s->names_at < SHN_LORESERVE ? 0 : (GElf_Word)s->names_at };

	out_header(&o, s);
	for (size_t i = 0; i < s->n_segments; i++)
		out_segment(&o, s, &s->segments[i]);
	for (size_t i = 0; i < s->n_order; i++)
		out_piece(&o, s->order[i]);
	for (size_t i = 0; i < s->n_blobs; i++)
		out_piece(&o, &s->blobs[i]);
	out_pad(&o, s->headers_at);
	for (size_t i = 0; i < s->n; i++)
		out_section(&o, s, i ? &s->pieces[i].sh : &null);
	out_flush(&o);
	buf_release(&o.buf);
	return o.result;
}
