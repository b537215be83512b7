// Makes functions anew all the time, runs each once, and prints when: name, begin and end by CLOCK_MONOTONIC.
// Argument: how many. Each does the same work, however long it has to wait for a CPU.
'use strict';
const last = Number(process.argv[2] || 100);
const log = [];
let garbage = [];

for (let n = 0; n < last; n++) {
	const name = 'made_' + n + (n % 3 ? '' : '_größe') + (n % 5 ? '' : '_名');
	const made = new Function('end', `return function ${name}(rounds) {
		let x = 0, kept = [];
		for (let k = 0; k < rounds; k++) {
			for (let i = 0; i < 2000; i++) {
				x = (x * 31 + i) % 1000003;
				if (i % 50 === 0) kept.push({ x });
			}
		}
		return kept;
	}`)();
	const began = process.hrtime.bigint();
	garbage.push(made(60));
	log.push(name + ' ' + began + ' ' + process.hrtime.bigint());
	if (garbage.length > 20)
		garbage = [];
	if (globalThis.gc && n % 7 === 0)
		globalThis.gc();
}
console.log(log.join('\n'));
