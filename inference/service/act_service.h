// SPDX-License-Identifier: Apache-2.0
// The RPC of proto/act.proto: opens one ActStream a call.
#pragma once

#include <memory>

#include "inference/service/act_stream.h"
#include "proto/act.grpc.pb.h"

namespace shoal::inference {

class ActService final : public proto::Inference::CallbackService {
 public:
  // `context` outlives this.
  explicit ActService(const ActContext& context) : context_(context) {}

  grpc::ServerBidiReactor<proto::ActRequest, proto::ActReply>* Act(
      grpc::CallbackServerContext* /*call*/) override {
    return std::make_shared<ActStream>(context_)->Start();
  }

 private:
  const ActContext& context_;
};

}  // namespace shoal::inference
