// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/publisher.h"

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "platform/transport/protocol.h"
#include "platform/transport/status.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/assembly.h"
#include "rl/parameters/published_versions.h"
#include "rl/parameters/version_wire.h"

namespace shoal::parameters {
namespace {

class SubscriptionStream;

// The streams and the versions that they serve. Lock order: a stream's mutex first, then this
// one's.
class Publication {
 public:
  explicit Publication(PublishedVersions& versions) : versions_(versions) {}

  PublishedPointer newest() const { return versions_.newest(); }
  // Returns false once draining.
  bool Add(const std::shared_ptr<SubscriptionStream>& stream) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    streams_.emplace(stream.get(), stream);
    return !draining_;
  }
  void Remove(const SubscriptionStream* stream) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    streams_.erase(stream);
    if (streams_.empty()) empty_.NotifyAll();
  }
  std::vector<std::shared_ptr<SubscriptionStream>> streams() const ABSL_LOCKS_EXCLUDED(mutex_) {
    std::vector<std::shared_ptr<SubscriptionStream>> live;
    const runtime::MutexLock lock(mutex_);
    for (const auto& [pointer, stream] : streams_) {
      if (auto held = stream.lock()) live.push_back(std::move(held));
    }
    return live;
  }
  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return streams_.size();
  }
  void StopAdding() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    draining_ = true;
  }
  bool AwaitEmpty(runtime::TimePoint deadline) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    while (!streams_.empty()) {
      if (!empty_.WaitUntil(mutex_, deadline)) break;
    }
    return streams_.empty();
  }

 private:
  PublishedVersions& versions_;
  mutable runtime::Mutex mutex_;
  runtime::CondVar empty_;
  std::map<const SubscriptionStream*, std::weak_ptr<SubscriptionStream>> streams_
      ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

// The stream owns itself from Start to OnDone. gRPC uses `part_` while writing_ is true.
class SubscriptionStream final : public grpc::ServerWriteReactor<proto::ParametersPart>,
                                 public std::enable_shared_from_this<SubscriptionStream> {
 public:
  SubscriptionStream(Publication& publication, std::optional<Version> known)
      : publication_(publication), known_(known) {}

  grpc::ServerWriteReactor<proto::ParametersPart>* Start(const absl::Status& refusal) {
    self_ = shared_from_this();
    const bool added = publication_.Add(self_);
    if (!refusal.ok()) {
      End(refusal);
    } else if (!added) {
      End(runtime::Unavailable("draining"));
    } else {
      MaybeWrite();
    }
    return this;
  }

  void MaybeWrite() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    MaybeWriteLocked();
  }

  void End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    EndLocked(status);
  }

 private:
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    writing_ = false;
    if (!ok) EndLocked(runtime::Unavailable("the peer is gone"));
    MaybeFinish();
    MaybeWriteLocked();
  }
  void OnCancel() override { End(runtime::Cancelled("the peer cancelled the stream")); }
  void OnDone() override {
    const auto self = std::move(self_);
    publication_.Remove(this);
  }

  void MaybeWriteLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_ || !end_.ok()) return;
    if (!sending_) {
      PublishedPointer newest = publication_.newest();
      if (!newest || (known_ && newest->parameters.version <= *known_)) return;
      sending_ = std::move(newest);
      offset_ = 0;
    }
    part_ = PartAt(sending_->parameters, sending_->digest, offset_);
    offset_ += part_.data().size();
    if (offset_ == sending_->parameters.bytes->size()) {
      known_ = sending_->parameters.version;
      sending_.reset();
    }
    writing_ = true;
    StartWrite(&part_);
  }

  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (end_.ok()) end_ = status;
    MaybeFinish();
  }

  void MaybeFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_ || writing_ || end_.ok()) return;
    finished_ = true;
    Finish(transport::ToGrpc(end_));
  }

  Publication& publication_;
  std::shared_ptr<SubscriptionStream> self_;
  proto::ParametersPart part_;

  runtime::Mutex mutex_;
  std::optional<Version> known_ ABSL_GUARDED_BY(mutex_);
  PublishedPointer sending_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t offset_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

namespace {

// Calls of Fetch, which one thread of its own answers one after another.
class FetchDesk {
 public:
  FetchDesk(PublishedVersions& versions, std::size_t max_waiting)
      : versions_(versions), max_waiting_(max_waiting), thread_("fetches", [this] { Run(); }) {}
  ~FetchDesk() {
    Close();
    thread_.Join();
  }

  void Add(const proto::FetchRequest& request, proto::ParametersPart& part,
           grpc::ServerUnaryReactor& reactor) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::Status refusal =
        transport::CheckProtocolVersion(request.protocol_version(), request.client(), "learner");
    {
      const runtime::MutexLock lock(mutex_);
      if (refusal.ok() && closed_) refusal = runtime::Unavailable("draining");
      if (refusal.ok() && calls_.size() >= max_waiting_) {
        refusal = runtime::ResourceExhausted("more than " + std::to_string(max_waiting_) +
                                             " fetches wait");
      }
      if (refusal.ok()) {
        calls_.push_back({&request, &part, &reactor});
        changed_.NotifyAll();
        return;
      }
    }
    reactor.Finish(transport::ToGrpc(refusal));
  }

  // Answers the waiting calls with UNAVAILABLE.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }

 private:
  struct Call {
    const proto::FetchRequest* request;
    proto::ParametersPart* part;
    grpc::ServerUnaryReactor* reactor;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_) {
    for (;;) {
      Call call{};
      bool closed = false;
      {
        const runtime::MutexLock lock(mutex_);
        while (calls_.empty() && !closed_) changed_.Wait(mutex_);
        if (calls_.empty()) return;
        call = calls_.front();
        calls_.pop_front();
        closed = closed_;
      }
      const absl::Status status =
          closed ? runtime::Unavailable("draining") : Answer(*call.request, *call.part);
      call.reactor->Finish(transport::ToGrpc(status));
    }
  }

  absl::Status Answer(const proto::FetchRequest& request, proto::ParametersPart& part) {
    if (!request.has_version() && !request.initial()) {
      return runtime::InvalidArgument("the request names no version");
    }
    std::optional<Version> wanted;
    if (request.has_version()) wanted = FromProto(request.version());
    SHOAL_ASSIGN_OR_RETURN(const PublishedPointer found, versions_.Find(wanted));
    if (request.offset() >= found->parameters.bytes->size()) {
      return absl::OutOfRangeError("offset " + std::to_string(request.offset()) + " of " +
                                   std::to_string(found->parameters.bytes->size()) + " bytes");
    }
    if (request.offset() == 0) {
      spdlog::info("event=fetch client={} version={}", runtime::Quoted(request.client()),
                   ToString(found->parameters.version));
    }
    part = PartAt(found->parameters, found->digest, request.offset());
    return absl::OkStatus();
  }

  PublishedVersions& versions_;
  const std::size_t max_waiting_;
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::deque<Call> calls_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  runtime::Thread thread_;
};

}  // namespace

class Publisher::Impl final : public proto::Parameters::CallbackService {
 public:
  Impl(const PublisherOptions& options, runtime::Metrics& metrics)
      : versions_(options.folder, options.kept_folder, options.recent_bytes),
        fetches_(versions_, options.max_fetches),
        published_(metrics.Counter("shoal_parameters_published_total", "Versions published")),
        subscribers_(metrics.Gauge("shoal_parameters_subscribers", "Subscribers connected")),
        bytes_(metrics.Gauge("shoal_parameters_bytes", "Size of the newest version")) {}

  grpc::ServerWriteReactor<proto::ParametersPart>* Subscribe(
      grpc::CallbackServerContext*, const proto::SubscribeRequest* request) override {
    std::optional<Version> known;
    if (request->has_known()) known = FromProto(request->known());
    const auto stream = std::make_shared<SubscriptionStream>(publication_, known);
    spdlog::info("event=subscribe client={} known={}", runtime::Quoted(request->client()),
                 known ? ToString(*known) : "none");
    auto* reactor = stream->Start(
        transport::CheckProtocolVersion(request->protocol_version(), request->client(), "learner"));
    subscribers_.Set(static_cast<double>(publication_.size()));
    return reactor;
  }

  grpc::ServerUnaryReactor* Fetch(grpc::CallbackServerContext* context,
                                  const proto::FetchRequest* request,
                                  proto::ParametersPart* part) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    fetches_.Add(*request, *part, *reactor);
    return reactor;
  }

  bool Publish(Parameters parameters) {
    if (!parameters.bytes || parameters.bytes->empty()) return false;
    auto published = std::make_shared<Published>();
    published->digest = Sha256(*parameters.bytes);
    published->parameters = std::move(parameters);
    const std::size_t bytes = published->parameters.bytes->size();
    if (!versions_.Add(std::move(published))) return false;
    for (const auto& stream : publication_.streams()) stream->MaybeWrite();
    published_.Increment();
    bytes_.Set(static_cast<double>(bytes));
    subscribers_.Set(static_cast<double>(publication_.size()));
    return true;
  }

  std::optional<Version> current() const {
    const PublishedPointer newest = publication_.newest();
    if (!newest) return std::nullopt;
    return newest->parameters.version;
  }
  std::size_t subscribers() const { return publication_.size(); }

  bool Drain(runtime::Duration patience) {
    fetches_.Close();
    publication_.StopAdding();
    for (const auto& stream : publication_.streams()) {
      stream->End(runtime::Unavailable("draining"));
    }
    return publication_.AwaitEmpty(runtime::SystemClock().Now() + patience);
  }

 private:
  PublishedVersions versions_;
  Publication publication_{versions_};
  FetchDesk fetches_;
  prometheus::Counter& published_;
  prometheus::Gauge& subscribers_;
  prometheus::Gauge& bytes_;
};

Publisher::Publisher(const PublisherOptions& options, runtime::Metrics& metrics)
    : impl_(std::make_unique<Impl>(options, metrics)) {}
Publisher::~Publisher() = default;
bool Publisher::Publish(Parameters parameters) { return impl_->Publish(std::move(parameters)); }
std::optional<Version> Publisher::current() const { return impl_->current(); }
std::size_t Publisher::subscribers() const { return impl_->subscribers(); }
bool Publisher::Drain(runtime::Duration patience) { return impl_->Drain(patience); }
grpc::Service* Publisher::service() { return impl_.get(); }

}  // namespace shoal::parameters
