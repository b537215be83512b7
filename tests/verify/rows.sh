# The programs whose stacks are verified, for tests/verify/unwind-verify.t (few states of each) and `make
# verify-unwind` (many). Each row_NAME puts its files into $tmp/NAME and calls `verify LEAST COMMAND...`, or
# `without WORD` if a tool is missing. SECONDS_EACH: the run time of our own programs.

frameless=$BUILD/frameless
again='while :; do "$@"; done' # for sh -c, until there are enough states
rows="deep cxx signal vdso plt odd python3 openssl sort perl git gxx clang node go go_stripped"

row_deep() { verify 99.5 "$frameless/deep" "$SECONDS_EACH"; }
row_cxx() { verify 99.5 "$frameless/cxx" "$SECONDS_EACH"; }
row_signal() { verify 99.5 "$frameless/signal" "$SECONDS_EACH"; }
row_vdso() { verify 99.5 "$frameless/vdso" "$SECONDS_EACH"; }
row_plt() { verify 99.5 "$frameless/plt" "$SECONDS_EACH"; }
row_odd() { verify 99.5 "$frameless/odd" "$(awk "BEGIN { print $SECONDS_EACH / 5 }")"; } # it has five parts

has() { command -v "$1" >/dev/null || { without "$1"; return 1; }; }

row_python3() {
	[ -x /usr/bin/python3 ] || { without python3; return; }
	cat >"$tmp/x.py" <<-'END'
	import json, re, time, random, collections
	end = time.monotonic() + 60
	class Node:
	    def __init__(self, v): self.v, self.l, self.r = v, None, None
	    def add(self, v):
	        side = 'l' if v < self.v else 'r'
	        child = getattr(self, side)
	        if child: child.add(v)
	        else: setattr(self, side, Node(v))
	def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
	while time.monotonic() < end:
	    root = Node(500)
	    for i in range(300): root.add(random.random() * 1000)
	    data = json.loads(json.dumps([{str(i): [i, i * 2.5, str(i)]} for i in range(200)]))
	    words = re.findall(r'(\w+)-(\d+)', ' '.join('word-%d' % i for i in range(500)))
	    count = collections.Counter(sorted(words, key=lambda w: (w[1][::-1], fib(4))))
	    try: [][1]
	    except IndexError: fib(12)
	END
	verify 99.5 /usr/bin/python3 "$tmp/x.py"
}

row_openssl() {
	has openssl || return
	verify 99.5 sh -c 'while :; do openssl speed -seconds 1 sha256 aes-256-cbc rsa2048 ecdhp256 md5; done' openssl
}

row_sort() {
	awk 'BEGIN { srand(7); for (i = 0; i < 400000; i++) printf "%x word-%d %c\n", rand() * 2147483647, rand() * 1e6, 65 + i % 26 }' >"$tmp/lines"
	# strcoll of a real language does more work than that of C.UTF-8.
	localedef -i en_US -f UTF-8 "$tmp/en_US.UTF-8" 2>/dev/null
	if [ -d "$tmp/en_US.UTF-8" ]; then
		verify 99.5 env LOCPATH="$tmp" LC_ALL=en_US.UTF-8 sh -c "$again" sh sort -k2 -o /dev/null "$tmp/lines"
	else
		verify 99.5 env LC_ALL=C.UTF-8 sh -c "$again" sh sort -k2 -o /dev/null "$tmp/lines"
	fi
	rm -f "$tmp/lines"
}

row_perl() {
	has perl || return
	cat >"$tmp/x.pl" <<-'END'
	use strict; use warnings; use List::Util qw(reduce first);
	my $end = time + 60;
	sub depth { my $n = shift; return $n ? 1 + depth($n - 1) : scalar(() = ("a1b22c333" x 20) =~ /(\d+)/g) }
	while (time < $end) {
		my %h; $h{$_ % 97} .= sprintf("%05d,", $_) for 1 .. 3000;
		my @s = sort { length $h{$a} <=> length $h{$b} or $a cmp $b } keys %h;
		my $t = join "|", map { my $x = $h{$_}; $x =~ s/(\d)(\d)/$2 . $1/ge; $x } @s;
		my $r = reduce { $a + length $b } 0, split /\|/, $t;
		depth(40); eval { die first { $_ > 3 } 1 .. 9 };
	}
	END
	verify 99.5 perl "$tmp/x.pl"
}

row_git() {
	has git || return
	# A history of 400 commits in 30 files
	awk 'BEGIN { srand(3); print "blob\nmark :1\ndata 2\n\n"; for (c = 0; c < 400; c++) {
		printf "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 2\nc\n", 1e9 + c
		for (f = 0; f < 6; f++) { t = ""; n = 100 + int(rand() * 300)
			for (i = 0; i < n; i++) t = t "line " int(rand() * 40) * (i % 17) " of a file\n"
			printf "M 100644 inline dir%d/file%d\ndata %d\n%s\n", c % 3, int(rand() * 10), length(t), t } } }' |
		{ git init -q -b main "$tmp/repo" && git -C "$tmp/repo" fast-import --quiet; }
	verify 99.5 sh -c 'cd "$1" && while :; do git -c pack.threads=2 repack -adfq --window=20; git log -p --stat -M; git gc -q; done' sh "$tmp/repo"
}

source_cxx() {
	cat >"$tmp/x.cc" <<-'END'
	#include <algorithm>
	#include <functional>
	#include <iostream>
	#include <map>
	#include <regex>
	#include <string>
	#include <unordered_map>
	#include <variant>
	#include <vector>
	template <int N> struct Fib { static constexpr long value = Fib<N - 1>::value + Fib<N - 2>::value; };
	template <> struct Fib<1> { static constexpr long value = 1; };
	template <> struct Fib<0> { static constexpr long value = 0; };
	template <int N> long fold(long x) { if constexpr (N == 0) return x; else return fold<N - 1>(x * N + Fib<N>::value); }
	int main(int argc, char **argv)
	{
		std::map<std::string, std::vector<std::variant<int, std::string>>> m;
		std::unordered_map<std::string, std::function<long(long)>> f;
		std::regex r("([a-z]+)-([0-9]+)(x|y)*");
		for (int i = 0; i < argc; i++) {
			std::smatch s;
			std::string a(argv[i]);
			if (std::regex_match(a, s, r))
				m[s[1]].emplace_back(std::stoi(s[2]));
			f[a] = [i](long x) { return fold<80>(x + i); };
		}
		std::vector<std::string> keys;
		for (auto &[k, v] : m) keys.push_back(k);
		std::sort(keys.begin(), keys.end(), [&](auto &x, auto &y) { return f[x](1) < f[y](2); });
		for (auto &k : keys) std::cout << k << '\n';
	}
	END
}

row_gxx() {
	has g++ || return
	source_cxx
	verify 99.5 sh -c "$again" sh g++ -std=c++17 -O2 -c -o /dev/null "$tmp/x.cc"
}

row_clang() {
	has clang++ || return
	source_cxx
	verify 99.5 sh -c "$again" sh clang++ -std=c++17 -O2 -c -o /dev/null "$tmp/x.cc"
}

row_node() {
	has node || return
	cat >"$tmp/x.js" <<-'END'
	const end = Date.now() + 60000;
	class Tree { constructor(v) { this.v = v } add(v) { const s = v < this.v ? 'l' : 'r'; this[s] ? this[s].add(v) : this[s] = new Tree(v) } }
	function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
	const crypto = require('crypto'), zlib = require('zlib');
	while (Date.now() < end) {
		const t = new Tree(0.5);
		for (let i = 0; i < 500; i++) t.add(Math.random());
		const o = JSON.parse(JSON.stringify(Array.from({ length: 300 }, (_, i) => ({ ['k' + i]: [i, String(i)] }))));
		o.sort((a, b) => Object.keys(a)[0].localeCompare(Object.keys(b)[0]) + fib(6) * 0);
		const z = zlib.gzipSync(Buffer.from(JSON.stringify(o)));
		crypto.createHash('sha256').update(z).digest('hex').replace(/(\d)([a-f])/g, (_, a, b) => b + a);
		try { null.x } catch (e) { String(e.stack).split('\n').map(l => l.trim()) }
	}
	END
	verify 98 node "$tmp/x.js"
}

# Two builds of one source: if the symbols and .debug_frame are stripped, libdw reads them from the twin.
build_go() {
	mkdir -p "$tmp/go" && cp "$top/tests/verify/go.go.txt" "$tmp/go/main.go" &&
		(cd "$tmp/go" && export GOCACHE="$tmp/go/cache" GOFLAGS=-mod=mod GO111MODULE=off HOME="$tmp" &&
			go build -o plain main.go && go build -ldflags '-s -w' -o stripped main.go) >/dev/null 2>&1
}

row_go() {
	has go || return
	build_go || { without "a Go that builds"; return; }
	verify 98 "$tmp/go/plain" "$SECONDS_EACH"
}

row_go_stripped() {
	has go || return
	[ -x "$tmp/go/stripped" ] || build_go || { without "a Go that builds"; return; }
	verify 98 --twin "$tmp/go/stripped=$tmp/go/plain" "$tmp/go/stripped" "$SECONDS_EACH"
}
