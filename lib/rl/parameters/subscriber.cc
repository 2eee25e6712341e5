// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/subscriber.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "rl/parameters/assembly.h"
#include "rl/parameters/subscription.h"
#include "rl/parameters/version_wire.h"

namespace shoal::parameters {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kShortestPause{100};
constexpr std::chrono::milliseconds kLongestPause{2000};
constexpr std::chrono::milliseconds kSaveEvery{1000};

}  // namespace

class Subscriber::Impl {
 public:
  Impl(SubscriberOptions options, Callback on_parameters, runtime::Metrics& metrics,
       runtime::Clock& clock);
  ~Impl();

  std::optional<Version> known() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return known_;
  }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  bool AwaitWork() ABSL_LOCKS_EXCLUDED(mutex_);
  void HandOverPersisted() ABSL_LOCKS_EXCLUDED(mutex_);
  void Step() ABSL_LOCKS_EXCLUDED(mutex_);
  void Open() ABSL_LOCKS_EXCLUDED(mutex_);
  void Receive(const proto::ParametersPart& part) ABSL_LOCKS_EXCLUDED(mutex_);
  // Delivers the version if the rule for versions accepts it.
  absl::Status Take(Parameters parameters) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckDigest(const Parameters& parameters) const;
  void Save();
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);

  const SubscriberOptions options_;
  const Callback on_parameters_;
  runtime::Clock& clock_;
  const ParametersFolder folder_;
  prometheus::Counter& taken_;
  prometheus::Counter& refused_;
  prometheus::Gauge& connected_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<proto::Parameters::Stub> stub_;

  // Only the subscriber's thread uses it, without a lock.
  std::shared_ptr<Subscription> stream_;
  Assembly assembly_;
  std::optional<Parameters> unsaved_;
  runtime::TimePoint saved_at_{};
  runtime::TimePoint retry_at_{};
  std::chrono::milliseconds pause_ = kShortestPause;

  mutable runtime::Mutex mutex_;
  runtime::CondVar work_;
  std::optional<Version> known_ ABSL_GUARDED_BY(mutex_);
  bool has_work_ ABSL_GUARDED_BY(mutex_) = true;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  runtime::Thread thread_;
};

Subscriber::Impl::Impl(SubscriberOptions options, Callback on_parameters, runtime::Metrics& metrics,
                       runtime::Clock& clock)
    : options_(std::move(options)),
      on_parameters_(std::move(on_parameters)),
      clock_(clock),
      folder_(options_.folder),
      taken_(metrics.Counter("shoal_parameters_taken_total", "Versions handed over")),
      refused_(metrics.Counter("shoal_parameters_refused_total", "Versions refused")),
      connected_(metrics.Gauge("shoal_parameters_connected", "1 while parts come")),
      channel_(transport::CreateChannel(options_.address)),
      stub_(proto::Parameters::NewStub(channel_)),
      assembly_(options_.max_bytes),
      thread_("parameters", [this] { Run(); }) {}

Subscriber::Impl::~Impl() {
  {
    const runtime::MutexLock lock(mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  thread_.Join();
}

absl::Status Subscriber::Impl::CheckDigest(const Parameters& parameters) const {
  if (options_.spec_digest.empty() || parameters.spec_digest == options_.spec_digest) {
    return absl::OkStatus();
  }
  return runtime::FailedPrecondition("parameters " + ToString(parameters.version) +
                                     " are of spec " + parameters.spec_digest + ", this is " +
                                     options_.spec_digest);
}

void Subscriber::Impl::Run() {
  HandOverPersisted();
  while (AwaitWork()) Step();
  if (stream_) {
    stream_->Cancel();
    stream_->AwaitEnd().IgnoreError();
    stream_.reset();
  }
  Save();
}

bool Subscriber::Impl::AwaitWork() {
  const runtime::TimePoint deadline = clock_.Now() + kTick;
  const runtime::MutexLock lock(mutex_);
  while (!has_work_ && !stopping_) {
    if (!clock_.WaitUntil(work_, mutex_, deadline)) break;
  }
  has_work_ = false;
  return !stopping_;
}

void Subscriber::Impl::Wake() {
  const runtime::MutexLock lock(mutex_);
  has_work_ = true;
  work_.NotifyOne();
}

void Subscriber::Impl::HandOverPersisted() {
  if (options_.folder.empty()) return;
  auto newest = folder_.LoadNewest();
  if (absl::IsNotFound(newest.status())) return;
  const absl::Status status = newest.ok() ? Take(*newest) : newest.status();
  unsaved_.reset();
  if (status.ok()) {
    assembly_.Hold(*std::move(newest));
  } else {
    spdlog::warn("event=persisted_parameters_refused reason={}",
                 runtime::Quoted(status.ToString()));
  }
}

void Subscriber::Impl::Step() {
  const runtime::TimePoint now = clock_.Now();
  if (!stream_ && now >= retry_at_) Open();
  if (stream_) {
    if (const auto part = stream_->TakePart()) Receive(*part);
  }
  if (stream_ && stream_->ended()) {
    const absl::Status end = stream_->AwaitEnd();
    if (!absl::IsUnavailable(end)) {
      spdlog::warn("event=parameters_stream_end address={} reason={}", options_.address,
                   runtime::Quoted(end.ToString()));
    }
    stream_.reset();
    connected_.Set(0);
    retry_at_ = now + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
  }
  if (unsaved_ && now - saved_at_ >= kSaveEvery) Save();
}

void Subscriber::Impl::Open() {
  proto::SubscribeRequest request;
  request.set_protocol_version(transport::kProtocolVersion);
  request.set_client(options_.client);
  request.set_takes_differences(true);
  if (const auto version = known()) {
    *request.mutable_known() = ToProto(*version);
    const ParametersPointer& held = assembly_.held();
    if (held && held->version == *version) request.set_known_sha256(held->sha256);
  }
  assembly_.BeginStream();
  if (auto partial = assembly_.partial()) *request.mutable_partial() = *std::move(partial);
  stream_ = std::make_shared<Subscription>([this] { Wake(); });
  stream_->Start(*stub_, std::move(request));
}

void Subscriber::Impl::Receive(const proto::ParametersPart& part) {
  pause_ = kShortestPause;
  connected_.Set(1);
  const bool held = assembly_.held() != nullptr;
  auto whole = assembly_.Add(part);
  absl::Status status = whole.status();
  if (whole.ok() && whole->has_value()) {
    status = Take(**std::move(whole));
    if (status.ok()) {
      taken_.Increment();
    } else {
      refused_.Increment();
      spdlog::warn("event=parameters_refused reason={}", runtime::Quoted(status.ToString()));
    }
  } else if (!status.ok()) {
    refused_.Increment();
    spdlog::warn("event=parameters_refused reason={}", runtime::Quoted(status.ToString()));
    // After a bad difference the whole file comes.
    const bool lost = held && assembly_.held() == nullptr;
    pause_ = lost ? kShortestPause : kLongestPause;
    stream_->Cancel();
    return;
  }
  stream_->ReadNext();
}

absl::Status Subscriber::Impl::Take(Parameters parameters) {
  SHOAL_RETURN_IF_ERROR(CheckDigest(parameters));
  if (const auto before = known(); before && parameters.version <= *before) {
    return runtime::FailedPrecondition("parameters " + ToString(parameters.version) +
                                       " are not newer than " + ToString(*before));
  }
  {
    const runtime::MutexLock lock(mutex_);
    known_ = parameters.version;
  }
  on_parameters_(parameters);
  unsaved_ = std::move(parameters);
  return absl::OkStatus();
}

void Subscriber::Impl::Save() {
  if (!unsaved_ || options_.folder.empty()) return;
  absl::Status status = folder_.Save(*unsaved_);
  if (status.ok()) status = folder_.KeepNewest(std::max<std::size_t>(1, options_.keep));
  if (!status.ok()) {
    spdlog::error("event=parameters_not_saved reason={}", runtime::Quoted(status.ToString()));
  }
  unsaved_.reset();
  saved_at_ = clock_.Now();
}

Subscriber::Subscriber(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Subscriber::~Subscriber() = default;

absl::StatusOr<std::unique_ptr<Subscriber>> Subscriber::Create(SubscriberOptions options,
                                                               Callback on_parameters,
                                                               runtime::Metrics& metrics,
                                                               runtime::Clock& clock) {
  if (options.address.empty()) {
    return runtime::InvalidArgument("there is no learner to take parameters from");
  }
  if (!on_parameters) return runtime::InvalidArgument("nobody takes the parameters");
  return std::unique_ptr<Subscriber>(new Subscriber(
      std::make_unique<Impl>(std::move(options), std::move(on_parameters), metrics, clock)));
}

std::optional<Version> Subscriber::known() const { return impl_->known(); }

}  // namespace shoal::parameters
