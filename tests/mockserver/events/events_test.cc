// SPDX-License-Identifier: Apache-2.0
#include "mockserver/events/events.h"

#include <catch2/catch.hpp>
#include <string>

#include "mockserver/events/deliveries.h"
#include "tests/mockserver/events/event_clients.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kCollector = "http://10.0.0.1/events";

// An instance with events on. It hands its deliveries to the test instead of deciding about them.
class Publisher {
 public:
  explicit Publisher(const std::string& capture, InstanceOptions options = {})
      : instance(WorldOf(capture), WithPush(options)) {
    EnableEvents(instance);
  }

  // Returns what was published to our subscriptions since the last call.
  std::vector<Json> Published() {
    std::vector<Json> published;
    for (const Delivery& delivery : instance.TakeDeliveries()) {
      instance.ReportDelivery(delivery.number, true);
      Json payload = Json::parse(*delivery.body);
      if (payload.at("Context").get<std::string>().ends_with("ours")) {
        published.push_back(std::move(payload));
      }
    }
    return published;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Json& payload : Published()) {
      const std::string id = payload.at("Events").at(0).at("MessageId");
      names.push_back(id.substr(id.rfind('.') + 1));
    }
    return names;
  }

  Instance instance;

 private:
  static InstanceOptions WithPush(InstanceOptions options) {
    options.event_delivery = EventDelivery::kPush;
    return options;
  }
};

using Names = std::vector<std::string>;

Response SubmitTest(Instance& instance, const Json& parameters) {
  const std::string target =
      At(instance, kEventService, "/Actions/#EventService.SubmitTestEvent/target");
  return Post(instance, target, parameters);
}

}  // namespace

TEST_CASE("A power event has all that the standard's event message has") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Publisher publisher(name, {.epoch = std::chrono::seconds(1'700'000'000)});
    Instance& instance = publisher.instance;
    Subscribe(instance, SubscriptionTo(kCollector));
    instance.Advance(std::chrono::seconds(90));
    const std::string system = LandmarksOf(instance.world()).system;
    REQUIRE(ResetOf(instance, system, "ForceOff").status < 300);
    REQUIRE(ResetOf(instance, system, "On").status < 300);
    const std::vector<Json> published = publisher.Published();
    REQUIRE(!published.empty());
    const Json& payload = published.back();
    const std::string system_name = At(instance, system, "/Name");
    const std::string number = payload.at("Id");
    const Json record = {{"EventId", number},
                         {"EventTimestamp", "2023-11-14T22:14:50Z"},
                         {"EventType", name == "dell-r750" ? "Alert" : "StatusChange"},
                         {"MemberId", "0"},
                         {"Message", "The resource '" + system_name + "' has powered on."},
                         {"MessageArgs", {system_name}},
                         {"MessageId", "ResourceEvent.1.4.ResourcePoweredOn"},
                         {"MessageSeverity", "OK"},
                         {"Severity", "OK"},
                         {"OriginOfCondition", {{"@odata.id", system}}}};
    REQUIRE(payload == Json{{"@odata.type", "#Event.v1_7_0.Event"},
                            {"Id", number},
                            {"Name", "Event"},
                            {"Context", "ours"},
                            {"Events", Json::array({record})}});
  }
}

TEST_CASE("Power events follow the transients of the power machine") {
  Publisher publisher("hpe-dl380a-gen12", {.power_transient = std::chrono::seconds(2)});
  Instance& instance = publisher.instance;
  Subscribe(instance, SubscriptionTo(kCollector));
  const std::string system = LandmarksOf(instance.world()).system;
  REQUIRE(ResetOf(instance, system, "ForceOff").status < 300);
  publisher.Names();
  instance.Advance(std::chrono::seconds(2));
  REQUIRE(ResetOf(instance, system, "On").status < 300);
  REQUIRE(publisher.Names() == Names{"ResourcePoweredOff", "ResourcePoweringOn"});
  instance.Advance(std::chrono::seconds(2));
  REQUIRE(publisher.Names() == Names{"ResourcePoweredOn"});
}

TEST_CASE("What a client changes, makes and removes is announced once, and subscriptions are not") {
  for (const char* name : {"dmtf-rackmount1", "hpe-dl380a-gen12", "dell-r750"}) {
    INFO(name);
    Publisher publisher(name);
    Instance& instance = publisher.instance;
    const std::string ours = Subscribe(instance, SubscriptionTo(kCollector));
    const std::string other = Subscribe(instance, SubscriptionTo("http://10.0.0.2/"));
    REQUIRE(Delete(instance, other).status == 200);
    REQUIRE(Patch(instance, ours, {{"Context", "still ours"}}).status == 200);
    REQUIRE(publisher.Names().empty());

    const std::string system = LandmarksOf(instance.world()).system;
    REQUIRE(Patch(instance, system, {{"AssetTag", "rack 7"}}).status == 200);
    const std::vector<Json> changed = publisher.Published();
    REQUIRE(changed.size() == 1);
    REQUIRE(changed[0].at("Context") == "still ours");
    const Json& record = changed[0].at("Events").at(0);
    REQUIRE(record.at("MessageId") == "ResourceEvent.1.4.ResourceChanged");
    REQUIRE(record.at("OriginOfCondition").at("@odata.id") == system);
    REQUIRE(Patch(instance, system, {{"AssetTag", "rack 7"}}).status == 200);
    REQUIRE(Patch(instance, system, {{"NoSuch", 1}}).status == 400);
    REQUIRE(publisher.Names().empty());
  }
}

TEST_CASE("A member that comes and goes is announced with its own URI") {
  Publisher publisher("dmtf-rackmount1");
  Instance& instance = publisher.instance;
  Subscribe(instance, SubscriptionTo(kCollector));
  const Response made =
      Post(instance, "/redfish/v1/AccountService/Accounts",
           {{"UserName", "watcher"}, {"Password", "Correct-Horse-7"}, {"RoleId", "ReadOnly"}});
  REQUIRE(made.status == 201);
  const std::vector<Json> created = publisher.Published();
  REQUIRE(created.size() == 1);
  const auto record = [](const Json& payload) { return payload.at("Events").at(0); };
  REQUIRE(record(created[0]).at("MessageId") == "ResourceEvent.1.4.ResourceCreated");
  REQUIRE(record(created[0]).at("EventType") == "ResourceAdded");
  REQUIRE(record(created[0]).at("OriginOfCondition").at("@odata.id") == made.location);
  REQUIRE(Delete(instance, made.location).status == 200);
  const std::vector<Json> removed = publisher.Published();
  REQUIRE(removed.size() == 1);
  REQUIRE(record(removed[0]).at("MessageId") == "ResourceEvent.1.4.ResourceRemoved");
  REQUIRE(record(removed[0]).at("OriginOfCondition").at("@odata.id") == made.location);
}

TEST_CASE("A subscription gets what its filters let through") {
  const std::string system = "/redfish/v1/Systems/437XR1138R2";
  const auto link = [](const std::string& uri) { return Json{{"@odata.id", uri}}; };
  struct Case {
    Json filter;
    Names gets;
  };
  // The events are a power event and a change of the system's Secure Boot.
  const Names power = {"ResourcePoweredOn"};
  const Names change = {"ResourceChanged"};
  const Names both = {"ResourcePoweredOn", "ResourceChanged"};
  const Case cases[] = {
      {Json::object(), both},
      {{{"EventTypes", {"StatusChange"}}}, power},
      {{{"EventTypes", {"ResourceUpdated", "Alert"}}}, change},
      {{{"EventTypes", Json::array()}}, both},
      {{{"RegistryPrefixes", {"ResourceEvent"}}}, both},
      {{{"RegistryPrefixes", {"TaskEvent"}}}, {}},
      {{{"RegistryPrefixes", {"TaskEvent"}}, {"MessageIds", {"ResourceEvent.ResourceChanged"}}},
       change},
      {{{"MessageIds", {"ResourceEvent.1.0.ResourcePoweredOn"}}}, power},
      {{{"MessageIds", {"ResourcePoweredOn"}}}, power},
      {{{"MessageIds", {"Base.1.0.ResourcePoweredOn"}}}, {}},
      {{{"ExcludeMessageIds", {"ResourceEvent.ResourcePoweredOn"}}}, change},
      {{{"ExcludeRegistryPrefixes", {"ResourceEvent"}}}, {}},
      {{{"ResourceTypes", {"ComputerSystem"}}}, power},
      {{{"ResourceTypes", {"SecureBoot", "Chassis"}}}, change},
      {{{"OriginResources", {link(system)}}}, power},
      {{{"OriginResources", {link(system)}}, {"SubordinateResources", true}}, both},
      {{{"Severities", {"OK"}}}, both},
      {{{"Severities", {"Critical", "Warning"}}}, {}},
      {{{"EventFormatType", "MetricReport"}}, {}},
  };
  for (const Case& one : cases) {
    INFO(one.filter);
    Publisher publisher("dmtf-rackmount1");
    Json subscription = SubscriptionTo(kCollector);
    subscription.update(one.filter);
    Subscribe(publisher.instance, subscription);
    REQUIRE(ResetOf(publisher.instance, system, "ForceRestart").status < 300);
    REQUIRE(
        Patch(publisher.instance, system + "/SecureBoot", {{"SecureBootEnable", true}}).status ==
        200);
    REQUIRE(publisher.Names() == one.gets);
  }
}

TEST_CASE("A subscriber may have the origin's resource in its events") {
  Publisher publisher("dmtf-rackmount1");
  Json subscription = SubscriptionTo(kCollector);
  subscription["IncludeOriginOfCondition"] = true;
  Subscribe(publisher.instance, subscription);
  const std::string system = "/redfish/v1/Systems/437XR1138R2";
  REQUIRE(Patch(publisher.instance, system, {{"AssetTag", "new"}}).status == 200);
  const std::vector<Json> published = publisher.Published();
  REQUIRE(published.size() == 1);
  REQUIRE(published[0].at("Events").at(0).at("OriginOfCondition") ==
          *publisher.instance.Find(system));
}

TEST_CASE("A test event carries what was asked for") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Publisher publisher(name);
    Subscribe(publisher.instance, SubscriptionTo(kCollector));
    const Json asked = {{"MessageId", "Alert.1.0.LanDisconnect"},
                        {"EventType", "Alert"},
                        {"EventId", "ABC132489713478812346"},
                        {"EventTimestamp", "2016-01-10T18:02:00Z"},
                        {"Severity", "Warning"},
                        {"Message", "The LAN has been disconnected"},
                        {"MessageArgs", {"EthernetInterface 1"}},
                        {"OriginOfCondition", "/redfish/v1/Systems/1/EthernetInterfaces/1"}};
    const Response response = SubmitTest(publisher.instance, asked);
    REQUIRE(response.status == 200);
    const std::vector<Json> published = publisher.Published();
    REQUIRE(published.size() == 1);
    Json expected = asked;
    expected["OriginOfCondition"] = {{"@odata.id", asked.at("OriginOfCondition")}};
    expected["MessageSeverity"] = "Warning";
    expected["MemberId"] = "0";
    REQUIRE(published[0].at("Events").at(0) == expected);
  }
}

TEST_CASE("A test event without a message, or of wrong parameters, is refused") {
  Publisher publisher("openbmc-stock");
  Subscribe(publisher.instance, SubscriptionTo(kCollector));
  const Response missing = SubmitTest(publisher.instance, Json::object());
  REQUIRE(missing.status == 400);
  REQUIRE(Messages(missing) == Names{"ActionParameterMissing"});
  const Response wrong =
      SubmitTest(publisher.instance, {{"MessageId", "A.1.0.B"}, {"EventType", "Party"}});
  REQUIRE(wrong.status == 400);
  REQUIRE(Messages(wrong) == Names{"ActionParameterValueNotInList"});
  REQUIRE(publisher.Names().empty());
}

TEST_CASE("A disabled event service publishes nothing and refuses test events") {
  for (const std::string& name : CaptureNames()) {
    INFO(name);
    Publisher publisher(name);
    Instance& instance = publisher.instance;
    Subscribe(instance, SubscriptionTo(kCollector));
    REQUIRE(Patch(instance, kEventService, {{"ServiceEnabled", false}}).status == 200);
    Boot(instance);
    const Response refused =
        SubmitTest(instance, {{"MessageId", "A.1.0.B"}, {"EventType", "Alert"}});
    REQUIRE(refused.status == 503);
    REQUIRE(Messages(refused) == Names{"ServiceDisabled"});
    REQUIRE(publisher.Names().empty());
  }
}

TEST_CASE("A service without subscribers records no events") {
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  Boot(instance);
  REQUIRE(EventRecords(instance).empty());
}

}  // namespace shoal::mockserver
