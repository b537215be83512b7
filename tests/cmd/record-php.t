#!/bin/sh
# Functions, files and lines of PHP: hostile memory; a program of known profile; a web server.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all

cprof-record -q -F 999 -o "$tmp/c.bin" -- "$BUILD/tests/phphostile" 0.05 >"$tmp/kinds"
is "a program whose frames no PHP has is recorded" "$(cat "$tmp/kinds")" 16
status "  the capture is sound" 0 cprof-dump "$tmp/c.bin"
mv "$tmp/out" "$tmp/dump"
is "  frames that cannot be read have a state" \
	"$(sed -n 's/^lang-frame .* function=0 .* state=\([^ ]*\).*/\1/p' "$tmp/dump" |
		sort -ru | grep -v not-yet | tr '\n' ' ')" "unreadable depth "
is "  sound ones a name" \
	"$(grep -c '^function .* name="sound"' "$tmp/dump" | sed 's/^[1-9][0-9]*$/some/')" some
is "  no stack is longer than the limit" "$(awk '
	function value(key,   i) {
		for (i = 2; i <= NF; i++)
			if (index($i, key "=") == 1)
				return substr($i, length(key) + 2)
	}
	$1 == "lang-frame" { lang[value("id")] = 1 }
	$1 == "node" { deep[value("id")] = deep[value("parent")] + (value("frame") in lang) }
	$1 == "sample" && deep[value("user")] > most { most = deep[value("user")] }
	END { print most }' "$tmp/dump")" 448

# A thread-safe PHP has a key of the C library for each thread's globals: glibc's and musl's.
for cc in cc musl-gcc; do
	if command -v $cc >/dev/null &&
		$cc -O1 -DKEYED -rdynamic -o "$tmp/keyed" "$top/tests/loads/phphostile.c" 2>"$tmp/err"; then
		cprof-record -q -F 999 -o "$tmp/c.bin" -- "$tmp/keyed" 0.05 >"$tmp/kinds"
		is "one that looks thread-safe, by $cc" "$(cat "$tmp/kinds")" 16
		like "  has frames" "$(cprof-fold --native none "$tmp/c.bin" 2>/dev/null)" \
			'^keyed;sound;sound [1-9]'
	else
		skip "one that looks thread-safe, by $cc" "there is no $cc"
	fi
done

php=$(command -v "${PHP:-php}") || { skip "programs in PHP" "php is not installed"; done_testing; }
known=$top/tests/loads/known.php

# record OPTION...: the known program; the answer of lang-judge.awk is in $tmp/answer
record() {
	cprof-record -q -F 499 -o "$tmp/c.bin" -- "$php" "$@" "$known" 0.1 >"$tmp/truth"
	cprof-dump "$tmp/c.bin" >"$tmp/dump"
	cprof-sym <"$tmp/c.bin" 2>/dev/null | cprof-fold --native all >"$tmp/folded"
	own=$(grep -c zif_array_map "$tmp/folded")
	# PHP's own functions, which have no line, are machine frames if the file has their names.
	[ "$own" = 0 ] || sed -i 's/;[a-z_]*:0;/;/g' "$tmp/truth"
	awk -v truth="$tmp/truth" -v leaf='^burn' -v skip=warm_up \
		-f "$top/tests/lib/lang-judge.awk" "$tmp/dump" >"$tmp/answer"
}
answer() { awk -v k="$1" '$1 == k { print $2; exit }' "$tmp/answer"; }
judge() {
	ok "$1: most of its time is in samples" test "$(answer samples)" -gt 500
	is "  no stack is wrong" "$(answer wrong)" 0
	ok "  each has its share, within 2 points" \
		awk -v w="$(answer worst)" 'BEGIN { exit !(w != "" && w < 2) }'
	# When it starts, the JIT compiler calls the interpreter with a function that there is not.
	is "  no frame is unreadable" "$(grep '\[php: ' "$tmp/folded" | grep -v 'not-yet\|;zend_jit_startup;')" ""
	[ "$(answer wrong)" = 0 ] || diag "$(cat "$tmp/answer")"
}

# inner_lines: of the samples in burn itself, the share on the lines of its inner loop;
# 0 if a line has less than 3 %
inner_lines() {
	awk -v first="$(grep -n 'x = 0;' "$known" | sed 's/:.*//;q')" '
		function value(key,   i) {
			for (i = 2; i <= NF; i++)
				if (index($i, key "=") == 1)
					return substr($i, length(key) + 2)
		}
		$1 == "function" { burn[value("id")] = / name="burn" / }
		$1 == "lang-frame" {
			f = value("function")
			line[value("id")] = f != 0 && burn[f] ? value("line") : -1
		}
		$1 == "frame" { delete line[value("id")] }
		$1 == "node" { parent[value("id")] = value("parent"); frame[value("id")] = value("frame") }
		$1 == "sample" {
			for (n = value("user"); n != 0 && !(frame[n] in line); n = parent[n])
				;
			if (n != 0 && line[frame[n]] > 0) { all++; on[line[frame[n]] - first]++ }
		}
		END {
			for (i = 1; i <= 3; i++) { good += on[i]; if (on[i] < 0.03 * all) all = 0 }
			printf "%d", all ? 100 * (good + on[0]) / all : 0
		}' "$tmp/dump"
}

record -n -d opcache.enable_cli=0
judge "functions, methods, closures, generators, fibers, code of files and texts"
ok "  the line that runs is right" test "$(inner_lines)" -ge 95
is "  functions of PHP have their own names, once" \
	"$(($(grep -c '^function .* name="array_map" line=0 flags=2' "$tmp/dump") + (own > 0)))" 1

opcache=$(find "${ROOT-}$("$php" -r 'echo ini_get("extension_dir");')" -name opcache.so 2>/dev/null)
load=${opcache:+-d zend_extension=$opcache}
if [ -n "$opcache" ] || "$php" -n -m | grep -q OPcache; then
	record -n ${load:+-d "zend_extension=$opcache"} -d opcache.enable_cli=1
	judge "with opcache"
	ok "  the line that runs is right" test "$(inner_lines)" -ge 95
	record -n ${load:+-d "zend_extension=$opcache"} -d opcache.enable_cli=1 \
		-d opcache.jit=tracing -d opcache.jit_buffer_size=32M
	judge "with its JIT compiler"
else
	skip "with opcache" "opcache is not installed"
fi

# Sites whose functions have the same length and lines, so that request after request they get the same
# addresses
mkdir "$tmp/web"
for site in aaaa bbbb cccc; do
	sed "s/SITE/$site/g" >"$tmp/web/$site.php" <<'END'
<?php
class C_SITE { static function work_SITE() { return self::spin(); }
	static function spin() { $x = 0; for ($i = 0; $i < 20000; $i++) { $x += $i % 7; } return $x; } }
function handler() { return array_map(function ($v) { return C_SITE::work_SITE(); }, [1, 2]); }
handler();
echo "done";
END
done

# judge_requests TEXT: of the samples in the sites' work
judge_requests() {
	is "$1 answers" "$(cat "$tmp/requests")" 1200
	cprof-dump "$tmp/c.bin" >"$tmp/dump"
	awk 'function value(key,   i) {
		for (i = 2; i <= NF; i++)
			if (index($i, key "=") == 1)
				return substr($i, length(key) + 2)
	}
	function text(key) {
		return match($0, " " key "=\"[^\"]*\"") ? \
			substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 4) : ""
	}
	$1 == "script" { path[value("id")] = text("path") }
	$1 == "function" { id = value("id"); name[id] = text("name"); in_script[id] = value("script") }
	$1 == "lang-frame" { fun[value("id")] = value("state") == "ok" ? value("function") : 0 }
	$1 == "frame" { delete fun[value("id")] }
	$1 == "node" { parent[value("id")] = value("parent"); frame[value("id")] = value("frame") }
	$1 == "sample" {
		root = ""; mixed = 0; spin = 0; site = ""
		for (n = value("user"); n != 0; n = parent[n]) {
			if (!(frame[n] in fun) || fun[frame[n]] == 0)
				continue
			f = fun[frame[n]]
			root = name[f]
			if (name[f] ~ /spin$/)
				spin = 1
			p = path[in_script[f]]
			if (p == "")
				continue
			if (site != "" && p != site ||
			    match(name[f], /[abc][abc][abc][abc]/) && p !~ substr(name[f], RSTART, RLENGTH))
				mixed = 1
			site = p
		}
		if (spin) {
			spins++; wrong += mixed || root != "<main>"
			sites += !(site in seen); seen[site] = 1
		}
	}
	END { print spins + 0, sites + 0, wrong + 0 }' "$tmp/dump" >"$tmp/answer"
	ok "  its requests are in samples" awk '{ exit !($1 > 200) }' "$tmp/answer"
	is "  of all sites" "$(awk '{ print $2 }' "$tmp/answer")" 3
	is "  with the names and files of their own" "$(awk '{ print $3 }' "$tmp/answer")" 0
}

# php-fpm: a master, and two workers that take requests by FastCGI
cat >"$tmp/fastcgi.php" <<'END'
<?php
function part($type, $text) { return pack('CCnnCC', 1, $type, 1, strlen($text), 0, 0) . $text; }
function ask($socket, $file)
{
	$s = @stream_socket_client("unix://$socket");
	if (!$s)
		return '';
	$values = '';
	foreach (['SCRIPT_FILENAME' => $file, 'REQUEST_METHOD' => 'GET'] as $k => $v)
		$values .= chr(strlen($k)) . pack('N', strlen($v) | 1 << 31) . $k . $v;
	fwrite($s, part(1, "\0\1\0\0\0\0\0\0") . part(4, $values) . part(4, '') . part(5, ''));
	return stream_get_contents($s);
}
for ($try = 0; $try < 600 && !strpos(ask($argv[1], "$argv[2]/aaaa.php"), 'done'); $try++)
	usleep(50000);
$end = hrtime(true) + 60e9;
for ($n = 0; $n < 400 && hrtime(true) < $end; $n++)
	foreach (['aaaa', 'bbbb', 'cccc'] as $site)
		$good = ($good ?? 0) + (strpos(ask($argv[1], "$argv[2]/$site.php"), 'done') !== false);
echo $good, "\n";
END
fpm=${PHP_FPM-$("$php" -n -r 'echo "php-fpm", PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')}
if command -v "$fpm" >/dev/null; then
	cat >"$tmp/fpm.conf" <<-END
		[global]
		error_log = $tmp/fpm.log
		daemonize = no
		[www]
		listen = $tmp/fpm.sock
		user = root
		pm = static
		pm.max_children = 2
	END
	cprof-record -q -F 999 -o "$tmp/c.bin" -- \
		sh -c '"$0" -n -R -F -y "$2/fpm.conf" &
			"$1" -n "$2/fastcgi.php" "$2/fpm.sock" "$2/web"; kill $!; wait' \
		"$fpm" "$php" "$tmp" >"$tmp/requests"
	judge_requests "php-fpm"
else
	skip "php-fpm answers" "there is no $fpm"
fi

if [ "$("$php" -n -r 'echo PHP_SAPI;')" != cli ]; then
	skip "a web server answers" "$php has none"
	done_testing
fi
cat >"$tmp/client.php" <<'END'
<?php
for ($try = 0; $try < 600 && @file_get_contents($argv[1] . '/aaaa.php') !== 'done'; $try++)
	usleep(50000);
$end = hrtime(true) + 60e9;
for ($n = 0; $n < 400 && hrtime(true) < $end; $n++)
	foreach (['aaaa', 'bbbb', 'cccc'] as $site)
		$good = ($good ?? 0) + (file_get_contents("$argv[1]/$site.php") === 'done');
echo $good, "\n";
END
port=$("$php" -r '$s = stream_socket_server("tcp://127.0.0.1:0");
	echo explode(":", stream_socket_get_name($s, false))[1];')
cprof-record -q -F 999 -o "$tmp/c.bin" -- \
	sh -c '"$0" -n -S "127.0.0.1:$2" -t "$1/web" >"$1/server" 2>&1 &
		"$0" -n "$1/client.php" "http://127.0.0.1:$2"; kill $!; wait' \
	"$php" "$tmp" "$port" >"$tmp/requests"
judge_requests "a web server"
done_testing
