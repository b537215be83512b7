// Half, three tenths and a fifth of the time in functions that V8 inlines into one, for a number of seconds.
'use strict';
function half(x) {
	for (let i = 0; i < 50; i++) x = (x * 31 + i) % 1000003;
	return x;
}
function third(x) {
	for (let i = 0; i < 30; i++) x = (x * 31 + i) % 1000003;
	return x;
}
function fifth(x) {
	for (let i = 0; i < 20; i++) x = (x * 31 + i) % 1000003;
	return x;
}
function hot(x) {
	x = half(x);
	x = third(x);
	return fifth(x);
}
function main(seconds) {
	const end = process.hrtime.bigint() + BigInt(Math.round(1e9 * seconds));
	let x = 1;
	while (process.hrtime.bigint() < end)
		for (let i = 0; i < 1000; i++)
			x = hot(x);
	return x;
}
main(Number(process.argv[2] || 1));
