// SPDX-License-Identifier: Apache-2.0
// The ledger records the uses of unrolls on disk before they are trained, so that no unroll is
// trained more often than replay gave it out, whichever process dies and when.
//
// Each rank has one log in the run's folder (unrolls.log, or unrolls.<rank>.log from rank 1 on)
// with one line for each unroll. Logs are only appended to:
//
//   <environment> <incarnation> <first sequence> <epoch> <update> <use>
//
// A line without the last number is of the first use.
// Append returns when the lines are on disk, and the update begins after that. A batch that was
// logged but not finished when the learner died is lost, not repeated. A last line without its
// newline was torn by a crash; its update never began, so it is cut off. The last `window` uses of
// all logs are in memory, and older ones are forgotten: replay hands each use out once, so a repeat
// comes soon or never.
//
// Lines for which the disk has no room stay in memory, the last `window` of them, until it has.
// Those that are not written when the process is killed are lost. That repeats no unroll where the
// next process trains on none that began in an epoch before its own (round.h), as is so of
// everything that is logged here. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learner/unrolls/unroll_use.h"
#include "platform/runtime/appended_file.h"
#include "platform/runtime/status.h"

namespace shoal::learner {

struct UnrollLedgerOptions {
  // Created if missing.
  std::string folder;
  int rank = 0;
  // The number of uses in memory, at least 1.
  std::size_t window = std::size_t{1} << 20;
};

class UnrollLedger {
 public:
  // Reads every log of the folder. Returns DATA_LOSS, which names file and line, if a complete line
  // is malformed, and INTERNAL if the folder cannot be written.
  static absl::StatusOr<std::unique_ptr<UnrollLedger>> Create(const UnrollLedgerOptions& options);

  bool Contains(const UnrollUse& key) const { return keys_.contains(key); }

  // Logs `keys` for one update, after all lines that had no room before, and syncs the file.
  // RESOURCE_EXHAUSTED where the disk is full: the ledger contains `keys`, and their lines are
  // written by a later call. After another error nothing may be trained. REQUIRES: the ledger
  // contains none of `keys`.
  absl::Status Append(std::uint64_t epoch, std::uint64_t update, std::span<const UnrollUse> keys);

  // Makes the ledger contain `key` without logging it, because another rank has it in its log.
  void Add(const UnrollUse& key);

  std::size_t size() const { return keys_.size(); }
  // Returns the uses that were added last, at most `count`, oldest first.
  std::vector<UnrollUse> Newest(std::size_t count) const;

 private:
  explicit UnrollLedger(std::size_t window) : window_(window) {}
  absl::Status Load(const std::string& path);

  const std::size_t window_;
  std::unique_ptr<runtime::AppendedFile> file_;
  // The lines that are not on disk, and their number.
  std::string unwritten_;
  std::size_t unwritten_lines_ = 0;
  absl::flat_hash_set<UnrollUse> keys_;
  std::deque<UnrollUse> order_;  // oldest first
};

// Returns the name of `rank`'s log.
std::string LedgerFileName(int rank);

}  // namespace shoal::learner
