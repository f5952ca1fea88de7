#!/bin/sh
# A browser that names its version and does not start.
[ "$1" = --version ] && { echo "Chromium 156.0.1"; exit; }
echo "an earlier line" >&2
printf 'cannot open display: %0500d\n\n' 0 >&2
exit 1
