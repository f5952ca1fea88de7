#!/bin/sh
# Renders every screenshot and every ACRUE picture of this folder again and
# writes their digests into manifest.jsonl.
#
#   ./render.sh                 finds Chromium by itself
#   CHROMIUM=/path ./render.sh  uses that one
#   ./render.sh button_primary  only the named components or pictures
set -eu
here=$(cd "$(dirname "$0")" && pwd)

find_chromium() {
    if [ -n "${CHROMIUM:-}" ]; then
        command -v "$CHROMIUM" && return 0
        echo "render.sh: CHROMIUM=$CHROMIUM cannot be run" >&2
        return 1
    fi
    for name in chromium chromium-browser google-chrome google-chrome-stable chrome \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
        "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
        command -v "$name" && return 0
    done
    echo "render.sh: no Chromium found; install it (Debian: apt install chromium) or name it with CHROMIUM=/path/to/chromium" >&2
    return 1
}

chromium=$(find_chromium) || exit 1
if ! command -v python3 >/dev/null; then
    echo "render.sh: python3 is needed to drive the browser and to update manifest.jsonl" >&2
    exit 1
fi
exec python3 "$here/render.py" "$chromium" "$@"
