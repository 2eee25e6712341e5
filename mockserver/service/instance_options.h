// SPDX-License-Identifier: Apache-2.0
// The options with which an instance is created.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mockserver/messages/request_headers.h"

namespace shoal::mockserver {

class FaultSet;
class RuleSet;
class TreePool;

// Whether clients must authenticate.
enum class Authentication : std::uint8_t { kNone, kRequired };
// What moves an instance's clock.
enum class ClockKind : std::uint8_t {
  kVirtual,  // only Advance
  kReal,     // Advance, and the owner as real time passes
};

// What answers requests that change something.
enum class Mode : std::uint8_t {
  kStateful,  // the built-in behaviours, and the schema for everything else
  kStatic,    // only rules and external handlers; everything else is 404
};

// How events reach their subscribers (deliveries.h).
enum class EventDelivery : std::uint8_t {
  kSimulated,  // nothing is sent; the outcome is decided as if it were
  kPush,       // the owner takes them by TakeDeliveries and sends them
};

struct InstanceOptions {
  std::uint64_t seed = 0;
  Mode mode = Mode::kStateful;
  // How long PoweringOn and PoweringOff last on the virtual clock, or 0 to skip them.
  std::chrono::milliseconds power_transient{0};
  // How long a restarting manager answers no requests, or 0 for no such window.
  std::chrono::milliseconds manager_restart{0};
  // How long the work of a task takes. With 0 it is done when the request is answered.
  std::chrono::milliseconds task_duration{0};
  ClockKind clock = ClockKind::kVirtual;
  // The date at which the virtual clock starts, as the time since 1970.
  std::chrono::seconds epoch{0};
  Authentication authentication = Authentication::kNone;
  Preconditions preconditions = Preconditions::kOptional;
  // The password with which captured accounts log in until their password is set.
  std::string account_password = "shoal-password";
  // The maximum number of sessions, captured ones included. Further logins are refused.
  std::size_t max_sessions = 64;
  EventDelivery event_delivery = EventDelivery::kSimulated;
  // The rules that answer before everything built in. Null means none.
  std::shared_ptr<const RuleSet> rules = {};
  // Whether answers hold a changed resource as text, too. Without it they hold only `json`, for
  // callers that need no text.
  bool writes_texts = true;
  // The pool that keeps bodies for their next change, shared with other instances. With null, each
  // change copies the body and nothing is kept.
  std::shared_ptr<TreePool> trees = {};
  // The faults of the service. Null means none.
  std::shared_ptr<const FaultSet> faults = {};
};

}  // namespace shoal::mockserver
