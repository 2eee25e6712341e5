// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/seen_resources.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "actor/environments/response_cache.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

const std::string kAccounts = "/redfish/v1/AccountService/Accounts";

Json Account(const std::string& name) {
  return {{"@odata.id", kAccounts + "/" + name},
          {"@odata.type", "#ManagerAccount.v1_7_0.ManagerAccount"},
          {"Name", "User Account"},
          {"UserName", name},
          {"RoleId", "ReadOnly"},
          {"Enabled", true}};
}

Json Accounts(const std::vector<std::string>& names) {
  Json members = Json::array();
  for (const std::string& name : names) members.push_back({{"@odata.id", kAccounts + "/" + name}});
  return {{"@odata.id", kAccounts},
          {"@odata.type", "#ManagerAccountCollection.ManagerAccountCollection"},
          {"Name", "Accounts"},
          {"Members", std::move(members)}};
}

// A service with two accounts and an operator's role. Its collection lists the second account, but
// the capture does not have it.
const ServiceCatalog& Service() {
  static const ServiceCatalog service = [] {
    const Json role = {{"@odata.id", "/redfish/v1/AccountService/Roles/Operator"},
                       {"@odata.type", "#Role.v1_3_1.Role"},
                       {"Id", "Operator"},
                       {"Name", "Role"}};
    const auto capture = *redfish::Capture::FromResources(
        "small", {{"/redfish/v1", Json::object()},
                  {kAccounts, Accounts({"root", "ghost"})},
                  {kAccounts + "/root", Account("root")},
                  {"/redfish/v1/AccountService/Roles/Operator", role}});
    const auto schema = *redfish::Schema::Load("data/schema/redfish.schema.zst");
    return MakeServiceCatalog(*redfish::Catalog::Build(*capture, *schema), schema);
  }();
  return service;
}

redfish::Candidate Request(const std::string& method, const std::string& uri) {
  redfish::Candidate candidate;
  candidate.method = method;
  candidate.uri = uri;
  return candidate;
}

class Eyes {
 public:
  explicit Eyes(std::shared_ptr<ResponseCache> response_cache = std::make_shared<ResponseCache>())
      : response_cache_(std::move(response_cache)) {
    seen_.Begin(Service(), {});
  }
  // Begins an episode whose goal has these names.
  void Begin(std::vector<std::string> names) { seen_.Begin(Service(), std::move(names)); }

  void See(const std::string& method, const std::string& uri, int status, const Json& body = {}) {
    ServiceResponse response{.status = status};
    if (!body.is_null()) response.body = std::make_shared<const std::string>(body.dump());
    const auto text = response_cache_->bodies.Read(body.is_null() ? std::string() : *response.body);
    seen_.Learn(Request(method, uri), response, *text);
  }
  void SeeAccounts(const std::vector<std::string>& names) {
    See("GET", kAccounts, 200, Accounts(names));
  }

  // Returns the requests to `uri` that the list appends, such as "GET" or "PATCH {...}".
  std::vector<std::string> Appended(const std::string& uri) const {
    std::vector<std::string> found;
    for (std::size_t i = Service().catalog->size(); i < seen_.list()->size(); ++i) {
      const redfish::Candidate& candidate = seen_.candidate(i);
      REQUIRE(seen_.list()->at(i).key == candidate.key);
      if (candidate.uri != uri) continue;
      found.push_back(candidate.method +
                      (candidate.body.is_null() ? "" : " " + candidate.body.dump()));
    }
    return found;
  }
  // Returns the texts of the requests to `uri` that the list appends.
  std::vector<std::string> Texts(const std::string& uri) const {
    std::vector<std::string> found;
    for (std::size_t i = Service().catalog->size(); i < seen_.list()->size(); ++i) {
      if (seen_.candidate(i).uri == uri) found.push_back(*seen_.list()->at(i).text);
    }
    return found;
  }
  // Returns the first action that reads `uri`.
  std::int64_t Look(const std::string& uri) const {
    return seen_.Find({.method = "GET", .uri = uri, .body = nullptr, .token = ""});
  }
  const inference::client::CandidateList& list() const { return *seen_.list(); }

 private:
  const std::shared_ptr<ResponseCache> response_cache_;
  SeenResources seen_ = SeenResources(response_cache_->candidates);
};

bool Contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST_CASE("While nothing comes or goes the list is the catalog's own") {
  Eyes eyes;
  eyes.SeeAccounts({"root", "ghost"});
  eyes.See("GET", kAccounts + "/root", 200, Account("root"));
  REQUIRE(&eyes.list() == Service().candidates.get());
}

TEST_CASE("A member that a collection shows can be read, and once it was read all that it allows") {
  Eyes eyes;
  const std::string uri = kAccounts + "/eve";
  eyes.SeeAccounts({"root", "eve"});
  REQUIRE(eyes.Appended(uri) == std::vector<std::string>{"GET"});
  eyes.See("GET", uri, 200, Account("eve"));
  const auto offered = eyes.Appended(uri);
  REQUIRE(offered.front() == "GET");
  REQUIRE(Contains(offered, "DELETE"));
  REQUIRE(Contains(offered, R"(PATCH {"RoleId":"Operator"})"));
  REQUIRE(Contains(offered, R"(PATCH {"Enabled":false})"));
}

TEST_CASE("A resource that was made is shown by the answer that made it") {
  Eyes eyes;
  eyes.See("POST", kAccounts, 201, Account("eve"));
  REQUIRE(Contains(eyes.Appended(kAccounts + "/eve"), "DELETE"));
}

TEST_CASE("Environments of one loop share what was made of a body, and only of an equal one") {
  const auto response_cache = std::make_shared<ResponseCache>();
  const auto offered = [](const Eyes& eyes) {
    return eyes.list().at(eyes.list().size() - 1).text.get();
  };
  Eyes first(response_cache), second(response_cache), changed(response_cache), apart;
  Json other = Account("eve");
  other["Enabled"] = false;
  for (Eyes* eyes : {&first, &second, &apart}) eyes->See("POST", kAccounts, 201, Account("eve"));
  changed.See("POST", kAccounts, 201, other);
  REQUIRE(offered(first) == offered(second));
  REQUIRE(offered(first) != offered(apart));
  REQUIRE(offered(first) != offered(changed));
  REQUIRE(first.list().key() == apart.list().key());
}

TEST_CASE("What was deleted or is answered 404 is not offered until it is seen again") {
  Eyes eyes;
  eyes.SeeAccounts({"root", "eve"});
  eyes.See("DELETE", kAccounts + "/eve", 200);
  REQUIRE(&eyes.list() == Service().candidates.get());
  for (const char* method : {"DELETE", "GET"}) {
    eyes.See(method, kAccounts + "/root", *method == 'D' ? 204 : 404);
    REQUIRE_FALSE(eyes.list().removed().empty());
    for (const std::uint32_t index : eyes.list().removed()) {
      REQUIRE(Service().catalog->candidates()[index].uri == kAccounts + "/root");
    }
    eyes.SeeAccounts({"root"});
    REQUIRE(&eyes.list() == Service().candidates.get());
  }
}

TEST_CASE("A request is found among what is there, and what came, and not among what went") {
  Eyes eyes;
  const std::string root = kAccounts + "/root";
  const std::string eve = kAccounts + "/eve";
  const auto count = static_cast<std::int64_t>(Service().catalog->size());
  const std::int64_t look = eyes.Look(root);
  REQUIRE(look >= 0);
  REQUIRE(look < count);
  REQUIRE(eyes.Look(eve) == -1);
  eyes.SeeAccounts({"root", "eve"});
  REQUIRE(eyes.Look(root) == look);
  REQUIRE(eyes.Look(eve) == count);
  eyes.See("DELETE", root, 204);
  eyes.See("DELETE", eve, 204);
  REQUIRE(eyes.Look(root) == -1);
  REQUIRE(eyes.Look(eve) == -1);
}

TEST_CASE("A refusal and a delete that is only accepted take nothing away") {
  Eyes eyes;
  eyes.See("DELETE", kAccounts + "/root", 403);
  eyes.See("DELETE", kAccounts + "/root", 202);
  eyes.See("PATCH", kAccounts + "/root", 412);
  REQUIRE(&eyes.list() == Service().candidates.get());
}

TEST_CASE("The same answers in another order and by another environment give the same key") {
  Eyes one;
  one.SeeAccounts({"eve", "bob"});
  one.See("GET", kAccounts + "/eve", 200, Account("eve"));
  Eyes other;
  other.See("POST", kAccounts, 201, Account("eve"));
  other.SeeAccounts({"root", "bob", "eve"});
  REQUIRE(one.list().key() == other.list().key());
  REQUIRE(one.list().key() != Service().candidates->key());
}

TEST_CASE(
    "Texts tell a name of the goal in the URI of what came by its number, requests as it is") {
  Eyes eyes;
  eyes.Begin({"bob", "eve"});
  eyes.SeeAccounts({"root", "Eve"});
  const std::string uri = kAccounts + "/Eve";
  const std::string told = "\"uri\":\"" + kAccounts + "/<second name>\"";
  const auto texts_tell = [&] {
    const auto offered = eyes.Texts(uri);
    return !offered.empty() &&
           std::all_of(offered.begin(), offered.end(), [&](const std::string& text) {
             return text.find(told) != std::string::npos && text.find("Eve") == std::string::npos;
           });
  };
  REQUIRE(texts_tell());
  eyes.See("GET", uri, 200, Account("Eve"));
  REQUIRE(eyes.Texts(uri).size() > 3);
  REQUIRE(texts_tell());
  eyes.See("GET", kAccounts + "/root", 200, Account("root"));
  REQUIRE(eyes.Look(uri) >= static_cast<std::int64_t>(Service().catalog->size()));
}

TEST_CASE("Episodes that differ only in the names of their goals share the list") {
  const auto list_key = [](const std::string& name) {
    Eyes eyes;
    eyes.Begin({name});
    eyes.SeeAccounts({"root", name});
    eyes.See("GET", kAccounts + "/" + name, 200, Account(name));
    return eyes.list().key();
  };
  REQUIRE(list_key("kim497") == list_key("omar17"));
}

TEST_CASE("Only whole segments of a URI are names, and at most eight") {
  const std::vector<std::string> names = {"a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9"};
  REQUIRE(redfish::UriWithoutNames("/x/A1/keys/b2", names) == "/x/<first name>/keys/<second name>");
  REQUIRE(redfish::UriWithoutNames("/x/h8", names) == "/x/<eighth name>");
  REQUIRE(redfish::UriWithoutNames("/x/i9", names).empty());
  REQUIRE(redfish::UriWithoutNames("/x/a12", names).empty());
  REQUIRE(redfish::UriWithoutNames("/x/a1", {}).empty());
}

TEST_CASE("A member that the capture lists and lacks is offered once its body is seen") {
  Eyes eyes;
  eyes.SeeAccounts({"ghost"});
  REQUIRE(eyes.Appended(kAccounts + "/ghost").empty());
  eyes.See("POST", kAccounts, 201, Account("ghost"));
  REQUIRE(Contains(eyes.Appended(kAccounts + "/ghost"), "DELETE"));
}

TEST_CASE("A service that shows very many members is offered a bounded number of them") {
  Eyes eyes;
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("user" + std::to_string(i));
  eyes.SeeAccounts(names);
  REQUIRE(eyes.list().size() == Service().catalog->size() + SeenResources::kMaximumResources);
}

TEST_CASE("What is no resource of the service, or no JSON, shows nothing") {
  Eyes eyes;
  eyes.See("GET", kAccounts, 200, {{"@odata.id", "/elsewhere/1"}, {"@odata.type", "#X.v1_0_0.X"}});
  eyes.See("GET", kAccounts, 200, "text");
  eyes.See("GET", kAccounts, 200,
           {{"@odata.id", "/redfish/v1/L/1"}, {"@odata.type", "#LogEntry.v1_0_0.LogEntry"}});
  REQUIRE(&eyes.list() == Service().candidates.get());
}

}  // namespace
}  // namespace shoal::actor
