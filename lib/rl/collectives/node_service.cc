// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_service.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "platform/runtime/log.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

// Of peers that have not joined; those that have are bounded by the group.
constexpr std::size_t kMaxStrangers = 64;
// In one step, so that peers which connect without end do not keep the others waiting.
constexpr int kAcceptAtOnce = 32;
// The pause after the system had nothing for another connection.
constexpr std::chrono::seconds kAcceptAgainAfter{1};
// The longest wait of Run between two looks at the time.
constexpr std::chrono::seconds kServiceLookEvery{1};

}  // namespace

NodeService::NodeService(int listener, const NodeServiceOptions& options, runtime::Clock& clock)
    : options_(options), clock_(clock), listener_(listener), group_(options.group, clock) {}

NodeService::~NodeService() { ::close(listener_); }

absl::Status NodeService::Run() {
  for (;;) {
    SHOAL_ASSIGN_OR_RETURN(const bool more, Step(kServiceLookEvery));
    if (!more) return absl::OkStatus();
  }
}

absl::StatusOr<bool> NodeService::Step(runtime::Duration wait) {
  if (const auto due = group_.NextLook()) {
    wait = std::clamp<runtime::Duration>(*due - clock_.Now(), runtime::Duration::zero(), wait);
  }
  SHOAL_RETURN_IF_ERROR(Await(wait));
  SHOAL_RETURN_IF_ERROR(AcceptSome());
  for (auto& [id, peer] : peers_) Hear(id, peer);
  DropLate();
  CloseDropped();
  group_.Look();
  TellAll();
  CloseDropped();
  if (!group_.finished()) return true;
  if (!farewell_until_) farewell_until_ = clock_.Now() + options_.farewell;
  return !peers_.empty() && clock_.Now() < *farewell_until_;
}

absl::Status NodeService::Await(runtime::Duration wait) {
  // A descriptor of -1 has no events. The listener would have one all the time.
  std::vector<pollfd> items = {{clock_.Now() < accept_again_at_ ? -1 : listener_, POLLIN, 0}};
  for (const auto& [id, peer] : peers_) {
    const short events = peer.link->pending() ? POLLIN | POLLOUT : POLLIN;
    items.push_back({peer.link->socket(), events, 0});
  }
  const absl::Status ready =
      AwaitEvents(items, std::chrono::steady_clock::now() + wait, "the nodes");
  return absl::IsDeadlineExceeded(ready) ? absl::OkStatus() : ready;
}

absl::Status NodeService::AcceptSome() {
  if (clock_.Now() < accept_again_at_) return absl::OkStatus();
  for (int accepted = 0; accepted < kAcceptAtOnce; ++accepted) {
    const absl::StatusOr<int> socket = Accept(listener_, std::chrono::steady_clock::now());
    if (absl::IsDeadlineExceeded(socket.status())) return absl::OkStatus();
    if (absl::IsResourceExhausted(socket.status())) {
      spdlog::warn("event=connections_wait connections={} reason={}", peers_.size(),
                   runtime::Quoted(runtime::Message(socket.status())));
      accept_again_at_ = clock_.Now() + kAcceptAgainAfter;
      return absl::OkStatus();
    }
    SHOAL_RETURN_IF_ERROR(socket.status());
    auto link = std::make_unique<NodeLink>(*socket, "a node");
    const absl::StatusOr<std::string> address = PeerAddress(*socket, "a node");
    const auto strangers = std::count_if(peers_.begin(), peers_.end(),
                                         [](const auto& peer) { return !peer.second.joined; });
    if (!address.ok() || static_cast<std::size_t>(strangers) >= kMaxStrangers) continue;
    const runtime::TimePoint now = clock_.Now();
    peers_[++last_id_] = {.link = std::move(link),
                          .address = *address,
                          .came_at = now,
                          .heard_at = now,
                          .told_at = now};
  }
  return absl::OkStatus();
}

void NodeService::Hear(NodeGroup::NodeId id, Peer& peer) {
  const auto messages = peer.link->Receive();
  if (!messages.ok()) return Drop(id, messages.status());
  if (!messages->empty()) peer.heard_at = clock_.Now();
  for (const NodeMessage& message : *messages) {
    const absl::Status taken = Take(id, peer, message);
    if (!taken.ok()) return Drop(id, taken);
  }
  const absl::Status sent = peer.link->Flush();
  if (!sent.ok()) Drop(id, sent);
  if (peer.refused && !peer.link->pending()) Drop(id, absl::OkStatus());
}

absl::Status NodeService::Take(NodeGroup::NodeId id, Peer& peer, const NodeMessage& message) {
  if (peer.refused) return absl::OkStatus();
  if (const auto* const node = std::get_if<NodeJoins>(&message)) {
    if (std::exchange(peer.joined, true)) return runtime::InvalidArgument("a node joined twice");
    const absl::Status joined = group_.Join(id, *node, peer.address);
    if (joined.ok()) return absl::OkStatus();
    spdlog::warn("event=node_refused node={} address={} reason={}", node->name, peer.address,
                 runtime::Quoted(runtime::Message(joined)));
    peer.joined = false;
    peer.refused = true;
    return peer.link->Send(RefuseNode{runtime::Message(joined)});
  }
  if (!peer.joined) return runtime::InvalidArgument("a peer does not begin by joining");
  if (const auto* const ended = std::get_if<RanksEnded>(&message)) {
    group_.Ended(id, *ended);
  } else if (const auto* const leave = std::get_if<NodeLeaves>(&message)) {
    group_.Leave(id, *leave);
  } else if (!std::holds_alternative<Beat>(message)) {
    return runtime::InvalidArgument("a node says what only this service says");
  }
  return absl::OkStatus();
}

void NodeService::TellAll() {
  for (const auto& [id, message] : group_.TakeOrders()) {
    const auto peer = peers_.find(id);
    if (peer == peers_.end()) continue;
    const absl::Status sent = peer->second.link->Send(message);
    if (!sent.ok()) Drop(id, sent);
    peer->second.told_at = clock_.Now();
  }
  const runtime::TimePoint now = clock_.Now();
  for (auto& [id, peer] : peers_) {
    if (!peer.joined || now - peer.told_at < options_.timing.beat_every) continue;
    const absl::Status sent = peer.link->Send(Beat{});
    if (!sent.ok()) Drop(id, sent);
    peer.told_at = now;
  }
}

void NodeService::DropLate() {
  const runtime::TimePoint now = clock_.Now();
  for (const auto& [id, peer] : peers_) {
    if (!peer.joined && now - peer.came_at >= options_.timing.introduction) {
      Drop(id, runtime::InvalidArgument("a peer did not join in time"));
    } else if (peer.joined && now - peer.heard_at >= options_.timing.silence) {
      Drop(id, absl::DeadlineExceededError("a node was silent too long"));
    }
  }
  for (const NodeGroup::NodeId id : group_.Overdue()) {
    Drop(id, absl::DeadlineExceededError("the ranks of a node did not end in time"));
  }
}

void NodeService::Drop(NodeGroup::NodeId id, const absl::Status& reason) {
  dropped_.emplace(id, reason);
}

void NodeService::CloseDropped() {
  for (const auto& [id, reason] : std::exchange(dropped_, {})) {
    const auto peer = peers_.find(id);
    if (peer == peers_.end()) continue;
    if (!reason.ok()) {
      spdlog::info("event=peer_dropped address={} joined={} reason={}", peer->second.address,
                   peer->second.joined, runtime::Quoted(runtime::Message(reason)));
    }
    peers_.erase(peer);
    group_.Gone(id);
  }
}

}  // namespace shoal::collectives
