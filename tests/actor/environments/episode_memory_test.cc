// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/episode_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "actor/environments/response_cache.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

const std::string kOneSystem = "/redfish/v1/Systems/one";
const std::string kTwoSystem = "/redfish/v1/Systems/two";

Json SystemNamed(const std::string& uri, const std::string& tag, const std::string& host) {
  return {{"@odata.id", uri},
          {"@odata.type", "#ComputerSystem.v1_20_0.ComputerSystem"},
          {"Name", "System"},
          {"HostName", host},
          {"AssetTag", tag},
          {"LocationIndicatorActive", false},
          {"Actions",
           {{"#ComputerSystem.Reset",
             {{"target", uri + "/Actions/ComputerSystem.Reset"},
              {"ResetType@Redfish.AllowableValues", {"On", "ForceOff"}}}}}}};
}

const ServiceCatalog& TwoSystems() {
  static const ServiceCatalog service = [] {
    const auto capture = *redfish::Capture::FromResources(
        "two", {{"/redfish/v1", Json::object()},
                {kOneSystem, SystemNamed(kOneSystem, "old", "alpha")},
                {kTwoSystem, SystemNamed(kTwoSystem, "", "beta")}});
    const auto schema = *redfish::Schema::Load("data/schema/redfish.schema.zst");
    return MakeServiceCatalog(*redfish::Catalog::Build(*capture, *schema), schema);
  }();
  return service;
}

// An episode whose goal is the asset tag X-1 on host alpha.
class TaggedEpisode {
 public:
  explicit TaggedEpisode(const std::string& goal = "Write asset tag X-1 on the host ALPHA.") {
    seen_.Begin(TwoSystems(), {});
    memory_.Begin(goal, TwoSystems());
  }

  const redfish::Candidate& Find(const std::string& method, const std::string& uri,
                                 const std::string& part = "") const {
    for (const redfish::Candidate& candidate : TwoSystems().catalog->candidates()) {
      const bool has_part = part.empty() || candidate.body.dump().find(part) != std::string::npos;
      if (candidate.method == method && candidate.uri == uri && has_part) return candidate;
    }
    throw std::runtime_error("no candidate " + method + " " + uri + " " + part);
  }

  bool Send(const redfish::Candidate& request, int status, const Json& body = nullptr) {
    ServiceResponse response{.status = status};
    if (!body.is_null()) response.body = std::make_shared<const std::string>(body.dump());
    const auto text = cache_.bodies.Read(body.is_null() ? std::string() : *response.body);
    return memory_.Learn(request, response, *text, seen_);
  }
  bool Read(const std::string& uri, const Json& body) { return Send(Find("GET", uri), 200, body); }

  std::set<Mark> MarksOf(const redfish::Candidate& candidate) const {
    const auto index = static_cast<std::uint32_t>(TwoSystems().catalog->IndexOf(candidate.key));
    std::set<Mark> found;
    for (const model::CandidateMark& mark : memory_.Marks(seen_)) {
      for (std::uint32_t kind = 0; mark.candidate == index && kind < kMarkKinds; ++kind) {
        if ((mark.bits >> kind & 1) != 0) found.insert(static_cast<Mark>(kind));
      }
    }
    return found;
  }
  std::vector<ReadResource> ReadBy(const std::string& uri) const {
    return memory_.ReadResources(uri);
  }
  std::vector<model::CandidateMark> marks() const { return memory_.Marks(seen_); }
  const redfish::Candidate& Tag() const { return Find("PATCH", kOneSystem, "AssetTag"); }

 private:
  ResponseCache cache_;
  SeenResources seen_ = SeenResources(cache_.candidates);
  EpisodeMemory memory_ = EpisodeMemory(cache_.facts, cache_.values);
};

using MarkSet = std::set<Mark>;

TEST_CASE("At the start of an episode no candidate has marks") {
  REQUIRE(TaggedEpisode().marks().empty());
}

TEST_CASE("What was read is marked until something changes, then it is stale") {
  TaggedEpisode episode;
  const redfish::Candidate& get = episode.Find("GET", kOneSystem);
  REQUIRE_FALSE(episode.Read(kOneSystem, SystemNamed(kOneSystem, "old", "alpha")));
  REQUIRE(episode.MarksOf(get) == MarkSet{Mark::kRead, Mark::kAccepted, Mark::kNamed});
  REQUIRE(episode.Read(kOneSystem, SystemNamed(kOneSystem, "old", "alpha")));
  REQUIRE(episode.MarksOf(get).contains(Mark::kRepeated));
  episode.Send(episode.Find("PATCH", kTwoSystem, "AssetTag"), 204);
  REQUIRE(episode.MarksOf(get) == MarkSet{Mark::kStale, Mark::kAccepted, Mark::kRepeated,
                                          Mark::kChangedSince, Mark::kNamed});
}

TEST_CASE("A PATCH knows whether its resource holds the value already") {
  TaggedEpisode episode;
  const redfish::Candidate& off =
      episode.Find("PATCH", kOneSystem, "\"LocationIndicatorActive\":false");
  const redfish::Candidate& on =
      episode.Find("PATCH", kOneSystem, "\"LocationIndicatorActive\":true");
  episode.Read(kOneSystem, SystemNamed(kOneSystem, "old", "alpha"));
  REQUIRE(episode.MarksOf(off) == MarkSet{Mark::kTargetRead, Mark::kHolds, Mark::kNamed});
  REQUIRE(episode.MarksOf(on) == MarkSet{Mark::kTargetRead, Mark::kDiffers, Mark::kNamed});
  // A slot has the goal's value.
  REQUIRE(episode.MarksOf(episode.Tag()).contains(Mark::kDiffers));
  episode.Read(kOneSystem, SystemNamed(kOneSystem, "X-1", "alpha"));
  REQUIRE(episode.MarksOf(episode.Tag()).contains(Mark::kHolds));
}

TEST_CASE("The other value in a body moves the mark to the other request") {
  for (const bool active : {false, true}) {
    TaggedEpisode episode;
    Json body = SystemNamed(kOneSystem, "old", "alpha");
    body["LocationIndicatorActive"] = active;
    episode.Read(kOneSystem, body);
    for (const bool wanted : {false, true}) {
      const std::string part =
          std::string("\"LocationIndicatorActive\":") + (wanted ? "true" : "false");
      const MarkSet marks = episode.MarksOf(episode.Find("PATCH", kOneSystem, part));
      REQUIRE(marks.contains(Mark::kHolds) == (wanted == active));
      REQUIRE(marks.contains(Mark::kDiffers) == (wanted != active));
    }
  }
}

TEST_CASE("A request is marked by its last answer, and its resource as changed once accepted") {
  TaggedEpisode episode;
  episode.Send(episode.Tag(), 400);
  REQUIRE(episode.MarksOf(episode.Tag()) == MarkSet{Mark::kRefused});
  episode.Send(episode.Tag(), 503);
  REQUIRE(episode.MarksOf(episode.Tag()) == MarkSet{Mark::kFailed, Mark::kRepeated});
  episode.Send(episode.Tag(), 204);
  REQUIRE(episode.MarksOf(episode.Tag()) ==
          MarkSet{Mark::kAccepted, Mark::kRepeated, Mark::kTargetChanged});
  const std::string reset = kOneSystem + "/Actions/ComputerSystem.Reset";
  REQUIRE(episode.MarksOf(episode.Find("POST", reset)) == MarkSet{Mark::kTargetChanged});
  REQUIRE(episode.MarksOf(episode.Find("PATCH", kTwoSystem, "AssetTag")).empty());
}

Json RefusalOf(const std::vector<std::string>& arguments, const std::string& pointer) {
  return {{"error",
           {{"code", "Base.1.18.PropertyValueConflict"},
            {"@Message.ExtendedInfo",
             {{{"MessageArgs", arguments}, {"RelatedProperties", {pointer}}}}}}}};
}

TEST_CASE("What a refusal names is marked until its request is answered otherwise") {
  TaggedEpisode episode;
  const redfish::Candidate& light = episode.Find("PATCH", kOneSystem, "LocationIndicatorActive");
  const redfish::Candidate& other = episode.Find("PATCH", kTwoSystem, "LocationIndicatorActive");
  const redfish::Candidate& reset =
      episode.Find("POST", kOneSystem + "/Actions/ComputerSystem.Reset");
  episode.Read(kTwoSystem, SystemNamed(kTwoSystem, "", "beta"));
  episode.Send(episode.Tag(), 400, RefusalOf({"LocationIndicatorActive"}, "#/AssetTag"));
  REQUIRE(episode.MarksOf(light).contains(Mark::kInRefusal));
  REQUIRE(episode.MarksOf(other).contains(Mark::kInRefusal));
  REQUIRE(episode.MarksOf(episode.Tag()).contains(Mark::kInRefusal));
  REQUIRE_FALSE(episode.MarksOf(reset).contains(Mark::kInRefusal));
  episode.Send(light, 400, RefusalOf({"ResetType"}, ""));
  REQUIRE(episode.MarksOf(reset).contains(Mark::kInRefusal));
  REQUIRE(episode.MarksOf(light).contains(Mark::kInRefusal));
  episode.Send(episode.Tag(), 204);
  REQUIRE_FALSE(episode.MarksOf(light).contains(Mark::kInRefusal));
  REQUIRE(episode.MarksOf(reset).contains(Mark::kInRefusal));
  episode.Send(light, 503);
  REQUIRE_FALSE(episode.MarksOf(reset).contains(Mark::kInRefusal));
}

TEST_CASE("A request that composes is marked for its parts") {
  TaggedEpisode episode;
  const auto composing = [&episode]() -> const redfish::Candidate& {
    for (const redfish::Candidate& candidate : TwoSystems().catalog->candidates()) {
      if (candidate.composes() && candidate.uri == kOneSystem) return candidate;
    }
    throw std::runtime_error("no candidate composes");
  }();
  episode.Send(episode.Tag(), 400, RefusalOf({"HostName"}, "/AssetTag"));
  REQUIRE(episode.MarksOf(composing).contains(Mark::kInRefusal));
  episode.Send(episode.Tag(), 400, RefusalOf({"Elsewhere"}, "/AssetTag"));
  REQUIRE(episode.MarksOf(composing).contains(Mark::kInRefusal));
  episode.Send(episode.Tag(), 400, RefusalOf({"Elsewhere"}, ""));
  REQUIRE_FALSE(episode.MarksOf(composing).contains(Mark::kInRefusal));
}

TEST_CASE("Refusals of any other form name nothing, and long ones only so much") {
  const std::vector<Json> bodies = {nullptr,
                                    "refused",
                                    {{"error", "refused"}},
                                    {{"error", {{"@Message.ExtendedInfo", "refused"}}}},
                                    {{"error", {{"@Message.ExtendedInfo", {"refused", 5}}}}},
                                    RefusalOf({"", std::string(300, 'a')}, "")};
  for (const Json& body : bodies) REQUIRE(NamesInRefusal(body).empty());
  std::vector<std::string> many;
  for (int i = 0; i < 1000; ++i) many.push_back("/Attributes/Name" + std::to_string(i));
  const RefusalNames names = NamesInRefusal(RefusalOf(many, ""));
  REQUIRE(names.size() <= kMaximumRefusalNames + 1);
  REQUIRE(names.contains("name7"));
  REQUIRE(names.contains("/attributes/name7"));
}

TEST_CASE("A resource that was read is named or unnamed by the goal's words, in any case") {
  TaggedEpisode episode;
  episode.Read(kOneSystem, SystemNamed(kOneSystem, "old", "alpha"));
  Json other = SystemNamed(kTwoSystem, "", "beta");
  other["Name"] = "Sys";
  episode.Read(kTwoSystem, other);
  REQUIRE(episode.MarksOf(episode.Tag()).contains(Mark::kNamed));
  REQUIRE(episode.MarksOf(episode.Find("PATCH", kTwoSystem, "AssetTag")).contains(Mark::kUnnamed));
}

TEST_CASE("A resource knows as which of the goal's values it is named") {
  TaggedEpisode episode("Write X-1 on Alpha-9, X-2 on beta.8, 5 times.");
  REQUIRE_FALSE(episode.MarksOf(episode.Tag()).contains(Mark::kSecond));
  episode.Read(kOneSystem, SystemNamed(kOneSystem, "old", "alpha-9"));
  episode.Read(kTwoSystem, SystemNamed(kTwoSystem, "", "beta.8"));
  REQUIRE(episode.MarksOf(episode.Tag()).contains(Mark::kSecond));
  const auto other = episode.MarksOf(episode.Find("PATCH", kTwoSystem, "AssetTag"));
  REQUIRE(other.contains(Mark::kLater));
  REQUIRE_FALSE(other.contains(Mark::kSecond));
}

TEST_CASE("An answer that changes a resource and shows it counts as read") {
  TaggedEpisode episode;
  episode.Send(episode.Tag(), 200, SystemNamed(kOneSystem, "X-1", "alpha"));
  REQUIRE(episode.MarksOf(episode.Tag()) == MarkSet{Mark::kTargetRead, Mark::kTargetChanged,
                                                    Mark::kHolds, Mark::kAccepted, Mark::kNamed});
}

TEST_CASE("What was read offers its values to requests, until it was changed as stale ones") {
  TaggedEpisode episode;
  REQUIRE(episode.ReadBy(kOneSystem).empty());
  episode.Read(kOneSystem, SystemNamed(kOneSystem, "old", "alpha"));
  episode.Read(kTwoSystem, SystemNamed(kTwoSystem, "new", "beta"));
  auto read = episode.ReadBy(kOneSystem);
  REQUIRE(read.size() == 2);
  REQUIRE(read[0].is_target);
  REQUIRE(read[0].is_named);
  REQUIRE_FALSE(read[0].is_stale);
  REQUIRE_FALSE(read[1].is_target);
  REQUIRE_FALSE(read[1].is_named);
  const auto& values = read[1].shown->values;
  REQUIRE(std::any_of(values.begin(), values.end(), [](const ShownValue& value) {
    return value.name == "hostname" && value.value == "beta";
  }));
  episode.Send(episode.Tag(), 204);
  read = episode.ReadBy(kOneSystem);
  REQUIRE(read[0].is_stale);
  REQUIRE(read[1].is_stale);
}

TEST_CASE("Marks come in the order of the candidates") {
  TaggedEpisode episode;
  episode.Read(kTwoSystem, SystemNamed(kTwoSystem, "", "beta"));
  episode.Read(kOneSystem, SystemNamed(kOneSystem, "old", "alpha"));
  const auto marks = episode.marks();
  REQUIRE(marks.size() > 4);
  REQUIRE(
      model::AreValid(marks, static_cast<std::int64_t>(TwoSystems().catalog->size()), kMarkKinds));
}

}  // namespace
}  // namespace shoal::actor
