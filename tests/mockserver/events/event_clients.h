// SPDX-License-Identifier: Apache-2.0
// What clients do to receive events, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "redfish/goals/predicate.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

inline const std::string kSubscriptions = "/redfish/v1/EventService/Subscriptions";
inline const std::string kEventService = "/redfish/v1/EventService";

// Some services are captured with events off.
inline void EnableEvents(Instance& instance) {
  REQUIRE(Patch(instance, kEventService, {{"ServiceEnabled", true}}).status == 200);
}

inline Json SubscriptionTo(const std::string& destination) {
  return {{"Destination", destination}, {"Protocol", "Redfish"}, {"Context", "ours"}};
}

// Boots the service's system, whatever its state, which sends one ResourcePoweredOn.
inline void Boot(Instance& instance) {
  const std::string system = LandmarksOf(instance.world()).system;
  const bool is_off = At(instance, system, "/PowerState") == Json("Off");
  REQUIRE(ResetOf(instance, system, is_off ? "On" : "ForceRestart").status < 300);
}

// Returns the new subscription's URI.
inline std::string Subscribe(Instance& instance, const Json& subscription) {
  const Response response = Post(instance, kSubscriptions, subscription);
  REQUIRE(response.status == 201);
  return response.location;
}

inline std::vector<redfish::HistoryRecord> EventRecords(const Instance& instance) {
  std::vector<redfish::HistoryRecord> records;
  for (const redfish::HistoryRecord& record : instance.history()) {
    if (record.kind == redfish::kEventRecord) records.push_back(record);
  }
  return records;
}

// Returns the names of the messages of all attempts at `destination`, in order.
inline std::vector<std::string> MessagesTo(const Instance& instance,
                                           const std::string& destination) {
  std::vector<std::string> names;
  for (const redfish::HistoryRecord& record : EventRecords(instance)) {
    if (record.detail.at("destination") != Json(destination)) continue;
    const std::string id = record.detail.at("MessageId");
    names.push_back(id.substr(id.rfind('.') + 1));
  }
  return names;
}

}  // namespace shoal::mockserver
