// Spends the same CPU time in each of many kinds of JavaScript calls, and prints for each its name and seconds.
'use strict';
const share = Number(process.argv[2] || 0.3);
const spent = [];

function cpu() {
	const used = process.cpuUsage();
	return (used.user + used.system) / 1e6;
}

function spin(until) {
	let x = 0;
	do {
		for (let i = 0; i < 20000; i++)
			x = (x * 31 + i) % 1000003;
	} while (cpu() < until);
	return x;
}

function recursion(depth, until) {
	return depth ? recursion(depth - 1, until) + 1 : spin(until);
}

class Base {
	constructor(until) { if (until) spin(until); }
	override(until) { return spin(until); }
	static ofClass(until) { return spin(until); }
	get attribute() { return spin(this.until); }
	#hidden(until) { return spin(until); }
	callHidden(until) { return this.#hidden(until); }
	größe(until) { return spin(until); }
	名前(until) { return spin(until); }
}

class Derived extends Base {
	override(until) { return super.override(until) + 1; }
}

function* generator(until) { yield spin(until); }
async function coroutine(until) { spin(until); await null; }
async function afterAwait(until) { await null; spin(until); }
const arrow = (until) => spin(until);
const made = { inObject(until) { return spin(until); }, ['computed' + 1]: function computed(until) { return spin(until); } };
const closure = (function (factor) { return function closureOf(until) { return spin(until) * factor; }; })(2);
const byEval = eval('(function fromEval(until) { return spin(until); })');
const byText = new Function('spin', 'until', 'return (function fromText() { return spin(until); })();');
const handler = { get: function trap(target, name) { return spin(target.until); } };
const bound = function boundOne(until) { return spin(until); }.bind(null);

function tag(strings, until) { return spin(until); }

// name, how to call it
const kinds = [
	['recursion', (until) => recursion(30, until)],
	['closureOf', closure],
	['Base', (until) => new Base(until)],
	['override', (until) => new Derived().override(until)],
	['ofClass', (until) => Base.ofClass(until)],
	['get attribute', (until) => Object.assign(new Base(), { until }).attribute],
	['#hidden', (until) => new Base().callHidden(until)],
	['größe', (until) => new Base().größe(until)],
	['名前', (until) => new Base().名前(until)],
	['generator', (until) => generator(until).next()],
	['coroutine', coroutine],
	['afterAwait', afterAwait],
	['arrow', arrow],
	['inObject', (until) => made.inObject(until)],
	['computed', (until) => made.computed1(until)],
	['fromEval', byEval],
	['fromText', (until) => byText(spin, until)],
	['trap', (until) => new Proxy({ until }, handler).missing],
	['boundOne', bound],
	['tag', (until) => tag`${until}`],
	['bySort', (until) => [2, 1].sort(function bySort() { spin(until); return 0; })],
	['byMap', (until) => [1].map(function byMap() { return spin(until); })],
	['byReplace', (until) => 'a'.replace(/a/, function byReplace() { spin(until); return ''; })],
	['byJson', (until) => JSON.stringify([1], function byJson(key, value) { if (key === '') spin(until); return value; })],
	['byTimer', (until) => new Promise((done) => setTimeout(function byTimer() { done(spin(until)); }, 1))],
	['byImmediate', (until) => new Promise((done) => setImmediate(function byImmediate() { done(spin(until)); }))],
	['byTick', (until) => new Promise((done) => process.nextTick(function byTick() { done(spin(until)); }))],
];

async function main() {
	for (const [name, run] of kinds) {
		const began = cpu();
		await run(began + share);
		spent.push([name, cpu() - began]);
	}
	for (const [name, seconds] of spent)
		console.log(name, seconds.toFixed(3));
}

main();
