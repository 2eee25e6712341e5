// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/evaluation_inbox.h"

#include <cmath>
#include <deque>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/transport/protocol.h"
#include "platform/transport/status.h"
#include "proto/evaluation.grpc.pb.h"
#include "rl/parameters/version_wire.h"

namespace shoal::parameters {
namespace {

absl::Status Check(const proto::EvaluationReport& report) {
  SHOAL_RETURN_IF_ERROR(
      transport::CheckProtocolVersion(report.protocol_version(), report.client(), "learner"));
  if (!report.has_version()) return runtime::InvalidArgument("version: it is missing");
  if (report.episodes() == 0) return runtime::InvalidArgument("episodes: there are none");
  if (!std::isfinite(report.mean_return())) {
    return runtime::InvalidArgument("mean_return: it is not finite");
  }
  return absl::OkStatus();
}

}  // namespace

class EvaluationInbox::Impl final : public proto::Evaluations::CallbackService {
 public:
  grpc::ServerUnaryReactor* Report(grpc::CallbackServerContext* context,
                                   const proto::EvaluationReport* request,
                                   proto::EvaluationReceipt* receipt) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    const absl::Status checked = Check(*request);
    if (checked.ok()) {
      Keep({.version = FromProto(request->version()),
            .mean_return = request->mean_return(),
            .episodes = request->episodes()});
      receipt->set_protocol_version(transport::kProtocolVersion);
    }
    reactor->Finish(transport::ToGrpc(checked));
    return reactor;
  }

  std::vector<EvaluationReport> Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    const std::deque<EvaluationReport> taken = std::exchange(reports_, {});
    return {taken.begin(), taken.end()};
  }

 private:
  void Keep(const EvaluationReport& report) ABSL_LOCKS_EXCLUDED(mutex_) {
    spdlog::info("event=evaluation version={} return={} episodes={}", ToString(report.version),
                 report.mean_return, report.episodes);
    const runtime::MutexLock lock(mutex_);
    reports_.push_back(report);
    if (reports_.size() > kMostReports) reports_.pop_front();
  }

  runtime::Mutex mutex_;
  std::deque<EvaluationReport> reports_ ABSL_GUARDED_BY(mutex_);
};

EvaluationInbox::EvaluationInbox() : impl_(std::make_unique<Impl>()) {}
EvaluationInbox::~EvaluationInbox() = default;
std::vector<EvaluationReport> EvaluationInbox::Take() { return impl_->Take(); }
grpc::Service* EvaluationInbox::service() { return impl_.get(); }

}  // namespace shoal::parameters
