#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packs files of DMTF's archives as this repository ships them: pack.sh SOURCE_ARCHIVE TARGET [DROPPED_NAME...]
# Byte for byte the same each time; a dropped name is a shell pattern.
set -eu
source_archive=$1
target=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
tar -xJf "$source_archive" -C "$work/files" --strip-components=1
for dropped in "$@"; do
  find "$work/files" -name "$dropped" -delete
done
tar -C "$work/files" --sort=name --owner=0 --group=0 --numeric-owner --mtime='2025-01-01 00:00Z' \
  --mode='u=rwX,go=rX' --format=ustar -cf "$work/out.tar" $(ls "$work/files")
xz -9e --threads=1 "$work/out.tar"
mv "$work/out.tar.xz" "$target"
