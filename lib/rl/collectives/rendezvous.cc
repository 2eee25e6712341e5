// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rendezvous.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "platform/runtime/log.h"
#include "rl/collectives/call_header.h"
#include "rl/collectives/hello.h"
#include "rl/collectives/rank_failure.h"
#include "rl/collectives/rank_name.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

// The time in which one that has connected to rank 0 must introduce itself.
constexpr std::chrono::seconds kIntroductionTime{10};
// The time in which a stranger may introduce itself to a neighbour, or one that is turned away is
// told so.
constexpr std::chrono::seconds kStrangerTime{2};
// The time between two tries of a rank to join a group whose rank 0 is older.
constexpr std::chrono::milliseconds kAskAgainAfter{50};
// The time between two looks at the star by a rank that cannot reach its neighbour.
constexpr std::chrono::milliseconds kLookAgainAfter{500};
// The time in which a rank may still join the ring when another one has ended, perhaps after it had
// joined and all that this rank needs of it was there.
constexpr std::chrono::seconds kLastTime{1};

// The name of the Unix domain socket of the rank that listens at this address and port.
std::string UnixName(const std::string& address, std::uint16_t port) {
  return "shoal-ring-" + address + "-" + std::to_string(port);
}

// Adds to the error of a rank that waited in vain for a neighbour how to do without the ring.
absl::Status NameWayOut(const absl::Status& status) {
  if (!absl::IsDeadlineExceeded(status)) return status;
  return runtime::Annotate(
      status,
      "a ring needs a connection of each rank to the next one "
      "(0 for learner.ring_min_bytes, or for --ring-min-bytes of encoder train, "
      "makes no ring)");
}

class Rendezvous {
 public:
  Rendezvous(const RankEnvironment& own, bool with_ring, std::chrono::milliseconds join_timeout)
      : own_(own),
        with_ring_(with_ring),
        deadline_(std::chrono::steady_clock::now() + join_timeout),
        links_(own.world_size),
        ring_ports_(static_cast<std::size_t>(own.world_size)) {}
  ~Rendezvous() {
    if (listener_ >= 0) ::close(listener_);
    if (ring_listener_ >= 0) ::close(ring_listener_);
    if (unix_listener_ >= 0) ::close(unix_listener_);
  }

  absl::Status Lead() {
    listener_ = own_.master_listener;
    if (listener_ < 0) {
      std::uint16_t port = own_.master_port;
      SHOAL_ASSIGN_OR_RETURN(listener_, Listen(own_.master_address, port));
    }
    SHOAL_RETURN_IF_ERROR(AcceptAll());
    // A rank that comes now belongs to a successor of this group: it has to find nobody here, and
    // tries again.
    ::close(std::exchange(listener_, -1));
    if (with_ring_) {
      SHOAL_RETURN_IF_ERROR(ListenBeside(links_.star.back(), RankName(own_.world_size - 1)));
    }
    for (std::int64_t rank = 1; rank < own_.world_size; ++rank) {
      SHOAL_RETURN_IF_ERROR(SendValue(star(rank), OwnHello(), deadline_, RankName(rank)));
    }
    return with_ring_ ? LeadRing() : absl::OkStatus();
  }

  absl::Status Follow() {
    for (;;) {
      const absl::StatusOr<std::uint64_t> epoch = Ask();
      if (epoch.ok() && *epoch == own_.epoch) break;
      if (epoch.ok() && *epoch > own_.epoch) return LeftBehind(*epoch, RankName(0));
      // Rank 0 of an older group ends when it hears of a newer one, and makes room for its
      // successor. One whose group is whole resets the connections that it has not accepted.
      if (!epoch.ok() && !WasReset(epoch.status())) return epoch.status();
      SHOAL_RETURN_IF_ERROR(CheckTime(deadline_, RankName(0)));
      std::this_thread::sleep_for(kAskAgainAfter);
    }
    return with_ring_ ? FollowRing() : absl::OkStatus();
  }

  RankLinks TakeLinks() { return std::move(links_); }

 private:
  int star(std::int64_t rank) const { return links_.star[static_cast<std::size_t>(rank)]; }

  Hello OwnHello() const {
    return {.rank = static_cast<std::uint32_t>(own_.rank),
            .epoch = own_.epoch,
            .world_size = static_cast<std::uint32_t>(own_.world_size),
            .ring_port = ring_port_};
  }

  absl::Status AcceptAll() {
    for (std::int64_t joined = 1; joined < own_.world_size;) {
      const absl::StatusOr<int> peer = Accept(listener_, deadline_);
      if (!peer.ok()) {
        std::string missing;
        for (std::int64_t rank = 1; rank < own_.world_size; ++rank) {
          if (star(rank) < 0) missing += " " + std::to_string(rank);
        }
        return runtime::Annotate(peer.status(), "ranks missing:" + missing);
      }
      SHOAL_ASSIGN_OR_RETURN(const bool introduced, Introduce(*peer));
      if (introduced) ++joined;
    }
    return absl::OkStatus();
  }

  // Returns whether `peer` has become one of the star. Otherwise it is closed.
  absl::StatusOr<bool> Introduce(int peer) {
    Hello hello;
    const Deadline patience = std::min(
        deadline_, std::chrono::steady_clock::now() + Deadline::duration(kIntroductionTime));
    const absl::Status received = ReceiveValue(peer, hello, patience, "a joining rank");
    if (!received.ok() || hello.magic != kRankMagic) {
      // A probe of the port, or somebody else's client.
      spdlog::warn("event=stranger_refused reason=\"{}\"",
                   received.ok() ? "it speaks otherwise than a rank" : runtime::Message(received));
      ::close(peer);
      return false;
    }
    const bool member =
        hello.world_size == own_.world_size && hello.rank >= 1 && hello.rank < links_.star.size();
    if (member && hello.epoch == own_.epoch && links_.star[hello.rank] < 0 &&
        (hello.ring_port != 0) == with_ring_) {
      links_.star[hello.rank] = peer;
      ring_ports_[hello.rank] = static_cast<std::uint16_t>(hello.ring_port);
      return true;
    }
    if (member && hello.epoch != own_.epoch) {
      (void)SendValue(peer, OwnHello(), std::chrono::steady_clock::now() + kStrangerTime,
                      RankName(hello.rank));
    }
    ::close(peer);
    if (member && hello.epoch > own_.epoch) return LeftBehind(hello.epoch, RankName(hello.rank));
    if (member && hello.epoch < own_.epoch) {
      spdlog::warn("event=straggler_refused rank={} epoch={} own_epoch={}", hello.rank, hello.epoch,
                   own_.epoch);
      return false;
    }
    if (member && links_.star[hello.rank] < 0) {
      return runtime::FailedPrecondition(RankName(hello.rank) +
                                         " and rank 0 do not agree on whether "
                                         "there is a ring");
    }
    return runtime::FailedPrecondition("a peer says it is rank " + std::to_string(hello.rank) +
                                       " of " + std::to_string(hello.world_size) +
                                       ", which does not fit a group of " +
                                       std::to_string(own_.world_size));
  }

  // Asks rank 0 to let this rank in. Returns the epoch of its group.
  absl::StatusOr<std::uint64_t> Ask() {
    SHOAL_ASSIGN_OR_RETURN(
        const int socket, ConnectTo(own_.master_address, own_.master_port, deadline_, RankName(0)));
    absl::Status told = with_ring_ ? ListenBeside(socket, RankName(0)) : absl::OkStatus();
    if (told.ok()) told = SendValue(socket, OwnHello(), deadline_, RankName(0));
    Hello hello;
    if (told.ok()) told = ReceiveValue(socket, hello, deadline_, RankName(0));
    if (told.ok() && (hello.magic != kRankMagic || hello.world_size != own_.world_size)) {
      told = runtime::FailedPrecondition("rank 0 is of another group");
    }
    if (told.ok() && hello.epoch == own_.epoch) {
      links_.star[0] = socket;
      return own_.epoch;
    }
    ::close(socket);
    SHOAL_RETURN_IF_ERROR(told);
    return hello.epoch;
  }

  absl::Status LeftBehind(std::uint64_t newer, const std::string& peer) const {
    return absl::AbortedError(RankName(own_.rank) + " is of epoch " + std::to_string(own_.epoch) +
                              " of its group, " + peer + " is of epoch " + std::to_string(newer) +
                              ": the group was started again without this rank");
  }

  // Begins to listen for the previous rank, at this end of the connection `socket` to `peer`, which
  // other ranks can reach.
  absl::Status ListenBeside(int socket, const std::string& peer) {
    if (ring_listener_ >= 0) return absl::OkStatus();
    SHOAL_ASSIGN_OR_RETURN(const std::string address, OwnAddress(socket, peer));
    SHOAL_ASSIGN_OR_RETURN(ring_listener_, Listen(address, ring_port_));
    // Without it, the previous rank connects over TCP.
    unix_listener_ = ListenUnix(UnixName(address, ring_port_)).value_or(-1);
    return absl::OkStatus();
  }

  // The connections on which a rank learns that another one has ended. Rank 0 looks for one that is
  // closed, since ranks may already speak of the first call. It is silent until then itself, so the
  // others look for anything.
  std::vector<pollfd> Star() const {
    std::vector<pollfd> items;
    const short event = own_.rank == 0 ? POLLRDHUP : POLLIN;
    for (const int socket : links_.star) items.push_back({socket, event, 0});
    return items;
  }

  // Notes the first rank that has ended.
  void LookAtStar() {
    if (lost_) return;
    std::vector<pollfd> items = Star();
    const Deadline now = std::chrono::steady_clock::now();
    if (!AwaitEvents(items, now, "").ok()) return;
    const auto ended = std::find_if(items.begin(), items.end(),
                                    [](const pollfd& item) { return item.revents != 0; });
    lost_ = ended - items.begin();
    deadline_ = std::min(deadline_, now + kLastTime);
  }

  // Returns what the rank that has ended said at its end.
  absl::Status LastWord(std::int64_t rank) const {
    const Deadline soon = std::chrono::steady_clock::now() + kTellTime;
    CallHeader header;
    SHOAL_RETURN_IF_ERROR(ReceiveValue(star(rank), header, soon, RankName(rank)));
    if (IsFailure(header)) return HearFailure(star(rank), header, soon, RankName(rank));
    return runtime::Unavailable(RankName(rank) + " was lost while the ring was made");
  }

  absl::StatusOr<int> ConnectToNext(const std::string& address, std::uint16_t port) {
    const std::string next = RankName((own_.rank + 1) % own_.world_size);
    for (;;) {
      const absl::StatusOr<int> local = ConnectUnix(UnixName(address, port));
      if (local.ok()) return local;
      const Deadline soon = std::chrono::steady_clock::now() + kLookAgainAfter;
      const absl::StatusOr<int> socket = ConnectTo(address, port, std::min(soon, deadline_), next);
      if (socket.ok() || soon >= deadline_) return socket;
      LookAtStar();
    }
  }

  absl::StatusOr<int> AcceptPrevious() {
    for (;;) {
      std::vector<pollfd> items;
      if (!lost_) items = Star();
      // A descriptor of -1 has no events.
      items.push_back({ring_listener_, POLLIN, 0});
      items.push_back({unix_listener_, POLLIN, 0});
      SHOAL_RETURN_IF_ERROR(AwaitEvents(items, deadline_, "a rank"));
      LookAtStar();
      for (const pollfd& item : std::span(items).last(2)) {
        if (item.revents != 0) return Accept(item.fd, deadline_);
      }
    }
  }

  absl::Status LeadRing() {
    for (std::int64_t rank = 1; rank < own_.world_size; ++rank) {
      Neighbour next;
      const std::int64_t after = rank + 1;
      const bool last = after == own_.world_size;
      // The last rank has found rank 0, but perhaps at an address of a service.
      SHOAL_ASSIGN_OR_RETURN(const std::string address,
                             last ? OwnAddress(star(rank), RankName(rank))
                                  : PeerAddress(star(after), RankName(after)));
      address.copy(next.address.data(), next.address.size() - 1);
      next.port = last ? ring_port_ : ring_ports_[static_cast<std::size_t>(after)];
      SHOAL_RETURN_IF_ERROR(SendValue(star(rank), next, deadline_, RankName(rank)));
    }
    SHOAL_ASSIGN_OR_RETURN(const std::string address, PeerAddress(star(1), RankName(1)));
    return JoinRing(address, ring_ports_[1]);
  }

  absl::Status FollowRing() {
    Neighbour next;
    SHOAL_RETURN_IF_ERROR(ReceiveValue(star(0), next, deadline_, RankName(0)));
    next.address.back() = '\0';
    const std::string address = next.address.data();
    const absl::Status numeric = CheckNumeric(address);
    if (!numeric.ok()) return runtime::Annotate(numeric, "rank 0 tells of no neighbour");
    return JoinRing(address, next.port);
  }

  absl::Status JoinRing(const std::string& address, std::uint16_t port) {
    const absl::Status met = MeetNeighbours(address, port);
    if (met.ok()) return met;
    const absl::Status failure = lost_ ? LastWord(*lost_) : NameWayOut(met);
    const Deadline deadline = std::chrono::steady_clock::now() + kTellTime;
    for (std::int64_t rank = 0; rank < own_.world_size; ++rank) {
      if (star(rank) >= 0) (void)TellFailure(star(rank), failure, deadline, RankName(rank));
    }
    return failure;
  }

  absl::Status MeetNeighbours(const std::string& address, std::uint16_t port) {
    const std::int64_t size = own_.world_size;
    const std::string next = RankName((own_.rank + 1) % size);
    SHOAL_ASSIGN_OR_RETURN(links_.next, ConnectToNext(address, port));
    SHOAL_RETURN_IF_ERROR(SendValue(links_.next, OwnHello(), deadline_, next));
    Hello hello;
    const std::int64_t previous = (own_.rank + size - 1) % size;
    while (links_.previous < 0) {
      const absl::StatusOr<int> peer = AcceptPrevious();
      if (!peer.ok()) return runtime::Annotate(peer.status(), RankName(previous) + " of the ring");
      const Deadline soon = std::chrono::steady_clock::now() + kStrangerTime;
      const absl::Status received =
          ReceiveValue(*peer, hello, std::min(deadline_, soon), "a rank of the ring");
      if (received.ok() && hello.magic == kRankMagic && hello.rank == previous &&
          hello.epoch == own_.epoch && hello.world_size == size) {
        links_.previous = *peer;
      } else {
        ::close(*peer);
        SHOAL_RETURN_IF_ERROR(CheckTime(deadline_, RankName(previous) + " of the ring"));
      }
    }
    return absl::OkStatus();
  }

  const RankEnvironment own_;
  const bool with_ring_;
  Deadline deadline_;
  RankLinks links_;
  // The rank that ended while the ring was made.
  std::optional<std::int64_t> lost_;
  // By rank: where it waits for the one before it.
  std::vector<std::uint16_t> ring_ports_;
  int listener_ = -1;
  int ring_listener_ = -1;
  int unix_listener_ = -1;
  std::uint16_t ring_port_ = 0;
};

}  // namespace

RankLinks::~RankLinks() {
  for (const int socket : star) {
    if (socket >= 0) ::close(socket);
  }
  if (next >= 0) ::close(next);
  if (previous >= 0) ::close(previous);
}

RankLinks::RankLinks(RankLinks&& other) noexcept
    : star(std::move(other.star)),
      next(std::exchange(other.next, -1)),
      previous(std::exchange(other.previous, -1)) {
  other.star.clear();
}

absl::StatusOr<RankLinks> LinkRanks(const RankEnvironment& environment, bool with_ring,
                                    std::chrono::milliseconds join_timeout) {
  Rendezvous rendezvous(environment, with_ring, join_timeout);
  SHOAL_RETURN_IF_ERROR(environment.rank == 0 ? rendezvous.Lead() : rendezvous.Follow());
  return rendezvous.TakeLinks();
}

}  // namespace shoal::collectives
