# What the tests of artefacts have besides tests/lib.sh. They are not part of `make check`: make check-dist.
. "$(dirname "$0")/../lib.sh"
top=$(cd "$here/../.." && pwd)
unset MAKEFLAGS MAKELEVEL MFLAGS
