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
#include "rl/parameters/difference_desk.h"
#include "rl/parameters/published_versions.h"
#include "rl/parameters/version_wire.h"

namespace shoal::parameters {
namespace {

class SubscriptionStream;

// What was sent to subscribers, shared by their streams.
struct SentMetrics {
  explicit SentMetrics(runtime::Metrics& metrics)
      : bytes(metrics.Counter("shoal_parameters_sent_bytes_total",
                              "Bytes of files and differences sent to subscribers")),
        files(Versions(metrics, "file")),
        differences(Versions(metrics, "difference")) {}

  static prometheus::Counter& Versions(runtime::Metrics& metrics, const std::string& as) {
    return metrics.Counter("shoal_parameters_sent_total", "Versions sent to subscribers",
                           {{"as", as}});
  }

  prometheus::Counter& bytes;
  prometheus::Counter& files;
  prometheus::Counter& differences;
};

// The streams and the versions that they serve. Lock order: a stream's mutex first, then this
// one's.
class Publication {
 public:
  Publication(PublishedVersions& versions, bool differences, runtime::Metrics& metrics)
      : versions_(versions), sent_(metrics) {
    if (differences) desk_.emplace([this] { WriteAll(); }, metrics);
  }

  PublishedPointer newest() const { return versions_.newest(); }
  // Returns null where the file of `target` is to be sent: differences are not wanted, the version
  // that the subscriber holds is not in memory or another file, or too many wait.
  std::shared_ptr<const DifferenceOrder> Order(const Version& held, const std::string& digest,
                                               const PublishedPointer& target) {
    if (!desk_) return nullptr;
    const PublishedPointer base = versions_.Recent(held);
    return base && base->digest == digest ? desk_->Ask(base, target) : nullptr;
  }
  // REQUIRES: Order returned `order`.
  DifferenceOrder Look(const DifferenceOrder& order) const { return desk_->Look(order); }
  SentMetrics& sent() { return sent_; }

  // Lets each stream write that can.
  void WriteAll() ABSL_LOCKS_EXCLUDED(mutex_);
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
  SentMetrics sent_;
  mutable runtime::Mutex mutex_;
  runtime::CondVar empty_;
  std::map<const SubscriptionStream*, std::weak_ptr<SubscriptionStream>> streams_
      ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  // Its thread uses what stands above.
  std::optional<DifferenceDesk> desk_;
};

// What a subscriber said of itself.
struct SubscriberState {
  std::optional<Version> known;
  bool takes_differences = false;
  // Of the file that the subscriber holds of `known`; empty for none.
  std::string digest;
};

// The stream owns itself from Start to OnDone. gRPC uses `part_` while writing_ is true. While a
// difference is being made, the stream waits for it, though newer versions may come: they are sent
// next.
class SubscriptionStream final : public grpc::ServerWriteReactor<proto::ParametersPart>,
                                 public std::enable_shared_from_this<SubscriptionStream> {
 public:
  SubscriptionStream(Publication& publication, SubscriberState state)
      : publication_(publication), state_(std::move(state)) {}

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
    if (!sending_ && !ChooseLocked()) return;
    part_ = PartAt(*sending_, offset_);
    offset_ += part_.data().size();
    publication_.sent().bytes.Increment(static_cast<double>(part_.data().size()));
    if (offset_ == sending_->bytes().size()) {
      state_.known = sending_->published->parameters.version;
      state_.digest = sending_->published->digest;
      (sending_->difference ? publication_.sent().differences : publication_.sent().files)
          .Increment();
      sending_.reset();
    }
    writing_ = true;
    StartWrite(&part_);
  }

  // Returns false while there is nothing to send.
  bool ChooseLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    offset_ = 0;
    if (!order_) {
      PublishedPointer newest = publication_.newest();
      if (!newest || (state_.known && newest->parameters.version <= *state_.known)) return false;
      if (state_.takes_differences && state_.known) {
        order_ = publication_.Order(*state_.known, state_.digest, newest);
      }
      if (!order_) {
        sending_ = Shipment{.published = std::move(newest)};
        return true;
      }
    }
    const DifferenceOrder order = publication_.Look(*order_);
    if (!order.done) return false;
    order_.reset();
    sending_ =
        Shipment{.published = order.target, .base = order.base, .difference = order.difference};
    return true;
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
  SubscriberState state_ ABSL_GUARDED_BY(mutex_);
  // The difference that the stream waits for.
  std::shared_ptr<const DifferenceOrder> order_ ABSL_GUARDED_BY(mutex_);
  std::optional<Shipment> sending_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t offset_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

void Publication::WriteAll() {
  for (const auto& stream : streams()) stream->MaybeWrite();
}

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
    part = PartAt({.published = found}, request.offset());
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
        publication_(versions_, options.differences, metrics),
        fetches_(versions_, options.max_fetches),
        published_(metrics.Counter("shoal_parameters_published_total", "Versions published")),
        subscribers_(metrics.Gauge("shoal_parameters_subscribers", "Subscribers connected")),
        bytes_(metrics.Gauge("shoal_parameters_bytes", "Size of the newest version")) {}

  grpc::ServerWriteReactor<proto::ParametersPart>* Subscribe(
      grpc::CallbackServerContext*, const proto::SubscribeRequest* request) override {
    SubscriberState state;
    if (request->has_known()) state.known = FromProto(request->known());
    state.takes_differences = request->takes_differences();
    state.digest = request->known_sha256();
    spdlog::info("event=subscribe client={} known={}", runtime::Quoted(request->client()),
                 state.known ? ToString(*state.known) : "none");
    const auto stream = std::make_shared<SubscriptionStream>(publication_, std::move(state));
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
    publication_.WriteAll();
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
  Publication publication_;
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
