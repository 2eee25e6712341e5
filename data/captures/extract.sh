#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cuts mockups out of DMTF's archive of all of them: extract.sh dmtf-mockups.tar.xz NAME...
# Writes dmtf-NAME.tar.xz of each public-NAME next to this script, byte for byte the same each time.
set -eu
source_archive=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in "$@"; do
  tar -xJf "$source_archive" -C "$work" "./public-$name"
  mv "$work/public-$name" "$work/dmtf-$name"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime='2025-01-01 00:00Z' \
    --mode='u=rwX,go=rX' -cf "$work/out.tar" "dmtf-$name"
  xz -9e --threads=1 "$work/out.tar"
  mv "$work/out.tar.xz" "$here/dmtf-$name.tar.xz"
done
