// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "redfish/schema/schema.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

constexpr int kRequests = 10'000;
const std::set<Method> kChanging = {Method::kPatch, Method::kPost, Method::kPut, Method::kDelete};
const std::set<int> kStatuses = {200, 201, 202, 204, 304, 400, 401, 403,
                                 404, 405, 406, 409, 412, 415, 501, 503};

// Makes random requests: some valid, some nearly valid, some meant to do harm.
class Attacker {
 public:
  Attacker(const Instance& instance, std::uint64_t seed) : instance_(instance), random_(seed) {
    for (const World::Resource& resource : instance.world().resources()) {
      resources_.push_back(resource.uri);
      const auto actions = resource.json->find("Actions");
      if (actions != resource.json->end() && actions->is_object()) AddTargets(*actions);
      for (const auto& [name, value] : resource.json->items()) {
        const bool flips = value.is_boolean() || (value.is_string() && !value.empty());
        if (resource.methods.patch && flips &&
            instance.world().schema().IsWritable(resource.odata_type, "/" + name)) {
          writable_.push_back({resource.uri, name});
        }
      }
    }
  }

  struct Drawn {
    Method method;
    std::string uri;
    std::string body;
    std::string if_match;
    std::string accept;
    std::string content_type;
  };

  Drawn Draw() {
    if (!writable_.empty() && random_.Below(4) == 0) return Right();
    const std::string resource = OneOf(resources_);
    const bool acts = !targets_.empty() && random_.Below(4) == 0;
    return {.method = static_cast<Method>(random_.Below(8)),
            .uri = Mutated(acts ? OneOf(targets_) : resource),
            .body = Body(resource),
            .if_match = random_.Below(8) == 0 ? Noise(20) : "",
            .accept = random_.Below(16) == 0 ? Noise(20) : "",
            .content_type = random_.Below(16) == 0 ? Noise(20) : ""};
  }

 private:
  void AddTargets(const Json& actions) {
    for (const auto& [name, action] : actions.items()) {
      const std::string target = redfish::TextAt(action, "target");
      if (!target.empty()) targets_.push_back(target);
    }
  }

  // Returns a request that an ordinary client might send.
  Drawn Right() {
    const auto& [uri, name] = writable_[random_.Below(writable_.size())];
    const Json* const resource = instance_.Find(uri);
    const Json present = resource == nullptr ? Json() : resource->value(name, Json());
    const Json value = present.is_boolean() ? Json(!present.get<bool>())
                                            : Json("text " + std::to_string(random_.Below(100)));
    Drawn drawn{};
    drawn.method = Method::kPatch;
    drawn.uri = uri;
    drawn.body = Serialise({{name, value}});
    return drawn;
  }

  const std::string& OneOf(const std::vector<std::string>& texts) {
    return texts[random_.Below(texts.size())];
  }

  std::string Noise(std::uint64_t most) {
    std::string noise;
    for (std::uint64_t n = random_.Below(most + 1); n > 0; --n) {
      noise += static_cast<char>(random_.Below(256));
    }
    return noise;
  }

  std::string Mutated(std::string uri) {
    switch (random_.Below(10)) {
      case 0:
        return uri + "/";
      case 1:
        return uri + "/../../../../etc/passwd";
      case 2:
        return uri + "?$" + Noise(30);
      case 3:
        return uri.insert(random_.Below(uri.size() + 1), Noise(5));
      case 4:
        return uri.substr(0, random_.Below(uri.size() + 1));
      case 5:
        return uri + "/" + std::string(random_.Below(20'000), 'x');
      case 6:
        return uri + "/%2e%2e/%00#" + Noise(5);
      default:
        return uri;
    }
  }

  // Returns a value that may fit anywhere or nowhere.
  Json Value(int depth = 0) {
    switch (random_.Below(depth < 3 ? 11 : 9)) {
      case 0:
        return nullptr;
      case 1:
        return random_.Below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(random_.Below(std::uint64_t{1} << 63));
      case 3:
        return 1e308;
      case 4:
        return "On";
      case 5:
        return "Disabled";
      case 6:
        return std::string(random_.Below(3000), 'a');
      case 7:
        return "\xc3\x28";
      case 8:
        return Json::object();
      case 9: {
        Json list = Json::array();
        for (std::uint64_t n = random_.Below(5); n > 0; --n) list.push_back(Value(depth + 1));
        return list;
      }
      default:
        return {{"@odata.id", Value(depth + 1)}, {"Attributes", Value(depth + 1)}};
    }
  }

  // Returns properties that the resource has, some with their own values.
  std::string Patch(const std::string& uri) {
    const Json* const resource = instance_.Find(uri);
    Json body = Json::object();
    if (resource == nullptr) return "{}";
    for (const auto& [name, value] : resource->items()) {
      if (random_.Below(resource->size()) < 2) body[name] = random_.Below(2) == 0 ? value : Value();
    }
    return Serialise(body);
  }

  static std::string Serialise(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::ignore);
  }

  std::string Body(const std::string& uri) {
    static const std::vector<std::string> kReset = {
        "On", "ForceOff", "ForceRestart", "PushPowerButton", "GracefulShutdown", "Nmi"};
    switch (random_.Below(10)) {
      case 0:
        return "";
      case 1:
        return std::string(random_.Below(100'000), '[');
      case 2:
        return "{\"a\":" + std::string(2000, '{') + "1";
      case 3:
        return Noise(200);
      case 4:
        return "{\"IndexedInto\": 1e999999, \"B\": -0, \"C\": 123456789012345678901234567890}";
      case 5:
        return Serialise({{"ResetType", OneOf(kReset)}});
      case 6: {
        std::string patch = Patch(uri);
        return patch.substr(0, random_.Below(patch.size() + 1));
      }
      case 7:
        return Serialise(Value());
      default:
        return Patch(uri);
    }
  }

  const Instance& instance_;
  runtime::Random random_;
  std::vector<std::string> resources_;
  std::vector<std::string> targets_;
  std::vector<std::pair<std::string, std::string>> writable_;
};

}  // namespace

TEST_CASE("Ten thousand hostile requests find no crash, no 500 and no GET that changes anything") {
  for (const std::string& name : CaptureNames()) {
    Instance instance(WorldOf(name), {.power_transient = std::chrono::milliseconds(500)});
    Attacker attacker(instance, 11);
    std::set<int> seen;
    int taken = 0;
    for (int i = 0; i < kRequests; ++i) {
      const Attacker::Drawn drawn = attacker.Draw();
      const std::size_t changed = instance.changed_resources();
      const std::size_t events = instance.history().size();
      const Response response = instance.Handle({.method = drawn.method,
                                                 .uri = drawn.uri,
                                                 .body = drawn.body,
                                                 .if_match = drawn.if_match,
                                                 .content_type = drawn.content_type,
                                                 .accept = drawn.accept});
      INFO(name << " request " << i << ": " << Name(drawn.method) << " " << drawn.uri.substr(0, 200)
                << " " << drawn.body.substr(0, 200));
      REQUIRE(kStatuses.contains(response.status));
      if (response.body != nullptr) REQUIRE(Json::accept(*response.body));
      const bool may_change = kChanging.contains(drawn.method);
      if (!may_change || response.status >= 400) {
        REQUIRE(instance.changed_resources() == changed);
        REQUIRE(instance.history().size() == events);
      }
      if (may_change && response.status < 300) ++taken;
      seen.insert(response.status);
      if (i % 100 == 0) instance.Advance(std::chrono::milliseconds(i % 1000));
    }
    REQUIRE(taken > 100);
    for (const int status : {200, 400, 404, 405}) REQUIRE(seen.contains(status));
    REQUIRE(instance.Reset().ok());
    for (const auto& [uri, json] : instance.world().capture().resources()) {
      REQUIRE(*instance.Find(uri) == json);
    }
  }
}

TEST_CASE("The same hostile history ends in the same service") {
  std::array<std::string, 2> bodies;
  for (std::string& all : bodies) {
    Instance instance(WorldOf("dell-r750"));
    Attacker attacker(instance, 3);
    for (int i = 0; i < 2000; ++i) {
      const Attacker::Drawn drawn = attacker.Draw();
      const Response response =
          instance.Handle({.method = drawn.method, .uri = drawn.uri, .body = drawn.body});
      all += std::to_string(response.status) + response.etag;
      if (response.body != nullptr) all += std::to_string(response.body->size());
    }
  }
  REQUIRE(bodies[0] == bodies[1]);
}

}  // namespace shoal::mockserver
