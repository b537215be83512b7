#!/bin/sh
# SHA-256 and HMAC-SHA256 against coreutils and the vectors of RFC 4231; the host's ID against systemd
. "$(dirname "$0")/../lib/lib.sh"
it=$BUILD/tests/base-sha256

command -v sha256sum >/dev/null || skip_all 'no sha256sum'
yes 'some text, and more of it' | head -c 300 >"$tmp/text"
for n in $(seq 0 130) 191 192 193 300; do
	head -c "$n" "$tmp/text" | tee "$tmp/some" | "$it" digest
	sha256sum <"$tmp/some" | cut -d ' ' -f 1 >&3
done >"$tmp/got" 3>"$tmp/want"
same "135 lengths, those around each border of a block among them" "$tmp/got" "$tmp/want"
for piece in 1 3 63 64 65; do
	is "in pieces of $piece bytes" "$("$it" digest $piece <"$tmp/text")" "$(sha256sum <"$tmp/text" | cut -d ' ' -f 1)"
done

bytes() { for _ in $(seq "$2"); do printf %s "$1"; done; } # BYTE N
hmac() { is "HMAC: $1" "$(printf %s "$3" | "$it" hmac "$2")" "$4"; } # DESCRIPTION KEY TEXT WANT
hmac 'RFC 4231, case 1' "$(bytes 0b 20)" 'Hi There' b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7
hmac 'case 2' 4a656665 'what do ya want for nothing?' 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843
hmac 'case 6, a key longer than a block' "$(bytes aa 131)" 'Test Using Larger Than Block-Size Key - Hash Key First' \
	60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54
hmac 'case 7' "$(bytes aa 131)" 'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.' \
	9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2

is "a host's id" "$("$it" machine 0123456789abcdef0123456789abcdef)" cce4c60b8ddc4ac78d363ad61f7865c2
for line in '' 0123 uninitialized 0123456789abcdef0123456789abcdeg 0123456789abcdef0123456789abcdef0; do
	is "'$line' is none" "$("$it" machine "$line")" none
done
theirs=$(systemd-id128 machine-id --app-specific=c0c7ff83-9a3c-4fd8-a0f2-39a2d0e0b54c 2>/dev/null)
if [ -n "$theirs" ]; then
	is "  as systemd derives it" "$("$it" machine "$(cat /etc/machine-id)")" "$theirs"
else
	skip "  as systemd derives it" 'no systemd-id128, or no id'
fi
done_testing
