# eventful SEED HOST SECOND HERTZ: makes HOST.bin and, with names, HOST.sym, from the samples of
# convert-made.py over ten seconds; most of them become other events: waits that last for seconds, page faults
# and a tracepoint. Complete and in order.
eventful() {
	python3 "$tests/cmd/convert-made.py" "$1" 400 | sed 's,/opt/o1/app,/opt/o1/other,' | awk -v host="$2" -v at="$3" -v hertz="$4" '
		/^segment/ { sub(/minor=1/, "minor=2"); n = 0 }
		/^meta key="host"/ { print "meta key=\"host\" value=\"" host "\"\nmeta key=\"label.service\" value=\"shop\"\nmeta key=\"start-monotonic-ns\" value=\"1\""; next }
		/^meta key="start-realtime-ns"/ { print "meta key=\"start-realtime-ns\" value=\"" at "000000000\""; next }
		/^event / {
			print "event id=1 name=\"cpu-clock\" unit=\"ns\" period=" 1e9 / hertz " millihertz=" hertz "000"
			print "event id=2 name=\"off-cpu:sleep\" unit=\"ns\" period=0 millihertz=0"
			print "event id=4 name=\"off-cpu:run-queue\" unit=\"ns\" period=0 millihertz=0"
			print "event id=5 name=\"page-faults\" unit=\"events\" period=1 millihertz=0"
			print "event id=6 name=\"sched:sched_switch\" unit=\"events\" period=1 millihertz=0"
			next
		}
		/^sample / {
			split($2, time, "="); t = time[2] * 50
			event = n % 7; weight = 1 + n * 13 % 50; n++
			if (event > 1 && event != 2 && event != 4 && event != 5 && event != 6 || event == 0) event = 1
			if (event == 1) weight = n % 10 ? 1e9 / hertz : 3e9 / hertz # as after the rate was lowered
			if (event == 2 || event == 4) weight = t * (0.3 + n % 5 / 10) - n % 2
			$2 = sprintf("time=%.0f", t); $3 = "event=" event; sub(/weight=.*/, sprintf("weight=%.0f", weight))
		}
		/^end / { split($2, time, "="); $2 = sprintf("time=%.0f", time[2] * 50) }
		{ print }' | cprof-dump -r >"$2.bin" && cprof-sym "$2.bin" >"$2.sym" 2>/dev/null
}
