// Makes functions anew all the time, runs each once, and prints when: name, begin and end by CLOCK_MONOTONIC.
'use strict';
const until = process.hrtime.bigint() + BigInt(Math.round(1e9 * Number(process.argv[2] || 1)));
const log = [];
let garbage = [];

for (let n = 0; process.hrtime.bigint() < until; n++) {
	const name = 'made_' + n + (n % 3 ? '' : '_größe') + (n % 5 ? '' : '_名');
	const made = new Function('end', `return function ${name}(end) {
		let x = 0, kept = [];
		do {
			for (let i = 0; i < 2000; i++) {
				x = (x * 31 + i) % 1000003;
				if (i % 50 === 0) kept.push({ x });
			}
		} while (process.hrtime.bigint() < end);
		return kept;
	}`)();
	const began = process.hrtime.bigint();
	garbage.push(made(began + 3000000n));
	log.push(name + ' ' + began + ' ' + process.hrtime.bigint());
	if (garbage.length > 20)
		garbage = [];
	if (globalThis.gc && n % 7 === 0)
		globalThis.gc();
}
console.log(log.join('\n'));
