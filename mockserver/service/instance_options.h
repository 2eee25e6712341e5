// SPDX-License-Identifier: Apache-2.0
// What an instance is told at its making.
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

// Who must say who they are.
enum class Authentication : std::uint8_t { kNone, kRequired };
// What moves an instance's clock.
enum class ClockKind : std::uint8_t {
  kVirtual,  // Advance alone
  kReal,     // Advance, and its owner with the time of day
};

// What answers requests that change something.
enum class Mode : std::uint8_t {
  kStateful,  // the built-in behaviours, and what the schema says of the rest
  kStatic,    // handlers that were registered alone; the rest is 404
};

// How events reach their subscribers (deliveries.h).
enum class EventDelivery : std::uint8_t {
  kSimulated,  // not at all, but the outcome is decided as if
  kPush,       // TakeDeliveries, and somebody who sends them
};

struct InstanceOptions {
  std::uint64_t seed = 0;
  Mode mode = Mode::kStateful;
  // How long PoweringOn and PoweringOff last on the virtual clock; 0: not at all.
  std::chrono::milliseconds power_transient{0};
  // How long a manager that restarts answers nobody; 0: not at all.
  std::chrono::milliseconds manager_restart{0};
  // How long the work of a task takes; 0: it is done when the request is answered.
  std::chrono::milliseconds task_duration{0};
  ClockKind clock = ClockKind::kVirtual;
  // The date at which the virtual clock starts, since 1970.
  std::chrono::seconds epoch{0};
  Authentication authentication = Authentication::kNone;
  Preconditions preconditions = Preconditions::kOptional;
  // What captured accounts log in with until their password is set.
  std::string account_password = "shoal-password";
  // Logins past so many sessions are refused; captured ones count.
  std::size_t max_sessions = 64;
  EventDelivery event_delivery = EventDelivery::kSimulated;
  // What answers before all that is built in; null: nothing.
  std::shared_ptr<const RuleSet> rules = {};
  // Answers hold a changed resource as text, too; else as `json` alone, for who wants no text.
  bool writes_texts = true;
  // Where bodies wait for their next change, shared with other instances; null: they are copied
  // each time, and nothing is kept.
  std::shared_ptr<TreePool> trees = {};
  // What goes wrong; null: nothing.
  std::shared_ptr<const FaultSet> faults = {};
};

}  // namespace shoal::mockserver
