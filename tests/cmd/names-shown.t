#!/bin/sh
# Messages on a terminal: bytes of paths, events and arguments that would control the terminal are escaped, in
# errors, warnings and lists of -v.
. "$(dirname "$0")/../lib/lib.sh"
cd "$tmp" || exit 1

# ESC [, BEL, a carriage return, DEL; CSI as U+009B and as a byte; U+202E, U+2066, U+200F, U+061C,
# U+2028; invalid UTF-8.
raw=$(printf 'a\033[2J\007\r\177\302\2332J\233\342\200\256b\342\201\246\342\200\217\330\234\342\200\250\377\303(\355\240\200z')
want='a\x1b[2J\x07\x0d\x7f\xc2\x9b2J\x9b\xe2\x80\xaeb\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xff\xc3(\xed\xa0\x80z'
# shown WHAT FILE [TEXT]: FILE has the text escaped, and only printable ASCII
shown() {
	if grep -qF -- "${3:-$want}" "$2"; then pass "$1"; else fail "$1"; diag "$(cat -v "$2")"; fi
	is "  and no raw byte" "$(tr -d '\n\040-\176' <"$2" | od -An -tx1)" ""
}

# A capture with this text as paths, event and host; one of the files exists and has a symbol table.
cc=${CC:-cc}
printf 'int main(void) { return 0; }\n' >main.c
$cc -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -o "$raw.program" main.c || exit 1
id=0123456789abcdef0123456789abcdef01234567
at=$(nm "$raw.program" | awk '$3 == "main" { print $1 }')
set -- $(stat -c '%i' "$raw.program") $(stat -c '%d' "$raw.program")
major=$(($2 >> 8 & 4095)) minor=$(($2 & 255 | $2 >> 12 & 1048320))
cat >text <<X
segment major=1 minor=0 least=1
meta key="host" value="$want"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
event id=2 name="$want" unit="events" period=1 millihertz=0
event id=3 name="$want:b" unit="ns" period=0 millihertz=0
flush
process id=1 time=1 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=42
comm time=1 thread=1 comm="$want"
file id=1 major=$major minor=$minor inode=$1 generation=0 build-id=$id path="$tmp/$want.program"
file id=2 major=8 minor=1 inode=7 generation=0 build-id=ff path="/nowhere/$want"
mapping time=1 process=1 start=0x10000000 length=0x100000 offset=0x0 prot=5 file=1
mapping time=1 process=1 start=0x20000000 length=0x1000 offset=0x0 prot=5 file=2
frame id=1 process=1 kind=exact address=$(printf '0x%x' $((0x10000000 + (0x$at & 0xfffff))))
frame id=2 process=1 kind=return address=0x20000100
node id=16 parent=0 frame=2
node id=17 parent=16 frame=1
sample time=2000000 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10000000
sample time=2100000 event=2 cpu=0 thread=1 user=17 kernel=0 weight=1
sample time=2200000 event=3 cpu=0 thread=1 user=17 kernel=0 weight=5
end time=4000000 reason=continues samples=3
flush
X
cprof-dump -r text >"$raw.bin" || exit 1

status "cprof-sym -v" 0 cprof-sym -v "$raw.bin"
cp out named
shown "  lists the files" err "0 of          1  /nowhere/$want"
is "  the one that is there, too" "$(grep -cF -- " $tmp/$want.program" err)" 1
status "cprof-archive -v" 0 cprof-archive -v -d archive "$raw.bin"
shown "  lists the files" err "written            $tmp/$want.program ("
is "  the one that is not there, too" "$(grep -cF -- "/nowhere/$want" err)" 1

status "cprof-fold of events that do not add up" 2 cprof-fold --event "$raw" named
# A name in a table or a folded line has a "?" for most of these (sanitize.h).
shown "  names them" err "a?[2J????2J?\xe2\x80\xaeb\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c???(???z (events)"
for program in sym fold top flame diff convert dump archive; do
	case $program in
	diff) set -- "$raw" named ;;
	convert) set -- -t pprof "$raw" ;;
	archive) set -- -d archive "$raw" ;;
	*) set -- "$raw" ;;
	esac
	status "cprof-$program of a file that is not there" 1 cprof-$program "$@"
	shown "  names it" err
done
head -c 100 "$raw.bin" >"cut$raw.bin"
status "a capture that is cut" 3 cprof-sym "cut$raw.bin"
shown "  is named" err
if [ -x "$BIN/cprof-record" ]; then
	status "an event that is none" 2 cprof-record -e "$raw" -o none.bin -- true
	shown "  is said" err
	status "a place for the recording that is none" 1 cprof-record -o "none/$raw" -- true
	shown "  is said" err "none/$want"
fi

# Text of other alphabets is harmless: a file's name stays readable.
other=$(printf 'na\303\257ve \342\200\223 \345\220\215\345\211\215 \360\237\224\245 \\x1b')
cprof-fold "$other" 2>err
is "other alphabets and backslashes stay" "$(cat err)" "cprof-fold: $other: No such file or directory"

# All output to stderr goes through the same function; the recorder's last line contains only figures and
# words of the options, and progress.c replaces such characters itself.
is "no command writes to stderr by itself" "$(cd "$top" && grep -lE '(printf|put[sc]|putchar|write) ?\(.*(stderr|STDERR_FILENO)|\<perror ?\(|\<v?warnx? ?\(' $(find cmd -name '*.[ch]') |
	grep -vx -e cmd/shared/cli.c -e cmd/cprof-record/report.c -e cmd/shared/terminal/progress.c)" ""
done_testing
