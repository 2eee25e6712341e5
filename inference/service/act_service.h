// SPDX-License-Identifier: Apache-2.0
// The service of proto/act.proto. It opens one ActStream for each call.
#pragma once

#include <memory>

#include "inference/service/act_stream.h"
#include "proto/act.grpc.pb.h"

namespace shoal::inference {

class ActService final : public proto::Inference::CallbackService {
 public:
  // `context` must outlive the service.
  explicit ActService(const ActContext& context) : context_(context) {}

  grpc::ServerBidiReactor<proto::ActRequest, proto::ActReply>* Act(
      grpc::CallbackServerContext* /*call*/) override {
    return std::make_shared<ActStream>(context_)->Start();
  }

 private:
  const ActContext& context_;
};

}  // namespace shoal::inference
