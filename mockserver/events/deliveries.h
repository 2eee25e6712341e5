// SPDX-License-Identifier: Apache-2.0
// The delivery of events to subscribers: attempts, retries, and the consequences when a subscriber
// cannot be reached.
//
// EventDelivery::kSimulated is for training and needs no network. An attempt succeeds at once,
// unless the destination's host is below ".invalid" (RFC 6761): such a subscriber is dead, and
// every attempt fails. EventDelivery::kPush hands due deliveries (Instance::TakeDeliveries) to a
// process that POSTs them and reports the outcomes.
//
// A failed delivery is retried DeliveryRetryAttempts times, DeliveryRetryIntervalSeconds apart on
// the virtual clock (at most kMaximumAttempts retries, at least a second apart). After that the
// subscription's DeliveryRetryPolicy decides:
//   TerminateAfterRetries, or none     the subscription is removed
//   SuspendRetries                     its Status.State becomes Disabled
//   RetryForever                       this event is lost, later ones are tried anew
//   RetryForeverWithBackoff            the same, and each interval is twice the last
//
// Each attempt's outcome is a record (redfish::kEventRecord) of the subscription:
//   {"delivered": true, "MessageId": "ResourceEvent.1.4.ResourcePoweredOn",
//    "destination": "http://10.0.0.1/events", "attempt": 1}
// The condition "a power event was delivered to X, and the dead subscription D is gone" is
//   {"all": [{"any": [{"happened": {"kind": "event", "detail": {"delivered": true,
//              "destination": X, "MessageId": "ResourceEvent.1.4.ResourcePoweredOn"}}}, ...]},
//            {"not": {"exists": {"uri": D, "pointer": ""}}}]}
// At most kMaximumDeliveries wait. A further one is recorded as not delivered, with "attempt" 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mockserver/events/subscriptions.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumDeliveries = 256;
inline constexpr std::int64_t kMaximumAttempts = 100;

// One POST to a subscriber.
struct Delivery {
  // The number by which its outcome is reported.
  std::uint64_t number = 0;
  std::string destination;
  HttpHeaders headers;
  std::shared_ptr<const std::string> body;
};

// Sends `payload` to the subscriber now, and again as often as retries require.
void Deliver(Editor& editor, ResourceId subscription, const std::string& message_id,
             const Json& payload);

bool HasDueDeliveries(const Editor& editor);
// Returns the deliveries that are due and were not taken yet.
std::vector<Delivery> TakeDueDeliveries(Editor& editor);
// Reports the outcome of a delivery that was taken. A number that was not taken is ignored.
void ConcludeDelivery(Editor& editor, std::uint64_t number, bool delivered);
// Makes deliveries that were taken due again, because the instance was restored to a moment before
// their outcome.
void ResendDeliveries(Editor& editor);

}  // namespace shoal::mockserver
