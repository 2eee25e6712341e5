// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/event_sender.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/events/deliveries.h"
#include "mockserver/events/destination.h"
#include "platform/http/address.h"
#include "platform/http/client_connection.h"
#include "platform/runtime/log.h"
#include "platform/runtime/thread.h"

namespace shoal::mockserver {
namespace {

namespace asio = boost::asio;

constexpr std::int64_t kMaximumAnswer = std::int64_t{64} << 10;

void Report(InstanceTable::Slot& slot, std::uint64_t number, bool delivered) {
  const runtime::MutexLock lock(slot.mutex);
  slot.instance.ReportDelivery(number, delivered);
}

http::ClientRequest RequestFor(const Delivery& delivery, const Destination& destination) {
  http::ClientRequest request;
  request.method = "POST";
  request.target = destination.target;
  request.body = *delivery.body;
  for (const auto& [name, value] : delivery.headers) request.headers.Add(name, value);
  return request;
}

}  // namespace

class EventSender::Impl {
 public:
  Impl(runtime::Metrics& metrics, EventSenderOptions options)
      : options_(options),
        delivered_(metrics.Counter("shoal_mockserver_deliveries_total", "Events sent",
                                   {{"outcome", "delivered"}})),
        failed_(metrics.Counter("shoal_mockserver_deliveries_total", "Events sent",
                                {{"outcome", "failed"}})),
        rejected_(metrics.Counter("shoal_mockserver_deliveries_total", "Events sent",
                                  {{"outcome", "rejected"}})),
        work_(context_.get_executor()),
        thread_("event_sender", [this] { context_.run(); }) {}

  ~Impl() {
    asio::post(context_, [this] {
      std::map<std::uint64_t, Sending> abandoned = std::exchange(sending_, {});
      for (auto& [key, one] : abandoned) Report(*one.slot, one.number, false);
      work_.reset();
      context_.stop();
    });
    thread_.Join();
  }

  void Send(const std::shared_ptr<InstanceTable::Slot>& slot, Delivery delivery) {
    asio::post(context_, [this, slot, delivery = std::move(delivery)] { Begin(slot, delivery); });
  }

 private:
  using Slot = std::shared_ptr<InstanceTable::Slot>;

  // A delivery in progress.
  struct Sending {
    Slot slot;
    std::uint64_t number = 0;
    std::unique_ptr<http::ClientConnection> connection;
    std::unique_ptr<asio::steady_timer> deadline;
  };

  void Begin(const Slot& slot, const Delivery& delivery) {
    const auto destination = ParseDestination(delivery.destination);
    if (!destination.has_value() || destination->secure) {
      spdlog::warn("event=delivery_unsupported destination={}", delivery.destination);
      failed_.Increment();
      return Report(*slot, delivery.number, false);
    }
    if (sending_.size() >= static_cast<std::size_t>(options_.max_waiting)) {
      rejected_.Increment();
      return Report(*slot, delivery.number, false);
    }
    const std::uint64_t key = ++sent_total_;
    Sending& one = sending_[key];
    one.slot = slot;
    one.number = delivery.number;
    one.connection = std::make_unique<http::ClientConnection>(
        context_.get_executor(),
        http::ClientOptions{.address = http::Format({destination->host, destination->port}),
                            .connect_deadline = options_.deadline,
                            .request_deadline = options_.deadline,
                            .max_body_bytes = kMaximumAnswer});
    one.deadline = std::make_unique<asio::steady_timer>(context_, options_.deadline);
    one.deadline->async_wait([this, key](boost::system::error_code) { End(key, false); });
    one.connection->Send(RequestFor(delivery, *destination),
                         [this, key](const absl::StatusOr<http::ClientResponse>& answer) {
                           End(key, answer.ok() && answer->status / 100 == 2);
                         });
  }

  // Ends a delivery by its answer or its deadline, whichever comes first.
  void End(std::uint64_t key, bool delivered) {
    const auto found = sending_.find(key);
    if (found == sending_.end()) return;
    const Sending one = std::move(found->second);
    sending_.erase(found);
    (delivered ? delivered_ : failed_).Increment();
    Report(*one.slot, one.number, delivered);
  }

  const EventSenderOptions options_;
  prometheus::Counter& delivered_;
  prometheus::Counter& failed_;
  prometheus::Counter& rejected_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  // Used only by the thread.
  std::map<std::uint64_t, Sending> sending_;
  std::uint64_t sent_total_ = 0;
  // The last member, because the thread uses those above.
  runtime::Thread thread_;
};

EventSender::EventSender(runtime::Metrics& metrics, EventSenderOptions options)
    : impl_(std::make_unique<Impl>(metrics, options)) {}

EventSender::~EventSender() = default;

void EventSender::Flush(const std::shared_ptr<InstanceTable::Slot>& slot) {
  std::vector<Delivery> deliveries;
  {
    const runtime::MutexLock lock(slot->mutex);
    deliveries = slot->instance.TakeDeliveries();
  }
  for (Delivery& delivery : deliveries) impl_->Send(slot, std::move(delivery));
  streams_.Flush(slot);
}

std::function<void(http::StreamWriter)> EventSender::Stream(
    const std::shared_ptr<InstanceTable::Slot>& slot, std::uint64_t stream) {
  return streams_.Writer(slot, stream);
}

}  // namespace shoal::mockserver
