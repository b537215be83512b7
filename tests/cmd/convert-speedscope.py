#!/usr/bin/env python3
"""convert-speedscope.py INDEX.HTML FILE...: opens each file in speedscope, and prints its title and the table
of the sandwich view: "FILE: title", "FILE: TOTAL SELF NAME". An error in the page or a request to the network
is an error.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from browser import Browser  # noqa: E402


def table(text):
    """Yields "TOTAL SELF NAME"; the lines are "TOTAL (SHARE)", "SELF (SHARE)" and the name in turn."""
    lines = [line.strip() for line in text.split("Symbol Name", 1)[1].split("\n")]
    lines = [line for line in lines if line]
    for total, self, name in zip(lines[0::3], lines[1::3], lines[2::3]):
        yield "%s %s %s" % (re.sub(r" \(.*", "", total), re.sub(r" \(.*", "", self), name)


def look(browser, index, path):
    browser.open(index)
    browser.wait("document.querySelector('input[type=file]')")
    document = browser.call("DOM.getDocument")["root"]["nodeId"]
    node = browser.call("DOM.querySelector", nodeId=document, selector="input[type=file]")["nodeId"]
    browser.call("DOM.setFileInputFiles", nodeId=node, files=[os.path.abspath(path)])
    browser.wait("document.title.endsWith(' - speedscope')")
    browser.wait("document.body.innerText.includes('Sandwich')")
    browser.key("3")
    browser.wait("document.body.innerText.includes('Symbol Name')")
    name = os.path.basename(path)
    print("%s: %s" % (name, browser.value("document.title")))
    for row in table(browser.value("document.body.innerText")):
        print("%s: %s" % (name, row))


with Browser(height=6000, patience=20) as b:
    for file in sys.argv[2:]:
        look(b, sys.argv[1], file)
    if b.errors or b.requests:
        sys.exit("%s %s" % (b.errors, b.requests))
