// SPDX-License-Identifier: Apache-2.0
// A dataset from a mirror: a folder, or behind http or https.
//
// An archive comes in pieces, each asked for by its range (RFC 9110, section 14), and is kept
// beside the destination as <destination>.<16 digits of its SHA-256>.part: what breaks the transfer
// costs a piece, and the next call goes on where the last one ended, whatever process made it. A
// server that knows no ranges gives the archive as one. Nothing is unpacked but what has the size
// and the SHA-256 that the mirror's index says; a part that has not is removed.
//
// Blocks; one fetch of a destination at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "platform/runtime/status.h"
#include "text/dataset/manifest.h"

namespace shoal::dataset {

struct FetchOptions {
  // A folder or a URL; mirror.json (mirror_index.h) is in it.
  std::string mirror = {};
  // One of the index.
  std::string name = {};
  // A folder that is not there, or is empty.
  std::string destination = {};
  // PEM; empty: the authorities that the system trusts.
  std::string authority_file = {};
  // At least 1.
  std::uint64_t piece_bytes = std::uint64_t{4} << 20;
  // Times in a row that a piece may fail by what passes: no answer, a broken one, 429, 5xx. 0: the
  // first one ends it.
  int retries = 4;
  // The deadline of each piece.
  std::chrono::milliseconds deadline{60'000};
};

struct FetchProgress {
  std::uint64_t bytes = 0;
  std::uint64_t total = 0;
  // Pieces that failed so far.
  int breaks = 0;
};

// Told after each piece; may be empty.
using FetchObserver = std::function<void(const FetchProgress&)>;

// INVALID_ARGUMENT: options, the URL. NOT_FOUND: no mirror, or no such dataset in it. UNAVAILABLE:
// the transfer broke once too often; DEADLINE_EXCEEDED. DATA_LOSS: the index is malformed, the
// archive is another one than it says. FAILED_PRECONDITION: the server answers something else, or
// is not trusted. Otherwise of UnpackDataset.
absl::StatusOr<Manifest> FetchDataset(const FetchOptions& options, const FetchObserver& observer);

}  // namespace shoal::dataset
