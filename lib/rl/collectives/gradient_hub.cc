// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gradient_hub.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rl/collectives/rank_failure.h"
#include "rl/collectives/rank_name.h"

namespace shoal::collectives {
namespace {

bool IsStale(const ParameterNumber& from, const ParameterNumber& now, std::uint64_t limit) {
  if (from.epoch != now.epoch || from.updates > now.updates) return true;
  return limit > 0 && now.updates - from.updates > limit;
}

}  // namespace

GradientHub::GradientHub(std::vector<int> sockets, const ExchangeOptions& options,
                         ParameterHolder& holder)
    : options_(options), holder_(holder) {
  for (const int socket : sockets) ranks_.push_back({.socket = socket});
}

GradientHub::~GradientHub() {
  for (const Rank& rank : ranks_) ::close(rank.socket);
}

absl::Status GradientHub::Serve() {
  for (Rank& rank : ranks_) {
    rank.silent_until = std::chrono::steady_clock::now() + options_.call_timeout;
  }
  const auto stays = [](const Rank& rank) { return !rank.left; };
  while (std::any_of(ranks_.begin(), ranks_.end(), stays)) {
    const absl::StatusOr<std::size_t> rank = Next();
    const absl::Status served = rank.ok() ? ServeOne(*rank) : rank.status();
    if (served.ok()) continue;
    Tell(served);
    return served;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> GradientHub::Next() {
  for (;;) {
    std::vector<std::size_t> order;
    std::vector<int> sockets;
    Deadline deadline = Deadline::max();
    const Deadline now = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const std::size_t index = (turn_ + i) % ranks_.size();
      const Rank& rank = ranks_[index];
      if (rank.left) continue;
      // What has arrived counts, whatever kept this thread from reading it.
      if (now >= rank.silent_until) {
        SHOAL_RETURN_IF_ERROR(
            AwaitReadable(std::array{rank.socket}, now, RankName(index)).status());
      }
      order.push_back(index);
      sockets.push_back(rank.socket);
      deadline = std::min(deadline, rank.silent_until);
    }
    const auto ready = AwaitReadable(sockets, deadline, "every rank");
    if (absl::IsDeadlineExceeded(ready.status())) continue;
    if (!ready.ok()) return ready.status();
    turn_ = (order[*ready] + 1) % ranks_.size();
    return order[*ready];
  }
}

absl::Status GradientHub::ServeOne(std::size_t index) {
  Rank& rank = ranks_[index];
  const Deadline deadline = std::chrono::steady_clock::now() + options_.call_timeout;
  SHOAL_ASSIGN_OR_RETURN(
      const Contribution contribution,
      ReceiveContribution(rank.socket, options_.limits, deadline, RankName(index)));
  SharedParameters answer;
  const auto number = static_cast<std::int64_t>(index);
  SHOAL_RETURN_IF_ERROR(holder_.Hear(number, contribution));
  if (!contribution.gradient.empty()) {
    if (IsStale(contribution.from, holder_.number(), options_.max_staleness)) {
      answer.fate = GradientFate::kStale;
      SHOAL_RETURN_IF_ERROR(holder_.Drop(number, contribution));
    } else {
      SHOAL_ASSIGN_OR_RETURN(answer.fate, holder_.Apply(number, contribution));
    }
  }
  SHOAL_RETURN_IF_ERROR(holder_.Answer(number, contribution, answer));
  answer.number = holder_.number();
  stopping_ = stopping_ || contribution.leaves;
  answer.stop = answer.stop || stopping_;
  rank.left = contribution.leaves;
  const Deadline answered = std::chrono::steady_clock::now() + options_.call_timeout;
  rank.silent_until = answered;
  return Send(rank.socket, answer, answered, RankName(index));
}

void GradientHub::Tell(const absl::Status& failure) {
  const Deadline deadline = std::chrono::steady_clock::now() + kTellTime;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].left) continue;
    (void)TellFailure(ranks_[rank].socket, failure, deadline, RankName(rank));
  }
}

}  // namespace shoal::collectives
