// SPDX-License-Identifier: Apache-2.0
// A round collects the unrolls that one update of one rank trains on.
//
// Collect takes unrolls as they come, and drops those whose use was trained before, that are stale,
// in which a condemned version acted, or that cannot be decoded. Off policy, no use counts as
// repeated. A table that gives an unroll out several times has it trained as often. It returns when
// it has its share. If `timeout` passes first, it logs which environments of earlier rounds are
// missing and returns what it has, perhaps nothing. All ranks then agree on whether that is enough,
// and Restore takes back unrolls that are not trained. In deterministic mode Collect always waits
// for the whole share and returns the unrolls sorted by id; it tells the source how many it wants,
// which are to be drawn after the round that the current version played.
//
// Used from one thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "learner/unrolls/quarantine.h"
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
  // Behaves like Sampler::Next.
  virtual absl::StatusOr<replay::client::SampledUnroll> Next(std::chrono::milliseconds timeout) = 0;
  // Behaves like Sampler::Want, where unrolls come on demand alone.
  virtual void Want(std::size_t /*count*/, const parameters::Version& /*played*/) {}
};

struct RoundOptions {
  // The number of unrolls of this rank in a round, at least 1, unless Collect asks for fewer.
  std::size_t share = 64;
  runtime::Duration timeout = std::chrono::seconds(10);
  // Unrolls that lag by more steps are dropped. 0 allows any lag within the epoch.
  std::uint64_t max_lag = 0;
  // If true, unrolls of earlier epochs are trained on too, each as often as replay gives it out.
  bool off_policy = false;
  bool deterministic = false;
};

// Counts of the unrolls since the start, by what became of them.
struct RoundCounts {
  std::uint64_t accepted = 0;
  std::uint64_t repeated = 0;
  std::uint64_t stale = 0;
  std::uint64_t condemned = 0;
  std::uint64_t invalid = 0;
  // Rounds that the timeout ended.
  std::uint64_t cut_short = 0;
};

class Round {
 public:
  // The referenced objects must outlive the round.
  Round(const RoundOptions& options, UnrollSource& source, const UnrollDecoder& decoder,
        const UnrollLedger& ledger, const Quarantine& quarantine, runtime::Clock& clock)
      : options_(options),
        source_(source),
        decoder_(decoder),
        ledger_(ledger),
        quarantine_(quarantine),
        clock_(clock) {}

  // Returns unrolls to train on, `but` fewer than the share. Returns CANCELLED if `stopped` returns
  // true or the source is closed. REQUIRES: `but` is at most the share.
  absl::StatusOr<std::vector<DecodedUnroll>> Collect(const parameters::Version& current,
                                                     const std::function<bool()>& stopped,
                                                     std::size_t but = 0);

  // Gives unrolls back for the next Collect.
  void Restore(std::vector<DecodedUnroll> unrolls);

  const RoundCounts& counts() const { return counts_; }
  // The time spent in the decoder since the start.
  runtime::Duration decoding() const { return decoding_; }

 private:
  void Take(const replay::client::SampledUnroll& sampled, const parameters::Version& current);
  // Counts an unroll that no update may have, and returns true.
  bool Refuse(const DecodedUnroll& unroll, const parameters::Version& current);
  bool IsStale(const DecodedUnroll& unroll, const parameters::Version& current) const;
  // `reason` says why the last unroll did not come; it may be empty.
  void LogMissing(const std::string& reason) const;
  std::vector<DecodedUnroll> TakeOut();

  const RoundOptions options_;
  UnrollSource& source_;
  const UnrollDecoder& decoder_;
  const UnrollLedger& ledger_;
  const Quarantine& quarantine_;
  runtime::Clock& clock_;

  std::vector<DecodedUnroll> collected_;
  std::set<UnrollUse> collected_keys_;
  // For each environment, the number of rounds since it was last seen.
  absl::flat_hash_map<std::uint64_t, std::uint32_t> absent_;
  RoundCounts counts_;
  runtime::Duration decoding_{};
};

}  // namespace shoal::learner
