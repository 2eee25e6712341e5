// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/deliveries.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/events/event_clients.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kAlive = "http://collector.example/events";
constexpr const char* kDead = "http://collector.invalid/events";

std::string SubscribeWith(Instance& instance, const std::string& destination,
                          const std::string& policy) {
  Json subscription = SubscriptionTo(destination);
  subscription["DeliveryRetryPolicy"] = policy;
  return Subscribe(instance, subscription);
}

std::chrono::seconds IntervalOf(const Instance& instance) {
  return std::chrono::seconds(
      At(instance, kEventService, "/DeliveryRetryIntervalSeconds").get<int>());
}

}  // namespace

TEST_CASE("A simulated delivery to a living destination succeeds at once") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Instance instance(WorldOf(name));
    EnableEvents(instance);
    const std::string uri = Subscribe(instance, SubscriptionTo(kAlive));
    Boot(instance);
    const auto records = EventRecords(instance);
    REQUIRE(records.size() == 1);
    REQUIRE(records[0].uri == uri);
    REQUIRE(records[0].detail == Json{{"delivered", true},
                                      {"MessageId", "ResourceEvent.1.4.ResourcePoweredOn"},
                                      {"destination", kAlive},
                                      {"attempt", 1}});
    REQUIRE(instance.TakeDeliveries().empty());
  }
}

TEST_CASE("A dead destination is tried as often and as slowly as the service says, then removed") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Instance instance(WorldOf(name));
    EnableEvents(instance);
    const Json before = At(instance, kSubscriptions, "/Members");
    const std::string dead = Subscribe(instance, SubscriptionTo(kDead));
    const auto interval = IntervalOf(instance);
    const int retries = At(instance, kEventService, "/DeliveryRetryAttempts");
    Boot(instance);
    for (int retry = 1; retry <= retries; ++retry) {
      REQUIRE(EventRecords(instance).size() == static_cast<std::size_t>(retry));
      instance.Advance(interval - std::chrono::milliseconds(1));
      REQUIRE(EventRecords(instance).size() == static_cast<std::size_t>(retry));
      REQUIRE(Get(instance, dead).status == 200);
      instance.Advance(std::chrono::milliseconds(1));
    }
    const auto records = EventRecords(instance);
    REQUIRE(records.size() == static_cast<std::size_t>(retries) + 1);
    for (std::size_t i = 0; i < records.size(); ++i) {
      REQUIRE(records[i].detail.at("delivered") == false);
      REQUIRE(records[i].detail.at("attempt") == i + 1);
      REQUIRE(records[i].time ==
              Approx(static_cast<double>(i) * static_cast<double>(interval.count())));
    }
    REQUIRE(Get(instance, dead).status == 404);
    REQUIRE(At(instance, kSubscriptions, "/Members") == before);
    instance.Advance(std::chrono::hours(24));
    REQUIRE(EventRecords(instance).size() == records.size());
  }
}

TEST_CASE("A subscription that the service gave up is no side effect") {
  const Json never = {{"exists", {{"uri", "/nowhere"}, {"pointer", "/x"}}}};
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    std::int64_t collateral[2] = {};
    for (const bool subscribes : {false, true}) {
      Instance instance(WorldOf(name));
      REQUIRE(instance.Reset({}, WatchFor(never)).ok());
      EnableEvents(instance);
      const std::int64_t before = instance.Evaluate().collateral;
      if (subscribes) Subscribe(instance, SubscriptionTo(kDead));
      REQUIRE(instance.Evaluate().collateral == before + (subscribes ? 1 : 0));
      Boot(instance);
      instance.Advance(std::chrono::hours(24));
      collateral[subscribes] = instance.Evaluate().collateral;
    }
    REQUIRE(collateral[0] == collateral[1]);
  }
}

TEST_CASE("The retry policy decides over a subscriber that cannot be reached") {
  struct Case {
    std::string policy;
    int status;
    Json state;
    // The attempts to deliver two events, of which the second comes a day after the first.
    std::size_t attempts;
  };
  const Case cases[] = {{"TerminateAfterRetries", 404, Json(), 4},
                        {"SuspendRetries", 200, "Disabled", 4},
                        {"RetryForever", 200, "Enabled", 8},
                        {"RetryForeverWithBackoff", 200, "Enabled", 8}};
  for (const char* name : {"openbmc-stock", "hpe-dl380a-gen12", "dmtf-rackmount1"}) {
    for (const Case& one : cases) {
      INFO(name << " " << one.policy);
      Instance instance(WorldOf(name));
      const std::string uri = SubscribeWith(instance, kDead, one.policy);
      for (int event = 0; event < 2; ++event) {
        Boot(instance);
        instance.Advance(std::chrono::hours(24));
      }
      REQUIRE(Get(instance, uri).status == one.status);
      if (one.status == 200) REQUIRE(At(instance, uri, "/Status/State") == one.state);
      REQUIRE(EventRecords(instance).size() == one.attempts);
    }
  }
}

TEST_CASE("With back-off each interval is twice the last") {
  Instance instance(WorldOf("openbmc-stock"));
  SubscribeWith(instance, kDead, "RetryForeverWithBackoff");
  Boot(instance);
  instance.Advance(std::chrono::hours(1));
  std::vector<double> times;
  for (const auto& record : EventRecords(instance)) times.push_back(record.time);
  REQUIRE(times == std::vector<double>{0, 30, 90, 210});
}

TEST_CASE("A client's settings of the service govern the retries") {
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  REQUIRE(Patch(instance, kEventService,
                {{"DeliveryRetryAttempts", 1}, {"DeliveryRetryIntervalSeconds", 5}})
              .status == 200);
  const std::string uri = Subscribe(instance, SubscriptionTo(kDead));
  Boot(instance);
  REQUIRE(EventRecords(instance).size() == 1);
  instance.Advance(std::chrono::seconds(5));
  REQUIRE(EventRecords(instance).size() == 2);
  REQUIRE(Get(instance, uri).status == 404);
}

TEST_CASE("Nothing is retried for a subscription that its client deleted or suspended") {
  for (const bool deletes : {true, false}) {
    Instance instance(WorldOf("openbmc-stock"));
    const std::string uri = Subscribe(instance, SubscriptionTo(kDead));
    Boot(instance);
    if (deletes) {
      REQUIRE(Delete(instance, uri).status == 200);
    } else {
      const std::string target =
          At(instance, uri, "/Actions/#EventDestination.SuspendSubscription/target");
      REQUIRE(Post(instance, target, Json::object()).status == 200);
    }
    instance.Advance(std::chrono::hours(1));
    REQUIRE(EventRecords(instance).size() == 1);
  }
}

TEST_CASE("Only so many deliveries wait") {
  Instance instance(WorldOf("openbmc-stock"));
  SubscribeWith(instance, kDead, "RetryForever");
  for (std::size_t i = 0; i <= kMaximumDeliveries; ++i) Boot(instance);
  const auto records = EventRecords(instance);
  REQUIRE(records.back().detail.at("attempt") == 0);
  REQUIRE(records[kMaximumDeliveries - 1].detail.at("attempt") == 1);
}

TEST_CASE("A pushed event is handed out once, with its headers, and again after a failure") {
  Instance instance(WorldOf("hpe-dl380a-gen12"), {.event_delivery = EventDelivery::kPush});
  Json subscription = SubscriptionTo(kAlive);
  subscription["HttpHeaders"] = Json::array({{{"X-Key", "secret"}}});
  Subscribe(instance, subscription);
  Boot(instance);
  REQUIRE(EventRecords(instance).empty());
  const std::vector<Delivery> first = instance.TakeDeliveries();
  REQUIRE(first.size() == 1);
  REQUIRE(first[0].destination == kAlive);
  REQUIRE(first[0].headers == HttpHeaders{{"X-Key", "secret"}});
  REQUIRE(Json::parse(*first[0].body).at("Context") == "ours");
  REQUIRE(instance.TakeDeliveries().empty());

  instance.ReportDelivery(first[0].number, false);
  instance.ReportDelivery(first[0].number, false);
  REQUIRE(EventRecords(instance).size() == 1);
  REQUIRE(instance.TakeDeliveries().empty());
  instance.Advance(IntervalOf(instance));
  const std::vector<Delivery> second = instance.TakeDeliveries();
  REQUIRE(second.size() == 1);
  REQUIRE(*second[0].body == *first[0].body);
  instance.ReportDelivery(second[0].number, true);
  const auto records = EventRecords(instance);
  REQUIRE(records.size() == 2);
  REQUIRE(records[1].detail.at("delivered") == true);
  REQUIRE(records[1].detail.at("attempt") == 2);
}

TEST_CASE("The outcome of a delivery from before a reset counts for nothing after it") {
  Instance instance(WorldOf("openbmc-stock"), {.event_delivery = EventDelivery::kPush});
  Subscribe(instance, SubscriptionTo(kAlive));
  Boot(instance);
  const std::vector<Delivery> stale = instance.TakeDeliveries();
  REQUIRE(stale.size() == 1);
  REQUIRE(instance.Reset().ok());
  Subscribe(instance, SubscriptionTo(kAlive));
  Boot(instance);
  REQUIRE(instance.TakeDeliveries().size() == 1);
  instance.ReportDelivery(stale[0].number, true);
  REQUIRE(EventRecords(instance).empty());
}

TEST_CASE("A goal can ask for a delivered power event and for dead subscriptions that are gone") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string dead = SubscribeWith(instance, kDead, "SuspendRetries");
  const Json delivered = {{"happened",
                           {{"kind", "event"},
                            {"detail",
                             {{"delivered", true},
                              {"destination", kAlive},
                              {"MessageId", "ResourceEvent.1.4.ResourcePoweredOn"}}}}}};
  const Json gone = {{"not", {{"exists", {{"uri", dead}, {"pointer", ""}}}}}};
  const auto holds = [&](const Json& predicate) {
    return redfish::Predicate::Parse(predicate).value().Evaluate(instance);
  };
  Boot(instance);
  REQUIRE_FALSE(holds(delivered));
  REQUIRE_FALSE(holds(gone));
  Subscribe(instance, SubscriptionTo(kAlive));
  Boot(instance);
  REQUIRE(holds(delivered));
  REQUIRE(Delete(instance, dead).status == 200);
  REQUIRE(holds({{"all", {delivered, gone}}}));
}

}  // namespace shoal::mockserver
