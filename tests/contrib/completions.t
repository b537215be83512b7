#!/bin/sh
# Zsh and fish complete what --help lists. tests/contrib/dist-install.t tests bash.
. "$(dirname "$0")/../lib/lib.sh"
cd "$tmp" || exit 1
mkdir empty

# The options of --help, as "--cum" and "-n"
listed() {
	"$1" --help | sed -nE 's/^  (-(.), |    )--([a-z-]+).*/-\2\n--\3/p' | grep -vx -- - | sort -u | xargs
}
# offered TEXT: what fish offers for it, with its text
offered() {
	HOME=$tmp fish --no-config -c "source $top/contrib/completions/cprof.fish; complete -C '$1'"
}

if command -v fish >/dev/null; then
	for p in cprof-record cprof-top cprof-sym; do
		offered "$p -" >out 2>err
		is "fish: $p has the options of --help" \
			"$(cut -f 1 out | grep -oE '^--?[A-Za-z-]+' | sort -u | xargs)" "$(listed $p)"
		is "  without a message" "$(cat err)" ""
	done
	is "fish: cprof has its commands" "$(offered 'cprof ' | cut -f 1 | sort | xargs)" \
		"$(cprof help | sed -nE 's/^  ([a-z]+) .*/\1/p; $a help' | sort | xargs)"
	is "fish: a command of cprof has its options" "$(offered 'cprof top --cu')" "--cum	sort by cum"
	like "fish: an option has its text" "$(offered 'cprof-top --cu')" '^--cum.sort by cum$'
	is "fish: an option has its values" \
		"$(offered 'cprof-record --engine ' | cut -f 1 | xargs)" "auto bpf perf"
else
	skip "fish" "fish is not here"
fi

if command -v zsh >/dev/null; then
	# Zsh completes only on a terminal, so the specifications for _arguments are compared.
	for p in cprof-record cprof-top cprof-sym; do
		cat >spec.zsh <<-END
			setopt extendedglob
			functions[_whole]="\$(<$top/contrib/completions/_cprof)"
			_arguments() { :; }
			words=($p)
			CURRENT=1
			_whole
			$p --help | { local -a specs match; _cprof_specs; print -rl -- \$specs }
		END
		zsh -f spec.zsh >out 2>err
		is "zsh: $p has the options of --help" \
			"$(sed -E 's/^\*//; s/[+=[].*//; s/-$//' out | sort -u | xargs)" "$(listed $p)"
		is "  without a message" "$(cat err)" ""
	done
	like "zsh: an option has its text" "$(cat out)" '^\*-v\[list how many'
	zsh -f -c "$(sed 's/^words=.*/words=(cprof-record)/; s/^cprof-sym/cprof-record/' spec.zsh)" >out 2>err
	like "zsh: an option has its values" "$(cat out)" '^\*--engine=\[.*\]:value:\(auto bpf perf\)$'
	python3 - "$top/contrib/completions/_cprof" <<-'END' >got 2>err
		import os, pty, select, sys, time
		os.makedirs("functions", exist_ok=True)
		with open("functions/_cprof", "w") as f:
		    f.write(open(sys.argv[1]).read())
		pid, fd = pty.fork()
		if not pid:
		    os.execvp("zsh", ["zsh", "-f", "-i"])
		text, step, until = b"", 0, time.time() + 60
		says = [b"PS1='ready> '; fpath=($PWD/functions $fpath)\n",
		        b"autoload -U compinit; compinit -D -u\n",
		        b"cprof-top --coll\t", b"\x15cprof-sym --debuginf\t",
		        b"\x15cprof anno\t", b"\x15cprof top --min-sh\t"]
		waits = [b"", b"ready> ", b"ready> ", b"--collapse-recursion", b"--debuginfod", b"annotate",
		         b"--min-share"]
		while time.time() < until and step < len(waits):
		    if waits[step] in text:
		        if step < len(says):
		            text = b""
		            os.write(fd, says[step])
		        step += 1
		    elif select.select([fd], [], [], 0.2)[0]:
		        try:
		            text += os.read(fd, 65536)
		        except OSError:
		            break
		print("completed" if step == len(waits) else repr(text))
		os.kill(pid, 9)
	END
	is "zsh: it completes on a terminal" "$(cat got)" completed
else
	skip "zsh" "zsh is not here"
fi
done_testing
