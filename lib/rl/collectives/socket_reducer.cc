// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/socket_reducer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "rl/collectives/gathered_bytes.h"
#include "rl/collectives/rank_failure.h"
#include "rl/collectives/rank_name.h"
#include "rl/collectives/rank_share.h"
#include "rl/collectives/rounded_sum.h"

namespace shoal::collectives {
namespace {

// The longest time in which a rank that is in a call answers rank 0, and in which its own word
// overtakes what others say of it.
constexpr std::chrono::seconds kAnswerTime{1};

// Rank 0 may ask after a call that is over for this rank.
bool IsOldQuestion(const CallHeader& header, const CallHeader& own) {
  return header.sequence < own.sequence &&
         header == CallHeader{.kind = CallKind::kAsk, .sequence = header.sequence};
}

Ring::Way WayOf(CallKind kind) {
  if (kind == CallKind::kScatterSum) return Ring::Way::kReduceScatter;
  return kind == CallKind::kGather ? Ring::Way::kAllGather : Ring::Way::kAllReduce;
}

std::span<std::byte> ShareOfFloats(std::span<std::byte> bytes, std::int64_t rank,
                                   std::int64_t world_size) {
  const RankShare share = ShareOf(bytes.size() / sizeof(float), rank, world_size);
  return bytes.subspan(share.begin * sizeof(float), share.size * sizeof(float));
}

// What each rank tells all others when they divide into groups: which group it is of, and where it
// listens in case it is the first rank there.
struct Meeting {
  std::int64_t colour = 0;
  std::array<char, 64> address{};
  std::uint16_t port = 0;
};

// Closes a listening socket unless it was taken.
class Listener {
 public:
  explicit Listener(int socket) : socket_(socket) {}
  ~Listener() {
    if (socket_ >= 0) ::close(socket_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int Take() { return std::exchange(socket_, -1); }

 private:
  int socket_;
};

Deadline After(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

}  // namespace

SocketReducer::SocketReducer(const RankEnvironment& environment, const GroupOptions& options,
                             RankLinks links)
    : rank_(environment.rank),
      world_size_(environment.world_size),
      epoch_(environment.epoch),
      options_(options),
      links_(std::move(links)),
      ahead_(links_.star.size()) {
  if (links_.next < 0) return;
  ring_ = std::make_unique<Ring>(rank_, world_size_, std::exchange(links_.next, -1),
                                 std::exchange(links_.previous, -1));
}

absl::StatusOr<std::unique_ptr<SocketReducer>> SocketReducer::Create(
    const RankEnvironment& environment, const GroupOptions& options) {
  const bool with_ring = options.reduction == Reduction::kSocket && options.ring_min_bytes > 0 &&
                         environment.world_size > 1;
  SHOAL_ASSIGN_OR_RETURN(RankLinks links, LinkRanks(environment, with_ring, options.join_timeout));
  return std::unique_ptr<SocketReducer>(new SocketReducer(environment, options, std::move(links)));
}

std::vector<std::int64_t> SocketReducer::Connected() const {
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < world_size_; ++rank) {
    if (socket(rank) >= 0) ranks.push_back(rank);
  }
  return ranks;
}

absl::StatusOr<CallHeader> SocketReducer::NextHeader(std::int64_t rank, Deadline deadline) {
  if (ahead(rank)) return *std::exchange(ahead(rank), std::nullopt);
  CallHeader header;
  SHOAL_RETURN_IF_ERROR(ReceiveValue(socket(rank), header, deadline, RankName(rank)));
  return header;
}

absl::Status SocketReducer::ReceiveHeader(std::int64_t rank, const CallHeader& own,
                                          Deadline deadline) {
  for (;;) {
    SHOAL_ASSIGN_OR_RETURN(const CallHeader header, NextHeader(rank, deadline));
    if (header == own) return absl::OkStatus();
    if (IsFailure(header)) return HearFailure(socket(rank), header, deadline, RankName(rank));
    if (rank != 0 || !IsOldQuestion(header, own)) return OutOfStep(RankName(rank), header, own);
    SHOAL_RETURN_IF_ERROR(CheckTime(deadline, RankName(rank)));
  }
}

absl::Status SocketReducer::Fail(const absl::Status& failure) {
  if (!failure_.ok()) return failure_;
  failure_ = failure;
  const Deadline deadline = After(kTellTime);
  for (const std::int64_t rank : Connected()) {
    (void)TellFailure(socket(rank), failure, deadline, RankName(rank));
  }
  return failure_;
}

void SocketReducer::Abort(const absl::Status& reason) {
  (void)Fail(absl::AbortedError(RankName(rank_) + " failed alone: " + runtime::Message(reason)));
}

absl::StatusOr<std::vector<int>> SocketReducer::TakeConnections() {
  // Rank 0 may still be in a call that the others are through with, and would read what they send
  // in the exchange.
  SHOAL_RETURN_IF_ERROR(Barrier());
  failure_ = runtime::FailedPrecondition("the ranks exchange gradients without common steps now");
  ring_.reset();
  return std::exchange(links_.star, std::vector<int>(links_.star.size(), -1));
}

absl::StatusOr<std::unique_ptr<GradientReducer>> SocketReducer::Split(std::int64_t colour) {
  SHOAL_RETURN_IF_ERROR(CheckColour(colour));
  if (!failure_.ok()) return Numbered(failure_);
  if (world_size_ == 1) return std::make_unique<SingleRank>();
  const std::int64_t peer = rank_ == 0 ? world_size_ - 1 : 0;
  SHOAL_ASSIGN_OR_RETURN(const std::string own_address, OwnAddress(socket(peer), RankName(peer)));
  Meeting own{.colour = colour};
  own_address.copy(own.address.data(), own.address.size() - 1);
  SHOAL_ASSIGN_OR_RETURN(const int socket, Listen(own_address, own.port));
  Listener listener(socket);
  SHOAL_ASSIGN_OR_RETURN(
      const std::vector<std::string> told,
      GatherBytes(*this, std::string_view(reinterpret_cast<const char*>(&own), sizeof own),
                  sizeof own));
  RankEnvironment environment{.world_size = 0, .epoch = epoch_};
  std::string members;
  for (std::int64_t rank = 0; rank < world_size_; ++rank) {
    const std::string& bytes = told[static_cast<std::size_t>(rank)];
    Meeting meeting;
    if (bytes.size() != sizeof meeting) {
      return runtime::DataLoss(RankName(rank) + " did not say which group it is of");
    }
    std::memcpy(&meeting, bytes.data(), sizeof meeting);
    if (meeting.colour != colour) continue;
    if (rank == rank_) environment.rank = environment.world_size;
    if (environment.world_size++ == 0) {
      meeting.address.back() = '\0';
      environment.master_address = meeting.address.data();
      environment.master_port = meeting.port;
    }
    members += (members.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (environment.world_size == 1) return std::make_unique<SingleRank>();
  const std::string numbering = "in the group of ranks " + members + ", counted from 0";
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(CheckNumeric(environment.master_address), numbering));
  if (environment.rank == 0) environment.master_listener = listener.Take();
  GroupOptions options = options_;
  options.join_timeout = options_.call_timeout;
  auto group = Create(environment, options);
  if (!group.ok()) return runtime::Annotate(group.status(), numbering);
  (*group)->numbering_ = numbering;
  return std::unique_ptr<GradientReducer>(*std::move(group));
}

absl::Status SocketReducer::Numbered(const absl::Status& status) const {
  return numbering_.empty() ? status : runtime::Annotate(status, numbering_);
}

std::chrono::milliseconds SocketReducer::AnswerTime() const {
  return std::min<std::chrono::milliseconds>(kAnswerTime, options_.call_timeout);
}

bool SocketReducer::HasNews(std::int64_t rank) const {
  pollfd item{socket(rank), POLLIN, 0};
  return AwaitEvents(std::span(&item, 1), std::chrono::steady_clock::now(), "").ok();
}

absl::Status SocketReducer::CheckPeers() {
  if (!failure_.ok()) return failure_;
  for (const std::int64_t rank : Connected()) {
    if (HasNews(rank)) return Fail(ReceiveHeader(rank, {}, After(kTellTime)));
  }
  return absl::OkStatus();
}

absl::Status SocketReducer::AwaitHeaders(const CallHeader& own, Deadline deadline) {
  std::vector<std::int64_t> missing;
  for (const std::int64_t rank : Connected()) {
    if (!ahead(rank)) {
      missing.push_back(rank);
      continue;
    }
    SHOAL_RETURN_IF_ERROR(ReceiveHeader(rank, own, deadline));
  }
  while (!missing.empty()) {
    std::vector<int> sockets;
    std::string names;
    for (const std::int64_t rank : missing) {
      sockets.push_back(socket(rank));
      names += (names.empty() ? "" : ", ") + RankName(rank);
    }
    SHOAL_ASSIGN_OR_RETURN(const std::size_t ready, AwaitReadable(sockets, deadline, names));
    SHOAL_RETURN_IF_ERROR(ReceiveHeader(missing[ready], own, deadline));
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(ready));
  }
  return absl::OkStatus();
}

std::span<std::byte> SocketReducer::SentUp(std::span<std::byte> bytes, CallKind kind,
                                           std::int64_t rank) const {
  if (kind == CallKind::kBroadcast) return {};
  return kind == CallKind::kGather ? ShareOfFloats(bytes, rank, world_size_) : bytes;
}

std::span<std::byte> SocketReducer::SentDown(std::span<std::byte> bytes, CallKind kind,
                                             std::int64_t rank) const {
  return kind == CallKind::kScatterSum ? ShareOfFloats(bytes, rank, world_size_) : bytes;
}

absl::Status SocketReducer::Gather(std::span<std::byte> bytes, const CallHeader& own,
                                   const Elementwise& operation, Deadline deadline) {
  SHOAL_RETURN_IF_ERROR(AwaitHeaders(own, deadline));
  std::vector<std::byte> part(operation.combine == nullptr ? 0 : bytes.size());
  for (const std::int64_t rank : Connected()) {
    const std::span<std::byte> into = SentUp(bytes, own.kind, rank);
    if (operation.combine == nullptr) {
      SHOAL_RETURN_IF_ERROR(ReceiveAll(socket(rank), into, deadline, RankName(rank)));
      continue;
    }
    SHOAL_RETURN_IF_ERROR(ReceiveAll(socket(rank), part, deadline, RankName(rank)));
    operation.combine(operation.state, into.data(), part.data(), into.size());
  }
  for (const std::int64_t rank : Connected()) {
    SHOAL_RETURN_IF_ERROR(SendValue(socket(rank), own, deadline, RankName(rank)));
    SHOAL_RETURN_IF_ERROR(
        SendAll(socket(rank), SentDown(bytes, own.kind, rank), deadline, RankName(rank)));
  }
  return absl::OkStatus();
}

absl::Status SocketReducer::Exchange(std::span<std::byte> bytes, const CallHeader& own,
                                     Deadline deadline) {
  absl::Status sent = SendValue(socket(0), own, deadline, RankName(0));
  if (sent.ok()) {
    sent = SendAll(socket(0), SentUp(bytes, own.kind, rank_), deadline, RankName(0));
  }
  if (!sent.ok()) {
    // Rank 0 stops reading when the group has failed; what it sent before can still be read.
    const absl::Status told = ReceiveHeader(0, own, std::min(deadline, After(kTellTime)));
    return told.ok() || absl::IsDeadlineExceeded(told) ? sent : told;
  }
  SHOAL_RETURN_IF_ERROR(ReceiveHeader(0, own, deadline));
  return ReceiveAll(socket(0), SentDown(bytes, own.kind, rank_), deadline, RankName(0));
}

absl::Status SocketReducer::PassAround(std::span<std::byte> bytes, const CallHeader& own,
                                       const Elementwise& operation, Deadline deadline) {
  came_.assign(ahead_.size(), false);
  here_.assign(ahead_.size(), false);
  left_.assign(ahead_.size(), false);
  gone_ = absl::OkStatus();
  if (rank_ == 0) {
    for (const std::int64_t rank : Connected()) {
      if (ahead(rank)) SHOAL_RETURN_IF_ERROR(HearDuringRing(rank, own, deadline));
    }
  } else {
    // Rank 0 has to know who came, and the neighbours of a rank cannot tell it.
    const absl::Status told = SendValue(socket(0), own, deadline, RankName(0));
    if (!told.ok()) return Verdict(told, deadline);
  }
  ring_->Begin(bytes, operation, own, WayOf(own.kind));
  for (;;) {
    const absl::StatusOr<bool> moved = ring_->Advance();
    if (!moved.ok()) return Verdict(moved.status(), deadline);
    if (*moved && CheckTime(deadline, "").ok()) continue;
    const bool all_came =
        rank_ != 0 || std::count(came_.begin(), came_.end(), true) + 1 == world_size_;
    if (ring_->done() && all_came) return absl::OkStatus();
    SHOAL_RETURN_IF_ERROR(AwaitRing(own, deadline));
  }
}

absl::Status SocketReducer::AwaitRing(const CallHeader& own, Deadline deadline) {
  std::vector<pollfd> items;
  std::vector<std::int64_t> ranks;
  for (const std::int64_t rank : Connected()) {
    if (left_[static_cast<std::size_t>(rank)]) continue;
    ranks.push_back(rank);
    items.push_back({socket(rank), POLLIN, 0});
  }
  if (ring_->sends()) items.push_back({ring_->next(), POLLOUT, 0});
  if (ring_->receives()) items.push_back({ring_->previous(), POLLIN, 0});
  const Deadline soon = gone_.ok() ? deadline : std::min(deadline, After(kTellTime));
  const absl::Status event = AwaitEvents(items, soon, RankName(0));
  for (std::size_t i = 0; event.ok() && i < ranks.size(); ++i) {
    if (items[i].revents != 0) SHOAL_RETURN_IF_ERROR(HearDuringRing(ranks[i], own, deadline));
  }
  // A peer that always has something to say must not keep this rank here.
  const absl::Status late = event.ok() ? CheckTime(deadline, RankName(0)) : event;
  if (!late.ok() && !gone_.ok()) return gone_;
  return absl::IsDeadlineExceeded(late) && rank_ == 0 ? FindLate(own) : late;
}

absl::Status SocketReducer::HearDuringRing(std::int64_t rank, const CallHeader& own,
                                           Deadline latest) {
  const auto index = static_cast<std::size_t>(rank);
  const Deadline deadline = std::min(latest, After(kTellTime));
  const absl::StatusOr<CallHeader> next = NextHeader(rank, deadline);
  if (!next.ok()) {
    if (rank_ == 0 && !came_[index]) return next.status();
    // It may have ended after this call. Then the ring goes on moving without it.
    left_[index] = true;
    gone_ = next.status();
    return absl::OkStatus();
  }
  const CallHeader header = *next;
  if (IsFailure(header)) {
    const absl::Status told = HearFailure(socket(rank), header, deadline, RankName(rank));
    return rank_ == 0 ? Overrule(told) : told;
  }
  const CallHeader answer{.kind = CallKind::kHere, .sequence = own.sequence};
  if (rank_ != 0) {
    if (IsOldQuestion(header, own)) return absl::OkStatus();
    const CallHeader question{.kind = CallKind::kAsk, .sequence = own.sequence};
    if (header != question) return OutOfStep(RankName(rank), header, own);
    return SendValue(socket(0), answer, deadline, RankName(0));
  }
  if (header == answer && !here_[index]) {
    here_[index] = true;
  } else if (header == own && !came_[index]) {
    came_[index] = true;
  } else if (header.sequence == own.sequence + 1 && came_[index]) {
    ahead_[index] = header;
    left_[index] = true;
  } else {
    return OutOfStep(RankName(rank), header, own);
  }
  return absl::OkStatus();
}

absl::Status SocketReducer::FindLate(const CallHeader& own) {
  const auto names = [&](const std::vector<bool>& present) {
    std::string late;
    for (const std::int64_t rank : Connected()) {
      const auto index = static_cast<std::size_t>(rank);
      if (present[index] || left_[index]) continue;
      late += (late.empty() ? "" : ", ") + RankName(rank);
    }
    return late;
  };
  std::string late = names(came_);
  if (late.empty()) {
    const Deadline deadline = After(AnswerTime());
    const CallHeader question{.kind = CallKind::kAsk, .sequence = own.sequence};
    for (const std::int64_t rank : Connected()) {
      if (left_[static_cast<std::size_t>(rank)]) continue;
      (void)SendValue(socket(rank), question, deadline, RankName(rank));
    }
    for (const std::int64_t rank : Connected()) {
      const auto index = static_cast<std::size_t>(rank);
      pollfd item{socket(rank), POLLIN, 0};
      while (!here_[index] && !left_[index] &&
             AwaitEvents(std::span(&item, 1), deadline, "").ok()) {
        SHOAL_RETURN_IF_ERROR(HearDuringRing(rank, own, deadline));
      }
    }
    late = names(here_);
  }
  if (late.empty()) late = "the sum of " + std::to_string(own.bytes) + " bytes over all ranks";
  return absl::DeadlineExceededError(late + " did not come in time");
}

absl::Status SocketReducer::Verdict(const absl::Status& finding, Deadline deadline) {
  if (rank_ == 0) return Overrule(finding);
  (void)Fail(finding);
  for (;;) {
    const absl::StatusOr<CallHeader> header = NextHeader(0, deadline);
    if (absl::IsDeadlineExceeded(header.status())) return finding;
    if (!header.ok()) return failure_ = header.status();
    if (IsFailure(*header)) {
      const Deadline heard = std::min(deadline + kTellTime, After(kTellTime));
      return failure_ = HearFailure(socket(0), *header, heard, RankName(0));
    }
    if (!CheckTime(deadline, "").ok()) return finding;
  }
}

absl::Status SocketReducer::Overrule(const absl::Status& finding) {
  const Deadline patience = After(AnswerTime());
  std::vector<std::int64_t> silent = Connected();
  while (absl::IsUnavailable(finding) && !silent.empty()) {
    std::vector<int> sockets;
    for (const std::int64_t rank : silent) sockets.push_back(socket(rank));
    const auto ready = AwaitReadable(sockets, patience, "");
    if (!ready.ok()) break;
    const std::int64_t rank = silent[*ready];
    CallHeader header;
    const absl::Status heard = ReceiveValue(socket(rank), header, patience, RankName(rank));
    if (heard.ok() && !IsFailure(header)) {
      if (!CheckTime(patience, "").ok()) break;
      continue;
    }
    const absl::Status told =
        heard.ok() ? HearFailure(socket(rank), header, patience, RankName(rank)) : heard;
    if (!absl::IsUnavailable(told)) return told;
    const bool accused = runtime::Message(finding).starts_with(RankName(rank) + " was lost");
    if (!heard.ok() && accused) break;
    silent.erase(silent.begin() + static_cast<std::ptrdiff_t>(*ready));
  }
  return finding;
}

bool SocketReducer::GoesAround(std::size_t bytes, std::size_t element_bytes) const {
  // With an empty segment a rank could be through with a call that rank 0 has not begun.
  const std::int64_t least =
      std::max(options_.ring_min_bytes, world_size_ * static_cast<std::int64_t>(element_bytes));
  return ring_ != nullptr && static_cast<std::int64_t>(bytes) >= least;
}

absl::Status SocketReducer::Call(std::span<std::byte> bytes, CallKind kind,
                                 const Elementwise& operation) {
  return Call(bytes, kind, operation,
              kind != CallKind::kBroadcast && GoesAround(bytes.size(), operation.element_bytes));
}

absl::Status SocketReducer::Call(std::span<std::byte> bytes, CallKind kind,
                                 const Elementwise& operation, bool around) {
  if (!failure_.ok()) return Numbered(failure_);
  // Rank 0 gives up first, so that its verdict on who is late reaches the others.
  const Deadline deadline =
      After(options_.call_timeout + (rank_ == 0 ? std::chrono::seconds(0) : kTellTime));
  const CallHeader own{.kind = kind,
                       .sequence = ++sequence_,
                       .bytes = bytes.size(),
                       .around_ring = around ? 1U : 0U};
  const absl::Status done = around       ? PassAround(bytes, own, operation, deadline)
                            : rank_ == 0 ? Gather(bytes, own, operation, deadline)
                                         : Exchange(bytes, own, deadline);
  return done.ok() ? done : Numbered(Fail(done));
}

absl::Status SocketReducer::AllReduceSum(std::span<float> values) {
  return Call(std::as_writable_bytes(values), CallKind::kSumFloat, kSumOfFloats);
}
absl::Status SocketReducer::AllReduceSum(std::span<double> values) {
  return Call(std::as_writable_bytes(values), CallKind::kSumDouble, kSumOfDoubles);
}
bool SocketReducer::compresses(std::size_t elements) const {
  return GoesAround(elements * sizeof(float), sizeof(float));
}
absl::Status SocketReducer::AllReduceSumCompressed(std::span<float> values,
                                                   std::span<float> residual) {
  if (!compresses(values.size())) return AllReduceSum(values);
  rounded_.resize(values.size());
  RoundedSum sum(values, residual, rounded_);
  // The ring sends this part first (ring.h).
  sum.RoundFirst(ShareOf(values.size(), (rank_ + world_size_ - 1) % world_size_, world_size_));
  SHOAL_RETURN_IF_ERROR(Call(std::as_writable_bytes(std::span(rounded_)), CallKind::kSumRounded,
                             sum.operation(), /*around=*/true));
  Widen(rounded_, values);
  return absl::OkStatus();
}
absl::Status SocketReducer::AllReduceMax(std::span<double> values) {
  return Call(std::as_writable_bytes(values), CallKind::kMax, kMaxOfDoubles);
}
absl::Status SocketReducer::AllReduceMin(std::span<double> values) {
  return Call(std::as_writable_bytes(values), CallKind::kMin, kMinOfDoubles);
}
absl::Status SocketReducer::ReduceScatterSum(std::span<float> values) {
  return Call(std::as_writable_bytes(values), CallKind::kScatterSum, kSumOfFloats);
}
absl::Status SocketReducer::AllGather(std::span<float> values) {
  return Call(std::as_writable_bytes(values), CallKind::kGather, {.element_bytes = sizeof(float)});
}
absl::Status SocketReducer::Broadcast(std::span<std::byte> bytes) {
  return Call(bytes, CallKind::kBroadcast, {});
}
absl::Status SocketReducer::Barrier() { return Call({}, CallKind::kBarrier, {}); }

}  // namespace shoal::collectives
