# Counts the stacks that lead to an outermost function, by the same rule for all recorders: the position of
# the outermost user frame in its file, whatever the recorder says about its stack.
#
#	cprof-fold -d --truncated CAPTURE | perl outermost.pl fold PATHS [COMMS]
#	perf script -F comm,ip,dso -i FILE   | perl outermost.pl perf PATHS [COMMS]
#
# PATHS: a file with a line for each ELF file that may occur, because fold knows only base names. COMMS: only
# threads with these names, separated by commas. Prints "all samples whole frames": all samples, those of
# these threads, stacks that are whole, frames of their user stacks.
#
# Outermost are the code at the entry point (_start; in ld.so also _dl_start_user), and in libc the functions
# that are marked as having no caller: clone, clone3.
use strict;
use warnings;
no warnings 'portable'; # addresses have 64 bits

my ($kind, $paths, $comms) = @ARGV;
my %comm = map { $_ => 1 } split /,/, $comms // '';
my (%path, %roots);
my ($all, $samples, $whole, $frames) = (0, 0, 0, 0);

sub base { my $name = shift; $name =~ s|.*/||; return $name }

# Adds the ranges of a file: [start, end] as offsets and as addresses, because versions of perf script differ.
sub roots_of_file {
	my $file = shift;
	my (@ranges, @loads, $entry);
	for (`readelf -hlW '$file' 2>/dev/null`) {
		$entry = hex $1 if /Entry point address:\s*0x([0-9a-f]+)/;
		push @loads, [hex $1, hex $2, hex $3] if /^\s*LOAD\s+0x([0-9a-f]+) 0x([0-9a-f]+) \S+ 0x([0-9a-f]+)/;
	}
	push @ranges, [$entry, $entry + 64] if $entry;
	if (base($file) =~ /^libc[.-]/) {
		my @at;
		for (`readelf -wf '$file' 2>/dev/null`) {
			@at = (hex $1, hex $2) if /FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)/;
			push @ranges, [@at, 1] if @at && /DW_CFA_undefined: r16 /;
		}
	}
	for my $r (@ranges) {
		my ($load) = grep { $r->[0] >= $_->[1] && $r->[0] < $_->[1] + $_->[2] } @loads;
		push @{$roots{base($file)}}, $r;
		push @{$roots{base($file)}}, [map { $_ - $load->[1] + $load->[0] } @$r[0, 1]] if $load;
	}
}

# A return address may be the first address after its function.
sub is_outermost {
	my ($name, $offset) = @_;
	if (!$roots{$name}) {
		$roots{$name} = [];
		roots_of_file($_) for @{$path{$name} // []};
	}
	return grep { $offset >= $_->[0] && $offset <= $_->[1] } @{$roots{$name}};
}

sub count {
	my ($who, $n, $depth, $file, $offset) = @_;
	$all += $n;
	return if %comm && !$comm{$who};
	$samples += $n;
	$frames += $n * $depth;
	$whole += $n if defined $file && is_outermost(base($file), $offset);
}

open my $list, '<', $paths or die "$paths: $!\n";
while (<$list>) { chomp; push @{$path{base($_)}}, $_ }

sub fold_line {
	my ($line) = @_;
	my ($stack, $n) = $line =~ /^(.*) (\d+)$/ or return;
	my ($who, @user) = split /;/, $stack;
	@user = @user[0 .. $_ - 1] for grep { $user[$_] eq '-' } reverse 0 .. $#user;
	@user = grep { !/^\[truncated: / } @user;
	my @place = ($user[0] // '') =~ /^\[(.*)\+0x([0-9a-f]+)\]$/;
	count($who, $n, scalar @user, @place ? ($place[0], hex $place[1]) : ());
}

# Takes a head line, frames from the innermost one on, an empty line.
sub perf_sample {
	my ($who, @frames) = @_;
	my @user = grep { !/^ffff/ } @frames;
	my @place = ($user[-1] // '') =~ /^([0-9a-f]+) \((.*)\)$/;
	count($who, 1, scalar @user, @place ? ($place[1], hex $place[0]) : ());
}

if ($kind eq 'fold') {
	fold_line($_) while <STDIN>;
} else {
	my @sample;
	while (<STDIN>) {
		chomp;
		if (/^\s+([0-9a-f]+ \(.*\))$/ && @sample) { push @sample, $1 }
		elsif (/^\s*$/) { perf_sample(@sample) if @sample; @sample = () }
		else { perf_sample(@sample) if @sample; s/^\s+|\s+$//g; @sample = ($_) }
	}
	perf_sample(@sample) if @sample;
}
print "$all $samples $whole $frames\n";
