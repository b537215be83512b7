#!/bin/sh
# The walk finds the caller of a method where the interpreter enters, resumes and leaves it.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/lang-javainterpreter"
