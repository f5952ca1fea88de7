#!/usr/bin/env bash
# Builds deploy/Dockerfile where no image registry can be reached, and tries what comes out of it.
#
# buildah executes the Dockerfile itself, step by step, over stand-ins for the images that it begins
# with: a minimal Debian of the same release, made from Debian's packages, and for Rust's image the
# same with what that adds: gcc, libc6-dev, ca-certificates, and this machine's own toolchain.
#
#   deploy/check-image.sh [FOLDER]
#
# As root on Debian or its kin, with the packages of Debian and of Cargo in reach. Everything is
# made in FOLDER (if none is given, in a new one that is removed in the end): some 6 GB.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
dockerfile=$root/deploy/Dockerfile
if [ $# -gt 0 ]; then
  folder=$1
  mkdir -p "$folder"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
# What the Dockerfile caches between builds is kept here too.
export TMPDIR=$folder/tmp
mkdir -p "$TMPDIR"
# So it takes no engine.
export BUILDAH_ISOLATION=chroot

step() { printf '\n== %s\n' "$1"; }
fail() { printf '%s\n' "$1" >&2; exit 1; }
# Plain copies of layers: overlays would leave mounts in the folder.
in_store() { buildah --storage-driver vfs --root "$folder/images" --runroot "$folder/run" "$@"; }

debian() { # RELEASE FILES [debootstrap's options]: a minimal Debian
  local release=$1 files=$2
  shift 2
  debootstrap --variant=minbase "$@" "$release" "$files" "$mirror" >"$files.log" ||
    fail "no Debian $release: see $files.log"
}

toolchain() { # VERSION FILES: this machine's Rust, where an image has it
  local version=$1 files=$2 found
  found=$(rustc --version)
  [[ $found == "rustc $version"[.\ ]* ]] || fail "the Dockerfile asks for Rust $version; here is $found"
  mkdir -p "$files/usr/local/rust"
  cp -r "$(rustc --print sysroot)"/{bin,lib} "$files/usr/local/rust/"
  # A machine behind a proxy may trust an authority of its own.
  cp /etc/ssl/certs/ca-certificates.crt "$files/etc/ssl/certs/ca-certificates.crt"
}

stand_in() { # IMAGE: makes one that may stand in for it, unless it is there from an earlier call
  local image=$1 files container version release
  local settings=()
  in_store inspect --type image "$image" >/dev/null 2>&1 && return
  files=$folder/${image//[:\/]/-}
  rm -rf "$files"
  case $image in
    debian:*-slim)
      release=${image#debian:}
      debian "${release%-slim}" "$files"
      ;;
    rust:*-slim-*)
      version=${image#rust:}
      debian "${version##*-}" "$files" --include=gcc,libc6-dev,ca-certificates
      toolchain "${version%%-*}" "$files"
      settings=(--env CARGO_HOME=/usr/local/cargo --env "PATH=/usr/local/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin")
      ;;
    *) fail "nothing here can stand in for $image" ;;
  esac
  container=$(in_store from scratch)
  in_store add --quiet "$container" "$files" / >/dev/null
  in_store config "${settings[@]}" "$container"
  in_store commit --quiet --rm "$container" "docker.io/library/$image" >/dev/null
  rm -rf "$files"
}

for program in buildah debootstrap; do
  command -v "$program" >/dev/null && continue
  apt-get update
  apt-get install --yes --no-install-recommends "$program"
done
# shellcheck disable=SC2016 # apt-get's own variable
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)

mapfile -t images < <(sed -nE 's/^FROM ([^ ]+).*/\1/p' "$dockerfile")
for image in "${images[@]}"; do
  step "a stand-in for $image"
  stand_in "$image"
done

step 'the Dockerfile'
in_store build --pull=never --format docker --file "$dockerfile" --tag juror "$root"

step 'what came out of it'
in_store images --filter reference=juror
container=$(in_store from --pull-never localhost/juror)
inside() { in_store run "$container" -- "$@"; }
inside juror --version
[ "$(inside id -u)" = 10001 ] || fail 'the program would run as somebody else'
inside chromium --version >/dev/null || fail 'the image has no browser'
# Other checks fail here, where no key is.
inside bash -c 'juror doctor | grep --fixed-strings " renders a test page"' || fail 'the browser renders no page'
inside juror demo --quiet --evidence facts
inside bash -c 'ls /var/lib/juror/runs/*/report.json' || fail 'the demo left no report'
inside bash -c 'grep --quiet "\"source\":\"browser\"" /var/lib/juror/runs/demo-*/results.jsonl' ||
  fail 'the demo drew nothing'
mapfile -t check < <(in_store inspect --type image --format '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}' juror)
status=0
inside "${check[@]:1}" 2>/dev/null || status=$?
[ "$status" = 1 ] || fail "the health check ends with $status where nobody listens, not with 1"
in_store rm "$container" >/dev/null
echo 'The image builds, and what it holds runs.'
