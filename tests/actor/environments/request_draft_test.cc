// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/request_draft.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "actor/environments/episode_memory.h"
#include "actor/environments/response_cache.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;
using State = RequestDraft::State;

const std::string kBox = "/redfish/v1/Systems/box";

const ServiceCatalog& BoxService() {
  static const ServiceCatalog service = [] {
    const Json box = {{"@odata.id", kBox},
                      {"@odata.type", "#ComputerSystem.v1_20_0.ComputerSystem"},
                      {"Name", "Box"},
                      {"AssetTag", ""},
                      {"HostName", "box"},
                      {"IndicatorLED", "Off"},
                      {"LocationIndicatorActive", false},
                      {"Boot", {{"BootOrder", {"Boot1", "Boot2", "Boot3"}}}}};
    const auto capture =
        *redfish::Capture::FromResources("box", {{"/redfish/v1", Json::object()}, {kBox, box}});
    const auto schema = *redfish::Schema::Load("data/schema/redfish.schema.zst");
    return MakeServiceCatalog(*redfish::Catalog::Build(*capture, *schema), schema);
  }();
  return service;
}

const redfish::Candidate& BoxRequest(const std::string& part) {
  for (const redfish::Candidate& candidate : BoxService().catalog->candidates()) {
    const bool composes = part.empty() && candidate.composes();
    const bool has_part = !part.empty() && candidate.body.dump().find(part) != std::string::npos;
    if (candidate.method == "PATCH" && (composes || has_part)) return candidate;
  }
  throw std::runtime_error("no candidate with " + part);
}

std::uint32_t Bit(Mark mark) { return std::uint32_t{1} << static_cast<std::uint32_t>(mark); }

class Drafting {
 public:
  explicit Drafting(const std::string& sentence) {
    seen_.Begin(BoxService());
    draft_.Begin(sentence);
  }
  void Open(const std::string& part, Json held = nullptr) {
    draft_.Open(BoxRequest(part), seen_, std::move(held));
  }
  // Chooses the choice whose text contains `words`.
  void Choose(const std::string& words) {
    const auto& list = *draft_.list();
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list.at(i).text->find(words) == std::string::npos) continue;
      return draft_.Choose(static_cast<std::int64_t>(i));
    }
    FAIL("no choice has " << words);
  }
  // Chooses by what leads to `wanted` until the request is complete.
  void Lead(const Json& wanted) {
    while (draft_.is_open()) {
      const std::int64_t choice = draft_.Find(wanted);
      REQUIRE(choice >= 0);
      draft_.Choose(choice);
    }
    REQUIRE(draft_.state() == State::kComplete);
  }
  Json Body() {
    runtime::Random random(1);
    return draft_.Finish(random).body;
  }
  RequestDraft& draft() { return draft_; }
  // Returns the marks of the choices whose text contains `words`.
  std::uint32_t MarksOf(const std::string& words) const {
    const auto& list = *draft_.list();
    std::uint32_t bits = 0;
    for (const model::CandidateMark& mark : draft_.Marks()) {
      if (list.at(mark.candidate).text->find(words) != std::string::npos) bits |= mark.bits;
    }
    return bits;
  }

 private:
  ResponseCache cache_;
  SeenResources seen_ = SeenResources(cache_.candidates);
  RequestDraft draft_ = RequestDraft(cache_.part_lists);
};

TEST_CASE("A request without anything to choose is complete at once") {
  Drafting drafting("Turn the light on.");
  drafting.Open("\"LocationIndicatorActive\":true");
  REQUIRE(drafting.draft().state() == State::kComplete);
  REQUIRE(drafting.Body() == Json{{"LocationIndicatorActive", true}});
}

TEST_CASE("A slot takes the word of the sentence that is chosen for it") {
  Drafting drafting("Set the asset tag to RACK-7.");
  drafting.Open("<goal.AssetTag>");
  REQUIRE(drafting.draft().state() == State::kChoosingValue);
  REQUIRE(*drafting.draft().topic().text == "AssetTag");
  REQUIRE(drafting.draft().text().text->find("\"slot\":\"AssetTag\"") != std::string::npos);
  drafting.Choose("value upper dash digits");
  REQUIRE(drafting.draft().state() == State::kComplete);
  REQUIRE(drafting.Body() == Json{{"AssetTag", "RACK-7"}});
  // What the policy and the log see has no values.
  REQUIRE(drafting.draft().shown_body() == Json{{"AssetTag", "<goal.AssetTag>"}});
}

TEST_CASE("A value shows how the service answered it in a slot of that name") {
  Drafting drafting("Set the asset tag to RACK-7 or to RACK-8.");
  const std::uint32_t answers = Bit(Mark::kAccepted) | Bit(Mark::kRefused) | Bit(Mark::kFailed);
  const std::string first = "value upper dash digits after tag to before or";
  const std::string second = "value upper dash digits after or to before";
  for (const auto& [status, bits] : std::vector<std::pair<int, std::uint32_t>>{
           {400, Bit(Mark::kRefused)}, {503, Bit(Mark::kFailed)}, {204, Bit(Mark::kAccepted)}}) {
    drafting.Open("<goal.AssetTag>");
    drafting.Choose(first);
    drafting.draft().NoteAnswer(status);
    drafting.draft().Close();
    drafting.Open("<goal.AssetTag>");
    REQUIRE((drafting.MarksOf(first) & answers) == bits);
    REQUIRE((drafting.MarksOf(second) & answers) == 0);
  }
}

TEST_CASE("A slot for which the sentence has no value gets a random one") {
  Drafting drafting("");
  drafting.Open("<goal.AssetTag>");
  REQUIRE(drafting.draft().state() == State::kComplete);
  REQUIRE(drafting.Body().at("AssetTag").is_string());
}

TEST_CASE("An order of a list is offered where the episode has read the list") {
  const Json wanted = {{"Boot", {{"BootOrder", {"Boot3", "Boot1", "Boot2"}}}}};
  Drafting blind("Boot from Boot3 first.");
  blind.Open("<goal.BootOrder>");
  REQUIRE(blind.draft().Find(wanted) == -1);
  Drafting drafting("Boot from Boot3 first.");
  drafting.Open("<goal.BootOrder>", {{"Boot", {{"BootOrder", {"Boot1", "Boot2", "Boot3"}}}}});
  drafting.Lead(wanted);
  REQUIRE(drafting.Body() == wanted);
}

TEST_CASE("Parts are chosen one after another until the request is sent") {
  Drafting drafting("The asset tag is X1, and the light is on.");
  drafting.Open("");
  REQUIRE(drafting.draft().state() == State::kChoosingPart);
  const Json wanted = {{"AssetTag", "X1"}, {"LocationIndicatorActive", true}};
  drafting.Lead(wanted);
  REQUIRE(drafting.Body() == wanted);
}

TEST_CASE("A request without parts cannot be sent, and any can be dropped") {
  Drafting drafting("Anything.");
  drafting.Open("");
  const auto send = static_cast<std::uint32_t>(drafting.draft().list()->size() - 2);
  REQUIRE(drafting.draft().list()->removed() == std::vector<std::uint32_t>{send});
  drafting.Choose("\"LocationIndicatorActive\":true");
  REQUIRE(drafting.draft().list()->removed().empty());
  drafting.Choose("drop");
  REQUIRE(drafting.draft().state() == State::kDropped);
}

TEST_CASE("A request is sent when it has as many parts as it may have") {
  Drafting drafting("Anything.");
  drafting.Open("");
  for (std::size_t i = 0; i < RequestDraft::kMaximumParts; ++i) {
    REQUIRE(drafting.draft().state() == State::kChoosingPart);
    drafting.Choose("\"LocationIndicatorActive\":true");
  }
  REQUIRE(drafting.draft().state() == State::kComplete);
}

TEST_CASE("Parts are marked by what the resource holds and by what the request has already") {
  Drafting drafting("Anything.");
  drafting.Open("", {{"LocationIndicatorActive", true}});
  REQUIRE(drafting.MarksOf("\"LocationIndicatorActive\":true") == Bit(Mark::kHolds));
  REQUIRE(drafting.MarksOf("\"LocationIndicatorActive\":false") == Bit(Mark::kDiffers));
  drafting.Choose("\"LocationIndicatorActive\":false");
  REQUIRE(drafting.MarksOf("\"LocationIndicatorActive\":false") ==
          (Bit(Mark::kDiffers) | Bit(Mark::kChosen)));
}

TEST_CASE("An order whose first entry stands in the sentence is marked, and so are the others") {
  Drafting drafting("Try boot2 first, please.");
  drafting.Open("<goal.BootOrder>", {{"Boot", {{"BootOrder", {"Boot1", "Boot2", "Boot21"}}}}});
  REQUIRE((drafting.MarksOf("beginning with Boot1") & Bit(Mark::kUnnamed)) != 0);
  REQUIRE((drafting.MarksOf("beginning with Boot21") & Bit(Mark::kUnnamed)) != 0);
  Drafting named("Try boot21 first, please.");
  named.Open("<goal.BootOrder>", {{"Boot", {{"BootOrder", {"Boot1", "Boot2", "Boot21"}}}}});
  REQUIRE((named.MarksOf("beginning with Boot21") & Bit(Mark::kNamed)) != 0);
  REQUIRE((named.MarksOf("beginning with Boot1") & Bit(Mark::kNamed)) == 0);
}

TEST_CASE("Values are marked that are no plain words and that the request has already") {
  Drafting drafting("The tag and the name are RACK-7.");
  drafting.Open("");
  drafting.Choose("<goal.AssetTag>");
  REQUIRE(drafting.MarksOf("value upper dash digits") == Bit(Mark::kLiteral));
  REQUIRE(drafting.MarksOf("word tag") == 0);
  drafting.Choose("value upper dash digits");
  drafting.Choose("<goal.HostName>");
  REQUIRE(drafting.MarksOf("value upper dash digits") ==
          (Bit(Mark::kLiteral) | Bit(Mark::kChosen)));
}

TEST_CASE("Values know which of the sentence's values they are") {
  Drafting drafting("Not AB-1 but CD-2 or EF-3, 5 times, is the tag.");
  drafting.Open("<goal.AssetTag>");
  const std::uint32_t places = Bit(Mark::kSecond) | Bit(Mark::kLater);
  REQUIRE((drafting.MarksOf("after not before but") & places) == 0);
  REQUIRE((drafting.MarksOf("after value but before or") & places) == Bit(Mark::kSecond));
  REQUIRE((drafting.MarksOf("after value or before value") & places) == Bit(Mark::kLater));
}

TEST_CASE("Parts are marked whose property or value the sentence says") {
  Drafting drafting("Write the asset tag, and set IndicatorLED to blinking.");
  drafting.Open("");
  REQUIRE(drafting.MarksOf("<goal.AssetTag>") == Bit(Mark::kNamed));
  REQUIRE(drafting.MarksOf("<goal.HostName>") == 0);
  REQUIRE(drafting.MarksOf("\"IndicatorLED\":\"Blinking\"") ==
          (Bit(Mark::kNamed) | Bit(Mark::kLiteral)));
  REQUIRE(drafting.MarksOf("\"IndicatorLED\":\"Lit\"") == Bit(Mark::kNamed));
}

TEST_CASE("Two values with the same neighbours are two choices") {
  Drafting drafting("Tag A1 B2 or tag A1 B2.");
  drafting.Open("<goal.AssetTag>");
  std::vector<std::string> texts;
  const auto& list = *drafting.draft().list();
  for (std::size_t i = 0; i < list.size(); ++i) texts.push_back(*list.at(i).text);
  std::sort(texts.begin(), texts.end());
  REQUIRE(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
}

}  // namespace
}  // namespace shoal::actor
