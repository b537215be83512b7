#!/usr/bin/perl
# Spends the same CPU time in each of many kinds of calls, and prints for each the frame that it has and its
# seconds.
#	known.pl [SECONDS [FILE]]	appends to FILE each stack, root first, as caller() has it
use strict;
use warnings;
use utf8;
use Config;
use List::Util qw(first);
use Time::HiRes qw(clock_gettime CLOCK_THREAD_CPUTIME_ID);

my $share = shift // 0.3;
our $stacks = shift;
my %spent;

# The subs and string evals outside of spin, each with its line: NAME (FILE:LINE). A block of eval is not a
# frame.
sub stack {
	my ($list, $at) = ('', '');
	for (my $i = 2; my ($package, $file, $line, $name, undef, undef, $text) = caller $i; $i++) {
		next if $name eq '(eval)' && !defined $text;
		$list = ";$name ($at)$list" if $i > 2;
		$at = $file =~ s,.*/,,r . ":$line";
	}
	return "<main> ($at)$list";
}

sub note_stack {
	open my $to, '>>:utf8', $stacks or die "$stacks: $!";
	print $to stack(), "\n";
}

sub spin {
	note_stack() if defined $stacks;
	my $until = clock_gettime(CLOCK_THREAD_CPUTIME_ID) + $share / ($_[0] // 1);
	my $x = 0;
	while (clock_gettime(CLOCK_THREAD_CPUTIME_ID) < $until) {
		$x += $_ for 1 .. 200;
	}
	return 0;
}

sub measured {
	my ($name, $run, @args) = @_;
	my $began = clock_gettime(CLOCK_THREAD_CPUTIME_ID);
	$run->(@args);
	$spent{$name} = clock_gettime(CLOCK_THREAD_CPUTIME_ID) - $began;
}

sub plain { spin() }

sub recursion {
	my $depth = shift;
	return $depth ? recursion($depth - 1) : spin();
}

# A comparison, and a block that calls.
sub by_number {
	my $same = spin(3);
	return $a <=> $b;
}
sub by_sort { my @sorted = sort by_number 3, 1, 2 }
sub in_block { spin(); return $a <=> $b }
sub by_block { my @sorted = sort { my $order = in_block(); -$order } 2, 1 }
sub in_last { spin() }
sub by_last { my @sorted = sort { in_last() } 2, 1 }

sub in_map { my @list = map { spin(2); $_ } 1, 2 }
sub in_grep { my @list = grep { spin(2); $_ } 1, 2 }
sub in_eval { eval 'spin()' }
eval "sub from_text {\n\tspin();\n}\n1" or die;
sub in_pattern { 'a' =~ /a(?{ spin() })/ }
sub of_pattern { my $one = shift; my $pattern = qr/a(?{ spin() + $one })/; matches($pattern) }
sub matches { 'ba' =~ /b$_[0]/ }
sub in_replacement { my $text = 'aa'; $text =~ s/a/spin(2)/ge }
sub dies { spin(); die "expected\n" }
sub by_die { eval { eval { dies() }; die $@ } }
sub replaced { goto &instead }
sub instead { spin() }
sub größe { spin() }
sub 名前 { spin() }
my $by_lexical = do { no warnings; use feature 'lexical_subs'; my sub lexical { spin() } sub { lexical() } };
our ($of_report, $other);
format REPORT =
@<<
in_format()
.
sub in_format { local $stacks; spin(); return 'x' } # caller() cannot show a format
sub by_format { open REPORT, '>', '/dev/null'; write REPORT }
sub on_signal { spin() }
sub by_signal { local $SIG{USR1} = \&on_signal; kill USR1 => $$ }
sub on_warning { spin() }
sub by_warning { local $SIG{__WARN__} = \&on_warning; warn "expected\n" }

package Shape { sub new { bless {}, shift } sub area { main::spin() } }
package Square { our @ISA = 'Shape'; sub area { my $self = shift; return $self->SUPER::area } }
package Closure { sub made { my $n = shift; return sub { main::spin($n) } } }
package First { sub found { List::Util::first { main::spin() } 1 } }
package Loaded { our $AUTOLOAD; sub AUTOLOAD { return if $AUTOLOAD =~ /DESTROY/; main::spin() } }
package Tied { sub TIESCALAR { bless {}, shift } sub FETCH { main::spin() } }
package Gone { sub new { bless {}, shift } sub DESTROY { main::spin() } }
package Number {
	use overload '+' => \&plus, '""' => sub { main::spin() }, '<=>' => \&compare;
	sub new { bless {}, shift }
	sub plus { main::spin() }
	sub compare { eval { compared() } // 0 } # an eval in code that C code calls
	sub compared { main::spin() }
}

package main;

my $object = Number->new;
measured('main::plain', \&plain);
measured('main::recursion', \&recursion, 20);
measured('main::by_number', \&by_sort);
measured('main::in_block', \&by_block);
measured('main::in_last', \&by_last);
measured("main::$_", \&{"main::$_"})
	for grep { no strict 'refs'; 1 } qw(in_map in_grep in_eval from_text in_pattern in_replacement);
measured('(?{})', \&of_pattern, 1);
measured('main::dies', \&by_die);
measured('main::instead', \&replaced);
measured('main::größe', \&größe);
measured('main::名前', \&名前);
measured('lexical', $by_lexical);
measured('main::in_format', \&by_format);
measured('main::on_signal', \&by_signal);
measured('main::on_warning', \&by_warning);
measured('Shape::area', sub { Square->new->area });
measured('Closure::__ANON__', Closure::made(1));
measured('First::__ANON__', \&First::found);
measured('Loaded::AUTOLOAD', sub { Loaded->missing });
measured('Tied::FETCH', sub { tie my $tied, 'Tied'; my $value = $tied });
measured('Gone::DESTROY', sub { my $gone = Gone->new });
measured('Number::plus', sub { my $sum = $object + 1 });
measured('Number::__ANON__', sub { my $text = "$object" });
measured('Number::compared', sub { my $order = $object <=> 1 });

sub in_thread {
	my $began = clock_gettime(CLOCK_THREAD_CPUTIME_ID);
	spin();
	return clock_gettime(CLOCK_THREAD_CPUTIME_ID) - $began
}
$spent{'main::in_thread'} = threads->create('in_thread')->join
	if $Config{useithreads} && eval { require threads };

binmode STDOUT, ':utf8';
printf "%s %.3f\n", $_, $spent{$_} for sort keys %spent;
