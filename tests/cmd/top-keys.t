#!/bin/sh
# cprof-top -w on a terminal: its keys, and the terminal's mode after every end.
. "$(dirname "$0")/../lib/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not here"

# Three processes, two with one name; each has main, alpha and beta. The first window has 18 samples, the
# second 11, and the third 4.
samples() {
	for k in $(seq "$3"); do
		echo "sample time=$(($1 + k))000000 event=1 cpu=0 thread=$4 user=$2 kernel=0 weight=10000000"
	done
}
beat() {
	for o in "expected count=$2" "emitted count=$3" "idle count=$(($2 - $3))"; do
		echo "ledger time=$1000000 cpu=1 outcome=$o"
	done
}
processes() {
	echo 'segment major=1 minor=0 least=1'
	echo 'event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000'
	echo flush
	for p in '1 42 db' '2 43 web' '3 44 web'; do
		set -- $p
		cat <<X
process id=$1 time=10 pid=$2 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=$1 time=10 process=$1 tid=$2
comm time=10 thread=$1 comm="$3"
file id=$1 major=8 minor=1 inode=7$1 generation=0 build-id=0$1 path="/usr/bin/$3$1"
mapping time=10 process=$1 start=0x400000 length=0x8000 offset=0x1000 prot=5 file=$1
X
		for f in '1 main 0' '2 alpha 1' '3 beta 1'; do
			set -- $p $f
			cat <<X
frame id=$(($1 * 10 + $4)) process=$1 kind=exact address=0x40${4}000
node id=$(($1 * 100 + $4)) parent=$(($6 ? $1 * 100 + 1 : 0)) frame=$(($1 * 10 + $4))
string id=$(($1 * 10 + $4)) text="$5"
symbol frame=$(($1 * 10 + $4)) from=0 level=0 source=symtab name=$(($1 * 10 + $4)) offset=0 file=0 line=0
X
		done
	done
}
first() { samples 1000 102 5 1; samples 1100 203 8 2; samples 1200 303 3 3; samples 1300 301 2 3; }
{ processes; first; echo 'end time=2000000000 reason=closed samples=18'; } | cprof-dump -r >"$tmp/first.bin"
{
	processes; first; beat 2000 100 18; echo flush
	samples 2100 102 9 1; samples 2200 203 2 2; beat 3000 200 29; echo flush
	samples 3100 203 4 2; beat 4000 300 33; echo flush
	printf 'end time=4000000000 reason=closed samples=33\nflush\n'
} | cprof-dump -r >"$tmp/c.bin"

# SIGSEGV must be the program's, as it is without the sanitizers.
ASAN_OPTIONS=handle_segv=0 \
	python3 "$here/top-keys.py" "$tmp/c.bin" "$tmp/first.bin" "$tmp" >"$tmp/tap" 2>"$tmp/err"
while read -r word rest; do
	case $word in
	ok) pass "${rest#- }" ;;
	not) fail "${rest#ok - }"; diag "$(cat "$tmp/err")" ;;
	esac
done <"$tmp/tap"
is "all of them ran" "$(tail -n 1 "$tmp/tap")" "# done"
done_testing
