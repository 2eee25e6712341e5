// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/subscriptions.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/events/event_clients.h"

namespace shoal::mockserver {

TEST_CASE("A subscription lives from its POST to its DELETE") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Instance instance(WorldOf(name));
    const Json before = At(instance, kSubscriptions, "/Members");
    const Json asked = SubscriptionTo("http://10.0.0.1/events");
    const Response made = Post(instance, kSubscriptions, asked);
    REQUIRE(made.status == 201);
    REQUIRE(made.location.starts_with(kSubscriptions + "/"));
    const Json& subscription = *made.json;
    REQUIRE(subscription.at("@odata.id") == made.location);
    REQUIRE(subscription.at("Id") == made.location.substr(made.location.rfind('/') + 1));
    for (const auto& [property, value] : asked.items()) REQUIRE(subscription.at(property) == value);
    REQUIRE(subscription.at("EventTypes") == Json::array({"Other"}));
    REQUIRE(subscription.at("SubscriptionType") == "RedfishEvent");
    REQUIRE(subscription.at("DeliveryRetryPolicy") == "TerminateAfterRetries");
    REQUIRE(subscription.at("Status").at("State") == "Enabled");
    REQUIRE(At(instance, kSubscriptions, "/Members").size() == before.size() + 1);
    REQUIRE(Patch(instance, made.location, {{"Context", "other"}}).status == 200);
    REQUIRE(At(instance, made.location, "/Context") == "other");
    REQUIRE(Delete(instance, made.location).status == 200);
    REQUIRE(Get(instance, made.location).status == 404);
    REQUIRE(At(instance, kSubscriptions, "/Members") == before);
  }
}

TEST_CASE("After a reset only the captured subscriptions are there") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name));
    const Json captured = *instance.Find(kSubscriptions);
    const std::string made = Subscribe(instance, SubscriptionTo("http://10.0.0.1/"));
    REQUIRE(instance.Reset().ok());
    REQUIRE(*instance.Find(kSubscriptions) == captured);
    REQUIRE(Get(instance, made).status == 404);
  }
}

TEST_CASE("A subscription is of the version that the service has or lists") {
  const auto type_in = [](const std::string& capture) {
    Instance instance(WorldOf(capture));
    return At(instance, Subscribe(instance, SubscriptionTo("http://a/")), "/@odata.type")
        .get<std::string>();
  };
  REQUIRE(type_in("dell-r750") == "#EventDestination.v1_10_1.EventDestination");
  REQUIRE(type_in("hpe-dl380a-gen12") == "#EventDestination.v1_13_0.EventDestination");
  REQUIRE(type_in("dmtf-rackmount1") == "#EventDestination.v1_16_0.EventDestination");
}

TEST_CASE("Every wrong property of a subscription is named, and nothing is made") {
  struct Case {
    std::string capture;
    Json change;
    std::string message;
  };
  const Case cases[] = {
      {"openbmc-stock", {{"Destination", nullptr}}, "PropertyValueTypeError"},
      {"openbmc-stock", {{"Destination", 5}}, "PropertyValueTypeError"},
      {"openbmc-stock", {{"Destination", "10.0.0.1"}}, "PropertyValueFormatError"},
      {"openbmc-stock", {{"Destination", "ftp://10.0.0.1/"}}, "PropertyValueFormatError"},
      {"dell-r750", {{"Protocol", "FTP"}}, "PropertyValueNotInList"},
      {"dell-r750", {{"Protocol", "SNMPv2c"}}, "PropertyValueNotInList"},
      {"dell-r750", {{"SubscriptionType", "SSE"}}, "PropertyValueNotInList"},
      {"dell-r750", {{"EventTypes", {"StatusChange"}}}, "PropertyValueNotInList"},
      {"dell-r750", {{"EventTypes", "Alert"}}, "PropertyValueTypeError"},
      {"dell-r750", {{"Severities", {"OK"}}}, "PropertyUnknown"},
      {"hpe-dl380a-gen12", {{"RegistryPrefixes", {"Update"}}}, "PropertyValueNotInList"},
      {"hpe-dl380a-gen12", {{"Severities", {"Bad"}}}, "PropertyValueNotInList"},
      {"hpe-dl380a-gen12", {{"Frobnicate", 1}}, "PropertyUnknown"},
      {"hpe-dl380a-gen12", {{"Id", "7"}}, "PropertyNotWritable"},
      {"hpe-dl380a-gen12", {{"Status", {{"State", "Disabled"}}}}, "PropertyNotWritable"},
      {"openbmc-stock", {{"ResourceTypes", {"Chassis"}}}, "PropertyValueNotInList"},
      {"openbmc-stock", {{"EventFormatType", "Prose"}}, "PropertyValueNotInList"},
      {"dmtf-rackmount1", {{"DeliveryRetryPolicy", "Never"}}, "PropertyValueNotInList"},
      {"dmtf-rackmount1", {{"OriginResources", {"/redfish/v1"}}}, "PropertyValueTypeError"},
      {"dmtf-rackmount1",
       {{"OriginResources", {{{"@odata.id", "/redfish/v1/Nowhere"}}}}},
       "PropertyValueIncorrect"},
      {"dmtf-rackmount1", {{"HttpHeaders", {{{"A b", "c"}}}}}, "PropertyValueFormatError"},
      {"dmtf-rackmount1", {{"HttpHeaders", {{{"A", "b\r\nC: d"}}}}}, "PropertyValueFormatError"},
      {"dmtf-rackmount1", {{"HttpHeaders", {{"A", 5}}}}, "PropertyValueFormatError"},
      {"dmtf-rackmount1",
       {{"HttpHeaders", {{{"Content-length", "5"}}}}},
       "PropertyValueFormatError"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.capture << " " << wrong.change);
    Instance instance(WorldOf(wrong.capture));
    Json body = SubscriptionTo("http://10.0.0.1/");
    body.update(wrong.change);
    const Response response = Post(instance, kSubscriptions, body);
    REQUIRE(response.status == 400);
    REQUIRE(Messages(response) == std::vector<std::string>{wrong.message});
    REQUIRE(instance.changed_resources() == 0);
  }
  Instance instance(WorldOf("openbmc-stock"));
  const Response empty = Post(instance, kSubscriptions, {{"Context", "x"}});
  REQUIRE(empty.status == 400);
  REQUIRE(Messages(empty) == std::vector<std::string>{"PropertyMissing", "PropertyMissing"});
}

TEST_CASE("A service that offers one format of events takes no other") {
  Instance instance(WorldOf("openbmc-stock"));
  REQUIRE(instance.Reset({{{kEventService, "/EventFormatTypes", {"Event"}}}}).ok());
  Json asked = SubscriptionTo("http://10.0.0.1/");
  asked["EventFormatType"] = "MetricReport";
  const Response refused = Post(instance, kSubscriptions, asked);
  REQUIRE(refused.status == 400);
  REQUIRE(Messages(refused) == std::vector<std::string>{"PropertyValueNotInList"});
  asked["EventFormatType"] = "Event";
  Subscribe(instance, asked);
}

TEST_CASE("Headers for the subscriber are kept and never shown") {
  Instance instance(WorldOf("hpe-dl380a-gen12"), {.event_delivery = EventDelivery::kPush});
  Json asked = SubscriptionTo("http://10.0.0.1/");
  asked["HttpHeaders"] = Json::array({{{"Authorization", "Basic c2VjcmV0"}}});
  const std::string uri = Subscribe(instance, asked);
  REQUIRE(At(instance, uri, "/HttpHeaders") == Json::array());
  const Response patched =
      Patch(instance, uri, {{"HttpHeaders", {{{"X-Key", "hidden"}}}}, {"Context", "new"}});
  REQUIRE(patched.status == 200);
  REQUIRE(At(instance, uri, "/HttpHeaders") == Json::array());
  REQUIRE(At(instance, uri, "/Context") == "new");
  const Response wrong = Patch(instance, uri, {{"HttpHeaders", {{{"X Key", "s3cret"}}}}});
  REQUIRE(wrong.status == 400);
  REQUIRE(wrong.body->find("s3cret") == std::string::npos);
}

TEST_CASE("There are only so many subscriptions") {
  Instance instance(WorldOf("openbmc-stock"));
  for (std::size_t i = 0; i < kMaximumSubscriptions; ++i) {
    Subscribe(instance, SubscriptionTo("http://10.0.0.1/"));
  }
  const Response refused = Post(instance, kSubscriptions, SubscriptionTo("http://10.0.0.1/"));
  REQUIRE(refused.status == 503);
  REQUIRE(Messages(refused) == std::vector<std::string>{"EventSubscriptionLimitExceeded"});
  REQUIRE(Delete(instance, kSubscriptions + "/1").status == 200);
  Subscribe(instance, SubscriptionTo("http://10.0.0.1/"));
}

TEST_CASE("A suspended subscription is Disabled until it is resumed, and gets nothing meanwhile") {
  for (const char* name : {"openbmc-stock", "hpe-dl380a-gen12", "dmtf-rackmount1"}) {
    INFO(name);
    Instance instance(WorldOf(name));
    const std::string destination = "http://10.0.0.1/";
    const std::string uri = Subscribe(instance, SubscriptionTo(destination));
    const auto act = [&](const std::string& action) {
      const std::string target =
          At(instance, uri, "/Actions/#EventDestination." + action + "/target");
      return Post(instance, target, Json::object()).status;
    };
    REQUIRE(act("SuspendSubscription") == 200);
    REQUIRE(At(instance, uri, "/Status/State") == "Disabled");
    Boot(instance);
    REQUIRE(MessagesTo(instance, destination).empty());
    REQUIRE(act("ResumeSubscription") == 200);
    REQUIRE(At(instance, uri, "/Status/State") == "Enabled");
    Boot(instance);
    REQUIRE(MessagesTo(instance, destination) == std::vector<std::string>{"ResourcePoweredOn"});
  }
}

}  // namespace shoal::mockserver
