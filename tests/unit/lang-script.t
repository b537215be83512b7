#!/bin/sh
# Units and lines of scripts' texts, whole and broken: as written here, and as Node.js has them.
# shellcheck disable=SC2154 # lib.sh sets tmp
. "$(dirname "$0")/../lib/lib.sh"
script=$BUILD/tests/lang-script

# units TEXT HEX WANT: the length, and the line of each unit
units() { is "$1" "$(echo "$2" | "$script")" "$3"; }
units "an empty text" "" "0"
units "a line without an end" 6162 "2 1 1"
units "all ends of lines" 0a0d0a0de280a8e280a961 "7 1 2 2 3 4 5 6"
units "a mark at the start is no unit" efbbbf610a62 "3 1 1 2"
units "two units for a character beyond 16 bits" f09f98800a61 "4 1 1 1 2"
units "a character that ends too early is one unit" f09f9841 "2 1 1"
units "  at the end of the text, too" f09f98 "1 1"
units "bytes that begin no character are one unit each" 80c0c1f5ff "5 1 1 1 1 1"
units "so are halves of a pair" eda080 "3 1 1 1"
units "  and a character in more bytes than it needs" e08080 "3 1 1 1"
units "  and one beyond the last" f4908080 "4 1 1 1 1"

node=${NODE:-$(command -v node || :)}
if [ -n "$node" ] && "$node" -e 0 2>/dev/null; then
	cat >"$tmp/texts.js" <<'X'
// Half of the bytes are those at which decoders differ.
let seed = 1;
const random = n => (seed = (seed * 48271) % 2147483647) % n;
const odd = Buffer.from('0a0d41808f909fa0a8bfc2e0e2edeff0f4', 'hex');
const texts = [], answers = [];
for (let i = 0; i < 20000; i++) {
	const bytes = Buffer.from(Array.from({ length: random(12) },
		() => random(2) ? odd[random(odd.length)] : random(256)));
	const text = bytes.toString().replace(/^\ufeff/, '');
	const ends = [...text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)].map(m => m.index + m[0].length - 1);
	texts.push(bytes.toString('hex'));
	answers.push([text.length, ...Array.from({ length: text.length },
		(_, at) => ends.filter(end => end < at).length + 1)].join(' '));
}
const fs = require('fs');
fs.writeFileSync(process.argv[2], texts.join('\n') + '\n');
fs.writeFileSync(process.argv[3], answers.join('\n') + '\n');
X
	"$node" "$tmp/texts.js" "$tmp/texts" "$tmp/want"
	"$script" <"$tmp/texts" >"$tmp/got"
	same "20,000 texts of random bytes are as Node.js decodes them" "$tmp/got" "$tmp/want"
else
	skip "texts as Node.js decodes them" "there is no node"
fi
done_testing
