// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/socket_reducer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <utility>

#include "platform/runtime/log.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

constexpr std::uint32_t kMagic = 0x53484f4c;

// The first message of a rank to rank 0, and the answer.
struct Hello {
  std::uint32_t magic = kMagic;
  std::uint32_t rank = 0;
  std::uint64_t epoch = 0;
  std::uint32_t world_size = 0;
  std::uint32_t unused = 0;
};

enum Kind : std::uint32_t { kSumFloat = 1, kSumDouble, kMax, kMin, kBroadcast, kBarrier, kFailure };

// The longest failure text that is sent or accepted.
constexpr std::size_t kMaxFailureText = 4096;
// The time allowed for telling one rank of a failure.
constexpr std::chrono::seconds kTellTime{2};
// The time between two tries of a rank to join a group whose rank 0 is older.
constexpr std::chrono::milliseconds kAskAgainAfter{50};

template <typename T>
std::span<std::byte> Bytes(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::string Peer(std::int64_t rank) { return "rank " + std::to_string(rank); }

Deadline After(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

}  // namespace

// Precedes each part of a call, in both directions, so that ranks that are out of step are detected
// and not summed. A failure has a status code in place of the sequence.
struct SocketReducer::Header {
  std::uint32_t kind = 0;
  std::uint32_t magic = kMagic;
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Header&, const Header&) = default;
};

SocketReducer::SocketReducer(const RankEnvironment& environment, const GroupOptions& options)
    : rank_(environment.rank),
      world_size_(environment.world_size),
      epoch_(environment.epoch),
      options_(options),
      peers_(static_cast<std::size_t>(environment.world_size), -1) {}

SocketReducer::~SocketReducer() {
  for (const int peer : peers_) {
    if (peer >= 0) ::close(peer);
  }
}

absl::StatusOr<std::unique_ptr<SocketReducer>> SocketReducer::Create(
    const RankEnvironment& environment, const GroupOptions& options) {
  std::unique_ptr<SocketReducer> reducer(new SocketReducer(environment, options));
  if (environment.rank != 0) {
    SHOAL_RETURN_IF_ERROR(reducer->Connect(environment));
    return reducer;
  }
  int listener = environment.master_listener;
  if (listener < 0) {
    std::uint16_t port = environment.master_port;
    SHOAL_ASSIGN_OR_RETURN(listener, Listen(environment.master_address, port));
  }
  const absl::Status accepted = reducer->AcceptAll(listener);
  ::close(listener);
  SHOAL_RETURN_IF_ERROR(accepted);
  return reducer;
}

absl::Status SocketReducer::AcceptAll(int listener) {
  const Deadline deadline = After(options_.join_timeout);
  for (std::int64_t joined = 1; joined < world_size_;) {
    const absl::StatusOr<int> peer = Accept(listener, deadline);
    if (!peer.ok()) {
      std::string missing;
      for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
        if (peers_[rank] < 0) missing += " " + std::to_string(rank);
      }
      return runtime::Annotate(peer.status(), "ranks missing:" + missing);
    }
    SHOAL_ASSIGN_OR_RETURN(const bool introduced, Introduce(*peer));
    if (introduced) ++joined;
  }
  for (std::int64_t rank = 1; rank < world_size_; ++rank) {
    Hello answer{.epoch = epoch_, .world_size = static_cast<std::uint32_t>(world_size_)};
    SHOAL_RETURN_IF_ERROR(SendAll(socket(rank), Bytes(answer), deadline, Peer(rank)));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SocketReducer::Introduce(int peer) {
  Hello hello;
  const absl::Status received =
      ReceiveAll(peer, Bytes(hello), After(options_.join_timeout), "a joining rank");
  const bool member = received.ok() && hello.magic == kMagic && hello.world_size == world_size_ &&
                      hello.rank >= 1 && hello.rank < peers_.size();
  if (member && hello.epoch == epoch_ && peers_[hello.rank] < 0) {
    peers_[hello.rank] = peer;
    return true;
  }
  if (member && hello.epoch != epoch_) {
    Hello answer{.epoch = epoch_, .world_size = hello.world_size};
    (void)SendAll(peer, Bytes(answer), After(kTellTime), Peer(hello.rank));
  }
  ::close(peer);
  SHOAL_RETURN_IF_ERROR(received);
  if (member && hello.epoch > epoch_) return LeftBehind(hello.epoch, Peer(hello.rank));
  if (member && hello.epoch < epoch_) {
    spdlog::warn("event=straggler_refused rank={} epoch={} own_epoch={}", hello.rank, hello.epoch,
                 epoch_);
    return false;
  }
  return runtime::FailedPrecondition("a peer says it is rank " + std::to_string(hello.rank) +
                                     " of " + std::to_string(hello.world_size) +
                                     ", which does not fit a group of " +
                                     std::to_string(world_size_));
}

absl::Status SocketReducer::Connect(const RankEnvironment& environment) {
  const Deadline deadline = After(options_.join_timeout);
  for (;;) {
    SHOAL_ASSIGN_OR_RETURN(const std::uint64_t epoch, Ask(environment, deadline));
    if (epoch == epoch_) return absl::OkStatus();
    if (epoch > epoch_) return LeftBehind(epoch, Peer(0));
    // Rank 0 of an older group ends when it hears of a newer one, and makes room for its successor.
    std::this_thread::sleep_for(kAskAgainAfter);
  }
}

absl::StatusOr<std::uint64_t> SocketReducer::Ask(const RankEnvironment& environment,
                                                 Deadline deadline) {
  SHOAL_ASSIGN_OR_RETURN(const int socket,
                         ConnectTo(environment.master_address, environment.master_port, deadline));
  Hello hello{.rank = static_cast<std::uint32_t>(rank_),
              .epoch = epoch_,
              .world_size = static_cast<std::uint32_t>(world_size_)};
  absl::Status told = SendAll(socket, Bytes(hello), deadline, Peer(0));
  if (told.ok()) told = ReceiveAll(socket, Bytes(hello), deadline, Peer(0));
  if (told.ok() && (hello.magic != kMagic || hello.world_size != world_size_)) {
    told = runtime::FailedPrecondition("rank 0 is of another group");
  }
  if (told.ok() && hello.epoch == epoch_) {
    peers_[0] = socket;
    return epoch_;
  }
  ::close(socket);
  SHOAL_RETURN_IF_ERROR(told);
  return hello.epoch;
}

absl::Status SocketReducer::LeftBehind(std::uint64_t newer, const std::string& peer) const {
  return absl::AbortedError(Peer(rank_) + " is of epoch " + std::to_string(epoch_) +
                            " of its group, " + peer + " is of epoch " + std::to_string(newer) +
                            ": the group was started again without this rank");
}

std::vector<std::int64_t> SocketReducer::Connected() const {
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < world_size_; ++rank) {
    if (socket(rank) >= 0) ranks.push_back(rank);
  }
  return ranks;
}

absl::Status SocketReducer::ReceiveFailure(const Header& header, std::int64_t rank,
                                           Deadline deadline) {
  if (header.bytes > kMaxFailureText || header.sequence == 0 || header.sequence > 16) {
    return runtime::Internal(Peer(rank) + " tells of a failure that makes no sense");
  }
  std::string text(static_cast<std::size_t>(header.bytes), '\0');
  SHOAL_RETURN_IF_ERROR(
      ReceiveAll(socket(rank), std::as_writable_bytes(std::span(text)), deadline, Peer(rank)));
  return absl::Status(static_cast<absl::StatusCode>(header.sequence), text);
}

absl::Status SocketReducer::ReceiveHeader(std::int64_t rank, const Header& own, Deadline deadline) {
  Header header;
  SHOAL_RETURN_IF_ERROR(ReceiveAll(socket(rank), Bytes(header), deadline, Peer(rank)));
  if (header.magic == kMagic && header.kind == kFailure) {
    return ReceiveFailure(header, rank, deadline);
  }
  if (header == own) return absl::OkStatus();
  return runtime::Internal(Peer(rank) + " is out of step: call " + std::to_string(header.sequence) +
                           " of " + std::to_string(header.bytes) + " bytes against call " +
                           std::to_string(own.sequence) + " of " + std::to_string(own.bytes));
}

absl::Status SocketReducer::Fail(const absl::Status& failure) {
  if (!failure_.ok()) return failure_;
  failure_ = failure;
  std::string text = runtime::Message(failure).substr(0, kMaxFailureText);
  Header header{.kind = kFailure,
                .sequence = static_cast<std::uint64_t>(failure.code()),
                .bytes = text.size()};
  const Deadline deadline = After(kTellTime);
  for (const std::int64_t rank : Connected()) {
    if (!SendAll(socket(rank), Bytes(header), deadline, Peer(rank)).ok()) continue;
    (void)SendAll(socket(rank), std::as_bytes(std::span(text)), deadline, Peer(rank));
  }
  return failure_;
}

void SocketReducer::Abort(const absl::Status& reason) {
  (void)Fail(absl::AbortedError(Peer(rank_) + " failed alone: " + runtime::Message(reason)));
}

absl::StatusOr<std::vector<int>> SocketReducer::TakeConnections() {
  if (!failure_.ok()) return failure_;
  failure_ = runtime::FailedPrecondition("the ranks exchange gradients without common steps now");
  return std::exchange(peers_, std::vector<int>(peers_.size(), -1));
}

absl::Status SocketReducer::CheckPeers() {
  if (!failure_.ok()) return failure_;
  const std::vector<std::int64_t> ranks = Connected();
  std::vector<int> sockets;
  for (const std::int64_t rank : ranks) sockets.push_back(socket(rank));
  const auto ready = AwaitReadable(sockets, std::chrono::steady_clock::now(), "");
  if (absl::IsDeadlineExceeded(ready.status())) return absl::OkStatus();
  if (!ready.ok()) return Fail(ready.status());
  return Fail(ReceiveHeader(ranks[*ready], {}, After(kTellTime)));
}

absl::Status SocketReducer::AwaitHeaders(const Header& own, Deadline deadline) {
  std::vector<std::int64_t> missing = Connected();
  while (!missing.empty()) {
    std::vector<int> sockets;
    std::string names;
    for (const std::int64_t rank : missing) {
      sockets.push_back(socket(rank));
      names += (names.empty() ? "" : ", ") + Peer(rank);
    }
    SHOAL_ASSIGN_OR_RETURN(const std::size_t ready, AwaitReadable(sockets, deadline, names));
    SHOAL_RETURN_IF_ERROR(ReceiveHeader(missing[ready], own, deadline));
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(ready));
  }
  return absl::OkStatus();
}

template <typename T, typename Combine>
absl::Status SocketReducer::Gather(std::span<T> values, const Header& own, Combine combine,
                                   Deadline deadline) {
  SHOAL_RETURN_IF_ERROR(AwaitHeaders(own, deadline));
  std::vector<T> part(own.kind == kBroadcast ? 0 : values.size());
  for (const std::int64_t rank : Connected()) {
    SHOAL_RETURN_IF_ERROR(
        ReceiveAll(socket(rank), std::as_writable_bytes(std::span(part)), deadline, Peer(rank)));
    for (std::size_t i = 0; i < part.size(); ++i) values[i] = combine(values[i], part[i]);
  }
  for (const std::int64_t rank : Connected()) {
    Header header = own;
    SHOAL_RETURN_IF_ERROR(SendAll(socket(rank), Bytes(header), deadline, Peer(rank)));
    SHOAL_RETURN_IF_ERROR(SendAll(socket(rank), std::as_bytes(values), deadline, Peer(rank)));
  }
  return absl::OkStatus();
}

absl::Status SocketReducer::Exchange(std::span<std::byte> bytes, const Header& own,
                                     Deadline deadline) {
  Header header = own;
  absl::Status sent = SendAll(socket(0), Bytes(header), deadline, Peer(0));
  if (sent.ok() && own.kind != kBroadcast) sent = SendAll(socket(0), bytes, deadline, Peer(0));
  if (!sent.ok()) {
    // Rank 0 stops reading when the group has failed; what it sent before can still be read.
    const absl::Status told = ReceiveHeader(0, own, After(kTellTime));
    return told.ok() || absl::IsDeadlineExceeded(told) ? sent : told;
  }
  SHOAL_RETURN_IF_ERROR(ReceiveHeader(0, own, deadline));
  return ReceiveAll(socket(0), bytes, deadline, Peer(0));
}

template <typename T, typename Combine>
absl::Status SocketReducer::AllReduce(std::span<T> values, std::uint32_t kind, Combine combine) {
  if (!failure_.ok()) return failure_;
  // Rank 0 gives up first, so that its verdict on who is late reaches the others.
  const Deadline deadline =
      After(options_.call_timeout + (rank_ == 0 ? std::chrono::seconds(0) : kTellTime));
  const auto bytes = std::as_writable_bytes(values);
  const Header own{.kind = kind, .sequence = ++sequence_, .bytes = bytes.size()};
  const absl::Status done =
      rank_ == 0 ? Gather(values, own, combine, deadline) : Exchange(bytes, own, deadline);
  return done.ok() ? done : Fail(done);
}

absl::Status SocketReducer::AllReduceSum(std::span<float> values) {
  return AllReduce(values, kSumFloat, [](float a, float b) { return a + b; });
}
absl::Status SocketReducer::AllReduceSum(std::span<double> values) {
  return AllReduce(values, kSumDouble, [](double a, double b) { return a + b; });
}
absl::Status SocketReducer::AllReduceMax(std::span<double> values) {
  return AllReduce(values, kMax, [](double a, double b) { return std::max(a, b); });
}
absl::Status SocketReducer::AllReduceMin(std::span<double> values) {
  return AllReduce(values, kMin, [](double a, double b) { return std::min(a, b); });
}
absl::Status SocketReducer::Broadcast(std::span<std::byte> bytes) {
  return AllReduce(bytes, kBroadcast, [](std::byte a, std::byte) { return a; });
}
absl::Status SocketReducer::Barrier() {
  std::array<double, 1> nothing{};
  return AllReduce(std::span<double>(nothing), kBarrier, [](double a, double) { return a; });
}

}  // namespace shoal::collectives
