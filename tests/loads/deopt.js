// Deoptimizes code some ten thousand times a second. Each function has a line for each of its calls.
// Arguments: milliseconds, and "none" to optimize nothing. Requires --allow-natives-syntax. Prints how many
// rounds.
'use strict';
const optimizes = process.argv[3] !== 'none';

function spin(n) {
	let x = n;
	for (let i = 0; i < n * 200; i++)
		x = (x * 31 + i) % 1000003;
	return x;
}

// All of its frames go on in the interpreter, one after another.
function bottom() {
	if (optimizes)
		%DeoptimizeFunction(recursion);
	return spin(5);
}

function recursion(depth) {
	let x = 1;
	if (depth)
		x += recursion(depth - 1);
	else
		x += bottom();
	x += spin(1);
	return x;
}

// The compiler puts these into one another, for whole numbers. Then come others, which it does not expect.
function inner(x) {
	let y = x + x;
	y += spin(1);
	return y;
}

function middle(x) {
	let y = x * 3;
	y += inner(x + 1);
	y += spin(1);
	return y;
}

function outer(x) {
	let y = x - 1;
	y += middle(x + 1);
	y += inner(x);
	return y;
}

function prepare(f) {
	if (optimizes) {
		%ClearFunctionFeedback(f);
		%PrepareFunctionForOptimization(f);
	}
}

function optimize(f) {
	if (optimizes)
		%OptimizeFunctionOnNextCall(f);
}

function recursions() {
	prepare(recursion);
	recursion(3);
	optimize(recursion);
	recursion(30);
}

function types() {
	for (const f of [outer, middle, inner])
		prepare(f);
	outer(1);
	outer(2);
	optimize(outer);
	optimize(middle);
	optimize(inner);
	outer(3);
	middle(3);
	inner(3);
	outer(0.5);
	middle('text');
	inner('text');
}

function drive(end) {
	let rounds = 0;
	for (; Date.now() < end; rounds++) {
		recursions();
		types();
	}
	return rounds;
}

console.log('rounds ' + drive(Date.now() + Number(process.argv[2])));
