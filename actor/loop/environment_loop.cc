// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/environment_loop.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <utility>

#include "actor/loop/episode_driver.h"
#include "platform/runtime/log.h"
#include "platform/runtime/rendezvous_hashing.h"
#include "platform/runtime/thread.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::actor {
namespace {

using inference::client::ActClient;
using inference::client::ActHandler;
using inference::client::Answer;
using inference::client::Row;

bool Earlier(const Row& a, const Row& b) {
  return std::pair(a.environment_id, a.sequence) < std::pair(b.environment_id, b.sequence);
}

}  // namespace

class EnvironmentLoop::Implementation final : public EpisodeDriver::Host {
 public:
  Implementation(LoopOptions options, const EnvironmentSource& source, EpisodePlan& plan,
                 ActorMetrics& metrics)
      : options_(std::move(options)),
        source_(source),
        plan_(plan),
        metrics_(metrics),
        servers_(options_.inference) {}

  ~Implementation() override { Stop(); }

  void Start(OnFailure on_failure);
  void Stop();

 private:
  // The connection to one server. Its handler runs on the client's thread and posts to the loop's.
  struct Link final : ActHandler {
    Link(Implementation& owner, std::string server)
        : loop(owner), address(std::move(server)), timer(owner.context_) {}
    void OnConnected(std::uint64_t server_epoch, std::uint64_t connection) override {
      boost::asio::post(loop.context_, [this, server_epoch, connection] {
        loop.Connected(*this, server_epoch, connection);
      });
    }
    void OnAnswers(std::vector<Answer> answers) override {
      boost::asio::post(loop.context_, [this, answers = std::move(answers)]() mutable {
        loop.Answered(*this, answers);
      });
    }
    void OnDisconnected(const absl::Status& status) override {
      boost::asio::post(loop.context_, [this, status] { loop.Disconnected(*this, status); });
    }

    Implementation& loop;
    const std::string address;
    boost::asio::steady_timer timer;
    bool timer_armed = false;
    // The number of the connection that rows are sent on, or 0 for none.
    std::uint64_t connection = 0;
    std::uint64_t server_epoch = 0;
    std::vector<std::size_t> members;
    std::vector<Row> ready;
    std::vector<Row> lost;
    inference::client::RowStatusCounts counts = {};
    // None once the server is named no longer and no rows are under way to it.
    std::unique_ptr<ActClient> client;

    // Ends the connection and forgets what the server knew.
    void Drop() {
      client.reset();
      connection = 0;
      server_epoch = 0;
      ready.clear();
      lost.clear();
      counts = {};
    }
  };

  void Ready(EpisodeDriver& driver, Row row) override;
  void BeginLater(EpisodeDriver& driver, std::chrono::milliseconds delay) override;

  // Returns the link to the server of a driver's block, which is made if it is not there.
  std::size_t ChooseLink(std::size_t member);
  // Has the environment's next rows go to the server that its block belongs to now.
  void Move(std::size_t member);
  // Reads the servers' addresses again, each second where they may change.
  void AwaitServers();
  void LookForServers();
  void Abandon(Link& link);
  void Connected(Link& link, std::uint64_t server_epoch, std::uint64_t connection);
  void Answered(Link& link, std::vector<Answer>& answers);
  void Disconnected(Link& link, const absl::Status& status);
  // Ends a batch of events: what it has made ready leaves, over whichever link.
  void EndBatch();
  void Flush(Link& link);
  void SendReady(Link& link);
  void AwaitConnection(Link& link);
  void Fail(const absl::Status& status);

  EpisodeDriver& DriverOf(std::uint64_t environment_id) {
    return *drivers_[environment_id - options_.first_environment];
  }
  std::size_t max_outstanding() const { return 4 * options_.environments + 64; }
  Link& LinkOf(std::uint64_t environment_id) {
    return *links_[link_of_[environment_id - options_.first_environment]];
  }

  const LoopOptions options_;
  const EnvironmentSource& source_;
  EpisodePlan& plan_;
  ActorMetrics& metrics_;
  OnFailure on_failure_;

  boost::asio::io_context context_{1};
  std::vector<std::unique_ptr<EpisodeDriver>> drivers_;
  transport::AddressList servers_;
  // By driver, the link that its rows go over, and the one that its next episode's will go over.
  std::vector<std::size_t> link_of_;
  std::vector<std::size_t> next_link_of_;
  std::vector<std::unique_ptr<Link>> links_;
  boost::asio::steady_timer look_again_{context_};
  std::map<std::uint64_t, boost::asio::steady_timer> pauses_;
  std::size_t fenced_ = 0;
  bool failed_ = false;
  // True while a batch of events is handled. The rows that it makes ready leave together at its
  // end.
  bool gathering_ = false;
  runtime::Thread thread_;
};

void EnvironmentLoop::Implementation::Start(OnFailure on_failure) {
  on_failure_ = std::move(on_failure);
  auto environments =
      source_.Create(context_.get_executor(), options_.first_environment, options_.environments);
  for (std::size_t i = 0; i < environments.size(); ++i) {
    drivers_.push_back(std::make_unique<EpisodeDriver>(
        EpisodeDriver::Identity{.environment_id = options_.first_environment + i,
                                .incarnation = options_.incarnation,
                                .policy_id = options_.policy_id,
                                .evaluate = options_.evaluate},
        std::move(environments[i]),
        EpisodeDriver::Surroundings{.spec = source_.spec(),
                                    .plan = plan_,
                                    .metrics = metrics_,
                                    .host = *this,
                                    .clock = runtime::SystemClock(),
                                    .reset_attempts = options_.reset_attempts,
                                    .hindsight = options_.hindsight,
                                    .hindsight_seed = options_.hindsight_seed}));
  }
  for (std::size_t member = 0; member < drivers_.size(); ++member) {
    link_of_.push_back(ChooseLink(member));
    links_[link_of_.back()]->members.push_back(member);
  }
  next_link_of_ = link_of_;
  if (servers_.may_change()) AwaitServers();
  boost::asio::post(context_, [this] {
    gathering_ = true;
    for (auto& driver : drivers_) driver->Begin();
    EndBatch();
  });
  thread_ = runtime::Thread("environments", [this] {
    const auto work = boost::asio::make_work_guard(context_);
    context_.run();
  });
}

std::size_t EnvironmentLoop::Implementation::ChooseLink(std::size_t member) {
  const std::uint64_t block = (options_.first_environment + member) / options_.block_size;
  std::vector<runtime::Place> places;
  for (const std::string& server : servers_.addresses()) places.push_back({.name = server});
  const std::string& address = servers_.addresses()[*runtime::HomeOf(block, places)];
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [&](const auto& link) { return link->address == address; });
  const auto number = static_cast<std::size_t>(found - links_.begin());
  if (found == links_.end()) links_.push_back(std::make_unique<Link>(*this, address));
  Link& link = *links_[number];
  if (link.client == nullptr) {
    link.client = std::make_unique<ActClient>(
        inference::client::ActClientOptions{.address = address,
                                            .name = options_.client_name,
                                            .spec = ToWire(source_.spec()),
                                            .relabels = options_.hindsight.enabled(),
                                            .max_outstanding = max_outstanding()},
        link);
  }
  return number;
}

void EnvironmentLoop::Implementation::Move(std::size_t member) {
  std::erase(links_[link_of_[member]]->members, member);
  link_of_[member] = next_link_of_[member];
  links_[link_of_[member]]->members.push_back(member);
}

void EnvironmentLoop::Implementation::AwaitServers() {
  look_again_.expires_after(transport::AddressList::kInterval);
  look_again_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    LookForServers();
    AwaitServers();
  });
}

void EnvironmentLoop::Implementation::LookForServers() {
  if (servers_.Refresh(runtime::SystemClock().Now())) {
    for (std::size_t i = 0; i < drivers_.size(); ++i) next_link_of_[i] = ChooseLink(i);
    spdlog::info("event=inference_servers_changed servers={}", servers_.addresses().size());
  }
  for (auto& link : links_) {
    if (link->client == nullptr || servers_.Names(link->address)) continue;
    if (link->connection == 0) {
      Abandon(*link);
      link->Drop();
    } else if (link->members.empty() && link->ready.empty() &&
               link->client->room() == max_outstanding()) {
      link->Drop();
    }
  }
}

// Nobody answers the rows that wait for a server that is gone for good. Afterwards no member has a
// row there, and the next row of each begins an episode elsewhere.
void EnvironmentLoop::Implementation::Abandon(Link& link) {
  link.ready.clear();
  link.lost.clear();
  const std::vector<std::size_t> members = link.members;
  gathering_ = true;
  for (const std::size_t member : members) drivers_[member]->OnServerRestarted();
  EndBatch();
}

void EnvironmentLoop::Implementation::Stop() {
  if (!thread_.joinable()) return;
  context_.stop();
  thread_.Join();
  for (auto& link : links_) link->client.reset();
  pauses_.clear();
  drivers_.clear();
}

void EnvironmentLoop::Implementation::Ready(EpisodeDriver& driver, Row row) {
  const std::size_t member = row.environment_id - options_.first_environment;
  if ((row.flags & proto::ROW_FLAG_FIRST) != 0 && link_of_[member] != next_link_of_[member]) {
    Move(member);
  }
  Link& link = LinkOf(row.environment_id);
  constexpr std::uint32_t kEnds = proto::ROW_FLAG_TERMINATED | proto::ROW_FLAG_TRUNCATED;
  if ((row.flags & kEnds) == 0)
    driver.WaitsFor(link.connection != 0 ? Wait::kMessage : Wait::kConnection);
  link.ready.push_back(std::move(row));
  if (!gathering_) Flush(link);
}

void EnvironmentLoop::Implementation::BeginLater(EpisodeDriver& driver,
                                                 std::chrono::milliseconds delay) {
  auto [it, added] = pauses_.try_emplace(driver.identity().environment_id, context_);
  it->second.expires_after(delay);
  it->second.async_wait([&driver](const boost::system::error_code& error) {
    if (!error) driver.Begin();
  });
}

void EnvironmentLoop::Implementation::Connected(Link& link, std::uint64_t server_epoch,
                                                std::uint64_t connection) {
  if (link.client == nullptr) return;
  const bool restarted = link.server_epoch != 0 && link.server_epoch != server_epoch;
  link.connection = connection;
  link.server_epoch = server_epoch;
  gathering_ = true;
  if (restarted) {
    link.ready.clear();
    link.lost.clear();
    const std::vector<std::size_t> members = link.members;
    for (const std::size_t member : members) drivers_[member]->OnServerRestarted();
  } else {
    for (Row& row : link.lost) link.ready.push_back(std::move(row));
    link.lost.clear();
  }
  if (!link.ready.empty()) SendReady(link);
  EndBatch();
}

void EnvironmentLoop::Implementation::Answered(Link& link, std::vector<Answer>& answers) {
  gathering_ = true;
  for (Answer& answer : answers) {
    if (answer.outcome == Answer::Outcome::kLost) {
      if (link.client == nullptr) continue;
      DriverOf(answer.environment_id).WaitsFor(Wait::kConnection);
      link.lost.push_back(std::move(answer.row));
      continue;
    }
    EpisodeDriver& driver = DriverOf(answer.environment_id);
    const bool was_fenced = driver.fenced();
    driver.OnAnswer(answer);
    if (driver.fenced() && !was_fenced) ++fenced_;
  }
  EndBatch();
  if (fenced_ == drivers_.size()) {
    Fail(absl::AbortedError("a newer actor plays every environment of this one"));
  }
  if (link.client == nullptr) return;
  const inference::client::RowStatusCounts counts = link.client->status_counts();
  metrics_.CountStatuses(link.counts, counts);
  link.counts = counts;
}

void EnvironmentLoop::Implementation::Disconnected(Link& link, const absl::Status& status) {
  link.connection = 0;
  if (absl::IsFailedPrecondition(status)) Fail(status);
}

void EnvironmentLoop::Implementation::EndBatch() {
  gathering_ = false;
  for (auto& link : links_) Flush(*link);
}

void EnvironmentLoop::Implementation::Flush(Link& link) {
  if (link.connection == 0 || link.ready.empty()) return;
  const bool more_will_come = std::any_of(link.members.begin(), link.members.end(),
                                          [this](std::size_t i) { return drivers_[i]->busy(); });
  if (!more_will_come || link.ready.size() >= options_.rows_per_message_min) {
    SendReady(link);
    return;
  }
  if (link.timer_armed) return;
  link.timer_armed = true;
  link.timer.expires_after(options_.max_wait);
  link.timer.async_wait([this, &link](const boost::system::error_code& error) {
    link.timer_armed = false;
    if (!error && link.connection != 0) SendReady(link);
  });
}

void EnvironmentLoop::Implementation::SendReady(Link& link) {
  std::sort(link.ready.begin(), link.ready.end(), Earlier);
  std::vector<Row> waiting;
  waiting.swap(link.ready);
  for (std::size_t begin = 0; begin < waiting.size();) {
    const std::size_t end = std::min(waiting.size(), begin + options_.rows_per_message_max);
    std::vector<Row> message(std::make_move_iterator(waiting.begin() + static_cast<long>(begin)),
                             std::make_move_iterator(waiting.begin() + static_cast<long>(end)));
    for (const Row& row : message) DriverOf(row.environment_id).WaitsFor(Wait::kInference);
    const absl::Status sent = link.client->Send(message, link.connection);
    if (!sent.ok()) {
      for (Row& row : message) link.ready.push_back(std::move(row));
      for (std::size_t i = end; i < waiting.size(); ++i)
        link.ready.push_back(std::move(waiting[i]));
      if (absl::IsUnavailable(sent)) AwaitConnection(link);
      return;
    }
    begin = end;
  }
}

// The connection to the server has ended, and OnDisconnected will follow.
void EnvironmentLoop::Implementation::AwaitConnection(Link& link) {
  link.connection = 0;
  for (const Row& row : link.ready) DriverOf(row.environment_id).WaitsFor(Wait::kConnection);
}

void EnvironmentLoop::Implementation::Fail(const absl::Status& status) {
  if (failed_) return;
  failed_ = true;
  on_failure_(status);
}

EnvironmentLoop::EnvironmentLoop(LoopOptions options, const EnvironmentSource& source,
                                 EpisodePlan& plan, ActorMetrics& metrics)
    : implementation_(std::make_unique<Implementation>(std::move(options), source, plan, metrics)) {
}
EnvironmentLoop::~EnvironmentLoop() = default;

void EnvironmentLoop::Start(OnFailure on_failure) { implementation_->Start(std::move(on_failure)); }
void EnvironmentLoop::Stop() { implementation_->Stop(); }

proto::EnvironmentSpec ToWire(const EnvironmentSpec& spec) {
  proto::EnvironmentSpec wire;
  proto::ObservationSpec* observation = wire.add_observations();
  observation->set_name(spec.observation_name);
  observation->set_dtype(transport::ToWire(spec.observation_dtype));
  for (const std::int64_t dimension : spec.observation_shape) observation->add_shape(dimension);
  for (const std::string& field : spec.content_fields) wire.add_content_fields(field);
  if (!spec.action_low.empty()) {
    proto::ActionSpec::Box& box = *wire.mutable_action()->mutable_box();
    box.mutable_low()->Add(spec.action_low.begin(), spec.action_low.end());
    box.mutable_high()->Add(spec.action_high.begin(), spec.action_high.end());
  } else if (spec.actions > 0) {
    wire.mutable_action()->mutable_discrete()->set_count(static_cast<std::uint32_t>(spec.actions));
  } else {
    wire.mutable_action()->mutable_candidates();
  }
  wire.set_candidate_marks(static_cast<std::uint32_t>(spec.candidate_marks));
  return wire;
}

}  // namespace shoal::actor
