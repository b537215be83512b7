#!/usr/bin/env python3
"""A server for one test: recipe-server.py DIR. Listens on 127.0.0.1, writes its port to DIR/port, and exits
after ten minutes.

PUT /path keeps the body in DIR/put/path. POST /ingest accepts what Pyroscope accepts, as strictly: only
digits after each stack, or the whole upload fails; data after a line of 64 KiB is dropped silently; more than
16,000 stacks or 4 MiB are refused; so is everything on paths with "late", as too old. The parsed request is
added to DIR/ingest as a line of JSON, the body is in DIR/body. POST /api/profiles/writeraw does the same for
Parca, into DIR/writeraw, a line per series, with the pprof in DIR/pprof: it refuses requests that Parca's
normalizer and gateway refuse, with their messages. Other paths that end in /writeraw get a page with 200.
Paths with "flaky" fail twice with 503 before they succeed, "refused" gets 403, "down" always 503.
"""
import base64
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


class TooMuch(Exception):
    pass


def ingest(query, kind, body, late):
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
        profile = gzip.decompress(parts["profile"])
        p, kinds, _, sums, _ = pprof(profile)
        query["stacks"], query["bytes"] = len(p["sample"]), len(profile)
        query["total"] = dict(zip((name for name, unit in kinds), sums))["samples"]
        body = parts["profile"]
    else:
        assert query["format"] == "folded", "format"
        query["total"], query["stacks"], query["bytes"] = folded(body), len(body.splitlines()), len(body)
    if query["stacks"] > 16000:
        raise TooMuch("the profile with labels '%s' exceeds the samples limit (max_profile_stacktrace_samples, actual: %d, limit: 16000)"
                      % (query["name"], query["stacks"]))
    if query["bytes"] > 4 << 20:
        raise TooMuch("the profile with labels '%s' exceeds the size limit (max_profile_size_byte, actual: %d, limit: %d)"
                      % (query["name"], query["bytes"], 4 << 20))
    if late:
        raise TooMuch("profile with labels '%s' is outside of ingestion window" % query["name"])
    with open(directory + "/body", "wb") as f:
        f.write(body)
    with open(directory + "/bodies", "ab") as f:
        f.write(body)
    with open(directory + "/ingest", "a") as f:
        f.write(json.dumps(query, sort_keys=True) + "\n")


class Refused(Exception):
    """Has gRPC's codes: 2 is unknown, 3 an invalid argument, 8 resource exhausted."""
    HTTP = {2: 500, 3: 400, 8: 429}

    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message


def demand(truth, message, code=3):
    if not truth:
        raise Refused(code, message)


def fields(data):
    """Yields the fields of a protobuf message: number and value, which is a number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            assert at + value <= len(data), "unexpected EOF"
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0, "wire type"
        yield key >> 3, value


def message(data, names, lists=()):
    """Returns a message's fields by name; those in lists are lists of messages or of (packed) numbers."""
    result = {name: [] for name in lists}
    for number, value in fields(data):
        name = names.get(number)
        if name in result and name in lists:
            if name in ("value", "location_id") and isinstance(value, bytes):
                value = [v for _, v in fields(b"".join(b"\x08" + p for p in re.findall(rb"[\x80-\xff]*[\0-\x7f]", value)))]
                result[name] += value
            else:
                result[name].append(value)
        elif name:
            result[name] = value
    return result


PROFILE = {1: "sample_type", 2: "sample", 3: "mapping", 4: "location", 5: "function", 6: "string_table", 9: "time_nanos", 10: "duration_nanos",
           11: "period_type", 12: "period"}


def pprof(data):
    p = message(data, PROFILE, ("sample_type", "sample", "mapping", "location", "function", "string_table"))
    strings = [s.decode("utf-8") for s in p["string_table"]]

    def text(index, what):
        demand(index == 0 or index < len(strings), "invalid profile: %s has invalid index %d" % (what, index))
        return strings[index] if strings else ""

    def numbered(what, names, lists=()):
        found = [message(m, names, lists) for m in p[what]]
        demand([m.get("id") for m in found] == list(range(1, len(found) + 1)), "invalid profile: %s id is not sequential" % what)
        return found

    demand(not strings or strings[0] == "", "invalid profile: first item in string table is expected to be empty string")
    mappings = numbered("mapping", {1: "id", 5: "filename", 6: "build_id"})
    for m in mappings:
        text(m.get("filename", 0), "mapping"), text(m.get("build_id", 0), "mapping")
    functions = numbered("function", {1: "id", 2: "name", 3: "system_name", 4: "filename"})
    for f in functions:
        f["text"] = text(f.get("name", 0), "function")
        text(f.get("system_name", 0), "function"), text(f.get("filename", 0), "function")
    locations = numbered("location", {1: "id", 2: "mapping_id", 3: "address", 4: "line"}, ("line",))
    for l in locations:
        demand(l.get("mapping_id", 0) <= len(mappings), "invalid profile: location has invalid mapping id")
        l["functions"] = [message(n, {1: "function_id"}).get("function_id", 0) for n in l["line"]]
        demand(all(n <= len(functions) for n in l["functions"]), "invalid profile: location %d has invalid function id" % l["id"])

    def kind(data):
        m = message(data, {1: "type", 2: "unit"})
        return text(m.get("type", 0), "type"), text(m.get("unit", 0), "unit")

    types = [kind(t) for t in p["sample_type"]]
    demand(types or not p["sample"], "invalid profile: missing sample type information")
    period = kind(p["period_type"]) if "period_type" in p else ("", "")
    sums, stacks = [0] * len(types), {}
    for data in p["sample"]:
        s = message(data, {1: "location_id", 2: "value", 3: "label"}, ("location_id", "value", "label"))
        demand(len(s["value"]) == len(types), "invalid profile: mismatch: sample has %d values vs. %d types" % (len(s["value"]), len(types)))
        demand(all(0 < l <= len(locations) for l in s["location_id"]), "invalid profile: location ids of stacktraces must be non-zero, and in range")
        for label in s["label"]:
            label = message(label, {1: "key", 2: "str"})
            demand(label.get("key", 0) != 0, "invalid profile: sample label has no key")
            text(label["key"], "label"), text(label.get("str", 0), "label")
        sums = [a + b for a, b in zip(sums, s["value"])]
        stack = ";".join(functions[f - 1]["text"] for l in reversed(s["location_id"]) for f in reversed(locations[l - 1]["functions"]))
        stacks[stack] = stacks.get(stack, 0) + s["value"][0]
    return p, types, period, sums, stacks


WORD = r"[A-Za-z_][A-Za-z0-9_]*"


def writeraw(body):
    """Does Parca's WriteRaw: checks a request and keeps its series."""
    try:
        request = json.loads(body.decode("utf-8"))
    except ValueError as e:
        raise Refused(3, "proto: syntax error: %s" % e)
    taken, length = [], 0
    for series in request.get("series", []):
        name, labels = "", {}
        for label in series["labels"]["labels"]:
            key, value = label.get("name", ""), label.get("value", "")
            value.encode("utf-8") # a lone surrogate is not valid
            length += len(key) + len(value)
            if key == "__name__":
                name = value
                continue
            demand(re.fullmatch(WORD, key), "invalid label name: " + key)
            demand(key not in labels, "duplicate label name: " + key)
            labels[key] = value
        demand(name, "missing __name__ label")
        for sample in series["samples"]:
            raw = base64.b64decode(sample["rawProfile"], validate=True)
            length += len(raw)
            demand(length <= 64 << 20, "grpc: received message larger than max (%d vs. 67108864)" % length, 8)
            try:
                data = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
            except Exception as e:
                raise Refused(2, "decompressing profile: %s" % e)
            try:
                p, types, period, sums, stacks = pprof(data)
            except (AssertionError, IndexError) as e:
                raise Refused(3, "failed to parse profile: %s" % e)
            delta = ":delta" if p.get("duration_nanos") else ""
            full = ["%s:%s:%s:%s:%s%s" % ((name,) + t + period + (delta,)) for t in types]
            for i, text in enumerate(full):
                demand(not sums[i] or re.fullmatch("%s(:%s)*" % (WORD, "[A-Za-z0-9_]*"), text), "invalid profile type at row 0 (%s)" % text, 2)
            # Queries split the type at colons.
            demand(all(t.count(":") == 4 + bool(delta) for t in full), "the double: no query finds the type", 2)
            taken.append({"labels": labels, "types": full, "sums": sums, "time": p.get("time_nanos", 0),
                          "duration": p.get("duration_nanos", 0), "period": p.get("period", 0), "stacks": stacks})
            with open(directory + "/pprof", "wb") as f:
                f.write(raw)
    with open(directory + "/writeraw", "a") as f:
        f.write("".join(json.dumps(t, sort_keys=True) + "\n" for t in taken))


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
            self.answer(403, '{"code":7,"message":"who are you?","details":[]}' if "writeraw" in path else "")
        elif "down" in path or "flaky" in path and tries[path] <= 2:
            self.answer(503)
        else:
            return False
        return True

    def do_PUT(self):
        body, path = self.body(), urllib.parse.urlsplit(self.path).path
        if self.fails(path):
            return
        path = os.fsdecode(urllib.parse.unquote_to_bytes(path.encode("latin-1")))
        to = directory + "/put" + os.path.normpath(path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as f:
            f.write(body)
        self.answer(201)

    def do_POST(self):
        body, url = self.body(), urllib.parse.urlsplit(self.path)
        if "small" in url.path: # as a proxy in front of a server
            self.answer(413, "<html>Request Entity Too Large</html>")
            return
        if self.fails(url.path):
            return
        if url.path.endswith("/api/profiles/writeraw"):
            with open(directory + "/bearer", "a") as f:
                f.write(self.headers.get("Authorization", "") + "\n")
            try:
                demand("strange" not in url.path, "no \"room\" for it")
                writeraw(body)
            except Refused as e:
                self.answer(e.HTTP[e.code], json.dumps({"code": e.code, "message": e.message, "details": []}))
                return
            except Exception as e:
                self.answer(500, "%s: %s" % (type(e).__name__, e))
                return
            self.answer(200, "{}")
            return
        if url.path.endswith("/writeraw"):
            self.answer(200, "<!doctype html>")
            return
        try:
            assert url.path.endswith("/ingest"), "path"
            ingest(url.query, self.headers.get("Content-Type", ""), body, "late" in url.path)
        except TooMuch as e:
            self.answer(400, json.dumps({"code": "invalid_argument", "message": str(e)}))
            return
        except Exception as e:
            self.answer(422, "%s: %s" % (type(e).__name__, e))
            return
        self.answer(200)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(directory + "/port.new", "w") as f:
    f.write("%d\n" % server.server_address[1])
os.rename(directory + "/port.new", directory + "/port")
threading.Timer(600, lambda: os._exit(1)).start()
server.serve_forever()
