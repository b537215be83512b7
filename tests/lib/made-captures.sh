# made_capture START COMM... : a capture of a second that begins START seconds after 2026-11-26T12:00:00Z,
# with two samples of each command; those in a container are named NAME@CONTAINER. command_line= and
# made_host= go into the header.
made_capture() {
	start=$((1795694400 + $1)) id=0
	shift
	cat <<-END
	segment major=1 minor=0 least=1
	meta key="host" value="${made_host:-h}"
	meta key="boot-id" value="b"
	meta key="start-realtime-ns" value="${start}000000000"
	meta key="start-monotonic-ns" value="1000000000"
	meta key="command-line" value="${command_line:-cprof-record -a}"
	event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
	flush
	END
	for comm; do
		id=$((id + 1))
		cat <<-END
		process id=$id time=1000000000 pid=$((100 + id)) nspid=0 parent=0 start=5 gen=0 via=snapshot
		thread id=$id time=1000000000 process=$id tid=$((100 + id))
		comm time=1000000000 thread=$id comm="${comm%@*}"
		END
		case $comm in *@*)
			printf 'cgroup id=%d path="/docker/%012x%052x"\n' $id "0x${comm#*@}" 0
			printf 'member time=1000000000 process=%d cgroup=%d\n' $id $id ;;
		esac
		printf 'sample time=%d event=1 cpu=0 thread=%d user=6 kernel=0 weight=10000000\n' \
			1100000000 $id 1600000000 $id
	done
	printf 'end time=2000000000 reason=closed samples=%d\nflush\n' $((2 * id))
}
