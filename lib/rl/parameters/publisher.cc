// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/publisher.h"

#include <deque>
#include <functional>
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
        resumed_bytes(metrics.Counter("shoal_parameters_resumed_bytes_total",
                                      "Bytes of files that were not sent again after a stream "
                                      "broke, because the subscriber had them")),
        files(Versions(metrics, "file")),
        differences(Versions(metrics, "difference")) {}

  static prometheus::Counter& Versions(runtime::Metrics& metrics, const std::string& as) {
    return metrics.Counter("shoal_parameters_sent_total", "Versions sent to subscribers",
                           {{"as", as}});
  }

  prometheus::Counter& bytes;
  prometheus::Counter& resumed_bytes;
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

  ParametersPointer newest() const { return versions_.newest(); }
  // Returns the version whose file the subscriber shall get the rest of, or null where it begins
  // with the newest. Versions of an older epoch are condemned or useless.
  ParametersPointer Unfinished(const proto::PartialParameters& partial,
                               const std::optional<Version>& known) const {
    const Version version = FromProto(partial.version());
    const ParametersPointer newest = versions_.newest();
    if (!newest || version.epoch != newest->version.epoch) return nullptr;
    if (known && version <= *known) return nullptr;
    ParametersPointer held = versions_.Recent(version);
    if (!held || held->sha256 != partial.sha256()) return nullptr;
    return partial.bytes() > 0 && partial.bytes() < held->bytes->size() ? held : nullptr;
  }
  // Returns null where the file of `target` is to be sent: differences are not wanted, the version
  // that the subscriber holds is not in memory or another file, or too many wait.
  std::shared_ptr<const DifferenceOrder> Order(const Version& held, const std::string& digest,
                                               const ParametersPointer& target) {
    if (!desk_) return nullptr;
    const ParametersPointer base = versions_.Recent(held);
    return base && base->sha256 == digest ? desk_->Ask(base, target) : nullptr;
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
// next. So it is with a version of which the subscriber has a part.
class SubscriptionStream final : public grpc::ServerWriteReactor<proto::ParametersPart>,
                                 public std::enable_shared_from_this<SubscriptionStream> {
 public:
  // The subscriber has the first `partial_bytes` bytes of `partial`, which is null for none.
  SubscriptionStream(Publication& publication, SubscriberState state, ParametersPointer partial,
                     std::uint64_t partial_bytes)
      : publication_(publication), state_(std::move(state)) {
    if (!partial) return;
    sending_ = Shipment{.published = std::move(partial)};
    offset_ = partial_bytes;
  }

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

  // Ends the stream when there is nothing left to send.
  void EndOnceSent(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    end_once_sent_ = status;
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
    if (!sending_ && !ChooseLocked()) {
      if (!order_ && !end_once_sent_.ok()) EndLocked(end_once_sent_);
      return;
    }
    const bool begins = std::exchange(begins_, false);
    if (begins) publication_.sent().resumed_bytes.Increment(static_cast<double>(offset_));
    part_ = PartAt(*sending_, offset_, begins);
    offset_ += part_.data().size();
    publication_.sent().bytes.Increment(static_cast<double>(part_.data().size()));
    if (offset_ == sending_->bytes().size()) {
      state_.known = sending_->published->version;
      state_.digest = sending_->published->sha256;
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
      ParametersPointer newest = publication_.newest();
      if (!newest || (state_.known && newest->version <= *state_.known)) return false;
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
  // Whether no part was sent yet.
  bool begins_ ABSL_GUARDED_BY(mutex_) = true;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_once_sent_ ABSL_GUARDED_BY(mutex_);
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

void Publication::WriteAll() {
  for (const auto& stream : streams()) stream->MaybeWrite();
}

}  // namespace

namespace {

// Finishes versions on a thread of its own, so that who publishes does not wait for it. It holds no
// versions: those that are superseded before it comes to them are left to Fetch. The destructor
// waits for the one that is being finished.
class FinishingDesk {
 public:
  // `finish_newest` runs on the desk's thread.
  explicit FinishingDesk(std::function<void()> finish_newest)
      : finish_newest_(std::move(finish_newest)), thread_("versions", [this] { Run(); }) {}
  ~FinishingDesk() {
    {
      const runtime::MutexLock lock(mutex_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    thread_.Join();
  }

  // Says that there is a new version.
  void Ask() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    asked_ = true;
    changed_.NotifyAll();
  }
  // Blocks until nothing is left to finish, or until the deadline.
  void AwaitDone(runtime::TimePoint deadline) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    while (asked_ || working_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return;
    }
  }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_) {
    for (;;) {
      {
        const runtime::MutexLock lock(mutex_);
        working_ = false;
        changed_.NotifyAll();
        while (!asked_ && !stopping_) changed_.Wait(mutex_);
        if (stopping_) return;
        asked_ = false;
        working_ = true;
      }
      finish_newest_();
    }
  }

  const std::function<void()> finish_newest_;
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool working_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  runtime::Thread thread_;
};

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
    SHOAL_ASSIGN_OR_RETURN(const ParametersPointer found, versions_.Find(wanted));
    if (request.offset() >= found->bytes->size()) {
      return absl::OutOfRangeError("offset " + std::to_string(request.offset()) + " of " +
                                   std::to_string(found->bytes->size()) + " bytes");
    }
    if (request.offset() == 0) {
      spdlog::info("event=fetch client={} version={}", runtime::Quoted(request.client()),
                   ToString(found->version));
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
      : versions_({.folder = options.folder,
                   .kept_folder = options.kept_folder,
                   .recent_bytes = options.recent_bytes,
                   .halves = options.halves}),
        publication_(versions_, options.differences, metrics),
        fetches_(versions_, options.max_fetches),
        published_(metrics.Counter("shoal_parameters_published_total", "Versions published")),
        subscribers_(metrics.Gauge("shoal_parameters_subscribers", "Subscribers connected")),
        bytes_(metrics.Gauge("shoal_parameters_bytes", "Size of the newest version")),
        finishing_([this] { ServeNewest(); }) {}

  grpc::ServerWriteReactor<proto::ParametersPart>* Subscribe(
      grpc::CallbackServerContext*, const proto::SubscribeRequest* request) override {
    SubscriberState state;
    if (request->has_known()) state.known = FromProto(request->known());
    state.takes_differences = request->takes_differences();
    state.digest = request->known_sha256();
    ParametersPointer partial;
    if (request->has_partial()) partial = publication_.Unfinished(request->partial(), state.known);
    spdlog::info("event=subscribe client={} known={} resumes={}",
                 runtime::Quoted(request->client()), state.known ? ToString(*state.known) : "none",
                 partial ? ToString(partial->version) : "none");
    const auto stream = std::make_shared<SubscriptionStream>(
        publication_, std::move(state), std::move(partial), request->partial().bytes());
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
    const bool finished = !parameters.sha256.empty();
    if (!versions_.Add(std::move(parameters))) return false;
    published_.Increment();
    subscribers_.Set(static_cast<double>(publication_.size()));
    if (finished) {
      ServeNewest();
    } else {
      finishing_.Ask();
    }
    return true;
  }

  std::optional<Version> current() const { return versions_.last(); }
  std::size_t subscribers() const { return publication_.size(); }

  bool Drain(runtime::Duration patience) {
    const runtime::TimePoint deadline = runtime::SystemClock().Now() + patience;
    const absl::Status draining = runtime::Unavailable("draining");
    fetches_.Close();
    publication_.StopAdding();
    // What is superseded need not be finished.
    const ParametersPointer newest = publication_.newest();
    if (!newest || newest->version != versions_.last()) finishing_.AwaitDone(deadline);
    for (const auto& stream : publication_.streams()) stream->EndOnceSent(draining);
    if (publication_.AwaitEmpty(deadline)) return true;
    for (const auto& stream : publication_.streams()) stream->End(draining);
    return false;
  }

 private:
  void ServeNewest() {
    if (!versions_.FinishNewest()) return;
    bytes_.Set(static_cast<double>(publication_.newest()->bytes->size()));
    publication_.WriteAll();
  }

  PublishedVersions versions_;
  Publication publication_;
  FetchDesk fetches_;
  prometheus::Counter& published_;
  prometheus::Gauge& subscribers_;
  prometheus::Gauge& bytes_;
  // Its thread uses what stands above.
  FinishingDesk finishing_;
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
