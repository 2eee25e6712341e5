#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cuts one mockup out of DMTF's archive of all mockups: extract.sh dmtf-mockups.tar.xz
# Writes dmtf-rackmount1.tar.xz next to this script, byte for byte the same each time.
set -eu
source_archive=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xJf "$source_archive" -C "$work" ./public-rackmount1
mv "$work/public-rackmount1" "$work/dmtf-rackmount1"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime='2025-01-01 00:00Z' \
  --mode='u=rwX,go=rX' -cf "$work/out.tar" dmtf-rackmount1
xz -9e --threads=1 "$work/out.tar"
mv "$work/out.tar.xz" "$here/dmtf-rackmount1.tar.xz"
