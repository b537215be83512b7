# For tests of stacks that are walked by tables. After lib.sh.

# needs_tables PROGRAM...: skips the file where user stacks are not walked by tables, or this user cannot
# record all. Makes the programs without frame pointers that are not there yet, in $BUILD/frameless.
needs_tables() {
	may_record_all
	[ "$(uname -m)" = x86_64 ] || skip_all "tables are made for x86-64 alone"
	for program; do
		[ -x "$BUILD/frameless/$program" ] ||
			make -s -C "$top" BUILD="$BUILD" "$BUILD/frameless/$program" >"$tmp/make" 2>&1
	done
	cprof-record -q -a --unwind table -o "$tmp/try.bin" 0.1 2>"$tmp/err" ||
		skip_all "this kernel takes no walk by tables: $(cat "$tmp/err")"
}
