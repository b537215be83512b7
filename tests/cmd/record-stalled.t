#!/bin/sh
# A reader of standard output that does not read: signals still end the recording.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
cat >"$tmp/stalled.py" <<'P'
# stalled.py PLAN BIN ERR: records into a small pipe that nobody reads until it is full, then does what PLAN says, a word each: int,
# term and hup send a signal and wait until it is taken, told waits for the sentence, read takes all that comes, close closes the
# pipe. Prints the status; ERR has standard error, ERR.bin what was read.
import fcntl, os, select, signal, subprocess, sys, time
plan, binary, err = sys.argv[1:]
r, w = os.pipe()
fcntl.fcntl(w, 1031, 4096)  # F_SETPIPE_SZ
with open(err, 'wb') as errors:
    p = subprocess.Popen([binary, '-a', '-F', '997', '60'], stdout=w, stderr=errors)
full = select.poll()
full.register(w, select.POLLOUT)
while full.poll(0):
    time.sleep(0.02)
os.close(w)

def pending():
    with open('/proc/%d/status' % p.pid) as f:
        return [int(line.split()[1], 16) for line in f if line.startswith(('SigPnd', 'ShdPnd'))] != [0, 0]

data = b''
for word in plan.split():
    if word == 'read':
        while True:
            piece = os.read(r, 65536)
            if not piece:
                break
            data += piece
    elif word == 'told':
        for _ in range(3000):
            if b'one more signal ends the wait' in open(err, 'rb').read():
                break
            time.sleep(0.01)
    elif word == 'close':
        os.close(r)
    else:
        p.send_signal({'int': signal.SIGINT, 'term': signal.SIGTERM, 'hup': signal.SIGHUP}[word])
        for _ in range(3000):
            if p.poll() is not None or not pending():
                break
            time.sleep(0.01)
        else:
            p.kill()
            print('not taken')
            sys.exit()
with open(err + '.bin', 'wb') as f:
    f.write(data)
try:
    print(p.wait(30))
except subprocess.TimeoutExpired:
    p.kill()
    print('goes on')
P
stalled() { python3 "$tmp/stalled.py" "$1" "$BIN/cprof-record" "$tmp/err"; }

for two in "term term" "int int" "hup term"; do
	is "$two: the second one gives up" "$(stalled "$two")" 1
	like "  and says why" "$(cat "$tmp/err")" '^cprof-record: standard output: cannot write: it was not read, and a signal ended the wait$'
done
is "one, after which the recorder explains a second one" "$(stalled "term told term")" 1
is "one, and then it is read" "$(stalled "term read")" 0
is "  the capture is whole" "$(cprof-dump "$tmp/err.bin" 2>&1 | grep -c '^end .*closed')" 1
is "one, and then the reader goes: SIGPIPE, as any filter" "$(stalled "term close")" -13
done_testing
