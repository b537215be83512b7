# Compares the stacks of a capture, as cprof-dump's text, with those that a program of tests/loads logged.
#	cprof-dump c.bin | awk -v truth=FILE -v leaf=REGEX [-v skip=REGEX] -f lang-judge.awk
# leaf: the function that a logged stack ends in; inner frames and machine frames are left out. Stacks that skip
# matches are left out. Prints "samples N", "wrong N" and the first wrong stacks, "worst POINTS STACK", and
# "outside N STATE" for samples without such a function.
function value(key,   i) { for (i = 2; i <= NF; i++) if (index($i, key "=") == 1) return substr($i, length(key) + 2); return "" }
function text(key) { return match($0, " " key "=\"[^\"]*\"") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 4) : "" }
BEGIN {
	while ((getline line < truth) > 0) {
		n = index(line, " ")
		spent[substr(line, 1, n - 1)] += substr(line, n + 1)
	}
}
$1 == "function" { names[value("id")] = text("name"); gsub(" ", "_", names[value("id")]) }
$1 == "lang-frame" {
	id = value("id")
	state[id] = value("state")
	name[id] = names[value("function")]
	at[id] = state[id] == "ok" ? name[id] ":" value("line") : "(" state[id] ")"
}
$1 == "frame" { delete at[value("id")] }
$1 == "node" { parent[value("id")] = value("parent"); frame[value("id")] = value("frame") }
$1 == "sample" {
	stack = ""; found = 0; why = "none"
	for (node = value("user"); node != 0; node = parent[node]) {
		f = frame[node]
		if (!(f in at))
			continue
		if (state[f] != "ok")
			why = state[f]
		if (name[f] ~ leaf) {
			stack = name[f]
			found = 1
		} else if (found) {
			stack = at[f] ";" stack
		}
	}
	if (!found)
		outside[why]++
	else
		got[stack]++
}
END {
	for (s in spent) {
		if (skip != "" && s ~ skip)
			delete spent[s]
		else
			all += spent[s]
	}
	for (s in got) {
		if (skip != "" && s ~ skip)
			continue
		if (s in spent)
			samples += got[s]
		else {
			wrong += got[s]
			bad[s] = got[s]
		}
	}
	print "samples", samples + wrong
	print "wrong", wrong + 0
	for (s in bad)
		if (shown++ < 5)
			print "  " s, bad[s]
	for (s in spent) {
		off = 100 * spent[s] / all - (samples ? 100 * got[s] / samples : 0)
		if (off < 0)
			off = -off
		if (off >= worst) {
			worst = off
			which = s
		}
	}
	printf "worst %.2f %s\n", worst, which
	for (w in outside)
		print "outside", outside[w], w
}
