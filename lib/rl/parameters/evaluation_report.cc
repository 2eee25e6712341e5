// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/evaluation_report.h"

#include <grpcpp/client_context.h>

#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "platform/transport/status.h"
#include "proto/evaluation.grpc.pb.h"
#include "rl/parameters/version_wire.h"

namespace shoal::parameters {

absl::Status SendEvaluation(const std::string& learner, const std::string& client,
                            const EvaluationReport& report, runtime::Duration timeout) {
  proto::EvaluationReport message;
  message.set_protocol_version(transport::kProtocolVersion);
  message.set_client(client);
  *message.mutable_version() = ToProto(report.version);
  message.set_mean_return(report.mean_return);
  message.set_episodes(report.episodes);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::microseconds>(timeout));
  proto::EvaluationReceipt receipt;
  const auto stub = proto::Evaluations::NewStub(transport::CreateChannel(learner));
  SHOAL_RETURN_IF_ERROR(transport::FromGrpc(stub->Report(&context, message, &receipt)));
  return transport::CheckProtocolVersion(receipt.protocol_version(), "learner at " + learner,
                                         client);
}

}  // namespace shoal::parameters
