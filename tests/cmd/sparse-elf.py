"""Writes a sparse ELF file that declares more than it holds: sparse-elf.py FILE KIND N

sections, segments: N headers. names: N bytes of section names. notes, note-segments: N of 1 MiB each,
overlapping. parts: sections of N bytes, each of a kind that is read whole. load: a segment of N bytes with
.eh_frame_hdr in it.
"""
import struct
import sys

file, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3], 0)
NULL, PROGBITS, SYMTAB, STRTAB, RELA, NOTE, DYNSYM, SHNDX = 0, 1, 2, 3, 4, 7, 11, 18
TEXT, NAMES, PHDRS, SHDRS, HOLE = 0x1000, 0x2000, 1 << 20, 1 << 21, 1 << 25
names, sections, segments = b'\0', [], []


def section(name, type, offset, size, flags=0, address=0, link=0, entry=0, info=0):
    global names
    sections.append(struct.pack('<IIQQQQIIQQ', len(names) if name else 0, type, flags, address, offset, size, link, info, 1, entry))
    names += name.encode() + b'\0' if name else b''


def segment(type, offset, address, size):
    segments.append(struct.pack('<IIQQQQQQ', type, 5, offset, address, address, size, size, 0x1000))


size = HOLE + (16 << 30)
count = None
section('', NULL, 0, n if kind == 'sections' else 0, info=n if kind == 'segments' else 0)
section('.text', PROGBITS, TEXT, 0x1000, 6, 0x401000)
section('.shstrtab', STRTAB, NAMES, n if kind == 'names' else 0x1000)
segment(1, 0, 0x400000, 0x2000)
if kind == 'notes':
    for i in range(n):
        section('', NOTE, HOLE + 64 * i, 1 << 20)
elif kind == 'note-segments':
    for i in range(n):
        segment(4, HOLE + 64 * i, 0, 1 << 20)
elif kind == 'load':
    segment(1, HOLE, 0x800000, n)
    segment(0x6474e550, HOLE, 0x800000, 64)
elif kind == 'parts':
    for name, type in (('.gnu_debugdata', PROGBITS), ('.eh_frame', PROGBITS), ('.gnu_debuglink', PROGBITS),
                       ('.gnu_debugaltlink', PROGBITS), ('.plt', PROGBITS), ('.gopclntab', PROGBITS)):
        section(name, type, HOLE, n, 6, 0x500000)
    section('.rela.plt', RELA, HOLE, n, 2, 0x500000, 0, 24)
    section('.dynsym', DYNSYM, HOLE, n, 2, 0x500000, 2, 24)
    section('.symtab', SYMTAB, HOLE, n, 0, 0, 2, 24)
    section('.symtab_shndx', SHNDX, HOLE, n, 0, 0, len(sections) - 1, 4)

shnum, phnum = len(sections), len(segments)
if kind == 'sections':
    shnum, size = 0, SHDRS + 64 * n
if kind == 'segments':
    phnum = 0xffff
with open(file, 'wb') as f:
    f.write(b'\x7fELF\2\1\1' + b'\0' * 9 + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0x401000, PHDRS, SHDRS, 0, 64, 56, phnum,
                                                       64, shnum, 2))
    for at, what in ((NAMES, names), (PHDRS, b''.join(segments)), (SHDRS, b''.join(sections))):
        f.seek(at)
        f.write(what)
    f.truncate(size)
