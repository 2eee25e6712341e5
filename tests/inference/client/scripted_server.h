// SPDX-License-Identifier: Apache-2.0
// An inference server that answers by a script and records what it is sent.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/transport/protocol.h"
#include "platform/transport/server.h"
#include "platform/transport/server_stream.h"
#include "proto/act.grpc.pb.h"

namespace shoal::actor::test {

struct SeenRow {
  std::uint64_t environment_id = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  std::uint64_t episode_id = 0;
  proto::RowMode mode = proto::ROW_MODE_TRAIN;
  float reward = 0;
  std::uint32_t flags = 0;
  std::vector<float> observation;
  // One key for each content field.
  std::vector<std::string> content_keys;
  std::string catalog_key;
  std::string policy;
  // -1 where the policy chooses.
  std::int64_t forced = -1;
};

struct Scripted {
  proto::RowStatus status = proto::ROW_OK;
  std::int64_t action = 0;
  std::vector<std::string> missing_keys = {};
  // With ROW_RESUMED.
  proto::ResumedEpisode resumed = {};
};

// Thread-safe.
class ScriptedServer final : public proto::Inference::CallbackService {
 public:
  using Script = std::function<Scripted(const SeenRow&)>;

  explicit ScriptedServer(Script script, std::uint64_t epoch = 1,
                          const std::string& listen = "127.0.0.1:0",
                          std::uint32_t protocol_version = transport::kProtocolVersion)
      : script_(std::move(script)), epoch_(epoch), protocol_version_(protocol_version) {
    auto server = transport::Server::Create({.listen = listen}, {this});
    if (!server.ok()) std::abort();
    server_ = *std::move(server);
  }
  ~ScriptedServer() override { Stop(); }

  // Breaks the streams, as a killed process does.
  void Stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::milliseconds(0));
    server_.reset();
  }

  const std::string& address() const { return server_->address(); }

  std::vector<SeenRow> rows() const {
    const runtime::MutexLock lock(mutex_);
    return rows_;
  }
  // Returns key and text of every content, in order of arrival.
  std::vector<std::pair<std::string, std::string>> contents() const {
    const runtime::MutexLock lock(mutex_);
    return contents_;
  }
  std::size_t catalogs() const {
    const runtime::MutexLock lock(mutex_);
    return catalogs_;
  }
  // Returns the number of rows in each message.
  std::vector<std::size_t> message_sizes() const {
    const runtime::MutexLock lock(mutex_);
    return message_sizes_;
  }
  // Blocks until a client has said hello. Returns false after ten seconds.
  bool AwaitHello() const {
    const auto deadline = runtime::SystemClock().Now() + std::chrono::seconds(10);
    const runtime::MutexLock lock(mutex_);
    while (!greeted_) {
      if (!changed_.WaitUntil(mutex_, deadline)) break;
    }
    return greeted_;
  }
  // Blocks until `condition` holds for the rows so far. Returns false after ten seconds.
  bool Await(const std::function<bool(const std::vector<SeenRow>&)>& condition) const {
    const auto deadline = runtime::SystemClock().Now() + std::chrono::seconds(10);
    const runtime::MutexLock lock(mutex_);
    while (!condition(rows_)) {
      if (!changed_.WaitUntil(mutex_, deadline)) return condition(rows_);
    }
    return true;
  }

 private:
  class Stream final : public transport::ServerStream<proto::ActRequest, proto::ActReply> {
   public:
    Stream(ScriptedServer& owner)
        : ServerStream(transport::ServerStreamOptions{.window = 64}, owner.registry_),
          owner_(owner) {}

   private:
    void OnMessage(proto::ActRequest&& request) override {
      Send(owner_.Answer(request));
      Release();
    }
    ScriptedServer& owner_;
  };

  grpc::ServerBidiReactor<proto::ActRequest, proto::ActReply>* Act(
      grpc::CallbackServerContext*) override {
    return std::make_shared<Stream>(*this)->Start();
  }

  proto::ActReply Answer(const proto::ActRequest& request) {
    proto::ActReply reply;
    if (request.has_hello()) {
      reply.mutable_welcome()->set_protocol_version(protocol_version_);
      reply.mutable_welcome()->set_server_epoch(epoch_);
      const runtime::MutexLock lock(mutex_);
      greeted_ = true;
      changed_.NotifyAll();
      return reply;
    }
    proto::RowReplies* replies = reply.mutable_replies();
    replies->set_server_epoch(epoch_);
    replies->mutable_actions()->set_dtype(proto::INT64);
    replies->mutable_actions()->add_shape(request.rows().environment_ids_size());
    const runtime::MutexLock lock(mutex_);
    for (const proto::Content& content : request.contents()) {
      contents_.emplace_back(content.key(), content.text());
    }
    catalogs_ += static_cast<std::size_t>(request.catalogs_size());
    if (request.has_rows()) {
      message_sizes_.push_back(static_cast<std::size_t>(request.rows().environment_ids_size()));
    }
    for (int i = 0; i < request.rows().environment_ids_size(); ++i) {
      AnswerRow(ReadRow(request.rows(), i), *replies);
    }
    changed_.NotifyAll();
    return reply;
  }

  void AnswerRow(SeenRow row, proto::RowReplies& replies) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const Scripted scripted = script_(row);
    replies.add_environment_ids(row.environment_id);
    replies.add_sequences(row.sequence);
    replies.add_statuses(scripted.status);
    replies.mutable_actions()->mutable_data()->append(
        reinterpret_cast<const char*>(&scripted.action), sizeof(scripted.action));
    replies.add_policy_epochs(1);
    replies.add_policy_steps(2);
    for (const std::string& key : scripted.missing_keys) replies.add_missing_keys(key);
    if (scripted.status == proto::ROW_INVALID) replies.add_errors("scripted");
    if (scripted.status == proto::ROW_RESUMED) *replies.add_resumed() = scripted.resumed;
    rows_.push_back(std::move(row));
  }

  static SeenRow ReadRow(const proto::Rows& rows, int i) {
    SeenRow row;
    row.environment_id = rows.environment_ids(i);
    row.incarnation = rows.incarnations(i);
    row.sequence = rows.sequences(i);
    row.episode_id = rows.episode_ids(i);
    row.mode = rows.modes(i);
    row.reward = rows.rewards(i);
    row.flags = rows.flags(i);
    const std::string& data = rows.observations(0).tensor().data();
    const std::size_t width =
        data.size() / sizeof(float) / static_cast<std::size_t>(rows.environment_ids_size());
    row.observation.resize(width);
    std::memcpy(row.observation.data(), data.data() + static_cast<std::size_t>(i) * width * 4,
                width * 4);
    for (const std::string& keys : rows.content_keys()) {
      row.content_keys.push_back(keys.substr(static_cast<std::size_t>(i) * 16, 16));
    }
    if (rows.catalogs_size() > 0) {
      row.catalog_key = rows.catalog_keys(static_cast<int>(rows.catalogs(i)));
    }
    if (rows.policy_indices_size() > 0) {
      row.policy = rows.policies(static_cast<int>(rows.policy_indices(i))).ShortDebugString();
    }
    if (rows.has_forced_actions()) {
      std::memcpy(&row.forced,
                  rows.forced_actions().data().data() + static_cast<std::size_t>(i) * 8, 8);
    }
    return row;
  }

  const Script script_;
  const std::uint64_t epoch_;
  const std::uint32_t protocol_version_;
  mutable runtime::Mutex mutex_;
  mutable runtime::CondVar changed_;
  bool greeted_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<SeenRow> rows_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<std::string, std::string>> contents_ ABSL_GUARDED_BY(mutex_);
  std::size_t catalogs_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::size_t> message_sizes_ ABSL_GUARDED_BY(mutex_);
  transport::StreamRegistry registry_;
  std::unique_ptr<transport::Server> server_;
};

// The usual script: an end row is accepted, and any other row gets action 0.
inline Scripted Agree(const SeenRow& row) {
  constexpr std::uint32_t kEnds = proto::ROW_FLAG_TERMINATED | proto::ROW_FLAG_TRUNCATED;
  return {.status = (row.flags & kEnds) != 0 ? proto::ROW_ACCEPTED : proto::ROW_OK};
}

}  // namespace shoal::actor::test
