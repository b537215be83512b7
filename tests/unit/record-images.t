#!/bin/sh
# Indices of interpreters' images, which are limited: those of files and processes that are gone are free.
. "$(dirname "$0")/../lib/lib.sh"
exec "$BUILD/tests/record-images"
