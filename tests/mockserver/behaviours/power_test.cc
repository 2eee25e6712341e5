// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/power.h"

#include <catch2/catch.hpp>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using Names = std::vector<std::string>;

struct Machine {
  explicit Machine(const std::string& capture, const std::string& state = "On",
                   InstanceOptions options = {})
      : instance(WorldOf(capture), options), marks(LandmarksOf(instance.world())) {
    const std::vector<redfish::StartOperation> start = {
        {marks.system, "/PowerState", state},
        {marks.chassis, "/PowerState", state},
        {marks.system, "/Boot/BootSourceOverrideEnabled", "Disabled"},
        {marks.system, "/Boot/BootSourceOverrideTarget", "None"}};
    REQUIRE(instance.Reset(start).ok());
  }

  int Reset(const std::string& type) { return ResetOf(instance, marks.system, type).status; }
  std::string state() const { return At(instance, marks.system, "/PowerState"); }
  std::string chassis() const { return At(instance, marks.chassis, "/PowerState"); }
  Names history() const {
    Names names;
    for (const auto& record : instance.history()) {
      const std::string& key = record.kind == "boot" ? "target" : "ResetType";
      names.push_back(record.kind + " " + record.detail.at(key).get<std::string>());
    }
    return names;
  }

  Instance instance;
  redfish::Landmarks marks;
};

}  // namespace

TEST_CASE("A system goes on and off, and its chassis shows it, on every capture") {
  for (const std::string& capture : CaptureNames()) {
    INFO(capture);
    Machine machine(capture, "Off");
    REQUIRE(machine.Reset("On") == 200);
    REQUIRE(machine.state() == "On");
    REQUIRE(machine.chassis() == "On");
    REQUIRE(machine.Reset("GracefulShutdown") == 200);
    REQUIRE(machine.state() == "Off");
    REQUIRE(machine.chassis() == "Off");
    REQUIRE(machine.history() == Names{"reset On", "boot None", "reset GracefulShutdown"});
  }
}

TEST_CASE("A boot with an override of Once is recorded with its target and reverts") {
  for (const std::string& capture : CaptureNames()) {
    INFO(capture);
    for (const std::string type : {"ForceRestart", "GracefulRestart"}) {
      Machine machine(capture);
      const Json once = {
          {"Boot", {{"BootSourceOverrideEnabled", "Once"}, {"BootSourceOverrideTarget", "Pxe"}}}};
      REQUIRE(Patch(machine.instance, machine.marks.system, once).status == 200);
      REQUIRE(machine.Reset(type) == 200);
      REQUIRE(machine.history() == Names{"reset " + type, "boot Pxe"});
      REQUIRE(machine.state() == "On");
      REQUIRE(At(machine.instance, machine.marks.system, "/Boot/BootSourceOverrideEnabled") ==
              "Disabled");
      REQUIRE(At(machine.instance, machine.marks.system, "/Boot/BootSourceOverrideTarget") ==
              "None");
      REQUIRE(machine.Reset(type) == 200);
      REQUIRE(machine.history().back() == "boot None");
    }
  }
}

TEST_CASE("A continuous override stays") {
  Machine machine("openbmc-stock");
  const Json always = {
      {"Boot", {{"BootSourceOverrideEnabled", "Continuous"}, {"BootSourceOverrideTarget", "Hdd"}}}};
  REQUIRE(Patch(machine.instance, machine.marks.system, always).status == 200);
  REQUIRE(machine.Reset("ForceRestart") == 200);
  REQUIRE(machine.Reset("ForceRestart") == 200);
  REQUIRE(machine.history().back() == "boot Hdd");
  REQUIRE(At(machine.instance, machine.marks.system, "/Boot/BootSourceOverrideTarget") == "Hdd");
}

TEST_CASE("A target without an enabled override does not boot from it") {
  Machine machine("openbmc-stock");
  REQUIRE(Patch(machine.instance, machine.marks.system,
                {{"Boot", {{"BootSourceOverrideTarget", "Pxe"}}}})
              .status == 200);
  REQUIRE(machine.Reset("ForceRestart") == 200);
  REQUIRE(machine.history().back() == "boot None");
}

TEST_CASE("What needs a running system is refused with 409 when it is off, and leaves no record") {
  for (const std::string& capture : CaptureNames()) {
    INFO(capture);
    Machine machine(capture, "Off");
    for (const char* type : {"GracefulShutdown", "GracefulRestart", "Nmi"}) {
      INFO(type);
      const Response response = ResetOf(machine.instance, machine.marks.system, type);
      REQUIRE(response.status == 409);
      REQUIRE(Messages(response) == Names{"ResourceInStandby"});
    }
    REQUIRE(machine.state() == "Off");
    REQUIRE(machine.history().empty());
  }
}

TEST_CASE("What is reached already is accepted and changes nothing") {
  Machine machine("dmtf-rackmount1");
  const std::string etag = Get(machine.instance, machine.marks.system).etag;
  REQUIRE(machine.Reset("On") == 200);
  REQUIRE(machine.Reset("ForceOn") == 200);
  REQUIRE(Get(machine.instance, machine.marks.system).etag == etag);
  REQUIRE(machine.history() == Names{"reset On", "reset ForceOn"});
}

TEST_CASE("The power button toggles, Nmi is recorded only") {
  Machine machine("dell-r750");
  REQUIRE(machine.Reset("Nmi") == 200);
  REQUIRE(machine.state() == "On");
  REQUIRE(machine.Reset("PushPowerButton") == 200);
  REQUIRE(machine.state() == "Off");
  REQUIRE(machine.Reset("PushPowerButton") == 200);
  REQUIRE(machine.state() == "On");
  REQUIRE(machine.Reset("PowerCycle") == 200);
  REQUIRE(machine.history() == Names{"reset Nmi", "reset PushPowerButton", "reset PushPowerButton",
                                     "boot None", "reset PowerCycle", "boot None"});
}

TEST_CASE("A chassis reset acts on the systems in it") {
  Machine machine("dell-r750");
  REQUIRE(ResetOf(machine.instance, machine.marks.chassis, "ForceOff").status == 200);
  REQUIRE(machine.state() == "Off");
  REQUIRE(machine.chassis() == "Off");
  REQUIRE(machine.instance.history().back().uri == machine.marks.chassis);
  REQUIRE(ResetOf(machine.instance, machine.marks.chassis, "On").status == 200);
  REQUIRE(machine.state() == "On");
  REQUIRE(machine.history().back() == "boot None");
}

TEST_CASE("Parameters are checked against what the service lists") {
  Machine listed("dell-r750");
  Machine action_info("openbmc-stock");
  for (Machine* machine : {&listed, &action_info}) {
    INFO(machine->instance.world().capture().name());
    const Json& system = *machine->instance.Find(machine->marks.system);
    const std::string target = system.at("Actions").at("#ComputerSystem.Reset").at("target");
    const auto post = [&](std::string_view body) {
      return machine->instance.Handle({.method = Method::kPost, .uri = target, .body = body});
    };
    REQUIRE(post("").status == 400);
    REQUIRE(Messages(post("{}")) == Names{"ActionParameterMissing"});
    REQUIRE(Messages(post("{\"ResetType\":\"Explode\"}")) ==
            Names{"ActionParameterValueNotInList"});
    // The standard has this value, but these services do not list it.
    REQUIRE(Messages(post("{\"ResetType\":\"Suspend\"}")) ==
            Names{"ActionParameterValueNotInList"});
    REQUIRE(Messages(post("{\"ResetType\":5}")) == Names{"ActionParameterValueTypeError"});
    REQUIRE(Messages(post("{\"ResetType\":\"On\",\"Extra\":1}")) ==
            Names{"ActionParameterUnknown"});
    REQUIRE(Messages(post("[]")) == Names{"UnrecognizedRequestBody"});
    REQUIRE(Messages(post("{")) == Names{"MalformedJSON"});
    REQUIRE(machine->history().empty());
  }
}

TEST_CASE("An action without a handler is 404 ActionNotSupported") {
  Machine machine("dmtf-rackmount1");
  const Json& system = *machine.instance.Find(machine.marks.system);
  const std::string target = system.at("Actions").at("Oem").begin()->at("target");
  const Response response = Post(machine.instance, target, Json::object());
  REQUIRE(response.status == 404);
  REQUIRE(Messages(response) == Names{"ActionNotSupported"});
}

TEST_CASE("Transients last as long as the virtual clock says") {
  const InstanceOptions slow{.power_transient = std::chrono::milliseconds(5000)};
  for (const std::string& capture : CaptureNames()) {
    INFO(capture);
    Machine machine(capture, "Off", slow);
    REQUIRE(machine.Reset("On") == 200);
    REQUIRE(machine.state() == "PoweringOn");
    REQUIRE(machine.Reset("GracefulShutdown") == 409);
    machine.instance.Advance(std::chrono::milliseconds(4999));
    REQUIRE(machine.state() == "PoweringOn");
    machine.instance.Advance(std::chrono::milliseconds(1));
    REQUIRE(machine.state() == "On");
    REQUIRE(machine.history() == Names{"reset On", "boot None"});
    REQUIRE(machine.instance.history().back().time == 5.0);

    REQUIRE(machine.Reset("ForceRestart") == 200);
    REQUIRE(machine.Reset("ForceOff") == 200);
    REQUIRE(machine.state() == "PoweringOff");
    machine.instance.Advance(std::chrono::seconds(60));
    REQUIRE(machine.state() == "Off");
    REQUIRE(machine.instance.now() == std::chrono::seconds(65));
    REQUIRE(machine.history().back() == "reset ForceOff");
  }
}

TEST_CASE("Time never runs backwards") {
  Machine machine("openbmc-stock");
  machine.instance.Advance(std::chrono::seconds(-5));
  REQUIRE(machine.instance.now().count() == 0);
}

TEST_CASE("A restart turns on what is off, unless the vendor is known to refuse that") {
  for (const std::string& capture : CaptureNames()) {
    INFO(capture);
    const bool refuses = capture == "dell-r750" || capture == "hpe-dl380a-gen12";
    Machine machine(capture, "Off");
    REQUIRE(machine.Reset("ForceRestart") == (refuses ? 409 : 200));
    REQUIRE(machine.state() == (refuses ? "Off" : "On"));
    if (!refuses) REQUIRE(machine.history() == Names{"reset ForceRestart", "boot None"});
  }
}

TEST_CASE("LastResetTime of a system says when it was last reset") {
  Machine machine("dmtf-rackmount1");
  Json captured = *machine.instance.Find(machine.marks.system);
  captured["LastResetTime"] = "2020-01-01T00:00:00Z";
  captured["PowerState"] = "On";
  Instance instance(WorldWith("dmtf-rackmount1", {{machine.marks.system, captured}}));
  instance.Advance(std::chrono::hours(1));
  REQUIRE(ResetOf(instance, machine.marks.system, "On").status == 200);
  REQUIRE(At(instance, machine.marks.system, "/LastResetTime") == "2020-01-01T00:00:00Z");
  REQUIRE(ResetOf(instance, machine.marks.system, "ForceRestart").status == 200);
  REQUIRE(At(instance, machine.marks.system, "/LastResetTime") == "1970-01-01T01:00:00Z");
}

}  // namespace shoal::mockserver
