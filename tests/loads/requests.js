// A server whose requests are known: requests.js N. It answers N requests of 4 to 20 ms, and of 40 ms now and
// then, one after the other on one connection. It prints its process id, then the nanoseconds of each request
// by its own clock. A process of its own asks, and pauses for 5 ms between two requests.
'use strict';
const http = require('http');
const { fork } = require('child_process');
const n = Number(process.argv[2]);

function work(ms) {
	const end = process.hrtime.bigint() + BigInt(ms) * 1000000n;
	let i = 0;

	while (process.hrtime.bigint() < end)
		i++;
	return i;
}

function serve() {
	const lengths = [];
	const server = http.createServer((request, response) => {
		const begun = process.hrtime.bigint();

		response.on('finish', () => {
			lengths.push(process.hrtime.bigint() - begun);
			if (lengths.length < n)
				return;
			console.log(`${process.pid}\n${lengths.join('\n')}`);
			server.close();
		});
		response.end(String(work(lengths.length % 20 === 19 ? 40 : 4 + lengths.length * 7 % 17)));
	});

	server.listen(0, '127.0.0.1', () => fork(__filename, [n, server.address().port]));
}

function ask(left) {
	const agent = ask.agent || (ask.agent = new http.Agent({ keepAlive: true, maxSockets: 1 }));

	http.get({ port: process.argv[3], host: '127.0.0.1', agent }, response => {
		response.resume();
		response.on('end', () => left > 1 ? setTimeout(ask, 5, left - 1) : agent.destroy());
	});
}

if (process.argv[3])
	ask(n);
else
	serve();
