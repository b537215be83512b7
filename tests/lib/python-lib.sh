# Known programs of interpreted languages: . "$tests/lib/python-lib.sh"

# shares_of FOLDED PROGRAM: compares the shares of samples with the seconds that tests/loads/known.* printed
# to PROGRAM. Prints "NAME got want" of each that is off by more than 2 points, and "all N" in the end.
shares_of() {
	awk 'NR == FNR { seconds = $NF; sub(/ [0-9.]+$/, ""); want[$0] = seconds; sum += seconds; next }
		{ n = $NF; sub(/ [0-9]+$/, ""); stack = ";" $0 ";"
			for (name in want) if (index(stack, ";" name ";")) { got[name] += n; total += n } }
		END { for (name in want) { g = 100 * got[name] / total; w = 100 * want[name] / sum; k++
				if (g - w > 2 || w - g > 2) printf "%s %.1f %.1f\n", name, g, w }
			print "all", k }' "$2" "$1"
}
