# perf script's text to folded text, root first, by command.
my (%count, $comm, @stack);
while (<STDIN>) {
	if (/^\s*$/) {
		$count{join ";", $comm, @stack}++ if defined $comm;
		undef $comm;
		@stack = ();
	} elsif (/^\s*([0-9a-f]+) (.*) \(.*\)$/) {
		my $name = $2;
		$name =~ s/\+0x[0-9a-f]+$//;
		$name =~ tr/;/:/;
		unshift @stack, $name;
	} elsif (/^(\S.*?)\s+\d+(\/\d+)? /) {
		$comm = $1;
	}
}
print "$_ $count{$_}\n" for sort keys %count;
