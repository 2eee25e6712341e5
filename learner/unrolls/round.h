// SPDX-License-Identifier: Apache-2.0
// One round: the unrolls that one update of one rank trains on.
//
// Collect takes what comes, drops what was trained before, what is too old and what does not
// decode, and is done when it has its share. When `timeout` passes first it says who is missing
// (environments that earlier rounds had) and returns what it has, perhaps nothing: whether that is
// enough is for all ranks to agree on, and Restore takes back what is not trained. In deterministic
// mode it always waits for the whole share, and the unrolls come out sorted by id.
//
// Used from one thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "learner/unrolls/unroll_decoder.h"
#include "learner/unrolls/unroll_ledger.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "replay/client/sampler.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// Where unrolls come from: a replay::client::Sampler, or a list in tests.
class UnrollSource {
 public:
  virtual ~UnrollSource() = default;
  // As Sampler::Next.
  virtual absl::StatusOr<replay::client::SampledUnroll> Next(std::chrono::milliseconds timeout) = 0;
};

struct RoundOptions {
  // Unrolls of this rank in a round; at least 1.
  std::size_t share = 64;
  runtime::Duration timeout = std::chrono::seconds(10);
  // Older unrolls are dropped. 0: any age within the epoch.
  std::uint64_t max_lag = 0;
  bool deterministic = false;
};

// Unrolls since start, by fate.
struct RoundCounts {
  std::uint64_t accepted = 0;
  std::uint64_t repeated = 0;
  std::uint64_t stale = 0;
  std::uint64_t invalid = 0;
  // Rounds that the timeout ended.
  std::uint64_t cut_short = 0;
};

class Round {
 public:
  // All borrowed; they outlive this.
  Round(const RoundOptions& options, UnrollSource& source, const UnrollDecoder& decoder,
        const UnrollLedger& ledger, runtime::Clock& clock)
      : options_(options), source_(source), decoder_(decoder), ledger_(ledger), clock_(clock) {}

  // Unrolls to train on. CANCELLED when `stopped` said so, or the source was closed.
  absl::StatusOr<std::vector<DecodedUnroll>> Collect(const parameters::Version& current,
                                                     const std::function<bool()>& stopped);

  // For the next Collect.
  void Restore(std::vector<DecodedUnroll> unrolls);

  const RoundCounts& counts() const { return counts_; }
  // Time in the decoder since start.
  runtime::Duration decoding() const { return decoding_; }

 private:
  void Take(const replay::client::SampledUnroll& sampled, const parameters::Version& current);
  void DropStale(const parameters::Version& current);
  bool IsStale(const DecodedUnroll& unroll, const parameters::Version& current) const;
  void LogMissing() const;
  std::vector<DecodedUnroll> TakeOut();

  const RoundOptions options_;
  UnrollSource& source_;
  const UnrollDecoder& decoder_;
  const UnrollLedger& ledger_;
  runtime::Clock& clock_;

  std::vector<DecodedUnroll> collected_;
  std::set<replay::UnrollId> collected_keys_;
  // Rounds since an environment was last seen.
  absl::flat_hash_map<std::uint64_t, std::uint32_t> absent_;
  RoundCounts counts_;
  runtime::Duration decoding_{};
};

}  // namespace shoal::learner
