// SPDX-License-Identifier: Apache-2.0
// A link is a client's connection to one shard: a stream that is opened again after it ended, and a
// mailbox for its replies. It belongs to the one thread that works on it; gRPC's threads only fill
// the mailbox and call `wake`. The stream is cancelled if the shard sends faster than the thread
// works and the mailbox would exceed kMaxReplies, or if its welcome is missing or of another
// protocol version.
//
// Request and Reply are what gRPC serialises and parses as the method's messages.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/transport/client_stream.h"
#include "platform/transport/connector.h"
#include "platform/transport/protocol.h"
#include "proto/replay.grpc.pb.h"

namespace shoal::replay::client {

// A thread that works on links looks at them after this time even if nobody wakes it.
inline constexpr std::chrono::milliseconds kLinkTick{50};

template <typename Request, typename Reply>
class Link {
 public:
  static constexpr std::size_t kMaxReplies = 4096;

  // `method` is "Insert" or "Sample". `self` names this process in errors. `wake` is called from
  // gRPC's threads without a lock until Close has returned.
  Link(const std::string& address, const transport::Connector& connect, const std::string& method,
       std::string self, std::function<void()> wake)
      : peer_("replay shard at " + address),
        self_(std::move(self)),
        channel_(connect(address)),
        stub_(channel_),
        method_("/" + std::string(proto::Replay::service_full_name()) + "/" + method),
        wake_(std::move(wake)) {}
  ~Link() { Close(); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Returns whether no stream is open and the pause since the last one's end is over.
  bool MayOpen(runtime::TimePoint now) const { return !stream_ && now >= retry_at_; }
  // Opens a stream and sends `hello`. REQUIRES: MayOpen.
  void Open(Request hello) {
    stream_ = std::make_shared<Stream>(wake_);
    greeting_.reset();
    stream_->Start([this](grpc::ClientContext* context, auto* reactor) {
      stub_.PrepareBidiStreamingCall(context, method_, {}, reactor);
    });
    stream_->Send(std::move(hello));
  }

  // Returns the replies since the last call. A reply resets the pause to the shortest one.
  std::vector<Reply> TakeReplies() {
    if (!stream_) return {};
    std::vector<Reply> replies = stream_->TakeReplies();
    if (replies.empty()) return {};
    if (!greeting_) {
      greeting_ = transport::CheckProtocolVersion(replies.front().welcome().protocol_version(),
                                                  peer_, self_);
      if (!greeting_->ok()) stream_->Cancel();
    }
    if (!greeting_->ok()) return {};
    pause_ = kShortestPause;
    return replies;
  }

  // Returns the stream's final status once, if it has ended. Call TakeReplies first. The pause then
  // starts.
  std::optional<absl::Status> TakeEnd(runtime::TimePoint now) {
    if (!stream_) return std::nullopt;
    std::optional<absl::Status> end = stream_->TakeEnd();
    if (!end) return std::nullopt;
    stream_->AwaitEnd().IgnoreError();
    stream_.reset();
    retry_at_ = now + pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    if (greeting_ && !greeting_->ok()) return greeting_;
    return runtime::Annotate(*end, peer_);
  }

  // Returns false if no stream is open; the message is then dropped.
  bool Send(Request request) { return stream_ && stream_->Send(std::move(request)); }
  std::size_t outbox_size() const { return stream_ ? stream_->outbox_size() : 0; }
  bool open() const { return stream_ != nullptr; }

  // Ends the stream because the shard broke the protocol. TakeEnd will say CANCELLED.
  void Cancel() {
    if (stream_) stream_->Cancel();
  }

  // Ends the stream and waits for its last callback.
  void Close() {
    if (!stream_) return;
    stream_->Cancel();
    stream_->AwaitEnd().IgnoreError();
    stream_.reset();
  }

 private:
  static constexpr std::chrono::milliseconds kShortestPause{50};
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  class Stream final : public transport::ClientStream<Request, Reply> {
   public:
    explicit Stream(std::function<void()> wake) : wake_(std::move(wake)) {}

    std::vector<Reply> TakeReplies() ABSL_LOCKS_EXCLUDED(mailbox_mutex_) {
      const runtime::MutexLock lock(mailbox_mutex_);
      return std::exchange(replies_, {});
    }
    std::optional<absl::Status> TakeEnd() ABSL_LOCKS_EXCLUDED(mailbox_mutex_) {
      const runtime::MutexLock lock(mailbox_mutex_);
      if (!replies_.empty()) return std::nullopt;
      return end_;
    }

   private:
    void OnMessage(Reply&& reply) override ABSL_LOCKS_EXCLUDED(mailbox_mutex_) {
      bool full = false;
      {
        const runtime::MutexLock lock(mailbox_mutex_);
        full = replies_.size() >= kMaxReplies;
        if (!full) replies_.push_back(std::move(reply));
      }
      if (full) this->Cancel();
      wake_();
    }
    void OnWritable() override { wake_(); }
    void OnEnd(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(mailbox_mutex_) {
      {
        const runtime::MutexLock lock(mailbox_mutex_);
        end_ = status;
      }
      wake_();
    }

    const std::function<void()> wake_;
    runtime::Mutex mailbox_mutex_;
    std::vector<Reply> replies_ ABSL_GUARDED_BY(mailbox_mutex_);
    std::optional<absl::Status> end_ ABSL_GUARDED_BY(mailbox_mutex_);
  };

  // "replay shard at host:port".
  const std::string peer_;
  const std::string self_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::TemplatedGenericStub<Request, Reply> stub_;
  const std::string method_;
  const std::function<void()> wake_;
  std::shared_ptr<Stream> stream_;
  // Tells whether the stream's first reply was a welcome of this version. Not set before that
  // reply.
  std::optional<absl::Status> greeting_;
  std::chrono::milliseconds pause_ = kShortestPause;
  runtime::TimePoint retry_at_{};
};

}  // namespace shoal::replay::client
