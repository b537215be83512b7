# Units as no compiler writes them, on purpose; in DWARF 4. Each function is a few nops.
	.text
	.p2align 4
	.globl f, g, h, weak, kept
	.type f, @function
	.type g, @function
	.type h, @function
	.type weak, @function
f:	.fill 16, 1, 0x90
	.size f, .-f
g:	.fill 32, 1, 0x90
	.size g, .-g
h:	.fill 16, 1, 0x90
	.size h, .-h
between: .fill 16, 1, 0x90
h.cold:	.fill 16, 1, 0x90
	.size h.cold, .-h.cold
weak:	.fill 16, 1, 0x90
	.size weak, .-weak
alone:	.fill 16, 1, 0x90
	.globl _start
_start:	ud2
end:

	.section .debug_abbrev,"",@progbits
abbrevs:
	.macro entry code, tag, children
	.uleb128 \code, \tag
	.byte \children
	.endm
	.macro has name, form
	.uleb128 \name, \form
	.endm
	.macro done
	.byte 0, 0
	.endm
	entry 1, 0x11, 1		# a unit that does not say where it is, with lines
	has 0x03, 0x08			# name
	has 0x1b, 0x08			# comp_dir
	has 0x10, 0x17			# stmt_list
	done
	entry 2, 0x2e, 0		# function: name, low, high as length
	has 0x03, 0x08
	has 0x11, 0x01
	has 0x12, 0x07
	done
	entry 3, 0x2e, 1		# the same, with children
	has 0x03, 0x08
	has 0x11, 0x01
	has 0x12, 0x07
	done
	entry 4, 0x1d, 1		# inlined call: origin anywhere, low, high, file, line
	has 0x31, 0x10
	has 0x11, 0x01
	has 0x12, 0x07
	has 0x58, 0x0b
	has 0x59, 0x0b
	done
	entry 5, 0x1d, 0		# inlined call without an origin
	has 0x11, 0x01
	has 0x12, 0x07
	has 0x58, 0x0b
	has 0x59, 0x0b
	done
	entry 6, 0x11, 1		# a unit without lines
	done
	entry 7, 0x3c, 1		# partial unit
	done
	entry 8, 0x2e, 0		# abstract function: name
	has 0x03, 0x08
	done
	entry 9, 0x2e, 0		# a function with pieces
	has 0x03, 0x08
	has 0x55, 0x17
	done
	entry 10, 0x11, 1		# a unit that says where it is
	has 0x03, 0x08
	has 0x1b, 0x08
	has 0x10, 0x17
	has 0x11, 0x01
	has 0x12, 0x07
	done
	entry 11, 0x2e, 0		# a function whose specification is itself
	has 0x47, 0x10
	has 0x11, 0x01
	has 0x12, 0x07
	done
	.byte 0

	.macro unit name
\name:	.long 9f - 8f
8:	.short 4
	.long abbrevs
	.byte 8
	.endm

	.section .debug_info,"",@progbits
	unit lines_only			# file 0 and lines, but no function and no address
	.uleb128 1
	.asciz "cases.c"
	.asciz "/where"
	.long lines
	.byte 0
9:
	unit partial
	.uleb128 7
	.uleb128 8
abstract: .asciz "inlined_from_elsewhere"
	.byte 0
9:
	unit nowhere			# no ranges, no lines: its functions say where it is
	.uleb128 6
	.uleb128 3
	.asciz "g"
	.quad g, 32
	.uleb128 4			# from another unit, with a file that there is not
	.long abstract - 1
	.quad g + 8, 16
	.byte 99, 7
	.uleb128 5			# has no name
	.quad g + 12, 4
	.byte 0, 8
	.byte 0
	.byte 0
	.uleb128 2			# what linkers leave: at 0, at 1, at the end, before it
	.asciz "dead0"
	.quad 0, 0x500000
	.uleb128 2
	.asciz "dead1"
	.quad 1, 0x500000
	.uleb128 2
	.asciz "dead_at_the_end"
	.quad -1, 0x500000
	.uleb128 2
	.asciz "dead_before_the_end"
	.quad -2, 0x500000
	.uleb128 9
	.asciz "h"
	.long pieces
	.uleb128 11
7:	.long 7b - 1
	.quad alone, 16
	.byte 0
9:
	unit first			# two units that cover the same function
	.uleb128 10
	.asciz "first.c"
	.asciz "/where"
	.long lines
	.quad f, 112
	.byte 0
9:
	unit second
	.uleb128 10
	.asciz "second.c"
	.asciz "/where"
	.long lines
	.quad weak, 16
	.uleb128 2
	.asciz "weak_of_the_second"
	.quad weak, 16
	.byte 0
9:
	.section .debug_ranges,"",@progbits
pieces:	.quad h, h + 16
	.quad 1, 1			# nothing
	.quad h.cold, h.cold + 16
	.quad 0, 0

	.section .debug_line,"",@progbits
lines:	.long 9f - 8f
8:	.short 2
	.long 7f - 6f
6:	.byte 1, 1, -5, 14, 10
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.asciz "include"
	.byte 0
	.asciz "cases.c"
	.byte 0, 0, 0
	.asciz "cases.h"
	.byte 1, 0, 0
	.asciz "/else/where.h"
	.byte 0, 0, 0
	.byte 0
7:	.macro at address
	.byte 0, 9, 2
	.quad \address
	.endm
	.macro row line, file
	.byte 4, \file			# set_file
	.byte 3
	.sleb128 \line			# advance_line
	.byte 1				# copy
	.endm
	.macro stop address
	at \address
	.byte 0, 1, 1
	.endm
	at 0				# thrown out, and as long as everything
	row 665, 1
	stop 0x1000000
	at f
	row 9, 1			# 10
	at f + 8
	row 10, 2			# 20
	at f + 8
	row 10, 3			# 30: the later of two at one address
	stop f + 16
	at weak
	row 39, 0			# file 0
	stop weak + 16
	at alone
	row 49, 1
	stop alone + 16
9:
