// SPDX-License-Identifier: Apache-2.0
// What an episode knows after it has read a collection with its members, compared with what it
// knows after it has read the collection and each member by themselves.
#include "actor/environments/expanded_answer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "actor/environments/episode_memory.h"
#include "actor/environments/plan_player.h"
#include "actor/environments/response_cache.h"
#include "redfish/capture/uri.h"
#include "tests/actor/demonstrations/played.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

const std::string kMembersUri = "/redfish/v1/AccountService/Accounts";
const std::string kExpanded = kMembersUri + std::string(redfish::kExpandQuery);

Json MemberNamed(const std::string& name) {
  return {{"@odata.id", kMembersUri + "/" + name},
          {"@odata.type", "#ManagerAccount.v1_7_0.ManagerAccount"},
          {"@odata.etag", "W/\"" + name + "\""},
          {"Name", "User Account"},
          {"UserName", name},
          {"RoleId", "Operator"},
          {"Enabled", true}};
}

Json LinkTo(const std::string& name) { return {{"@odata.id", kMembersUri + "/" + name}}; }

Json CollectionOf(const Json& members) {
  return {{"@odata.id", kMembersUri},
          {"@odata.type", "#ManagerAccountCollection.ManagerAccountCollection"},
          {"@odata.etag", "7"},
          {"Name", "Accounts"},
          {"Members", members}};
}

const ServiceCatalog& ExpandingService() {
  static const ServiceCatalog service = [] {
    const Json root = {{"ProtocolFeaturesSupported", {{"ExpandQuery", {{"NoLinks", true}}}}}};
    const auto capture = *redfish::Capture::FromResources(
        "small", {{"/redfish/v1", root},
                  {kMembersUri, CollectionOf(Json::array({LinkTo("root")}))},
                  {kMembersUri + "/root", MemberNamed("root")}});
    const auto schema = *redfish::Schema::Load("data/schema/redfish.schema.zst");
    return MakeServiceCatalog(*redfish::Catalog::Build(*capture, *schema), schema);
  }();
  return service;
}

// An episode that has the goal to do something with eve.
class MembersReader {
 public:
  MembersReader() {
    seen_.Begin(ExpandingService(), {});
    memory_.Begin("Remove the account eve.", ExpandingService());
  }

  bool Get(const std::string& uri, const Json& body) {
    const auto action = seen_.Find({.method = "GET", .uri = uri, .body = nullptr, .token = ""});
    REQUIRE(action >= 0);
    const redfish::Candidate request = seen_.candidate(static_cast<std::size_t>(action));
    const ServiceResponse response{.status = 200, .json = std::make_shared<const Json>(body)};
    const auto answers = TakeApart(request, response, cache_.bodies);
    if (!answers.empty()) {
      seen_.Learn(answers);
      return memory_.Learn(request, answers, seen_);
    }
    const auto text = cache_.bodies.ReadParsed(body);
    seen_.Learn(request, response, *text);
    return memory_.Learn(request, response, *text, seen_);
  }
  bool Expand() {
    return Get(kExpanded, CollectionOf(Json::array({MemberNamed("root"), MemberNamed("eve")})));
  }
  void ReadEach() {
    Get(kMembersUri, CollectionOf(Json::array({LinkTo("root"), LinkTo("eve")})));
    for (const char* name : {"root", "eve"}) {
      Get(kMembersUri + "/" + name, MemberNamed(name));
    }
  }
  void Delete(const std::string& name) { Send("DELETE", kMembersUri + "/" + name, 204); }
  void Miss(const std::string& uri) { Send("GET", uri, 404); }

  // Returns the marks of each request by its text, but for those of the expanding one. That a GET
  // of a member which came was accepted is left out: the candidate that was sent knew no name yet,
  // so it is another one than that which its answer brings.
  std::map<std::string, std::uint32_t> Marks() const {
    std::map<std::string, std::uint32_t> marks;
    for (const model::CandidateMark& mark : memory_.Marks(seen_)) {
      const redfish::Candidate& candidate = seen_.candidate(mark.candidate);
      if (candidate.expands()) continue;
      const bool came = candidate.method == "GET" && !seen_.IsOfCatalog(candidate);
      marks[candidate.text] = came ? mark.bits & ~MarkBit(Mark::kAccepted) : mark.bits;
    }
    return marks;
  }
  std::uint32_t MarksOfExpansion() const {
    for (const model::CandidateMark& mark : memory_.Marks(seen_)) {
      if (seen_.candidate(mark.candidate).expands()) return mark.bits;
    }
    return 0;
  }
  const SeenResources& seen() const { return seen_; }
  const EpisodeMemory& memory() const { return memory_; }

 private:
  // Takes in an answer without a body.
  void Send(const std::string& method, const std::string& uri, int status) {
    redfish::Candidate request;
    request.method = method;
    request.uri = uri;
    request.resource = redfish::CanonicalUri(uri);
    const ServiceResponse response{.status = status};
    const auto text = cache_.bodies.Read({});
    seen_.Learn(request, response, *text);
    memory_.Learn(request, response, *text, seen_);
  }

  ResponseCache cache_;
  SeenResources seen_ = SeenResources(cache_.candidates);
  EpisodeMemory memory_ = EpisodeMemory(cache_.facts, cache_.values);
};

}  // namespace

TEST_CASE("Who reads a collection with its members knows what who reads each of them knows") {
  MembersReader at_once, one_by_one;
  at_once.Expand();
  one_by_one.ReadEach();
  REQUIRE(at_once.Marks().size() > 10);
  REQUIRE(at_once.Marks() == one_by_one.Marks());
  REQUIRE(at_once.seen().list()->key() == one_by_one.seen().list()->key());
  for (const std::string& uri : {kMembersUri, kMembersUri + "/root", kMembersUri + "/eve"}) {
    REQUIRE(at_once.memory().HeldBy(uri) == one_by_one.memory().HeldBy(uri));
  }
  at_once.Delete("eve");
  one_by_one.Delete("eve");
  REQUIRE(at_once.Marks() == one_by_one.Marks());
  REQUIRE(at_once.seen().list()->key() == one_by_one.seen().list()->key());
}

TEST_CASE("To read members again tells nothing new, and after a change it does") {
  MembersReader reader;
  REQUIRE_FALSE(reader.Expand());
  REQUIRE((reader.MarksOfExpansion() & MarkBit(Mark::kRead)) != 0);
  REQUIRE(reader.Get(kMembersUri + "/eve", MemberNamed("eve")));
  REQUIRE(reader.Expand());
  reader.Delete("eve");
  REQUIRE((reader.MarksOfExpansion() & MarkBit(Mark::kStale)) != 0);
  REQUIRE_FALSE(reader.Get(kExpanded, CollectionOf(Json::array({MemberNamed("root")}))));
  MembersReader alone;
  alone.Get(kMembersUri, CollectionOf(Json::array({LinkTo("root")})));
  REQUIRE((alone.MarksOfExpansion() & (MarkBit(Mark::kRead) | MarkBit(Mark::kStale))) == 0);
}

TEST_CASE("A collection that is gone cannot be read with its members either") {
  MembersReader reader;
  const auto finds = [&reader](const std::string& uri) {
    return reader.seen().Find({.method = "GET", .uri = uri, .body = nullptr, .token = ""}) >= 0;
  };
  REQUIRE(finds(kExpanded));
  reader.Miss(kExpanded);
  REQUIRE_FALSE(finds(kExpanded));
  REQUIRE_FALSE(finds(kMembersUri));
  REQUIRE_FALSE(finds(kMembersUri + "/root"));
}

TEST_CASE("An expanded answer is taken apart into a collection of links and its members") {
  ResponseCache cache;
  redfish::Candidate request;
  request.method = "GET";
  request.uri = kExpanded;
  request.resource = kMembersUri;
  const auto apart = [&](int status, const Json& body) {
    return TakeApart(request, {.status = status, .json = std::make_shared<const Json>(body)},
                     cache.bodies);
  };
  const Json link = {{"@odata.id", kMembersUri + "/far"}};
  const auto answers = apart(200, CollectionOf(Json::array({MemberNamed("root"), link, 5})));
  REQUIRE(answers.size() == 2);
  REQUIRE(answers[0].request.uri == kMembersUri);
  REQUIRE(answers[0].response.etag == "\"7\"");
  REQUIRE(answers[0].text->members == std::vector{kMembersUri + "/root", kMembersUri + "/far"});
  REQUIRE(answers[1].request.uri == kMembersUri + "/root");
  REQUIRE(answers[1].response.etag == "W/\"root\"");
  REQUIRE(*answers[1].response.json == MemberNamed("root"));
  REQUIRE(apart(503, CollectionOf(Json::array({MemberNamed("root")}))).empty());
  REQUIRE(apart(200, Json::array()).empty());
  REQUIRE(apart(200, {{"Members", 3}}).empty());
  Json many = Json::array();
  for (int i = 0; i < 100; ++i) many.push_back(MemberNamed("u" + std::to_string(i)));
  REQUIRE(apart(200, CollectionOf(many)).size() == 1 + kMaximumExpandedMembers);
  request.uri = kMembersUri;
  REQUIRE(apart(200, CollectionOf(Json::array({MemberNamed("root")}))).empty());
}

TEST_CASE("The expert of an audit reads sixteen accounts with one request") {
  const RedfishData data = LoadInProcess(
      {.captures = {"dell-r750", "openbmc-stock"}, .goals = {10}, .episode_limit = 64});
  for (std::size_t pair = 0; pair < data.tasks->pairs.size(); ++pair) {
    const bool expands = data.tasks->pairs[pair].capture == "dell-r750";
    std::size_t most = 0;
    for (std::uint64_t episode = 0; episode < 16; ++episode) {
      const auto played = PlanPlayer(data).Play(pair, episode);
      INFO(played.status());
      REQUIRE(played.ok());
      most = std::max(most, static_cast<std::size_t>(played->facts.steps));
    }
    INFO(data.tasks->pairs[pair].capture << " " << most);
    // Four changes, each after a look at the accounts.
    REQUIRE(most <= (expands ? 14U : 40U));
  }
}

}  // namespace shoal::actor
