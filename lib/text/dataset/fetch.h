// SPDX-License-Identifier: Apache-2.0
// Fetches a dataset from a mirror, which is a folder or an http or https URL.
//
// An archive is fetched in pieces by range requests (RFC 9110, section 14), and kept beside the
// destination as <destination>.<16 digits of its SHA-256>.part. A broken transfer loses only one
// piece, and the next call, even in another process, continues from there. A server without ranges
// sends the whole archive. The archive is unpacked only if it has the size and the SHA-256 of the
// mirror's index; a complete part that differs is removed.
//
// Blocks. Only one fetch of a destination may run at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "platform/runtime/status.h"
#include "text/dataset/manifest.h"

namespace shoal::dataset {

struct FetchOptions {
  // A folder or a URL that holds mirror.json (mirror_index.h).
  std::string mirror = {};
  // The name of an archive in the index.
  std::string name = {};
  // A folder that is absent or empty.
  std::string destination = {};
  // A PEM file; empty for the authorities that the system trusts.
  std::string authority_file = {};
  // The minimum is 1.
  std::uint64_t piece_bytes = std::uint64_t{4} << 20;
  // The number of times in a row that a piece may fail temporarily: no answer, a broken one, 429,
  // 5xx. With 0, the first failure ends the fetch.
  int retries = 4;
  // The deadline of each piece.
  std::chrono::milliseconds deadline{60'000};
};

struct FetchProgress {
  std::uint64_t bytes = 0;
  std::uint64_t total = 0;
  // The number of pieces that failed so far.
  int breaks = 0;
};

// It is called after each piece; it may be empty.
using FetchObserver = std::function<void(const FetchProgress&)>;

// Returns INVALID_ARGUMENT for bad options or a bad URL; NOT_FOUND for no mirror, or no such
// dataset in it; UNAVAILABLE or DEADLINE_EXCEEDED when a piece failed too often; DATA_LOSS when the
// index is malformed or the archive differs from it; FAILED_PRECONDITION when the server gives
// another status or is not trusted; otherwise the errors of UnpackDataset.
absl::StatusOr<Manifest> FetchDataset(const FetchOptions& options, const FetchObserver& observer);

}  // namespace shoal::dataset
