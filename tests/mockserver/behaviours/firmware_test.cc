// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/firmware.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using Names = std::vector<std::string>;

struct Known {
  std::string bios;
  std::string bmc;
};

// The inventory items of BIOS and BMC, by capture.
const std::map<std::string, Known> kKnown = {
    {"dmtf-rackmount1", {"BIOS", "BMC"}},
    {"hpe-dl380a-gen12", {"2", "1"}},
    {"dell-r750",
     {"Installed-159-1.8.2__BIOS.Setup.1-1", "Installed-25227-6.00.30.00__iDRAC.Embedded.1-1"}}};
const std::string kService = "/redfish/v1/UpdateService";

struct Updater {
  explicit Updater(const std::string& capture, InstanceOptions options = {})
      : instance(WorldOf(capture), options) {
    const redfish::Landmarks landmarks = LandmarksOf(instance.world());
    system = landmarks.system;
    manager = landmarks.manager;
    bios = kService + "/FirmwareInventory/" + kKnown.at(capture).bios;
    bmc = kService + "/FirmwareInventory/" + kKnown.at(capture).bmc;
  }
  Response Start(const Json& body) {
    return Post(instance, kService + "/Actions/UpdateService.SimpleUpdate", body);
  }
  Json Version(const std::string& item) const { return At(instance, item, "/Version"); }
  std::map<std::string, Json> Others(const std::string& item) const {
    std::map<std::string, Json> versions;
    for (const Json& link : At(instance, kService + "/FirmwareInventory", "/Members")) {
      const std::string uri = redfish::LinkTarget(link);
      if (uri != item && instance.Find(uri) != nullptr) versions[uri] = *instance.Find(uri);
    }
    return versions;
  }
  void Boot() { mockserver::Boot(instance, system); }

  Instance instance;
  std::string system;
  std::string manager;
  std::string bios;
  std::string bmc;
};

}  // namespace

TEST_CASE("A BIOS update is applied by the boot after it, and changes nothing else") {
  for (const auto& [name, known] : kKnown) {
    for (const bool targeted : {false, true}) {
      INFO(name);
      Updater updater(name, {.task_duration = std::chrono::seconds(4)});
      const Json before = updater.Version(updater.bios);
      const auto others = updater.Others(updater.bios);
      Json body = {{"ImageURI", "http://images.test/v2/bios-1.1.bin?token=9.9"}};
      if (targeted) body = {{"ImageURI", "http://images.test/x_1.1"}, {"Targets", {updater.bios}}};
      const Response started = updater.Start(body);
      INFO(*started.body);
      REQUIRE(started.status == 202);
      updater.instance.Advance(std::chrono::seconds(4));
      REQUIRE(Get(updater.instance, started.location).json->at("TaskState") == "Starting");
      REQUIRE(updater.Version(updater.bios) == before);
      updater.Boot();
      REQUIRE(updater.Version(updater.bios) == "1.1");
      REQUIRE(At(updater.instance, updater.system, "/BiosVersion") == "1.1");
      REQUIRE(updater.Others(updater.bios) == others);
      REQUIRE(Get(updater.instance, started.location).status == 200);
      const redfish::HistoryRecord& record = updater.instance.history().back();
      REQUIRE(record.kind == redfish::kTaskRecord);
      REQUIRE(record.detail == Json{{"Name", "Firmware update"}, {"TaskState", "Completed"}});
      REQUIRE(updater.instance.Reset().ok());
      updater.Boot();
      REQUIRE(updater.Version(updater.bios) == before);
    }
  }
}

TEST_CASE("The task of an update shows which request it carries out, without its password") {
  Updater updater("dmtf-rackmount1", {.task_duration = std::chrono::seconds(4)});
  const Json body = {{"ImageURI", "http://images.test/bios-1.1.bin"}};
  Json sent = body;
  sent["Username"] = "root";
  sent["Password"] = "calvin-calvin";
  const Response started = updater.Start(sent);
  REQUIRE(started.status == 202);
  const Json payload = started.json->at("Payload");
  REQUIRE(payload.at("HttpOperation") == "POST");
  REQUIRE(payload.at("TargetUri") == kService + "/Actions/UpdateService.SimpleUpdate");
  Json shown = Json::parse(payload.at("JsonBody").get<std::string>());
  REQUIRE_FALSE(shown.contains("Password"));
  shown.erase("Username");
  REQUIRE(shown == body);
}

TEST_CASE("A BMC update needs no boot, and the manager's version follows") {
  for (const auto& [name, known] : kKnown) {
    for (const bool by_manager : {false, true}) {
      INFO(name);
      Updater updater(name);
      const auto others = updater.Others(updater.bmc);
      const Json bios = At(updater.instance, updater.system, "/BiosVersion");
      Json body = {{"ImageURI", "https://images.test/bmc_2.0.7.bin"}};
      if (by_manager) body["Targets"] = {updater.manager};
      REQUIRE(updater.Start(body).json->at("TaskState") == "Completed");
      REQUIRE(updater.Version(updater.bmc) == "2.0.7");
      REQUIRE(At(updater.instance, updater.manager, "/FirmwareVersion") == "2.0.7");
      REQUIRE(At(updater.instance, updater.system, "/BiosVersion") == bios);
      REQUIRE(updater.Others(updater.bmc) == others);
    }
  }
}

TEST_CASE("What is not a BIOS is updated at once, or when asked for at the next boot") {
  Updater dell("dell-r750");
  const std::string cpld = kService + "/FirmwareInventory/Installed-27763-1.0.5__CPLD.Embedded.1";
  Json body = {{"ImageURI", "https://images.test/cpld-1.0.6.bin"},
               {"@Redfish.OperationApplyTime", "OnReset"}};
  REQUIRE(dell.Start(body).json->at("TaskState") == "Starting");
  REQUIRE(dell.Version(cpld) == "1.0.5");
  dell.Boot();
  REQUIRE(dell.Version(cpld) == "1.0.6");
  body = {{"ImageURI", "https://images.test/fw-1.0.7.bin"}, {"Targets", {cpld}}};
  REQUIRE(dell.Start(body).json->at("TaskState") == "Completed");
  REQUIRE(dell.Version(cpld) == "1.0.7");
}

TEST_CASE("An update may be kept until all start") {
  Updater updater("dell-r750");
  const std::string start = kService + "/Actions/UpdateService.StartUpdate";
  REQUIRE(Messages(Post(updater.instance, start, Json::object())) == Names{"NoOperation"});
  const Json before = updater.Version(updater.bmc);
  const Json wait = "OnStartUpdateRequest";
  REQUIRE(
      updater.Start({{"ImageURI", "http://h/bmc-7.1.bin"}, {"@Redfish.OperationApplyTime", wait}})
          .status == 200);
  REQUIRE(
      updater.Start({{"ImageURI", "http://h/bios-1.9.bin"}, {"@Redfish.OperationApplyTime", wait}})
          .status == 200);
  updater.Boot();
  REQUIRE(updater.Version(updater.bmc) == before);
  REQUIRE(Post(updater.instance, start, Json::object()).json->at("TaskState") == "Starting");
  updater.Boot();
  REQUIRE(updater.Version(updater.bmc) == "7.1");
  REQUIRE(updater.Version(updater.bios) == "1.9");
  REQUIRE(Post(updater.instance, start, Json::object()).status == 400);
  for (std::size_t i = 0; i <= kMaximumStaged; ++i) {
    const Response response = updater.Start(
        {{"ImageURI", "http://h/bios-1.9.bin"}, {"@Redfish.OperationApplyTime", wait}});
    REQUIRE(response.status == (i < kMaximumStaged ? 200 : 503));
  }
}

TEST_CASE("An update that cannot be is refused in words, and nothing changes") {
  for (const auto& [name, known] : kKnown) {
    INFO(name);
    Updater updater(name);
    const auto refusal = [&](const Json& body) {
      const Response response = updater.Start(body);
      INFO(*response.body);
      REQUIRE(response.status == 400);
      return Messages(response);
    };
    const Json image = "http://h/bios-1.1.bin";
    REQUIRE(refusal(Json::object()) == Names{"ActionParameterMissing"});
    REQUIRE(refusal({{"ImageURI", 5}}) == Names{"ActionParameterValueTypeError"});
    REQUIRE(refusal({{"ImageURI", "h/bios-1.1.bin"}}) == Names{"ActionParameterValueFormatError"});
    REQUIRE(refusal({{"ImageURI", image}, {"TransferProtocol", "OEM"}}) ==
            Names{"ActionParameterValueNotInList"});
    REQUIRE(refusal({{"ImageURI", image}, {"Targets", {"/redfish/v1/NoSuchItem"}}}) ==
            Names{"ActionParameterValueFormatError"});
    REQUIRE(refusal({{"ImageURI", image}, {"Targets", {"/redfish/v1"}}}) ==
            Names{"ActionParameterValueFormatError"});
    REQUIRE(refusal({{"ImageURI", image}, {"Targets", 5}}) ==
            Names{"ActionParameterValueTypeError"});
    REQUIRE(refusal({{"ImageURI", image}, {"@Redfish.OperationApplyTime", "Later"}}) ==
            Names{"PropertyValueNotInList"});
    REQUIRE(updater.instance.changed_resources() == 0);
    REQUIRE(updater.Start({{"ImageURI", "h/bios-1.1.bin"}, {"TransferProtocol", "HTTP"}}).status ==
            202);
  }
  Updater hpe("hpe-dl380a-gen12");
  const Response fixed = hpe.Start(
      {{"ImageURI", "http://h/gpu-97.00.bin"}, {"Targets", {kService + "/FirmwareInventory/29"}}});
  REQUIRE(fixed.status == 400);
  REQUIRE(Messages(fixed) == Names{"ActionParameterValueError"});
}

TEST_CASE("An image that fits no firmware is accepted, and its task fails") {
  for (const auto& [name, known] : kKnown) {
    INFO(name);
    for (const char* image : {"http://h/1.1/bios.bin", "http://h/zzz-1.1.bin"}) {
      INFO(image);
      Updater updater(name);
      const Response response = updater.Start({{"ImageURI", image}});
      REQUIRE(response.status == 202);
      updater.instance.Advance(std::chrono::hours(1));
      const std::string task = response.json->at("@odata.id");
      REQUIRE(At(updater.instance, task, "/TaskState") == "Exception");
    }
  }
}

TEST_CASE("The version is the image's first number with a dot, else its first number") {
  const std::map<std::string, std::string> versions = {{"BIOS_HN5GT_WN64_1.9.2.EXE", "1.9.2"},
                                                       {"bios-7.bin", "7"},
                                                       {"bios-2.15.0-dev-686.tar", "2.15.0"},
                                                       {"bios_v3_1.40.fwpkg", "1.40"},
                                                       {"bios-1.1.", "1.1"}};
  for (const auto& [image, version] : versions) {
    Updater updater("dmtf-rackmount1");
    REQUIRE(
        updater.Start({{"ImageURI", "http://h/" + image}, {"Targets", {updater.bios}}}).status ==
        202);
    updater.Boot();
    REQUIRE(updater.Version(updater.bios) == version);
  }
}

namespace {

const std::string kPushedTo = kService + "/MultipartUpload";

std::string Form(const Json& parameters, const std::string& file_name, const std::string& image) {
  const std::string disposition = "\r\nContent-Disposition: form-data; name=";
  return "--b" + disposition + "UpdateParameters\r\n\r\n" + parameters.dump() + "\r\n--b" +
         disposition + "UpdateFile; filename=\"" + file_name + "\"\r\n\r\n" + image +
         "\r\n--b--\r\n";
}

Response PushForm(Instance& instance, const std::string& uri, const std::string& body,
                  std::string_view content_type = "multipart/form-data; boundary=b") {
  return instance.Handle(
      {.method = Method::kPost, .uri = uri, .body = body, .content_type = content_type});
}

}  // namespace

TEST_CASE("An image that is pushed as a form updates firmware as SimpleUpdate does") {
  const std::string image("\0\xff--b\r\n\r\n--bx", 14);
  for (const bool targeted : {false, true}) {
    Updater updater("dell-r750");
    const Json parameters = targeted ? Json{{"Targets", {updater.bmc}}} : Json::object();
    const std::string name = targeted ? "C:\\fw\\image_2.0.7.bin" : "bmc_2.0.7.bin";
    const Response pushed = PushForm(updater.instance, kPushedTo, Form(parameters, name, image));
    INFO(*pushed.body);
    REQUIRE(pushed.status == 202);
    REQUIRE(pushed.json->at("TaskState") == "Completed");
    REQUIRE_FALSE(pushed.location.empty());
    REQUIRE(updater.Version(updater.bmc) == "2.0.7");
  }
  Updater updater("dell-r750");
  const Json before = updater.Version(updater.bmc);
  const Json waits = {{"@Redfish.OperationApplyTime", "OnReset"}};
  REQUIRE(PushForm(updater.instance, kPushedTo, Form(waits, "bmc_2.0.7.bin", image))
              .json->at("TaskState") == "Starting");
  REQUIRE(updater.Version(updater.bmc) == before);
  updater.Boot();
  REQUIRE(updater.Version(updater.bmc) == "2.0.7");
}

TEST_CASE("A push that cannot be is refused in words, and nothing changes") {
  Updater updater("dell-r750");
  Instance& instance = updater.instance;
  const auto refusal = [&](const std::string& body) {
    const Response response = PushForm(instance, kPushedTo, body);
    INFO(body);
    REQUIRE(response.status == 400);
    return Messages(response);
  };
  REQUIRE(refusal("") == Names{"MissingOrMalformedPart"});
  REQUIRE(refusal("--b--") == Names{"MissingOrMalformedPart"});
  REQUIRE(refusal(Form(Json::object(), "", "x")) == Names{"MissingOrMalformedPart"});
  REQUIRE(refusal(Form(Json::object(), "bmc_2.bin", "")) == Names{"MissingOrMalformedPart"});
  REQUIRE(refusal(Form(Json::array(), "bmc_2.bin", "x")) == Names{"UnrecognizedRequestBody"});
  REQUIRE(refusal(Form({{"Targets", 5}}, "bmc_2.bin", "x")) == Names{"PropertyValueTypeError"});
  REQUIRE(refusal(Form({{"Targets", {"/redfish/v1"}}}, "bmc_2.bin", "x")) ==
          Names{"PropertyValueFormatError"});
  REQUIRE(refusal(Form({{"Wishes", true}}, "bmc_2.bin", "x")) == Names{"PropertyUnknown"});
  REQUIRE(refusal(Form({{"@Redfish.OperationApplyTime", "Later"}}, "bmc_2.bin", "x")) ==
          Names{"PropertyValueNotInList"});
  const std::string good = Form(Json::object(), "bmc_2.bin", "x");
  REQUIRE(PushForm(instance, kPushedTo, good, "multipart/form-data").status == 400);
  REQUIRE(PushForm(instance, kPushedTo, good, "application/octet-stream").status == 415);
  REQUIRE(PushForm(instance, kPushedTo, "{}", "application/json").status == 415);
  REQUIRE(PushForm(instance, updater.system, good).status == 415);
  REQUIRE(PushForm(instance, kService + "/Actions/UpdateService.SimpleUpdate", good).status == 415);
  const Response read = Get(instance, kPushedTo);
  REQUIRE(read.status == 405);
  REQUIRE(read.allow == "POST");
  REQUIRE(instance.changed_resources() == 0);
  Updater without("dmtf-rackmount1");
  REQUIRE(PushForm(without.instance, kPushedTo, good).status == 415);
}

TEST_CASE("A push needs the privileges of the update service, and an image within its bound") {
  Instance guarded(WorldOf("openbmc-stock"), {.authentication = Authentication::kRequired});
  const std::string uri = At(guarded, kService, "/MultipartHttpPushUri");
  REQUIRE(PushForm(guarded, uri, Form(Json::object(), "bmc_2.0.bin", "x")).status == 401);
  Json service = *guarded.Find(kService);
  service["MaxImageSizeBytes"] = 3;
  Instance bounded(WorldWith("openbmc-stock", {{kService, service}}));
  REQUIRE(PushForm(bounded, uri, Form(Json::object(), "bmc_2.0.bin", "four")).status == 413);
  const Response waits = PushForm(bounded, uri, Form(Json::object(), "bmc_2.0.bin", "any"));
  REQUIRE(waits.json->at("TaskState") == "Starting");
  const Json at_once = {{"@Redfish.OperationApplyTime", "Immediate"}};
  REQUIRE(PushForm(bounded, uri, Form(at_once, "bmc_2.0.bin", "any")).json->at("TaskState") !=
          "Starting");
}

}  // namespace shoal::mockserver
