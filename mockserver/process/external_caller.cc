// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/external_caller.h"

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <string>
#include <utility>

#include "platform/http/client_connection.h"
#include "platform/runtime/thread.h"

namespace shoal::mockserver {
namespace {

absl::StatusOr<ExternalReply> ReadReply(const absl::StatusOr<http::ClientResponse>& response) {
  if (!response.ok()) {
    // An answer that is too long is the handler's fault, not a reason for clients to slow down.
    return absl::IsResourceExhausted(response.status())
               ? runtime::InvalidArgument(runtime::Message(response.status()))
               : response.status();
  }
  if (response->status != 200) {
    return runtime::InvalidArgument("answered with status " + std::to_string(response->status));
  }
  return ParseExternalReply(response->body);
}

}  // namespace

class ExternalCaller::Impl {
 public:
  explicit Impl(ExternalCallerOptions options)
      : options_(options), thread_("external_caller", [this] { context_.run(); }) {}

  ~Impl() {
    context_.stop();
    thread_.Join();
  }

  void Ask(std::shared_ptr<const ExternalCall> call, Done done) {
    if (calls_.fetch_add(1, std::memory_order_relaxed) >= options_.max_calls) {
      calls_.fetch_sub(1, std::memory_order_relaxed);
      return done(runtime::ResourceExhausted("there are " + std::to_string(options_.max_calls) +
                                             " calls in progress, the limit"));
    }
    boost::asio::post(context_, [this, call = std::move(call), done = std::move(done)]() mutable {
      Begin(*call, std::move(done));
    });
  }

 private:
  void Begin(const ExternalCall& call, Done done) {
    const std::uint64_t number = calls_total_++;
    auto& connection = connections_[number];
    connection = std::make_unique<http::ClientConnection>(
        context_.get_executor(),
        http::ClientOptions{.address = call.handler.address,
                            .connect_deadline = call.handler.timeout,
                            .request_deadline = call.handler.timeout,
                            .max_body_bytes = static_cast<std::int64_t>(kMaximumReply)});
    connection->Send({.method = "POST", .target = call.handler.target, .body = call.question},
                     [this, number, done = std::move(done)](auto response) {
                       End(done, ReadReply(response));
                       connections_.erase(number);
                     });
  }

  void End(const Done& done, absl::StatusOr<ExternalReply> reply) {
    calls_.fetch_sub(1, std::memory_order_relaxed);
    done(std::move(reply));
  }

  const ExternalCallerOptions options_;
  // Relaxed, because this is only a count and publishes nothing.
  std::atomic<std::int64_t> calls_{0};
  boost::asio::io_context context_{1};
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  // Used only by the thread.
  absl::flat_hash_map<std::uint64_t, std::unique_ptr<http::ClientConnection>> connections_;
  std::uint64_t calls_total_ = 0;
  runtime::Thread thread_;
};

ExternalCaller::ExternalCaller(ExternalCallerOptions options)
    : impl_(std::make_unique<Impl>(options)) {}

ExternalCaller::~ExternalCaller() = default;

void ExternalCaller::Ask(std::shared_ptr<const ExternalCall> call, Done done) {
  impl_->Ask(std::move(call), std::move(done));
}

}  // namespace shoal::mockserver
