#!/bin/sh
# `make install`: programs, pages, the unit with its path, completions; `make uninstall`
# removes exactly these.
. "$(dirname "$0")/../lib/lib.sh"
[ -x "$BIN/cprof-record" ] || skip_all "the recorder is not built"
cd "$top" || exit 1

dest=$tmp/dest
# install GOAL: with the programs under test
install() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u SAN make -s BUILD="$BUILD" DESTDIR="$dest" PREFIX="${prefix:-/usr/local}" "$@"; }
files() { (cd "$dest" && find . ! -type d | sort); }

ok "make install" install install
programs=$(cd "$BIN" && echo cprof*)
is "each program is there, executable" "$(cd "$dest/usr/local/bin" && find . -type f -perm 755 | sed 's,./,,' | sort | xargs)" "$programs"
is "each page is there, in its section" "$(cd "$dest/usr/local/share/man" && ls man*/* | xargs)" "$(cd man && for p in *; do echo "man${p##*.}/$p"; done | sort | xargs)"
is "each command has a completion" "$(ls "$dest/usr/local/share/bash-completion/completions" | xargs)" "$programs"
unit=usr/local/lib/systemd/system/cprof.service
same "the unit is that of contrib" "$dest/$unit" contrib/systemd/cprof.service
is "a package's unit says how to begin" \
	"$(sed -f contrib/dist/unit.sed "$dest/$unit" | sed -n '2,3p')" "# To begin:
#	systemctl daemon-reload && systemctl enable --now cprof"
is "all but the programs can be read by all, and no more" "$(find "$dest" -type f ! -path '*/bin/*' ! -perm 644)" ""

mkdir -p "$dest/usr/local/lib/systemd/system" "$dest/usr/local/bin"
echo mine >"$dest/usr/local/bin/cprof-mine"
echo mine >"$dest/usr/local/lib/systemd/system/cprof-mine.service"
ok "make uninstall" install uninstall
is "what was there before is all that is left" "$(files | xargs)" "./usr/local/bin/cprof-mine ./usr/local/lib/systemd/system/cprof-mine.service"

rm -r "$dest"
prefix=/opt/cprof ok "with another PREFIX" install install-strip
like "the unit runs the recorder of that PREFIX" "$(cat "$dest/opt/cprof/lib/systemd/system/cprof.service")" '^ExecStart=/opt/cprof/bin/cprof-record -q -a '
is "and differs in nothing else" "$(diff contrib/systemd/cprof.service "$dest/opt/cprof/lib/systemd/system/cprof.service" | grep -c '^>')" 1
is "everything is below it" "$(files | grep -v '^./opt/cprof/')" ""
stripped=0
for p in "$dest"/opt/cprof/bin/*; do
	readelf -S "$p" | grep -qE ' \.(debug_info|symtab) ' || stripped=$((stripped + 1))
done
is "install-strip leaves no symbol table and no debugging information" $stripped "$(echo "$programs" | wc -w)"
is "the stripped recorder runs" "$("$dest/opt/cprof/bin/cprof-record" --version)" "$(cprof-record --version)"
status "and records" 0 "$dest/opt/cprof/bin/cprof-record" -q -o "$tmp/s.bin" -- true
prefix=/opt/cprof install uninstall
is "find is empty after the uninstall" "$(files)" ""

command -v bash >/dev/null || { skip "completion" "there is no bash"; done_testing; }
# complete WORD...: the words offered for the last one
complete() {
	bash -c '. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_cprof "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || echo "status $?"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$top/contrib/completions/cprof" "$@" 2>&1 | sort -u
}
is "the completion is of all commands" "$(bash -c '. contrib/completions/cprof; complete -p' | sed 's/.* //' | sort | xargs)" "$programs"
for p in $programs; do
	is "$p: each long option of --help is offered, and no other" "$(complete "$p" -- | xargs)" \
		"$("$p" --help | sed -nE 's/^  (-., |    )--([a-z-]+).*/--\2/p' | sort -u | xargs)"
done
mkdir "$tmp/files"
cd "$tmp/files" || exit 1
mkdir dir
touch a.bin "b c.bin"
is "cprof has its commands" "$(complete cprof '' | xargs)" \
	"$(cprof help | sed -nE 's/^  ([a-z]+) .*/\1/p; $a help' | sort | xargs)"
is "  those that begin so" "$(complete cprof an)" annotate
is "  and help has them, too" "$(complete cprof help fl)" flame
is "  a command has its options" "$(complete cprof top --cu)" --cum
is "  and its values" "$(complete cprof record --engine b)" bpf
is "short options, too" "$(complete cprof-fold - | grep -E '^-[^-]' | xargs)" "-K -T -U -V -a -d -h -i -l -o -p -t"
is "the values of an option" "$(complete cprof-record --engine '' | xargs)" "auto bpf perf"
is "those that begin so" "$(complete cprof-record --engine b)" bpf
is "the same after =" "$(complete cprof-record --engine = b)" bpf
is "those of an option that excludes another" "$(complete cprof-top -o '' | xargs)" "json md ndjson tsv"
is "a file for an option that takes one" "$(complete cprof-record -o a)" a.bin
is "a directory for one that takes that" "$(complete cprof-sym --symfs '')" dir
is "nothing for a number" "$(complete cprof-record -F '')" ""
is "and nothing for a size or time" "$(complete cprof-record --rotate '')" ""
is "files elsewhere, with blanks in them" "$(complete cprof-top '' | tr '\n' '|')" "a.bin|b c.bin|dir|"
like "a command after --" "$(complete cprof-record -- tru)" '^true$'
is "its files after that" "$(complete cprof-record -- cat a)" a.bin
like "cprof-run has a command" "$(complete cprof-run tru)" '^true$'
like "  after options" "$(complete cprof run -q -F 99 tru)" '^true$'
is "  and its files after that" "$(complete cprof run cat a)" a.bin
is "  but not in place of a value" "$(complete cprof-run -F tru)" ""
like "  and after an option whose value is left out" "$(complete cprof-run --off-cpu tru)" '^true$'
is "  but not in place of that value" "$(complete cprof-run --off-cpu = tru)" ""
is "  nor among options" "$(complete cprof-record --off-cpu --en)" --engine
is "cprof-diff has files after --" "$(complete cprof-diff a.bin -- b)" "b c.bin"
done_testing
