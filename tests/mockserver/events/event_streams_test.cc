// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/event_streams.h"

#include <catch2/catch.hpp>
#include <string>

#include "mockserver/events/deliveries.h"
#include "tests/mockserver/events/event_clients.h"

namespace shoal::mockserver {
namespace {

const InstanceOptions kPush = {.event_delivery = EventDelivery::kPush};
constexpr const char* kStreaming[] = {"openbmc-stock", "dell-r750"};

std::string StreamUri(const Instance& instance) {
  return At(instance, kEventService, "/ServerSentEventUri");
}

Response Open(Instance& instance, const std::string& query = "",
              const std::string& accept = "text/event-stream") {
  const std::string uri = StreamUri(instance) + query;
  return instance.Handle({.method = Method::kGet, .uri = uri, .accept = accept});
}

// Returns the payloads of server-sent events. Each is "id: <Id>", "data: <payload>" and a blank
// line.
std::vector<Json> Parse(std::string text) {
  std::vector<Json> payloads;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    REQUIRE(end != std::string::npos);
    const std::string event = text.substr(0, end);
    text.erase(0, end + 2);
    const std::size_t line = event.find("\ndata: ");
    REQUIRE(line != std::string::npos);
    REQUIRE(event.find('\n', line + 1) == std::string::npos);
    payloads.push_back(Json::parse(event.substr(line + 7)));
    REQUIRE(event.substr(0, line) == "id: " + payloads.back().at("Id").get<std::string>());
  }
  return payloads;
}

std::string NameOf(const Json& payload) {
  const std::string id = payload.at("Events").at(0).at("MessageId");
  return id.substr(id.rfind('.') + 1);
}

}  // namespace

TEST_CASE("An event stream is a subscription while it is open, and tells what happens") {
  for (const char* name : kStreaming) {
    INFO(name);
    Instance instance(WorldOf(name), kPush);
    EnableEvents(instance);
    const Json before = At(instance, kSubscriptions, "/Members");
    const Response opened = Open(instance);
    REQUIRE(opened.status == 200);
    REQUIRE(opened.event_stream != 0);
    const Json members = At(instance, kSubscriptions, "/Members");
    REQUIRE(members.size() == before.size() + 1);
    const std::string subscription = members.back().at("@odata.id");
    REQUIRE(At(instance, subscription, "/SubscriptionType") == "SSE");
    REQUIRE(At(instance, subscription, "/Protocol") == "Redfish");
    const std::string context = At(instance, subscription, "/Context");
    REQUIRE(!context.empty());

    REQUIRE(instance.TakeStreamText(opened.event_stream) == std::string());
    Boot(instance);
    Boot(instance);
    const std::vector<Json> payloads = Parse(*instance.TakeStreamText(opened.event_stream));
    REQUIRE(payloads.size() == 2);
    for (const Json& payload : payloads) {
      REQUIRE(payload.at("@odata.type") == "#Event.v1_7_0.Event");
      REQUIRE(payload.at("Context") == context);
      REQUIRE(NameOf(payload) == "ResourcePoweredOn");
    }
    REQUIRE(payloads[0].at("Id") != payloads[1].at("Id"));
    REQUIRE(instance.TakeDeliveries().empty());

    instance.CloseStream(opened.event_stream);
    REQUIRE(At(instance, kSubscriptions, "/Members") == before);
    REQUIRE_FALSE(instance.TakeStreamText(opened.event_stream).has_value());
  }
}

TEST_CASE("An event stream ends with its subscription, with the service, and with a reset") {
  for (const char* name : kStreaming) {
    INFO(name);
    Instance instance(WorldOf(name), kPush);
    EnableEvents(instance);
    const Json before = At(instance, kSubscriptions, "/Members");
    const auto last = [&] {
      return At(instance, kSubscriptions, "/Members").back().at("@odata.id").get<std::string>();
    };
    const std::uint64_t deleted = Open(instance).event_stream;
    REQUIRE(Delete(instance, last()).status == 200);
    REQUIRE_FALSE(instance.TakeStreamText(deleted).has_value());
    const std::uint64_t disabled = Open(instance).event_stream;
    REQUIRE(Patch(instance, kEventService, {{"ServiceEnabled", false}}).status == 200);
    REQUIRE_FALSE(instance.TakeStreamText(disabled).has_value());
    REQUIRE(At(instance, kSubscriptions, "/Members") == before);
    const Response refused = Open(instance);
    REQUIRE(refused.status == 503);
    REQUIRE(Messages(refused) == std::vector<std::string>{"ServiceDisabled"});
    EnableEvents(instance);
    const std::uint64_t reset = Open(instance).event_stream;
    REQUIRE(reset != 0);
    REQUIRE(instance.Reset().ok());
    REQUIRE_FALSE(instance.TakeStreamText(reset).has_value());
    REQUIRE(At(instance, kSubscriptions, "/Members") == before);
  }
}

TEST_CASE("A filter chooses what a stream tells") {
  struct Case {
    std::string filter;
    std::vector<std::string> tells;
  };
  const std::vector<std::string> both = {"ResourcePoweredOn", "ResourceChanged"};
  const Case cases[] = {
      {"RegistryPrefix eq 'ResourceEvent'", both},
      {"RegistryPrefix eq 'TaskEvent'", {}},
      {"(EventType eq 'StatusChange')", {"ResourcePoweredOn"}},
      {"MessageId eq 'ResourceEvent.1.4.ResourceChanged'", {"ResourceChanged"}},
      {"EventFormatType eq 'Event' and ResourceType ne 'ComputerSystem'", {}},
      {"EventFormatType eq 'MetricReport'", {}},
      {"OriginResource eq '/redfish/v1/Systems/system' or EventType eq 'Alert'", both},
  };
  for (const Case& one : cases) {
    INFO(one.filter);
    Instance instance(WorldOf("openbmc-stock"), kPush);
    std::string query = "?$filter=";
    for (const char c : one.filter) query += c == ' ' ? std::string("%20") : std::string(1, c);
    const Response opened = Open(instance, query);
    REQUIRE(opened.event_stream != 0);
    Boot(instance);
    REQUIRE(
        Patch(instance, "/redfish/v1/Systems/system", {{"LocationIndicatorActive", true}}).status ==
        200);
    std::vector<std::string> tells;
    for (const Json& payload : Parse(*instance.TakeStreamText(opened.event_stream))) {
      tells.push_back(NameOf(payload));
    }
    REQUIRE(tells == one.tells);
  }
}

TEST_CASE("What does not ask for an event stream as one must is refused") {
  Instance instance(WorldOf("openbmc-stock"), kPush);
  REQUIRE(Open(instance, "", "application/json").status == 406);
  REQUIRE(Open(instance, "?$filter=nonsense").status == 400);
  REQUIRE(Open(instance, "?$top=1").status == 400);
  const std::string uri = StreamUri(instance);
  const Response head = instance.Handle({.method = Method::kHead, .uri = uri});
  REQUIRE(head.status == 405);
  REQUIRE(head.allow == "GET");
  REQUIRE(At(instance, kSubscriptions, "/Members").empty());
  REQUIRE(Open(instance, "", "").status == 200);
  REQUIRE(Open(instance, "", "*/*").status == 200);
}

TEST_CASE("There are only so many event streams") {
  Instance instance(WorldOf("openbmc-stock"), kPush);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < kMaximumStreams; ++i) last = Open(instance).event_stream;
  const Response refused = Open(instance);
  REQUIRE(refused.status == 503);
  REQUIRE(Messages(refused) == std::vector<std::string>{"EventSubscriptionLimitExceeded"});
  instance.CloseStream(last);
  REQUIRE(Open(instance).status == 200);
}

TEST_CASE("A stream that nobody reads ends before it has taken too much") {
  Instance instance(WorldOf("openbmc-stock"), kPush);
  const std::uint64_t stream = Open(instance).event_stream;
  const std::string target =
      At(instance, kEventService, "/Actions/#EventService.SubmitTestEvent/target");
  const Json event = {{"MessageId", "A.1.0.B"}, {"Message", std::string(200'000, 'x')}};
  for (int i = 0; i < 5; ++i) REQUIRE(Post(instance, target, event).status == 200);
  const auto text = instance.TakeStreamText(stream);
  REQUIRE(text.has_value());
  REQUIRE(Parse(*text).size() == 5);
  for (int i = 0; i < 6; ++i) REQUIRE(Post(instance, target, event).status == 200);
  REQUIRE_FALSE(instance.TakeStreamText(stream).has_value());
  REQUIRE(At(instance, kSubscriptions, "/Members").empty());
}

TEST_CASE("Where events are simulated, and where there is none, no event stream is to be had") {
  Instance simulated(WorldOf("openbmc-stock"));
  REQUIRE(Get(simulated, StreamUri(simulated)).status == 404);
  Instance without(WorldOf("hpe-dl380a-gen12"), kPush);
  REQUIRE(Get(without, "/redfish/v1/EventService/SSE").status == 404);
}

}  // namespace shoal::mockserver
