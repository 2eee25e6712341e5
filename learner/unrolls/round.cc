// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/round.h"

#include <algorithm>
#include <string>
#include <utility>

#include "platform/runtime/log.h"

namespace shoal::learner {
namespace {

// How long a stop may go unnoticed.
constexpr std::chrono::milliseconds kPoll(50);
// An environment that was missing in more rounds than this is forgotten.
constexpr std::uint32_t kForgetAfter = 8;
constexpr std::size_t kShownMissing = 8;
constexpr std::uint64_t kLoggedInvalid = 20;

}  // namespace

absl::StatusOr<std::vector<DecodedUnroll>> Round::Collect(const parameters::Version& current,
                                                          const std::function<bool()>& stopped,
                                                          std::size_t but) {
  const std::size_t share = options_.share - but;
  if (stopped()) return runtime::Cancelled("stopping");
  std::erase_if(collected_, [&](const DecodedUnroll& unroll) {
    if (!Refuse(unroll, current)) return false;
    collected_keys_.erase(unroll.key);
    return true;
  });
  runtime::TimePoint deadline = clock_.Now() + options_.timeout;
  while (collected_.size() < share) {
    if (stopped()) return runtime::Cancelled("stopping");
    if (options_.deterministic) source_.Want(share - collected_.size(), current);
    const auto sampled = source_.Next(kPoll);
    if (sampled.ok()) {
      Take(*sampled, current);
    } else if (!absl::IsDeadlineExceeded(sampled.status())) {
      return sampled.status();
    }
    if (collected_.size() >= share || clock_.Now() < deadline) continue;
    LogMissing(runtime::Message(sampled.status()));
    if (!options_.deterministic) {
      ++counts_.cut_short;
      break;
    }
    deadline = clock_.Now() + options_.timeout;
  }
  return TakeOut();
}

bool Round::IsStale(const DecodedUnroll& unroll, const parameters::Version& current) const {
  const auto& acted = *std::min_element(unroll.acted.begin(), unroll.acted.end());
  if (acted.epoch != current.epoch) return !options_.off_policy;
  return options_.max_lag > 0 && acted.step + options_.max_lag < current.step;
}

bool Round::Refuse(const DecodedUnroll& unroll, const parameters::Version& current) {
  const bool condemned = std::any_of(
      unroll.acted.begin(), unroll.acted.end(),
      [this](const parameters::Version& version) { return quarantine_.Contains(version); });
  if (condemned) {
    ++counts_.condemned;
    return true;
  }
  if (!IsStale(unroll, current)) return false;
  ++counts_.stale;
  return true;
}

void Round::Restore(std::vector<DecodedUnroll> unrolls) {
  for (DecodedUnroll& unroll : unrolls) {
    collected_keys_.insert(unroll.key);
    collected_.push_back(std::move(unroll));
  }
}

void Round::Take(const replay::client::SampledUnroll& sampled, const parameters::Version& current) {
  const auto& id = sampled.unroll.id();
  if (sampled.times_sampled == 0) {
    ++counts_.invalid;
    return;
  }
  const UnrollUse key{.id = {id.environment_id(), id.incarnation(), id.first_sequence()},
                      .use = sampled.times_sampled};
  if (!options_.off_policy && (ledger_.Contains(key) || collected_keys_.contains(key))) {
    ++counts_.repeated;
    return;
  }
  const runtime::TimePoint begin = clock_.Now();
  auto decoded = decoder_.Decode(sampled.unroll);
  decoding_ += clock_.Now() - begin;
  if (!decoded.ok()) {
    if (counts_.invalid++ < kLoggedInvalid) {
      spdlog::warn("event=unroll_dropped environment={} shard={} reason={}", key.id.environment_id,
                   sampled.shard, runtime::Quoted(runtime::Message(decoded.status())));
    }
    return;
  }
  if (Refuse(*decoded, current)) return;
  ++counts_.accepted;
  decoded->key = key;
  decoded->shard = sampled.shard;
  const auto is_probability = [](double p) { return p > 0 && p <= 1; };
  if (is_probability(sampled.probability) && is_probability(sampled.least_probability)) {
    decoded->probability = sampled.probability;
    decoded->least_probability = sampled.least_probability;
  }
  collected_keys_.insert(key);
  collected_.push_back(*std::move(decoded));
}

void Round::LogMissing(const std::string& reason) const {
  std::set<std::uint64_t> missing;
  for (const auto& [environment, rounds] : absent_) missing.insert(environment);
  for (const DecodedUnroll& unroll : collected_) missing.erase(unroll.key.id.environment_id);
  std::string shown;
  std::size_t count = 0;
  for (const std::uint64_t environment : missing) {
    if (count++ == kShownMissing) break;
    shown += (shown.empty() ? "" : ",") + std::to_string(environment);
  }
  spdlog::warn(
      "event=round_timeout have={} share={} missing_environments={} first={} repeated={} stale={} "
      "invalid={} reason={}",
      collected_.size(), options_.share, missing.size(), shown.empty() ? "none" : shown,
      counts_.repeated, counts_.stale, counts_.invalid, runtime::Quoted(reason));
}

std::vector<DecodedUnroll> Round::TakeOut() {
  for (auto& [environment, rounds] : absent_) ++rounds;
  for (const DecodedUnroll& unroll : collected_) absent_[unroll.key.id.environment_id] = 0;
  absl::erase_if(absent_, [](const auto& entry) { return entry.second > kForgetAfter; });
  if (options_.deterministic) {
    std::sort(collected_.begin(), collected_.end(),
              [](const DecodedUnroll& a, const DecodedUnroll& b) { return a.key < b.key; });
  }
  collected_keys_.clear();
  return std::exchange(collected_, {});
}

}  // namespace shoal::learner
