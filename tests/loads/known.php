<?php
/*
 * PHP code of every kind that burns CPU time for a while, and at the end says how long each call stack did:
 * lines "STACK SECONDS" with the stack as PHP itself saw it, NAME:LINE from the script on. Characters are
 * escaped as in cprof-dump's text.
 *	php known.php [seconds of each kind]
 */
namespace {
$seconds = (float)($argv[1] ?? 0.2);
$log = [];

function cpu(): float
{
	$r = getrusage();
	return $r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec'] +
		($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) * 1e-6;
}

/* The stack of burn's caller. PHP gives each function with the line that called it. */
function stack(): string
{
	$frames = [];
	$from = array_slice(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 1);
	foreach ($from as $i => $f) {
		$name = $f['function'];
		if (!isset($f['class']) &&
		    in_array($name, ['include', 'include_once', 'require', 'require_once']))
			$name = '<include>';
		if (!isset($f['class']) && $name == 'eval')
			$name = '<eval>';
		if (isset($f['class']))
			$name = preg_replace('/@anonymous.*/s', '@anonymous', $f['class']) . '::' . $name;
		array_unshift($frames, $name . ($i ? ':' . ($from[$i - 1]['line'] ?? 0) : ''));
	}
	array_unshift($frames, '<main>:' . end($from)['line']);
	return implode(';', $frames);
}

function burn(float $share = 1): void
{
	global $log, $seconds;
	$stack = stack();
	$start = cpu();
	do {
		$x = 0;
		for ($i = 0; $i < 3000; $i++) {
			$x = ($x + $i * $i) % 7919;
			$x ^= $i & 15;
		}
	} while (cpu() < $start + $share * $seconds);
	$log[$stack] = ($log[$stack] ?? 0) + cpu() - $start;
}

function burn_in_c(): void
{
	global $log, $seconds;
	static $text;
	$text = $text ?? str_repeat('text', 1 << 18);
	$stack = stack();
	$start = cpu();
	do {
		hash('sha256', $text);
	} while (cpu() < $start + $seconds);
	$log[$stack] = ($log[$stack] ?? 0) + cpu() - $start;
}

function warm_up() { burn(3); }
function plain() { burn(); }
function deep(int $n) { $n > 1 ? deep($n - 1) : burn(); }
function mapper($x) { burn(1 / 2); return $x; }
function compare($a, $b) { burn(1 / 3); return $a <=> $b; }
function größe_日本() { burn(); }

function numbers()
{
	yield 1;
	burn();
	yield 2;
}

function inner() { yield 1; burn(); yield 2; }
function middle() { yield from inner(); }
function outer() { yield from middle(); }

function failing()
{
	try {
		throw new RuntimeException('x');
	} catch (RuntimeException $e) {
		burn(1 / 2);
	} finally {
		burn(1 / 2);
	}
}

abstract class Shape
{
	public function describe() { $this->area(); }
	abstract public function area();
}

trait Drawn
{
	public function draw() { burn(1 / 2); }
}

class Circle extends Shape
{
	use Drawn;
	public function area() { burn(); }
	public static function unit() { burn(); }
	public function closure() { return function () { burn(); }; }
	public function __get($name) { burn(); return 1; }
}

class Square
{
	use Drawn;
	public function __call($name, $arguments) { burn(); }
	public function __destruct() { burn(); }
}

class Größe { public function maß() { burn(); } }

warm_up();
$circle = new Circle;
plain();
$circle->describe();
Circle::unit();
$circle->closure()();
(function () { burn(); })();
$circle->color;
array_map('mapper', [1, 2]);
$a = [2, 1];
usort($a, 'compare');
deep(20);
foreach (numbers() as $x)
	;
foreach (outer() as $x)
	;
failing();
größe_日本();
(new Größe)->maß();
foreach ([$circle, new Square] as $o)
	$o->draw();
$o->undefined();
$o = null;
(new class { public function run() { burn(); } })->run();
App\Http\handle();
include __DIR__ . '/known_include.php';
eval('function from_text() { burn(); }
burn();');
from_text();
burn_in_c();
if (class_exists('Fiber'))
	eval('$f = new Fiber(function () { burn(1 / 2); Fiber::suspend(1); burn(1 / 2); }); ' .
		'$f->start(); $f->resume();');
function escape(array $m): string { return $m[0] == '\\' ? '\\\\' : sprintf('\\x%02x', ord($m[0])); }
foreach ($log as $stack => $spent)
	printf("%s %.6f\n",
		preg_replace_callback('/[\\\\\x80-\xff]/', 'escape', str_replace(' ', '_', $stack)), $spent);
}

namespace App\Http {
function handle() { \burn(); }
}
