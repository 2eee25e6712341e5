// SPDX-License-Identifier: Apache-2.0
#include "inference/service/act_stream.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "inference/service/spec_check.h"
#include "platform/runtime/log.h"
#include "platform/transport/protocol.h"

namespace shoal::inference {

namespace {

// Answers rows that were not decoded, as far as both their ids and sequences are there.
std::vector<RowAnswer> Overloaded(const proto::Rows& rows) {
  std::vector<RowAnswer> answers;
  const int count = std::min(rows.environment_ids_size(), rows.sequences_size());
  for (int i = 0; i < count; ++i) {
    answers.push_back({.environment = rows.environment_ids(i),
                       .sequence = rows.sequences(i),
                       .status = RowStatus::kOverloaded});
  }
  return answers;
}

void AddResumed(const ResumedEpisode& episode, proto::RowReplies& rows) {
  proto::ResumedEpisode& wire = *rows.add_resumed();
  wire.set_incarnation(episode.incarnation);
  wire.set_episode_id(episode.episode);
  wire.set_next_sequence(episode.next_sequence);
  wire.mutable_actions()->Add(episode.actions.discrete.begin(), episode.actions.discrete.end());
  wire.mutable_box_actions()->Add(episode.actions.box.begin(), episode.actions.box.end());
}

}  // namespace

ActStream::ActStream(const ActContext& context)
    : ServerStream({.window = context.stream_window}, context.registry),
      context_(context),
      server_epoch_(context.server_epoch) {}

void ActStream::Deliver(std::vector<RowAnswer> answers) {
  Send(EncodeReply(answers, server_epoch_));
}

void ActStream::Refuse(const absl::Status& status) {
  spdlog::warn("event=message_refused reason={}", runtime::Quoted(runtime::Message(status)));
  Fail(status);
  Release();
}

absl::Status ActStream::TakeHello(const proto::ActRequest& request) {
  if (!request.has_hello()) {
    return runtime::InvalidArgument("the stream's first message is not a hello");
  }
  SHOAL_ASSIGN_OR_RETURN(layout_, CheckHello(request.hello(), context_.spec));
  proto::ActReply reply;
  proto::ActWelcome& welcome = *reply.mutable_welcome();
  welcome.set_protocol_version(transport::kProtocolVersion);
  welcome.set_server_epoch(server_epoch_);
  welcome.set_encoder_version(context_.encoder_version);
  Send(std::move(reply));
  spdlog::info("event=stream_opened client={}", runtime::Quoted(request.hello().client()));
  return absl::OkStatus();
}

void ActStream::OnMessage(proto::ActRequest&& request) {
  if (layout_ == nullptr) {
    const absl::Status taken = TakeHello(request);
    if (!taken.ok()) {
      Refuse(taken);
    } else {
      Release();
    }
    return;
  }
  if (request.has_hello()) {
    Refuse(runtime::InvalidArgument("a second hello"));
    return;
  }
  ActMessage message{std::move(request), std::static_pointer_cast<ActStream>(shared_from_this()),
                     layout_};
  if (context_.messages.Submit(std::move(message))) return;
  std::vector<RowAnswer> unanswered = Overloaded(message.request.rows());
  if (!unanswered.empty()) Deliver(std::move(unanswered));
  Release();
}

proto::ActReply EncodeReply(std::span<const RowAnswer> answers, std::uint64_t server_epoch) {
  proto::ActReply reply;
  proto::RowReplies& rows = *reply.mutable_replies();
  rows.set_server_epoch(server_epoch);
  const int count = static_cast<int>(answers.size());
  rows.mutable_environment_ids()->Reserve(count);
  rows.mutable_sequences()->Reserve(count);
  rows.mutable_statuses()->Reserve(count);
  rows.mutable_policy_epochs()->Reserve(count);
  rows.mutable_policy_steps()->Reserve(count);
  std::size_t width = 0;
  for (const RowAnswer& answer : answers) width = std::max(width, answer.box_action.size());
  std::string actions;
  actions.reserve(answers.size() * std::max(sizeof(std::int64_t), width * sizeof(float)));
  std::unordered_set<content::ContentKey> missing;
  for (const RowAnswer& answer : answers) {
    rows.add_environment_ids(answer.environment);
    rows.add_sequences(answer.sequence);
    rows.add_statuses(static_cast<proto::RowStatus>(answer.status));
    rows.add_policy_epochs(answer.version.epoch);
    rows.add_policy_steps(answer.version.step);
    if (width == 0) {
      actions.append(reinterpret_cast<const char*>(&answer.action), sizeof answer.action);
    } else {
      actions.append(reinterpret_cast<const char*>(answer.box_action.data()),
                     answer.box_action.size() * sizeof(float));
      actions.append((width - answer.box_action.size()) * sizeof(float), '\0');
    }
    for (const content::ContentKey& key : answer.missing) {
      if (!missing.insert(key).second) continue;
      const std::string bytes(key.AsBytes());
      if (answer.status == RowStatus::kNeedCatalog) {
        rows.add_missing_catalogs(bytes);
      } else {
        rows.add_missing_keys(bytes);
      }
    }
    if (answer.status == RowStatus::kInvalid) rows.add_errors(answer.error);
    if (answer.resumed) AddResumed(*answer.resumed, rows);
  }
  proto::Tensor& tensor = *rows.mutable_actions();
  tensor.set_dtype(width == 0 ? proto::INT64 : proto::FLOAT32);
  tensor.add_shape(static_cast<std::int64_t>(answers.size()));
  if (width > 0) tensor.add_shape(static_cast<std::int64_t>(width));
  tensor.set_data(std::move(actions));
  return reply;
}

}  // namespace shoal::inference
