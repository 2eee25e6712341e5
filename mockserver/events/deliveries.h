// SPDX-License-Identifier: Apache-2.0
// Events on their way to subscribers: attempts, retries, and what becomes of a subscriber that
// cannot be reached.
//
// EventDelivery::kSimulated, for training: no network. An attempt succeeds at once, unless the
// destination's host is below ".invalid" (RFC 6761): that one is dead, and every attempt fails.
// EventDelivery::kPush: due deliveries are handed out (Instance::TakeDeliveries) to a process that
// POSTs them and reports back.
//
// A failed delivery is tried again DeliveryRetryAttempts times, DeliveryRetryIntervalSeconds apart
// on the virtual clock (at most kMaximumAttempts, at least a second). After that
// the subscription's DeliveryRetryPolicy says what happens:
//   TerminateAfterRetries, and none    the subscription is removed
//   SuspendRetries                     its Status.State becomes Disabled
//   RetryForever                       this event is lost, later ones are tried anew
//   RetryForeverWithBackoff            the same, and each interval is twice the last
//
// Each attempt's outcome is a record (redfish::kEventRecord) of the subscription:
//   {"delivered": true, "MessageId": "ResourceEvent.1.4.ResourcePoweredOn",
//    "destination": "http://10.0.0.1/events", "attempt": 1}
// so that "a power event was delivered to X, and the dead subscription D is gone" is
//   {"all": [{"any": [{"happened": {"kind": "event", "detail": {"delivered": true,
//              "destination": X, "MessageId": "ResourceEvent.1.4.ResourcePoweredOn"}}}, ...]},
//            {"not": {"exists": {"uri": D, "pointer": ""}}}]}
// At most kMaximumDeliveries wait; one more is recorded as not delivered, "attempt" 0.
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

// One POST.
struct Delivery {
  // By which its outcome is reported.
  std::uint64_t number = 0;
  std::string destination;
  HttpHeaders headers;
  std::shared_ptr<const std::string> body;
};

// Sends `payload` to the subscriber, now and as often as it takes.
void Deliver(Editor& editor, ResourceId subscription, const std::string& message_id,
             const Json& payload);

bool HasDueDeliveries(const Editor& editor);
// Those that are due and were not taken yet.
std::vector<Delivery> TakeDueDeliveries(Editor& editor);
// The outcome of one that was taken; of another, nothing.
void ConcludeDelivery(Editor& editor, std::uint64_t number, bool delivered);
// Those that were taken are due again: the instance went back to before their outcome.
void ResendDeliveries(Editor& editor);

}  // namespace shoal::mockserver
