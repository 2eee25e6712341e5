// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/fetcher.h"

#include <grpcpp/client_context.h>

#include <deque>
#include <utility>

#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "platform/transport/status.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/assembly.h"
#include "rl/parameters/version_wire.h"

namespace shoal::parameters {
namespace {

constexpr std::chrono::milliseconds kPause{100};

using Deadline = std::chrono::system_clock::time_point;

}  // namespace

class Fetcher::Impl {
 public:
  Impl(FetcherOptions options, Callback on_fetched)
      : options_(std::move(options)),
        on_fetched_(std::move(on_fetched)),
        stub_(proto::Parameters::NewStub(transport::CreateChannel(options_.address))),
        thread_("fetcher", [this] { Run(); }) {}
  ~Impl() {
    {
      const runtime::MutexLock lock(mutex_);
      stopping_ = true;
      if (call_ != nullptr) call_->TryCancel();
      changed_.NotifyAll();
    }
    thread_.Join();
  }

  void Fetch(const WantedVersion& wanted) ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      const runtime::MutexLock lock(mutex_);
      if (waiting_.size() < options_.max_waiting) {
        waiting_.push_back(wanted);
        changed_.NotifyAll();
        return;
      }
    }
    on_fetched_(wanted,
                runtime::ResourceExhausted("more than " + std::to_string(options_.max_waiting) +
                                           " versions are being fetched"));
  }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_) {
    for (;;) {
      WantedVersion wanted;
      {
        const runtime::MutexLock lock(mutex_);
        while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
        if (stopping_) return;
        wanted = waiting_.front();
        waiting_.pop_front();
      }
      auto fetched = FetchWhole(wanted);
      if (absl::IsCancelled(fetched.status())) return;
      on_fetched_(wanted, std::move(fetched));
    }
  }

  absl::StatusOr<Parameters> FetchWhole(const WantedVersion& wanted) {
    const Deadline deadline = std::chrono::system_clock::now() + options_.patience;
    Assembly assembly(options_.max_bytes);
    std::uint64_t offset = 0;
    for (;;) {
      SHOAL_ASSIGN_OR_RETURN(const proto::ParametersPart part, FetchPart(wanted, offset, deadline));
      SHOAL_ASSIGN_OR_RETURN(const std::optional<Parameters> whole, assembly.Add(part));
      offset += part.data().size();
      if (!whole) continue;
      if (!options_.spec_digest.empty() && whole->spec_digest != options_.spec_digest) {
        return runtime::FailedPrecondition("parameters " + ToString(whole->version) +
                                           " are of spec " + whole->spec_digest + ", this is " +
                                           options_.spec_digest);
      }
      return *whole;
    }
  }

  // Retries while the learner is unreachable.
  absl::StatusOr<proto::ParametersPart> FetchPart(const WantedVersion& wanted, std::uint64_t offset,
                                                  Deadline deadline) {
    proto::FetchRequest request;
    request.set_protocol_version(transport::kProtocolVersion);
    request.set_client(options_.client);
    request.set_offset(offset);
    if (wanted) {
      *request.mutable_version() = ToProto(*wanted);
    } else {
      request.set_initial(true);
    }
    for (;;) {
      proto::ParametersPart part;
      const absl::Status status = Call(request, deadline, part);
      if (status.ok()) return part;
      if (!absl::IsUnavailable(status) || std::chrono::system_clock::now() + kPause >= deadline) {
        return status;
      }
      SHOAL_RETURN_IF_ERROR(Pause());
    }
  }

  absl::Status Call(const proto::FetchRequest& request, Deadline deadline,
                    proto::ParametersPart& part) ABSL_LOCKS_EXCLUDED(mutex_) {
    grpc::ClientContext context;
    context.set_deadline(deadline);
    {
      const runtime::MutexLock lock(mutex_);
      if (stopping_) return runtime::Cancelled("the fetcher ends");
      call_ = &context;
    }
    const grpc::Status status = stub_->Fetch(&context, request, &part);
    const runtime::MutexLock lock(mutex_);
    call_ = nullptr;
    if (stopping_) return runtime::Cancelled("the fetcher ends");
    return transport::FromGrpc(status);
  }

  absl::Status Pause() ABSL_LOCKS_EXCLUDED(mutex_) {
    const auto until = std::chrono::steady_clock::now() + kPause;
    const runtime::MutexLock lock(mutex_);
    while (!stopping_ && changed_.WaitUntil(mutex_, until)) {
    }
    return stopping_ ? runtime::Cancelled("the fetcher ends") : absl::OkStatus();
  }

  const FetcherOptions options_;
  const Callback on_fetched_;
  const std::unique_ptr<proto::Parameters::Stub> stub_;

  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::deque<WantedVersion> waiting_ ABSL_GUARDED_BY(mutex_);
  // The call in progress.
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  runtime::Thread thread_;
};

Fetcher::Fetcher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Fetcher::~Fetcher() = default;

absl::StatusOr<std::unique_ptr<Fetcher>> Fetcher::Create(FetcherOptions options,
                                                         Callback on_fetched) {
  if (options.address.empty()) {
    return runtime::InvalidArgument("there is no learner to fetch parameters from");
  }
  if (!on_fetched) return runtime::InvalidArgument("nobody takes the parameters");
  return std::unique_ptr<Fetcher>(
      new Fetcher(std::make_unique<Impl>(std::move(options), std::move(on_fetched))));
}

void Fetcher::Fetch(const WantedVersion& wanted) { impl_->Fetch(wanted); }

}  // namespace shoal::parameters
