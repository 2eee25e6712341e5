// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/socket_reducer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

constexpr std::uint32_t kMagic = 0x53484f4c;

// First message of a rank to rank 0.
struct Hello {
  std::uint32_t magic = kMagic;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;
};

// Before each rank's part of a collective: ranks that are out of step are found, not summed.
struct CallHeader {
  std::uint32_t kind = 0;
  std::uint32_t magic = kMagic;
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;
};

enum Kind : std::uint32_t { kSumFloat = 1, kSumDouble, kMax, kMin, kBroadcast, kBarrier };

template <typename T>
std::span<std::byte> Bytes(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::string Peer(std::int64_t rank) { return "rank " + std::to_string(rank); }

Deadline After(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

}  // namespace

SocketReducer::SocketReducer(std::int64_t rank, std::int64_t world_size,
                             const SocketReducerOptions& options)
    : rank_(rank), world_size_(world_size), options_(options) {}

SocketReducer::~SocketReducer() {
  for (const int peer : peers_) {
    if (peer >= 0) ::close(peer);
  }
}

absl::StatusOr<std::unique_ptr<SocketReducer>> SocketReducer::Create(
    const RankEnvironment& environment, const SocketReducerOptions& options) {
  std::unique_ptr<SocketReducer> reducer(
      new SocketReducer(environment.rank, environment.world_size, options));
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
  peers_.assign(static_cast<std::size_t>(world_size_), -1);
  const Deadline deadline = After(options_.join_timeout);
  for (std::int64_t joined = 1; joined < world_size_; ++joined) {
    const absl::StatusOr<int> peer = Accept(listener, deadline);
    if (!peer.ok()) {
      std::string missing;
      for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
        if (peers_[rank] < 0) missing += " " + std::to_string(rank);
      }
      return runtime::Annotate(peer.status(), "ranks missing:" + missing);
    }
    SHOAL_RETURN_IF_ERROR(Introduce(*peer));
  }
  for (std::int64_t rank = 1; rank < world_size_; ++rank) {
    Hello answer{.world_size = static_cast<std::uint32_t>(world_size_)};
    SHOAL_RETURN_IF_ERROR(
        SendAll(peers_[static_cast<std::size_t>(rank)], Bytes(answer), deadline, Peer(rank)));
  }
  return absl::OkStatus();
}

absl::Status SocketReducer::Introduce(int peer) {
  Hello hello;
  const absl::Status received =
      ReceiveAll(peer, Bytes(hello), After(options_.join_timeout), "a joining rank");
  if (received.ok() && hello.magic == kMagic && hello.world_size == world_size_ &&
      hello.rank >= 1 && hello.rank < peers_.size() && peers_[hello.rank] < 0) {
    peers_[hello.rank] = peer;
    return absl::OkStatus();
  }
  ::close(peer);
  SHOAL_RETURN_IF_ERROR(received);
  return runtime::FailedPrecondition("a peer says it is rank " + std::to_string(hello.rank) +
                                     " of " + std::to_string(hello.world_size) +
                                     ", which does not fit a group of " +
                                     std::to_string(world_size_));
}

absl::Status SocketReducer::Connect(const RankEnvironment& environment) {
  const Deadline deadline = After(options_.join_timeout);
  SHOAL_ASSIGN_OR_RETURN(const int socket,
                         ConnectTo(environment.master_address, environment.master_port, deadline));
  peers_.push_back(socket);
  Hello hello{.rank = static_cast<std::uint32_t>(rank_),
              .world_size = static_cast<std::uint32_t>(world_size_)};
  SHOAL_RETURN_IF_ERROR(SendAll(socket, Bytes(hello), deadline, Peer(0)));
  SHOAL_RETURN_IF_ERROR(ReceiveAll(socket, Bytes(hello), deadline, Peer(0)));
  if (hello.magic != kMagic || hello.world_size != world_size_) {
    return runtime::FailedPrecondition("rank 0 is of another group");
  }
  return absl::OkStatus();
}

template <typename T, typename Combine>
absl::Status SocketReducer::AllReduce(std::span<T> values, std::uint32_t kind, Combine combine) {
  const Deadline deadline = After(options_.call_timeout);
  const auto bytes = std::as_writable_bytes(values);
  const CallHeader own{.kind = kind, .sequence = ++sequence_, .bytes = bytes.size()};
  if (rank_ != 0) {
    CallHeader header = own;
    SHOAL_RETURN_IF_ERROR(SendAll(peers_[0], Bytes(header), deadline, Peer(0)));
    if (kind != kBroadcast) SHOAL_RETURN_IF_ERROR(SendAll(peers_[0], bytes, deadline, Peer(0)));
    return ReceiveAll(peers_[0], bytes, deadline, Peer(0));
  }
  std::vector<T> part(kind == kBroadcast ? 0 : values.size());
  for (std::int64_t rank = 1; rank < world_size_; ++rank) {
    const int peer = peers_[static_cast<std::size_t>(rank)];
    CallHeader header;
    SHOAL_RETURN_IF_ERROR(ReceiveAll(peer, Bytes(header), deadline, Peer(rank)));
    if (header.magic != kMagic || header.kind != own.kind || header.sequence != own.sequence ||
        header.bytes != own.bytes) {
      return runtime::Internal(Peer(rank) + " is out of step: call " +
                               std::to_string(header.sequence) + " of " +
                               std::to_string(header.bytes) + " bytes against call " +
                               std::to_string(own.sequence) + " of " + std::to_string(own.bytes));
    }
    SHOAL_RETURN_IF_ERROR(
        ReceiveAll(peer, std::as_writable_bytes(std::span(part)), deadline, Peer(rank)));
    for (std::size_t i = 0; i < part.size(); ++i) values[i] = combine(values[i], part[i]);
  }
  for (std::int64_t rank = 1; rank < world_size_; ++rank) {
    SHOAL_RETURN_IF_ERROR(
        SendAll(peers_[static_cast<std::size_t>(rank)], bytes, deadline, Peer(rank)));
  }
  return absl::OkStatus();
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
