// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/deliveries.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "mockserver/events/destination.h"
#include "mockserver/messages/extended_info.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {
namespace {

constexpr std::int64_t kMaximumInterval = 86'400;
constexpr std::int64_t kMaximumDoublings = 10;

struct PendingDelivery {
  Delivery delivery;
  ResourceId subscription = 0;
  std::string message_id;
  std::int64_t failures = 0;
};

struct DeliveryQueue {
  // The waiting deliveries, by number.
  std::map<std::uint64_t, PendingDelivery> pending;
  std::vector<std::uint64_t> due;
  // The numbers of deliveries that the process is sending.
  std::set<std::uint64_t> taken;
};

std::int64_t ServiceNumber(const Editor& editor, std::string_view pointer, std::int64_t otherwise,
                           std::int64_t maximum) {
  const auto service = EventServiceOf(editor);
  const Json* const value = service.has_value() ? editor.Read(*service, pointer) : nullptr;
  const bool is_number = value != nullptr && value->is_number();
  const double number = is_number ? value->get<double>() : static_cast<double>(otherwise);
  return static_cast<std::int64_t>(std::clamp(number, 0.0, static_cast<double>(maximum)));
}

std::chrono::seconds RetryInterval(const Editor& editor, const PendingDelivery& pending) {
  std::int64_t seconds = std::max<std::int64_t>(
      1, ServiceNumber(editor, "/DeliveryRetryIntervalSeconds", 30, kMaximumInterval));
  if (editor.Text(pending.subscription, "/DeliveryRetryPolicy") == "RetryForeverWithBackoff") {
    seconds <<= std::min(pending.failures - 1, kMaximumDoublings);
  }
  return std::chrono::seconds(seconds);
}

void Record(Editor& editor, const PendingDelivery& pending, bool delivered, std::int64_t attempt) {
  editor.Record(redfish::kEventRecord, pending.subscription,
                {{"delivered", delivered},
                 {"MessageId", pending.message_id},
                 {"destination", pending.delivery.destination},
                 {"attempt", attempt}});
}

void Forget(DeliveryQueue& queue, ResourceId subscription) {
  std::erase_if(queue.pending, [subscription](const auto& entry) {
    return entry.second.subscription == subscription;
  });
}

void GiveUp(Editor& editor, std::uint64_t number) {
  DeliveryQueue& queue = editor.Notes<DeliveryQueue>();
  const ResourceId subscription = queue.pending.at(number).subscription;
  const std::string policy = editor.Text(subscription, "/DeliveryRetryPolicy");
  queue.pending.erase(number);
  if (policy.starts_with("RetryForever")) return;
  Forget(queue, subscription);
  if (policy == "SuspendRetries") {
    SuspendSubscription(editor, subscription);
  } else {
    EndSubscription(editor, subscription);
  }
}

void Attempt(Editor& editor, std::uint64_t number);

void Conclude(Editor& editor, std::uint64_t number, bool delivered) {
  DeliveryQueue& queue = editor.Notes<DeliveryQueue>();
  PendingDelivery& pending = queue.pending.at(number);
  Record(editor, pending, delivered, pending.failures + 1);
  if (delivered) {
    queue.pending.erase(number);
    return;
  }
  ++pending.failures;
  if (pending.failures > ServiceNumber(editor, "/DeliveryRetryAttempts", 3, kMaximumAttempts)) {
    return GiveUp(editor, number);
  }
  editor.SetTimer("delivery:" + std::to_string(number), RetryInterval(editor, pending),
                  [number](Editor& later) { Attempt(later, number); });
}

// Returns whether the subscription still wants the delivery, and drops the delivery when not.
bool IsWanted(Editor& editor, std::uint64_t number) {
  DeliveryQueue& queue = editor.Notes<DeliveryQueue>();
  const auto found = queue.pending.find(number);
  if (found == queue.pending.end()) return false;
  const ResourceId subscription = found->second.subscription;
  if (editor.Find(editor.Uri(subscription)) == subscription && !IsSuspended(editor, subscription)) {
    return true;
  }
  queue.pending.erase(found);
  return false;
}

void Attempt(Editor& editor, std::uint64_t number) {
  if (!IsWanted(editor, number)) return;
  DeliveryQueue& queue = editor.Notes<DeliveryQueue>();
  if (editor.options().event_delivery == EventDelivery::kPush) {
    queue.due.push_back(number);
    return;
  }
  const auto destination = ParseDestination(queue.pending.at(number).delivery.destination);
  Conclude(editor, number, destination.has_value() && !destination->is_invalid());
}

}  // namespace

void Deliver(Editor& editor, ResourceId subscription, const std::string& message_id,
             const Json& payload) {
  DeliveryQueue& queue = editor.Notes<DeliveryQueue>();
  PendingDelivery pending;
  pending.subscription = subscription;
  pending.message_id = message_id;
  pending.delivery.destination = editor.Text(subscription, "/Destination");
  if (queue.pending.size() >= kMaximumDeliveries) return Record(editor, pending, false, 0);
  const std::uint64_t number = editor.NewNumber();
  pending.delivery.number = number;
  if (editor.options().event_delivery == EventDelivery::kPush) {
    pending.delivery.headers = HttpHeadersOf(editor, subscription);
    pending.delivery.body = std::make_shared<const std::string>(Serialise(payload));
  }
  queue.pending.emplace(number, std::move(pending));
  Attempt(editor, number);
}

bool HasDueDeliveries(const Editor& editor) {
  const DeliveryQueue* const queue = editor.FindNotes<DeliveryQueue>();
  return queue != nullptr && !queue->due.empty();
}

std::vector<Delivery> TakeDueDeliveries(Editor& editor) {
  std::vector<Delivery> taken;
  if (!HasDueDeliveries(editor)) return taken;
  DeliveryQueue& queue = editor.Notes<DeliveryQueue>();
  for (const std::uint64_t number : std::exchange(queue.due, {})) {
    if (!IsWanted(editor, number)) continue;
    queue.taken.insert(number);
    taken.push_back(queue.pending.at(number).delivery);
  }
  return taken;
}

void ConcludeDelivery(Editor& editor, std::uint64_t number, bool delivered) {
  if (editor.FindNotes<DeliveryQueue>() == nullptr) return;
  if (editor.Notes<DeliveryQueue>().taken.erase(number) == 0) return;
  if (IsWanted(editor, number)) Conclude(editor, number, delivered);
}

void ResendDeliveries(Editor& editor) {
  if (editor.FindNotes<DeliveryQueue>() == nullptr) return;
  DeliveryQueue& queue = editor.Notes<DeliveryQueue>();
  queue.due.insert(queue.due.begin(), queue.taken.begin(), queue.taken.end());
  queue.taken.clear();
}

}  // namespace shoal::mockserver
