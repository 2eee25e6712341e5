// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_supervisor.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

// The time for one attempt to reach a service. A system sends the first packet again after a second
// if it has had no answer (RFC 6298).
constexpr std::chrono::milliseconds kConnectTime{1500};
// The pause before the next one, and before a node that was refused asks again.
constexpr std::chrono::milliseconds kFindAgainAfter{200};
constexpr std::chrono::seconds kJoinAgainAfter{1};
// The longest wait between two beats or looks.
constexpr std::chrono::seconds kSupervisorLookEvery{1};
// A service that does not answer to a farewell for so long is not waited for.
constexpr std::chrono::seconds kFarewellTime{2};
// How long a service may outlive the work of its node.
constexpr std::chrono::seconds kServiceTime{15};
// From the end of the time that ranks get to the word that they have ended.
constexpr std::chrono::seconds kKillTime{10};

bool ReadCount(std::string_view text, std::int64_t max, std::int64_t& count) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && count >= 1 &&
         count <= max;
}

std::string Join(const std::vector<NodeAddress>& addresses) {
  std::string text;
  for (const NodeAddress& address : addresses) {
    text += (text.empty() ? "" : ",") + address.host + ":" + std::to_string(address.port);
  }
  return text;
}

}  // namespace

absl::StatusOr<NodesOptions> ParseNodes(const std::string& nodes, const std::string& rendezvous,
                                        const std::string& name) {
  NodesOptions options;
  const std::string_view bounds = nodes;
  const std::size_t colon = bounds.find(':');
  const std::string_view most = colon == std::string_view::npos ? bounds : bounds.substr(colon + 1);
  if (!ReadCount(bounds.substr(0, colon), kMaxNodes, options.min_nodes) ||
      !ReadCount(most, kMaxNodes, options.max_nodes) || options.min_nodes > options.max_nodes) {
    return runtime::InvalidArgument("--nodes '" + nodes +
                                    "' is no number of nodes and no MIN:MAX, from 1 to " +
                                    std::to_string(kMaxNodes));
  }
  std::string_view rest = rendezvous;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    rest = more ? rest.substr(comma + 1) : std::string_view();
    const std::size_t end = one.rfind(':');
    std::int64_t port = 0;
    if (end == std::string_view::npos || end == 0 || !ReadCount(one.substr(end + 1), 65535, port)) {
      return runtime::InvalidArgument("--rendezvous '" + rendezvous +
                                      "' is no list of HOST:PORT, with commas between");
    }
    std::string_view host = one.substr(0, end);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    options.rendezvous.push_back(
        {.host = std::string(host), .port = static_cast<std::uint16_t>(port)});
  }
  options.name = name;
  if (name.empty()) {
    std::array<char, 65> host{};
    ::gethostname(host.data(), host.size() - 1);
    options.name = host.data();
  }
  const absl::Status named = CheckNodeName(options.name);
  if (!named.ok()) return runtime::Annotate(named, "--node-name '" + options.name + "'");
  return options;
}

NodeSupervisor::NodeSupervisor(std::string program, std::int64_t local_ranks,
                               const NodesOptions& nodes, const SupervisionOptions& supervision)
    : program_(std::move(program)),
      local_ranks_(local_ranks),
      nodes_(nodes),
      supervision_(supervision),
      clock_(runtime::SystemClock()) {}

NodeSupervisor::~NodeSupervisor() {
  CloseRankListener();
  EndService(/*at_once=*/true);
}

absl::StatusOr<std::optional<int>> NodeSupervisor::Run() {
  SHOAL_ASSIGN_OR_RETURN(progress_, MapRankProgress(local_ranks_));
  return WithWatchedSignalsBlocked([this](const sigset_t& mask) { return RunTurns(mask); });
}

absl::StatusOr<std::optional<int>> NodeSupervisor::RunTurns(const sigset_t& mask) {
  patient_until_ = clock_.Now() + nodes_.patience;
  for (;;) {
    SHOAL_ASSIGN_OR_RETURN(const bool found, FindService());
    if (!found) return supervision_.stop_code;
    SHOAL_ASSIGN_OR_RETURN(const Turn turn, RunTurn(mask));
    if (turn.is_rank) return std::nullopt;
    if (!turn.exit_code) continue;
    link_.reset();
    EndService(/*at_once=*/!finish_.has_value());
    return turn.exit_code;
  }
}

absl::StatusOr<bool> NodeSupervisor::FindService() {
  const runtime::TimePoint began = clock_.Now();
  while (clock_.Now() < patient_until_) {
    if (AwaitStopSignal(clock_.Now())) return false;
    if (LookForService()) return true;
    SHOAL_ASSIGN_OR_RETURN(const bool serves, TryToServe(clock_.Now() - began));
    if (link_ != nullptr) return true;
    if (serves) continue;
    const runtime::TimePoint again = clock_.Now() + kFindAgainAfter;
    while (clock_.Now() < again) {
      if (AwaitStopSignal(again)) return false;
    }
  }
  const std::string patience =
      std::to_string(std::chrono::ceil<std::chrono::seconds>(nodes_.patience).count());
  if (refusal_) {
    return runtime::FailedPrecondition("the rendezvous let the node " + nodes_.name +
                                       " not in for " + patience + " s: " + *refusal_);
  }
  return runtime::Unavailable("no rendezvous at " + Join(nodes_.rendezvous) + " for " + patience +
                              " s, and no address of it is this machine's");
}

bool NodeSupervisor::LookForService(int own, std::size_t own_address) {
  constexpr const char* kService = "the rendezvous";
  for (std::size_t i = 0; i < nodes_.rendezvous.size(); ++i) {
    if (own >= 0 && i == own_address) continue;
    const NodeAddress& address = nodes_.rendezvous[i];
    const absl::StatusOr<int> socket =
        TryConnectTo(address.host, address.port, clock_.Now() + kConnectTime, kService);
    if (!socket.ok()) continue;
    auto link = std::make_unique<NodeLink>(*socket, kService);
    // Two names of one address.
    if (own >= 0 && address.port == nodes_.rendezvous[own_address].port &&
        PeerAddress(*socket, kService) == OwnAddress(own, kService)) {
      continue;
    }
    link_ = std::move(link);
    heard_at_ = told_at_ = clock_.Now();
    spdlog::info("event=rendezvous_found address={}:{}", address.host, address.port);
    return true;
  }
  return false;
}

absl::StatusOr<bool> NodeSupervisor::TryToServe(runtime::Duration looked) {
  // One that was forked, and cannot be reached any more, is in the way of another.
  EndService(/*at_once=*/true);
  for (std::size_t i = 0; i < nodes_.rendezvous.size(); ++i) {
    if (looked < static_cast<int>(i) * nodes_.precedence) break;
    NodeAddress address = nodes_.rendezvous[i];
    const absl::StatusOr<int> listener = Listen(address.host, address.port);
    if (!listener.ok()) continue;
    // One that did not answer may be there, behind a packet that was lost. Whoever looks from now
    // on finds this listener.
    if (LookForService(*listener, i)) {
      ::close(*listener);
      return false;
    }
    spdlog::info("event=rendezvous_opened address={}:{} min_nodes={} max_nodes={}", address.host,
                 address.port, nodes_.min_nodes, nodes_.max_nodes);
    SHOAL_RETURN_IF_ERROR(ForkService(*listener));
    return true;
  }
  return false;
}

absl::Status NodeSupervisor::ForkService(int listener) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const std::string reason = ::strerror(errno);
    ::close(listener);
    return runtime::ResourceExhausted("cannot fork the rendezvous: " + reason);
  }
  if (child > 0) {
    ::close(listener);
    service_ = child;
    return absl::OkStatus();
  }
  // SIGTERM and SIGINT stay blocked: nodes have to take their leave of it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_Exit(1);
  CloseRankListener();
  if (!runtime::SetUpLog(program_ + "-rendezvous", 0, "info").ok()) ::_Exit(1);
  NodeService service(listener,
                      {.group = {.min_nodes = nodes_.min_nodes,
                                 .max_nodes = nodes_.max_nodes,
                                 .settle = nodes_.settle,
                                 .max_restarts = supervision_.max_restarts,
                                 .min_back_off = supervision_.min_back_off,
                                 .max_back_off = supervision_.max_back_off,
                                 .settled_after = supervision_.settled_after,
                                 .orderly_limit = nodes_.orderly_grace + kKillTime,
                                 .stop_limit = supervision_.limits.stop_grace + kKillTime},
                       .timing = nodes_.timing},
                      clock_);
  const absl::Status end = service.Run();
  if (!end.ok()) {
    spdlog::error("event=rendezvous_failed reason={}", runtime::Quoted(runtime::Message(end)));
  }
  ::_Exit(end.ok() ? 0 : runtime::kExitFailed);
}

void NodeSupervisor::EndService(bool at_once) {
  if (service_ == 0) return;
  const runtime::TimePoint until = clock_.Now() + kServiceTime;
  int status = 0;
  while (!at_once && ::waitpid(service_, &status, WNOHANG) == 0) {
    at_once = clock_.Now() >= until || AwaitStopSignal(clock_.Now() + kFindAgainAfter);
  }
  if (at_once) {
    ::kill(service_, SIGKILL);
    ::waitpid(service_, &status, 0);
  }
  service_ = 0;
}

absl::StatusOr<NodeSupervisor::Turn> NodeSupervisor::RunTurn(const sigset_t& mask) {
  start_.reset();
  stop_.reset();
  refusal_.reset();
  SHOAL_ASSIGN_OR_RETURN(const std::uint16_t port, OpenRankListener());
  Tell(NodeJoins{.name = nodes_.name, .ranks = local_ranks_, .epoch = epoch_, .port = port});
  while (link_ != nullptr) {
    if (start_) {
      SHOAL_ASSIGN_OR_RETURN(Turn turn, RunRanks(mask, *std::exchange(start_, {})));
      if (turn.is_rank || turn.exit_code) return turn;
      continue;
    }
    if (finish_) return Turn{.exit_code = finish_};
    if (Await()) {
      Tell(NodeLeaves{.ended = true});
      return Turn{.exit_code = supervision_.stop_code};
    }
    if (refusal_ && link_ != nullptr) LoseService(runtime::FailedPrecondition(*refusal_));
  }
  const runtime::TimePoint again = clock_.Now() + (refusal_ ? kJoinAgainAfter : kFindAgainAfter);
  while (clock_.Now() < again) {
    if (AwaitStopSignal(again)) return Turn{.exit_code = supervision_.stop_code};
  }
  return Turn{};
}

bool NodeSupervisor::Await() {
  const bool asked = AwaitStopSignal(clock_.Now() + kSupervisorLookEvery, descriptor());
  Exchange();
  return asked;
}

absl::StatusOr<NodeSupervisor::Turn> NodeSupervisor::RunRanks(const sigset_t& mask,
                                                              const StartRanks& start) {
  const bool formed = start.cause == ChangeCause::kFormed;
  if (epoch_ != 0) ++changes_[formed ? "rendezvous" : ToString(start.cause)];
  epoch_ = start.epoch;
  spdlog::info("event=ranks_start epoch={} cause={} first_rank={} world_size={}", start.epoch,
               ToString(start.cause), start.first_rank, start.world_size);
  RankGroup group({.local_ranks = local_ranks_,
                   .first_rank = start.first_rank,
                   .world_size = start.world_size,
                   .master = NodePlace::Master{.address = start.address,
                                               .port = start.port,
                                               .epoch = start.epoch,
                                               .listener = std::exchange(rank_listener_, -1)}},
                  epoch_, supervision_.limits, progress_);
  SHOAL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> rank, group.Start(mask));
  if (rank) {
    own_progress_ = progress_ + *rank;
    link_.reset();
    // The service is the supervisor's to end.
    service_ = 0;
    return Turn{.is_rank = true};
  }
  const std::optional<GroupFailure> failure = group.Watch(this);
  const bool stopped = stop_ && stop_->epoch == epoch_;
  if (failure && !stopped && link_ != nullptr) ++failures_[ToString(failure->cause)];
  if (finish_) return Turn{.exit_code = failure ? failure->exit_code : *finish_};
  const bool final = failure && runtime::IsFinalExit(failure->exit_code);
  if (group.asked_to_end() || final) {
    if (final) {
      spdlog::error("event=node_given_up cause={} local_rank={} exit_code={}",
                    ToString(failure->cause), failure->rank, failure->exit_code);
    }
    Tell(NodeLeaves{.ended = true});
    return Turn{.exit_code = failure ? failure->exit_code : supervision_.stop_code};
  }
  if (link_ == nullptr) return Turn{};
  SHOAL_ASSIGN_OR_RETURN(const std::uint16_t port, OpenRankListener());
  Tell(RanksEnded{.epoch = epoch_,
                  .exit_code = failure ? failure->exit_code : 0,
                  .cause = failure ? ToString(failure->cause) : "none",
                  .port = port});
  return Turn{};
}

int NodeSupervisor::descriptor() const { return link_ == nullptr ? -1 : link_->socket(); }

std::optional<runtime::Duration> NodeSupervisor::Look(bool asked_to_end) {
  Exchange();
  if (asked_to_end && !left_at_) {
    left_at_ = clock_.Now();
    Tell(NodeLeaves{});
  }
  const runtime::Duration at_once = supervision_.limits.stop_grace;
  if (stop_ && stop_->epoch == epoch_) return stop_->orderly ? nodes_.orderly_grace : at_once;
  if (link_ == nullptr && !finish_) return at_once;
  if (left_at_ && clock_.Now() - *left_at_ >= kFarewellTime) return at_once;
  return std::nullopt;
}

void NodeSupervisor::Exchange() {
  if (link_ == nullptr) return;
  const auto messages = link_->Receive();
  if (!messages.ok()) return LoseService(messages.status());
  for (const NodeMessage& message : *messages) {
    const absl::Status taken = Take(message);
    if (!taken.ok()) return LoseService(taken);
    heard_at_ = clock_.Now();
    // Only a node that was let in hears anything else.
    if (!refusal_) patient_until_ = heard_at_ + nodes_.patience;
  }
  const runtime::TimePoint now = clock_.Now();
  if (now - heard_at_ >= nodes_.timing.silence) {
    return LoseService(absl::DeadlineExceededError("the rendezvous was silent too long"));
  }
  if (now - told_at_ >= nodes_.timing.beat_every) return Tell(Beat{});
  const absl::Status sent = link_->Flush();
  if (!sent.ok()) LoseService(sent);
}

absl::Status NodeSupervisor::Take(const NodeMessage& message) {
  if (const auto* const start = std::get_if<StartRanks>(&message)) {
    if (start->first_rank + local_ranks_ > start->world_size) {
      return runtime::InvalidArgument("the rendezvous has no place for all ranks of this node");
    }
    start_ = *start;
  } else if (const auto* const stop = std::get_if<StopRanks>(&message)) {
    stop_ = *stop;
    if (stop->epoch == epoch_) {
      spdlog::info("event=ranks_stop epoch={} cause={} orderly={}", stop->epoch,
                   ToString(stop->cause), stop->orderly);
    }
  } else if (const auto* const finish = std::get_if<FinishNode>(&message)) {
    finish_ = finish->exit_code;
  } else if (const auto* const refuse = std::get_if<RefuseNode>(&message)) {
    refusal_ = refuse->reason;
  } else if (!std::holds_alternative<Beat>(message)) {
    return runtime::InvalidArgument("the rendezvous says what only nodes say");
  }
  return absl::OkStatus();
}

void NodeSupervisor::Tell(const NodeMessage& message) {
  if (link_ == nullptr) return;
  told_at_ = clock_.Now();
  const absl::Status sent = link_->Send(message);
  if (!sent.ok()) LoseService(sent);
}

void NodeSupervisor::LoseService(const absl::Status& reason) {
  spdlog::warn("event=rendezvous_lost reason={}", runtime::Quoted(runtime::Message(reason)));
  link_.reset();
}

absl::StatusOr<std::uint16_t> NodeSupervisor::OpenRankListener() {
  CloseRankListener();
  std::uint16_t port = 0;
  const absl::StatusOr<std::string> address = OwnAddress(link_->socket(), link_->peer());
  if (!address.ok()) {
    LoseService(address.status());
    return port;
  }
  SHOAL_ASSIGN_OR_RETURN(rank_listener_, Listen(*address, port));
  return port;
}

void NodeSupervisor::CloseRankListener() {
  if (rank_listener_ >= 0) ::close(std::exchange(rank_listener_, -1));
}

}  // namespace shoal::collectives
