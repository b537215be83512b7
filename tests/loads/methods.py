#!/usr/bin/env python3
"""Spends the same CPU time in methods of many kinds of classes. Prints their qualified names and seconds.

Before 3.11 a code object has the bare name. Where no class leads to the code, that name is printed.
"""
import functools
import sys
import time

SHARE = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
OLD = sys.version_info < (3, 11)


def spin(until):
    while time.thread_time() < until:
        for _ in range(200):
            pass


def measured(name, run):
    began = time.thread_time()
    run(began + SHARE)
    print(name, "%.3f" % (time.thread_time() - began))


class Base:
    def inherited(self, until):
        spin(until)

    def overridden(self, until):
        spin(until)

    def method(self, until):
        spin(until)

    @classmethod
    def of_class(cls, until):
        spin(until)

    def captured(self, until):
        (lambda: self.keep(spin(until)))()

    def keep(self, value):
        return value

    @property
    def got(self):
        spin(self.until)

    @got.setter
    def put(self, until):
        spin(until)

    def produced(self, until):
        spin(until)
        yield 1

    async def awaited(self, until):
        spin(until)


class Mixin:
    def mixed(self, until):
        spin(until)


class Derived(Mixin, Base):
    def overridden(self, until):
        spin(until)


class Outer:
    class Inner:
        def deep(self, until):
            spin(until)


class Meta(type):
    def of_meta(cls, until):
        spin(until)


class Made(metaclass=Meta):
    def __new__(cls, until):
        spin(until)
        return super().__new__(cls)


class Lender:
    def lent(self, until):
        spin(until)


class Borrower:
    lent = Lender.lent


class Removed:
    def gone(self, until):
        pass

    del gone

    def kept(self, until):
        spin(until)


def method(first, until):
    """A function, although the class of its argument has a method of this name."""
    spin(until)


def traced(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


class Traced:
    @traced
    def hidden(self, until):
        spin(until)


def local():
    class Local:
        def made(self, until):
            spin(until)
    return Local()


def get(until):
    base.until = until
    base.got


def put(until):
    base.put = until


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass


exec("class Many:\n" + "".join("    def m%d(self, until): spin(until)\n" % i for i in range(300)))
base, derived = Base(), Derived()


def main():
    spin(time.thread_time() + 0.2)  # until the recorder knows the interpreter
    measured("Base.inherited", derived.inherited)
    measured("Base.overridden", base.overridden)
    measured("Derived.overridden", derived.overridden)
    measured("Mixin.mixed", derived.mixed)
    measured("Lender.lent", Borrower().lent)
    measured("Base.of_class", Derived.of_class)
    measured("Base.captured", derived.captured)
    measured("Base.got", get)
    measured("Base.put", put)
    measured("Base.produced", lambda until: list(base.produced(until)))
    measured("Base.awaited", lambda until: run(base.awaited(until)))
    measured("Outer.Inner.deep", Outer.Inner().deep)
    measured("Meta.of_meta", Made.of_meta)
    measured("Made.__new__", Made)
    measured("Removed.kept", Removed().kept)
    measured("Many.m299", Many().m299)
    measured("local.<locals>.Local.made", local().made)
    measured("Base.method", base.method)
    measured("method", lambda until: method(base, until))
    measured("hidden" if OLD else "Traced.hidden", Traced().hidden)


main()
