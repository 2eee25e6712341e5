// SPDX-License-Identifier: Apache-2.0
// RocksDB's view of a system in which large reads of payloads go past the page cache, unless the
// page cache has what is read.
//
// RocksDB keeps large values in files of their own. Where such a file is read in no order that the
// kernel foresees, the kernel takes each page of 4 KiB into its page cache by itself, which costs
// several times the processor time of a read past it. What was just written is in the page cache
// anyway while memory is free, and is read from there. What a large read takes from the disk does
// not come into it.
//
// A file is open twice. Where a file system knows no reads past its page cache, or refuses one,
// files are read through it.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace shoal::replay::durability {

// `env` must outlive the result.
std::unique_ptr<rocksdb::Env> WithDirectPayloads(rocksdb::Env* env);

}  // namespace shoal::replay::durability
