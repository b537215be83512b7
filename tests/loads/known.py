#!/usr/bin/env python3
"""Spends the same CPU time in each of many kinds of Python calls, and prints for each its name and seconds.
"""
import sys
import threading
import time

SHARE = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3
spent = []


def spin(until):
    while time.thread_time() < until:
        for _ in range(200):
            pass


def measured(name, run, *args):
    began = time.thread_time()
    run(*args)
    spent.append((name, time.thread_time() - began))


def recursion(depth, until):
    if depth:
        recursion(depth - 1, until)
    else:
        spin(until)


class Base:
    def method(self, until):
        spin(until)

    @classmethod
    def of_class(cls, until):
        spin(until)

    @staticmethod
    def static(until):
        spin(until)

    @property
    def attribute(self):
        spin(self.until)
        return 1

    def __getattr__(self, name):
        spin(self.until)
        return name

    def größe(self, until):
        spin(until)

    def 名前(self, until):
        spin(until)


class Derived(Base):
    def method(self, until):
        super().method(until)


def generator(until):
    spin(until)
    yield 1


def by_generator(until):
    for _ in generator(until):
        pass


def key_of(until):
    spin(until)
    return 0


def by_sort(until):
    sorted([until], key=key_of)


def by_exception(until):
    try:
        raise ValueError
    except ValueError:
        spin(until)


async def coroutine(until):
    spin(until)


async def awaiting(until):
    await coroutine(until)


def by_await(until):
    try:
        awaiting(until).send(None)
    except StopIteration:
        pass


def in_thread(until):
    began = time.thread_time()
    spin(began + SHARE)
    spent.append(("in_thread", time.thread_time() - began))


def by_thread():
    thread = threading.Thread(target=in_thread, args=(0,))
    thread.start()
    thread.join()


def by_attribute(until):
    base = Base()
    base.until = until
    return base.attribute


def by_getattr(until):
    base = Base()
    base.until = until
    return base.missing


made = {"spin": spin}
exec(compile("def from_text(until):\n    spin(until)\n", "<made>", "exec"), made)
shorthand = lambda until: spin(until)


def main():
    for name, run, *args in (
            ("recursion", recursion, 20), ("Derived.method", Derived().method),
            ("Base.of_class", Base.of_class),
            ("Base.static", Base.static), ("Base.attribute", by_attribute), ("Base.__getattr__", by_getattr),
            ("Base.größe", Base().größe), ("Base.名前", Base().名前), ("generator", by_generator),
            ("key_of", by_sort),
            ("by_exception", by_exception), ("coroutine", by_await), ("from_text", made["from_text"]),
            ("<lambda>", shorthand)):
        measured(name, run, *args, time.thread_time() + SHARE)
    by_thread()
    for name, seconds in spent:
        print(name, "%.3f" % seconds)


main()
