#!/usr/bin/env python3
"""A server for one test: recipe-server.py DIR. Listens on 127.0.0.1, writes its port to DIR/port, and ends after a minute.

PUT /path keeps the body in DIR/put/path. POST /ingest takes what Pyroscope takes, as strictly: digits only behind each stack, or all of
the upload fails; what follows a line of 64 KiB is dropped without a word. What it understood goes to DIR/ingest as a line of JSON,
the body to DIR/body. Paths with "flaky" fail twice with 503 before they go well, "refused" is 403, "down" always 503.
"""
import email
import gzip
import http.server
import json
import os
import re
import sys
import threading
import urllib.parse

directory = sys.argv[1]
tries = {}


def multipart(kind, body):
    message = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    parts = {}
    for part in message.get_payload():
        assert part.get_filename(), "Pyroscope takes parts that are files"
        parts[part.get_param("name", header="content-disposition")] = part.get_payload(decode=True)
    return parts


def labels(name):
    match = re.fullmatch(r"([A-Za-z0-9_.-]+)\{([^{}]*)\}", name)
    assert match, "name"
    pairs = [p.split("=") for p in match.group(2).split(",") if p]
    assert all(len(p) == 2 and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", p[0]) for p in pairs), "labels"
    assert len({p[0] for p in pairs}) == len(pairs), "a label twice"
    return match.group(1), dict(pairs)


def folded(body):
    total = 0
    for line in body.split(b"\n")[:-1] if body.endswith(b"\n") else body.split(b"\n"):
        if len(line) >= 65536:
            break
        match = re.fullmatch(rb"(\S.*) ([0-9]+)", line)
        assert match, "line"
        match.group(1).decode("utf-8")
        total += int(match.group(2))
    return total


def ingest(query, kind, body):
    query = {k: v for k, v in urllib.parse.parse_qsl(query, strict_parsing=True)}
    for key in ("from", "until", "sampleRate"):
        assert re.fullmatch("[0-9]+", query[key]), key
    assert int(query["from"]) < int(query["until"]), "times"
    assert int(query["sampleRate"]) < 1 << 32, "sampleRate"
    assert query["units"] == "samples" and query["aggregationType"] == "sum", "units"
    query["app"], query["labels"] = labels(query["name"])
    if query["format"] == "pprof":
        parts = multipart(kind, body)
        types = json.loads(parts["sample_type_config"])
        assert types["cpu"]["units"] == "nanoseconds", "types"
        query["bytes"] = len(gzip.decompress(parts["profile"]))
        body = parts["profile"]
    else:
        assert query["format"] == "folded", "format"
        query["total"] = folded(body)
    with open(directory + "/body", "wb") as f:
        f.write(body)
    with open(directory + "/ingest", "a") as f:
        f.write(json.dumps(query, sort_keys=True) + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, text=""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def fails(self, path):
        tries[path] = tries.get(path, 0) + 1
        with open(directory + "/tries", "a") as f:
            f.write(path + "\n")
        if "refused" in path:
            self.answer(403)
        elif "down" in path or "flaky" in path and tries[path] <= 2:
            self.answer(503)
        else:
            return False
        return True

    def do_PUT(self):
        body, path = self.body(), urllib.parse.urlsplit(self.path).path
        if self.fails(path):
            return
        to = directory + "/put" + os.path.normpath(path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as f:
            f.write(body)
        self.answer(201)

    def do_POST(self):
        body, url = self.body(), urllib.parse.urlsplit(self.path)
        if self.fails(url.path):
            return
        try:
            assert url.path.endswith("/ingest"), "path"
            ingest(url.query, self.headers.get("Content-Type", ""), body)
        except Exception as e:
            self.answer(422, "%s: %s" % (type(e).__name__, e))
            return
        self.answer(200)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(directory + "/port.new", "w") as f:
    f.write("%d\n" % server.server_address[1])
os.rename(directory + "/port.new", directory + "/port")
threading.Timer(60, lambda: os._exit(1)).start()
server.serve_forever()
