// SPDX-License-Identifier: Apache-2.0
#include "inference/service/act_stream.h"

#include <algorithm>
#include <utility>

#include "inference/service/reply_encoder.h"
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

}  // namespace shoal::inference
