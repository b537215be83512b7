"""Writes a small ELF file whose DWARF, once decompressed, asks for much memory: dense-dwarf.py FILE KIND N

rows: a line table of N rows of one byte each. files: one of N files of one byte. calls: N inlined calls of
one byte in a function. units: N units of 12 bytes. attributes: N calls of one byte with N attributes of no
bytes each. names, paths: N / 50 calls, or files, that share a name of N bytes. The function is at 0x401000.
"""
import struct
import sys
import zlib

file, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
PROGBITS, SYMTAB, STRTAB = 1, 2, 3
TEXT, SIZE = 0x401000, 0x1000


def unit(version, dies):
    body = struct.pack('<HIB', version, 0, 8) + dies
    return struct.pack('<I', len(body)) + body


def table(version, header, program):
    body = header + program
    head = struct.pack('<H', version) + (b'\x08\0' if version == 5 else b'') + struct.pack('<I', len(header))
    return struct.pack('<I', len(head + body)) + head + body


def number(v):
    out = b''
    while v >= 1 << 7:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


# 1: compile_unit, low_pc, high_pc, stmt_list; 2: subprogram, low_pc, high_pc; 3: inlined_subroutine;
# 4: compile_unit; 5: inlined_subroutine, name
abbrevs = bytes([1, 0x11, 1, 0x11, 1, 0x12, 7, 0x10, 0x17, 0, 0, 2, 0x2e, 1, 0x11, 1, 0x12, 7, 0, 0, 3,
                 0x1d, 0]) + (b'\x59\x19' * n if kind == 'attributes' else b'') + \
    bytes([0, 0, 4, 0x11, 0, 0, 0, 5, 0x1d, 0, 0x03, 0x0e, 0, 0, 0])
code = struct.pack('<QQ', TEXT, SIZE)
calls = {'calls': b'\x03' * n, 'attributes': b'\x03' * n, 'names': b'\x05\0\0\0\0' * (n // 50)}
function = b'\x02' + code + calls.get(kind, b'') + b'\0'
info = unit(4, b'\x01' + code + struct.pack('<I', 0) + function + b'\0') + \
    (unit(4, b'\x04') * n if kind == 'units' else b'')
start = b'\x01\x01\x01\0\x0e\x0d\0\1\1\1\1\0\0\0\1\0\0\1'
address = b'\0\x09\x02' + struct.pack('<Q', TEXT)
if kind == 'files':
    line = table(5, start + b'\1\1\x08\1\0' + b'\1\1\x08' + number(n) + b'\0' * n, address + b'\0\1\1')
elif kind == 'paths':
    line = table(5, start + b'\1\1\x08\1\0' + b'\1\1\x1f' + number(n // 50) + b'\0\0\0\0' * (n // 50),
                 address + b'\0\1\1')
else:
    line = table(4, start + b'\0f.c\0\0\0\0\0',
                 address + (b'\x0d' * n if kind == 'rows' else b'\x0d') + b'\x02\x08\0\1\1')

names, headers, data = b'\0', [], b'\0' * 0x1000
for name, type, what in (('', 0, b''), ('.text', PROGBITS, b'\x90' * SIZE),
                         ('.debug_abbrev', PROGBITS, abbrevs),
                         ('.debug_info', PROGBITS, info), ('.debug_line', PROGBITS, line),
                         ('.debug_str', PROGBITS, b'x' * (n if kind == 'names' else 0) + b'\0'),
                         ('.debug_line_str', PROGBITS, b'x' * (n if kind == 'paths' else 0) + b'\0'),
                         ('.strtab', STRTAB, b'\0outer\0'),
                         ('.symtab', SYMTAB, b'\0' * 24 + struct.pack('<IBBHQQ', 1, 0x12, 0, 1, TEXT, SIZE)),
                         ('.shstrtab', STRTAB, None)):
    at, flags = len(names) if name else 0, 6 if name == '.text' else 0
    names += name.encode() + b'\0' if name else b''
    what = names if what is None else what
    if name in ('.debug_info', '.debug_line', '.debug_str', '.debug_line_str'):
        what, flags = struct.pack('<IIQQ', 1, 0, len(what), 1) + zlib.compress(what, 9), 0x800
    headers.append(struct.pack('<IIQQQQIIQQ', at, type, flags, TEXT if name == '.text' else 0, len(data),
                               len(what), 7 if type == SYMTAB else 0, 1 if type == SYMTAB else 0, 1,
                               24 if type == SYMTAB else 0))
    data += what + b'\0' * (-len(what) % 16)
with open(file, 'wb') as f:
    f.write(data + b''.join(headers))
    f.seek(0)
    f.write(b'\x7fELF\2\1\1' + b'\0' * 9 +
            struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, TEXT, 64, len(data), 0, 64, 56, 1, 64,
                        len(headers), len(headers) - 1))
    f.write(struct.pack('<IIQQQQQQ', 1, 5, 0x1000, TEXT, TEXT, SIZE, SIZE, 0x1000))
