// SPDX-License-Identifier: Apache-2.0
// A file of text vectors by (encoder version, content key), which survives restarts and serves
// every process of the machine.
//
// It is one SQLite file in WAL mode (with its companions -wal and -shm), which several objects and
// processes may share. When it exceeds `max_bytes`, the oldest rows are deleted; their pages are
// reused, so the file stays at about that size. Vectors of another encoder version are not found.
// Thread-safe.
//
// It is a cache, so after Open nothing returns an error. What cannot be read counts as not found,
// and what cannot be written is dropped; failures are counted. A locked file or a full disk may be
// temporary, so insertions are tried again after a pause. A file that is damaged, of another format
// or of another program is warned about once and then never used again; to get a new one, remove
// it. Each vector carries a hash, so that damage never becomes a wrong vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "text/embedding/embedding.h"
#include "text/embedding/optional_counter.h"

struct sqlite3;

namespace shoal::embedding {

struct EmbeddingFileOptions {
  std::string path;
  // A limit on the bytes of the pages in use, without the companions; one insertion may exceed it.
  // At least 64 KiB.
  std::int64_t max_bytes = std::int64_t{1} << 30;
};

class EmbeddingFile {
 public:
  // Creates missing folders. Returns INVALID_ARGUMENT for options out of range, and
  // FAILED_PRECONDITION naming the path when no file can be there. `metrics` may be null; it and
  // `clock` must outlive the object.
  static absl::StatusOr<std::unique_ptr<EmbeddingFile>> Open(
      const EmbeddingFileOptions& options, runtime::Metrics* metrics,
      const runtime::Clock& clock = runtime::SystemClock());

  // Returns one element for each key, in order: null where it is absent or has not `dimension`
  // numbers.
  std::vector<Embedding> Find(const std::string& version, std::size_t dimension,
                              std::span<const content::ContentKey> keys)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Inserts rows in one transaction. Keys that are already there keep their vectors. REQUIRES:
  // `values` is [N, D], one row for each key, and D is at least 1.
  void Insert(const std::string& version, std::size_t dimension,
              std::span<const content::ContentKey> keys, std::span<const std::uint16_t> values)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The number of failures to open, read or write, including insertions that were skipped.
  std::uint64_t failures() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The number of rows of all versions; 0 when it cannot be read.
  std::uint64_t rows() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  EmbeddingFile(const EmbeddingFileOptions& options, runtime::Metrics* metrics,
                const runtime::Clock& clock);
  // Does nothing when the connection is open.
  absl::Status Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountFailure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Fail(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const EmbeddingFileOptions options_;
  const runtime::Clock& clock_;
  const OptionalCounter found_total_;
  const OptionalCounter missing_total_;
  const OptionalCounter inserted_total_;
  const OptionalCounter failures_total_;

  mutable runtime::Mutex mutex_;
  // Null while the file cannot be opened.
  std::unique_ptr<sqlite3, Close> connection_ ABSL_GUARDED_BY(mutex_);
  // Once true, the file is never opened again.
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool warned_of_damage_ ABSL_GUARDED_BY(mutex_) = false;
  bool warned_of_pause_ ABSL_GUARDED_BY(mutex_) = false;
  runtime::TimePoint pause_until_ ABSL_GUARDED_BY(mutex_) = runtime::TimePoint::min();
  std::uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::embedding
