// SPDX-License-Identifier: Apache-2.0
#include "inference/client/act_client.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>
#include <utility>

#include "inference/client/act_stream.h"
#include "inference/client/row_encoder.h"
#include "platform/content/canonical_json.h"
#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "platform/transport/wire_tensor.h"

namespace shoal::inference::client {

namespace {

// A server that asks this often for the contents of one row has no room for them.
constexpr int kMaxAttempts = 16;

using RowId = std::pair<std::uint64_t, std::uint64_t>;

struct Pending {
  Row row;
  int attempts = 0;
};

// When the rows that an environment must send again are due.
struct Turn {
  runtime::TimePoint due;
  std::uint64_t environment_id = 0;
};

Answer Lost(Row row) {
  Answer answer{.environment_id = row.environment_id, .sequence = row.sequence};
  answer.row = std::move(row);
  return answer;
}

}  // namespace

class ActClient::Implementation {
 public:
  Implementation(ActClientOptions options, ActHandler& handler, runtime::Clock& clock)
      : options_(std::move(options)),
        handler_(handler),
        clock_(clock),
        channel_(transport::CreateChannel(options_.address)),
        stub_(proto::Inference::NewStub(channel_)),
        backoff_(options_.min_backoff),
        jitter_(clock.UnixNanos()),
        thread_("act_client", [this] { Run(); }) {}

  ~Implementation() {
    inbox_.Stop();
    thread_.Join();
  }

  absl::Status Send(std::vector<Row>& rows, std::uint64_t connection) ABSL_LOCKS_EXCLUDED(mutex_);
  std::size_t room() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return options_.max_outstanding - std::min(options_.max_outstanding, pending_.size());
  }
  RowStatusCounts status_counts() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return status_counts_;
  }

 private:
  void Run();
  void Open() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Serve() ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsConnected() const {
    return channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
  }
  absl::Status TakeReply(const proto::ActReply& reply) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status TakeWelcome(const proto::ActWelcome& welcome) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status TakeRows(const proto::RowReplies& replies) ABSL_LOCKS_EXCLUDED(mutex_);
  void SettleLocked(const RowReply& reply, const RowId& id, std::vector<Answer>& answers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetLocked(const proto::RowReplies& replies) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ResendLocked(const RowId& id, std::chrono::milliseconds delay)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendDue() ABSL_LOCKS_EXCLUDED(mutex_);
  void WriteLocked(std::span<const Row* const> rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  runtime::TimePoint NextDue() const ABSL_LOCKS_EXCLUDED(mutex_);
  void End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Pause();

  const ActClientOptions options_;
  ActHandler& handler_;
  runtime::Clock& clock_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<proto::Inference::Stub> stub_;
  ActInbox inbox_;

  // Used by the client's thread only.
  std::chrono::milliseconds backoff_;
  runtime::Random jitter_;
  std::uint64_t server_epoch_ = 0;
  std::string last_error_;
  // Whether an attempt waits for the channel, since the one before it could not connect.
  bool waits_for_channel_ = false;

  mutable runtime::Mutex mutex_;
  std::shared_ptr<ActStream> stream_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<RowEncoder> encoder_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t connections_ ABSL_GUARDED_BY(mutex_) = 0;
  // The number of this connection after the welcome, or 0 before.
  std::uint64_t connection_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<RowId, Pending> pending_ ABSL_GUARDED_BY(mutex_);
  // The sequences to be sent again, by environment. Each such environment has one entry in
  // `turns_`, which is sorted by time.
  absl::flat_hash_map<std::uint64_t, std::set<std::uint64_t>> resends_ ABSL_GUARDED_BY(mutex_);
  std::deque<Turn> turns_ ABSL_GUARDED_BY(mutex_);
  RowStatusCounts status_counts_ ABSL_GUARDED_BY(mutex_) = {};

  runtime::Thread thread_;
};

absl::Status ActClient::Implementation::Send(std::vector<Row>& rows, std::uint64_t connection) {
  if (rows.empty()) return absl::OkStatus();
  const runtime::MutexLock lock(mutex_);
  if (connection_ == 0 || connection != connection_) {
    return runtime::Unavailable("connection " + std::to_string(connection) + " has ended");
  }
  if (pending_.size() + rows.size() > options_.max_outstanding) {
    return runtime::ResourceExhausted(std::to_string(options_.max_outstanding) +
                                      " rows are outstanding at most");
  }
  std::vector<const Row*> at_once;
  for (const Row& row : rows) {
    const auto waiting = resends_.find(row.environment_id);
    if (waiting == resends_.end()) {
      at_once.push_back(&row);
    } else {
      waiting->second.insert(row.sequence);
    }
  }
  WriteLocked(at_once);
  for (Row& row : rows) {
    const RowId id(row.environment_id, row.sequence);
    pending_.insert_or_assign(id, Pending{.row = std::move(row)});
  }
  rows.clear();
  return absl::OkStatus();
}

void ActClient::Implementation::WriteLocked(std::span<const Row* const> rows) {
  if (stream_ == nullptr || rows.empty()) return;
  for (proto::ActRequest& message : encoder_->Encode(rows)) stream_->Send(std::move(message));
}

void ActClient::Implementation::Run() {
  bool stopping = false;
  while (!stopping) {
    Open();
    const absl::Status status = Serve();
    if (absl::IsCancelled(status)) return;
    End(status);
    stopping = Pause();
  }
}

void ActClient::Implementation::Open() {
  auto stream = std::make_shared<ActStream>(inbox_);
  stream->Start([this](grpc::ClientContext* context, auto* reactor) {
    // An attempt that cannot connect tells why. The one after it begins as soon as the channel is
    // connected, rather than whenever a pause ends.
    context->set_wait_for_ready(waits_for_channel_);
    stub_->async()->Act(context, reactor);
  });
  proto::ActRequest request;
  proto::ActHello* hello = request.mutable_hello();
  hello->set_protocol_version(transport::kProtocolVersion);
  hello->set_client(options_.name);
  hello->set_canonicaliser_version(std::string(content::kCanonicaliserVersion));
  *hello->mutable_spec() = options_.spec;
  hello->set_relabels(options_.relabels);
  stream->Send(std::move(request));
  const runtime::MutexLock lock(mutex_);
  encoder_ = std::make_unique<RowEncoder>(options_.spec);
  stream_ = std::move(stream);
}

// Returns CANCELLED when the client is stopping, and otherwise why the stream ended.
absl::Status ActClient::Implementation::Serve() {
  std::shared_ptr<ActStream> stream;
  {
    const runtime::MutexLock lock(mutex_);
    stream = stream_;
  }
  runtime::TimePoint welcome_deadline = clock_.Now() + options_.start_timeout;
  bool welcomed = false;
  // Whether the channel was connected at the deadline before this one.
  bool was_connected = false;
  absl::Status failure;
  while (true) {
    ActInbox::Events events =
        inbox_.Await(clock_, !welcomed && failure.ok() ? welcome_deadline : NextDue());
    for (const proto::ActReply& reply : events.replies) {
      if (failure.ok()) failure = TakeReply(reply);
      welcomed = true;
      if (!failure.ok()) stream->Cancel();
    }
    if (events.stopping) {
      stream->Cancel();
      stream->AwaitEnd().IgnoreError();
      return runtime::Cancelled("the client is stopping");
    }
    if (events.end) {
      stream->AwaitEnd().IgnoreError();
      waits_for_channel_ = !welcomed && !IsConnected();
      if (!failure.ok()) return failure;
      return events.end->ok() ? runtime::Unavailable("the server ended the stream")
             : absl::IsCancelled(*events.end)
                 ? runtime::Unavailable("the server cancelled the stream")
                 : *events.end;
    }
    if (!welcomed && failure.ok() && clock_.Now() >= welcome_deadline) {
      const bool connected = IsConnected();
      if (waits_for_channel_ && !(connected && was_connected)) {
        welcome_deadline = clock_.Now() + options_.start_timeout;
      } else {
        failure = runtime::Unavailable(connected ? "no welcome in time" : "no connection in time");
        stream->Cancel();
      }
      was_connected = connected;
    }
    SendDue();
  }
}

absl::Status ActClient::Implementation::TakeReply(const proto::ActReply& reply) {
  bool connected = false;
  {
    const runtime::MutexLock lock(mutex_);
    connected = connection_ != 0;
  }
  if (!connected) {
    if (!reply.has_welcome()) return runtime::Internal("the first reply is no welcome");
    return TakeWelcome(reply.welcome());
  }
  return reply.has_replies() ? TakeRows(reply.replies()) : absl::OkStatus();
}

absl::Status ActClient::Implementation::TakeWelcome(const proto::ActWelcome& welcome) {
  SHOAL_RETURN_IF_ERROR(transport::CheckProtocolVersion(
      welcome.protocol_version(), "inference server at " + options_.address, "actor"));
  spdlog::info("event=connected server={} server_epoch={} encoder={}", options_.address,
               welcome.server_epoch(), runtime::Quoted(welcome.encoder_version()));
  server_epoch_ = welcome.server_epoch();
  backoff_ = options_.min_backoff;
  last_error_.clear();
  std::uint64_t connection = 0;
  {
    const runtime::MutexLock lock(mutex_);
    connection = connection_ = ++connections_;
  }
  handler_.OnConnected(server_epoch_, connection);
  return absl::OkStatus();
}

absl::Status ActClient::Implementation::TakeRows(const proto::RowReplies& replies) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<RowReply> rows, ReadReplies(replies));
  if (replies.server_epoch() != server_epoch_) {
    return runtime::Unavailable("the server's epoch changed within a stream");
  }
  std::vector<Answer> answers;
  {
    const runtime::MutexLock lock(mutex_);
    ForgetLocked(replies);
    for (const RowReply& reply : rows) {
      const RowId id(reply.environment_id, reply.sequence);
      if (!pending_.contains(id)) continue;
      ++status_counts_[static_cast<std::size_t>(reply.status)];
      SettleLocked(reply, id, answers);
    }
  }
  if (!answers.empty()) handler_.OnAnswers(std::move(answers));
  return absl::OkStatus();
}

void ActClient::Implementation::SettleLocked(const RowReply& reply, const RowId& id,
                                             std::vector<Answer>& answers) {
  Pending& pending = pending_[id];
  Answer answer{.environment_id = id.first, .sequence = id.second};
  switch (reply.status) {
    case proto::ROW_NEED_CONTENT:
    case proto::ROW_NEED_CATALOG:
      if (++pending.attempts <= kMaxAttempts) {
        if (pending.row.catalog != nullptr) {
          encoder_->ForgetCatalog(pending.row.catalog->key());
        }
        ResendLocked(id, std::chrono::milliseconds(0));
        return;
      }
      answer.outcome = Answer::Outcome::kInvalid;
      answer.error = "the server asks again for contents that it was sent";
      break;
    case proto::ROW_OVERLOADED:
    case proto::ROW_EXPIRED:
      ResendLocked(id, options_.overload_delay);
      return;
    case proto::ROW_OK:
      answer.outcome = Answer::Outcome::kAction;
      answer.action = reply.action;
      answer.box_action = reply.box_action;
      answer.policy_epoch = reply.policy_epoch;
      answer.policy_step = reply.policy_step;
      break;
    case proto::ROW_ACCEPTED:
      answer.outcome = Answer::Outcome::kAccepted;
      break;
    case proto::ROW_FENCED:
      answer.outcome = Answer::Outcome::kFenced;
      break;
    case proto::ROW_RESUMED:
      answer.outcome = Answer::Outcome::kResumed;
      answer.resumed = reply.resumed;
      break;
    default:
      answer.outcome = Answer::Outcome::kInvalid;
      answer.error = reply.error;
  }
  pending_.erase(id);
  answers.push_back(std::move(answer));
}

void ActClient::Implementation::ForgetLocked(const proto::RowReplies& replies) {
  // A key that is not 16 bytes long was never sent.
  for (const std::string& bytes : replies.missing_keys()) {
    if (const auto key = content::ContentKey::FromBytes(bytes); key.ok()) {
      encoder_->ForgetContent(*key);
    }
  }
  for (const std::string& bytes : replies.missing_catalogs()) {
    if (const auto key = content::ContentKey::FromBytes(bytes); key.ok()) {
      encoder_->ForgetCatalog(*key);
    }
  }
}

runtime::TimePoint ActClient::Implementation::NextDue() const {
  const runtime::MutexLock lock(mutex_);
  if (turns_.empty()) return clock_.Now() + std::chrono::hours(1);
  return turns_.front().due;
}

void ActClient::Implementation::ResendLocked(const RowId& id, std::chrono::milliseconds delay) {
  const auto [waiting, added] = resends_.try_emplace(id.first);
  waiting->second.insert(id.second);
  if (!added) return;
  const Turn turn{clock_.Now() + delay, id.first};
  const auto later = [](runtime::TimePoint due, const Turn& other) { return due < other.due; };
  turns_.insert(std::upper_bound(turns_.begin(), turns_.end(), turn.due, later), turn);
}

void ActClient::Implementation::SendDue() {
  const runtime::MutexLock lock(mutex_);
  std::vector<const Row*> rows;
  const runtime::TimePoint now = clock_.Now();
  for (; !turns_.empty() && turns_.front().due <= now; turns_.pop_front()) {
    const std::uint64_t environment_id = turns_.front().environment_id;
    for (const std::uint64_t sequence : resends_.at(environment_id)) {
      const auto it = pending_.find(RowId(environment_id, sequence));
      if (it != pending_.end()) rows.push_back(&it->second.row);
    }
    resends_.erase(environment_id);
  }
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    return RowId(a->environment_id, a->sequence) < RowId(b->environment_id, b->sequence);
  });
  WriteLocked(rows);
}

void ActClient::Implementation::End(const absl::Status& status) {
  std::vector<Answer> answers;
  std::shared_ptr<ActStream> stream;
  {
    const runtime::MutexLock lock(mutex_);
    connection_ = 0;
    stream.swap(stream_);
    resends_.clear();
    turns_.clear();
    for (auto& [id, pending] : pending_) answers.push_back(Lost(std::move(pending.row)));
    pending_.clear();
  }
  std::sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) {
    return RowId(a.environment_id, a.sequence) < RowId(b.environment_id, b.sequence);
  });
  if (!answers.empty()) handler_.OnAnswers(std::move(answers));
  if (const std::string message = runtime::Message(status); message != last_error_) {
    spdlog::warn("event=disconnected server={} reason={}", options_.address,
                 runtime::Quoted(message));
    last_error_ = message;
  }
  handler_.OnDisconnected(status);
}

// Returns true when the client is stopping.
bool ActClient::Implementation::Pause() {
  const auto delay =
      std::chrono::duration_cast<runtime::Duration>(std::chrono::duration<double, std::milli>(
          static_cast<double>(backoff_.count()) * (0.5 + 0.5 * jitter_.Uniform())));
  backoff_ = std::min(backoff_ * 2, options_.max_backoff);
  const runtime::TimePoint until = clock_.Now() + delay;
  while (clock_.Now() < until) {
    if (inbox_.Await(clock_, until).stopping) return true;
  }
  return false;
}

ActClient::ActClient(ActClientOptions options, ActHandler& handler, runtime::Clock& clock)
    : implementation_(std::make_unique<Implementation>(std::move(options), handler, clock)) {}
ActClient::~ActClient() = default;

absl::Status ActClient::Send(std::vector<Row>& rows, std::uint64_t connection) {
  return implementation_->Send(rows, connection);
}
std::size_t ActClient::room() const { return implementation_->room(); }
RowStatusCounts ActClient::status_counts() const { return implementation_->status_counts(); }

namespace {

absl::Status CheckLength(const char* name, int length, int rows) {
  if (length == rows) return absl::OkStatus();
  return runtime::InvalidArgument(std::string("replies.") + name + " has " +
                                  std::to_string(length) + " entries for " + std::to_string(rows) +
                                  " rows");
}

ResumedEpisode ToResumed(const proto::ResumedEpisode& wire) {
  return {.incarnation = wire.incarnation(),
          .episode_id = wire.episode_id(),
          .next_sequence = wire.next_sequence(),
          .actions = {wire.actions().begin(), wire.actions().end()},
          .box_actions = {wire.box_actions().begin(), wire.box_actions().end()}};
}

}  // namespace

absl::StatusOr<std::vector<RowReply>> ReadReplies(const proto::RowReplies& replies) {
  const int count = replies.environment_ids_size();
  SHOAL_RETURN_IF_ERROR(CheckLength("sequences", replies.sequences_size(), count));
  SHOAL_RETURN_IF_ERROR(CheckLength("statuses", replies.statuses_size(), count));
  std::vector<RowReply> rows(static_cast<std::size_t>(count));
  bool any_action = false;
  int invalid = 0;
  int resumed = 0;
  for (int i = 0; i < count; ++i) {
    RowReply& row = rows[static_cast<std::size_t>(i)];
    row.environment_id = replies.environment_ids(i);
    row.sequence = replies.sequences(i);
    if (!proto::RowStatus_IsValid(replies.statuses(i))) {
      return runtime::InvalidArgument("replies.statuses has the unknown value " +
                                      std::to_string(replies.statuses(i)));
    }
    row.status = replies.statuses(i);
    any_action = any_action || row.status == proto::ROW_OK;
    if (row.status == proto::ROW_INVALID && invalid < replies.errors_size()) {
      row.error = replies.errors(invalid++);
    }
    if (row.status != proto::ROW_RESUMED) continue;
    if (resumed == replies.resumed_size()) {
      return runtime::InvalidArgument("replies.resumed has " + std::to_string(resumed) +
                                      " entries for more ROW_RESUMED rows");
    }
    row.resumed = std::make_shared<const ResumedEpisode>(ToResumed(replies.resumed(resumed++)));
  }
  if (!any_action) return rows;
  SHOAL_RETURN_IF_ERROR(CheckLength("policy_epochs", replies.policy_epochs_size(), count));
  SHOAL_RETURN_IF_ERROR(CheckLength("policy_steps", replies.policy_steps_size(), count));
  const bool box = replies.actions().dtype() == proto::FLOAT32;
  std::vector<std::int64_t> shape = {count};
  if (box) shape.push_back(replies.actions().shape_size() == 2 ? replies.actions().shape(1) : 0);
  SHOAL_ASSIGN_OR_RETURN(
      const runtime::TensorView actions,
      transport::ViewAs(replies.actions(), "replies.actions",
                        box ? runtime::DType::kFloat32 : runtime::DType::kInt64, shape));
  const std::size_t stride = actions.bytes.size() / static_cast<std::size_t>(count);
  for (int i = 0; i < count; ++i) {
    RowReply& row = rows[static_cast<std::size_t>(i)];
    const auto* const from = actions.bytes.data() + static_cast<std::size_t>(i) * stride;
    if (box) {
      row.box_action.resize(stride / sizeof(float));
      std::memcpy(row.box_action.data(), from, stride);
    } else {
      std::memcpy(&row.action, from, sizeof(row.action));
    }
    row.policy_epoch = replies.policy_epochs(i);
    row.policy_step = replies.policy_steps(i);
  }
  return rows;
}

}  // namespace shoal::inference::client
