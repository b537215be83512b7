#!/bin/sh
# PHP is found in its program: made ones of each version, that of this machine, and damaged ones.
. "$(dirname "$0")/../lib/lib.sh"
find=$BUILD/tests/lang-php

# made TEXT GLOBALS [CODE]: a stripped program with this text, these globals, this code and a loop
made() {
	cat >"$tmp/made.c" <<END
const char text[] __attribute__((used)) = "$1";
char $2[2000] = { 1 };
${3-}
__attribute__((noipa)) void execute_ex(volatile unsigned *n) { while (++*n < 10) ; }
int main(void) { unsigned n = 0; execute_ex(&n); return text[n] == 0; }
END
	${CC:-cc} -O1 -rdynamic -o "$tmp/made" "$tmp/made.c" 2>"$tmp/err" && strip "$tmp/made"
}
seen() { "$find" "$tmp/made" | sed 's/ loop=.*//'; }

if made "X-Powered-By: PHP/8.2.36" executor_globals; then
	is "a program with PHP's globals, loop and version" "$(seen)" "80224 usable=1 current=488 path=152"
	while read -r text want; do
		made "X-Powered-By: PHP/$text" executor_globals
		is "  $text" "$(seen)" "$want"
	done <<'END'
7.3.33 70321 usable=0 current=0 path=0
7.4.0 70400 usable=1 current=488 path=136
8.0.30 8001e usable=1 current=488 path=144
8.1.2-1ubuntu2 80102 usable=1 current=488 path=144
8.3.6 80306 usable=1 current=488 path=144
8.4.27 8041b usable=1 current=488 path=168
8.5.0RC1 80500 usable=1 current=512 path=168
8.6.0RC3 80600 usable=1 current=512 path=168
8.7.0-dev 80700 usable=0 current=0 path=0
x 0 usable=0 current=0 path=0
99999999.1 0 usable=0 current=0 path=0
END
	made "nothing" executor_globals
	is "a program without a version is not usable" "$(seen)" "0 usable=0 current=0 path=0"
	made "X-Powered-By: PHP/8.3.1" executor_globals_offset
	is "a thread-safe one whose key is not known is not usable" "$(seen)" \
		"80301 usable=0 current=488 path=144"
	if [ "$(uname -m)" = x86_64 ]; then
		made "X-Powered-By: PHP/8.3.1" executor_globals_offset '#include <pthread.h>
			static pthread_key_t tls_key = 1;
			void *tsrm_get_ls_cache(void) { return pthread_getspecific(tls_key); }
			void set_key(int k) { tls_key = k; }'
		is "  but with the key it is" "$(seen)" "80301 usable=1 current=488 path=144"
	fi
	made "X-Powered-By: PHP/8.3.1" other_globals
	is "a program without PHP's globals is not PHP" "$(seen)" none
else
	skip "made programs" "there is no compiler: $(tail -1 "$tmp/err")"
fi

php=$(command -v php) && php=$(readlink -f "$php")
if [ -n "$php" ] && [ "$(od -An -tx1 -N4 "$php" | tr -d ' ')" = 7f454c46 ]; then
	version=$("$php" -n -r \
		'printf("%x", PHP_MAJOR_VERSION << 16 | PHP_MINOR_VERSION << 8 | PHP_RELEASE_VERSION);')
	like "the PHP of this machine" "$("$find" "$php")" \
		"^$version usable=1 current=(488|512) path=1[0-9]+ loop=[1-9][0-9]{3,} rare=[0-9]+\$"
	"$find" damage "$php" 60 >"$tmp/tap"
	is "its file, damaged and cut" "$(grep -c '^ok' "$tmp/tap") $(grep -c '^not' "$tmp/tap")" "2 0"
else
	skip "the PHP of this machine" "php is not installed"
fi
done_testing
