// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/request_draft.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
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

const std::string kBios = kBox + "/Bios";

// A box whose Secure Boot cannot be set in legacy mode, nor while option ROMs of that mode are
// loaded, and whose quiet boot depends on nothing.
const ServiceCatalog& BiosService() {
  static const ServiceCatalog service = [] {
    const auto choice = [](const char* name, std::vector<std::string> values) {
      Json entry = {{"AttributeName", name}, {"Type", "Enumeration"}, {"Value", Json::array()}};
      for (const std::string& value : values) entry["Value"].push_back({{"ValueName", value}});
      return entry;
    };
    const auto equals = [](const char* name, const char* value) {
      return Json{{"MapFromAttribute", name},
                  {"MapFromProperty", "CurrentValue"},
                  {"MapFromCondition", "EQU"},
                  {"MapFromValue", value}};
    };
    const Json dependency = {
        {"Dependency",
         {{"MapFrom", {equals("BootMode", "Bios"), equals("LegacyRoms", "Enabled")}},
          {"MapToAttribute", "SecureBoot"},
          {"MapToProperty", "ReadOnly"},
          {"MapToValue", true}}}};
    const Json registry = {
        {"@odata.type", "#AttributeRegistry.v1_3_6.AttributeRegistry"},
        {"Id", "R.v1"},
        {"RegistryEntries",
         {{"Attributes",
           {choice("BootMode", {"Bios", "Uefi"}), choice("LegacyRoms", {"Enabled", "Disabled"}),
            choice("SecureBoot", {"Enabled", "Disabled"}),
            choice("QuietBoot", {"Enabled", "Disabled"})}},
          {"Dependencies", {dependency}}}}};
    const Json bios = {{"@odata.id", kBios},
                       {"@odata.type", "#Bios.v1_2_0.Bios"},
                       {"AttributeRegistry", "R.v1"},
                       {"Attributes",
                        {{"BootMode", "Bios"},
                         {"LegacyRoms", "Disabled"},
                         {"SecureBoot", "Disabled"},
                         {"QuietBoot", "Disabled"}}}};
    const auto capture = *redfish::Capture::FromResources(
        "bios", {{"/redfish/v1", Json::object()},
                 {kBox, {{"@odata.id", kBox}, {"Bios", {{"@odata.id", kBios}}}}},
                 {kBios, bios},
                 {"/redfish/v1/Registries/R", registry}});
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
  explicit Drafting(const std::string& sentence, std::size_t read_values = 0,
                    const ServiceCatalog& service = BoxService())
      : draft_(cache_.part_lists, read_values) {
    seen_.Begin(service, {});
    draft_.Begin(sentence);
  }
  // Opens the PATCH of the BIOS, which holds `attributes`. REQUIRES: the service is BiosService().
  void OpenBios(const Json& attributes) {
    for (const redfish::Candidate& candidate : BiosService().catalog->candidates()) {
      const bool patches = candidate.method == "PATCH" && candidate.uri == kBios;
      if (!patches || !candidate.composes()) continue;
      return draft_.Open(candidate, seen_, {.held = {{"Attributes", attributes}}});
    }
    FAIL("no candidate composes a PATCH of the BIOS");
  }
  void Open(const std::string& part, Json held = nullptr, std::vector<ReadResource> read = {},
            RefusalNames refused = {}) {
    draft_.Open(BoxRequest(part), seen_,
                {.held = std::move(held), .read = std::move(read), .refused = std::move(refused)});
  }
  // Returns how many choices have `words` in their text.
  std::size_t CountOf(const std::string& words) const {
    const auto& list = *draft_.list();
    std::size_t count = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list.at(i).text->find(words) != std::string::npos) ++count;
    }
    return count;
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
  RequestDraft draft_;
};

// A resource that the episode has read, with these values under names in words.
ReadResource Shelf(const std::vector<std::pair<std::string, Json>>& values) {
  auto shown = std::make_shared<ShownValues>();
  shown->type_in_words = "chassis";
  for (const auto& [words, value] : values) {
    ShownValue one;
    one.value = value;
    one.name_in_words = one.place_in_words = words;
    one.name = words;
    std::erase(one.name, ' ');
    shown->values.push_back(std::move(one));
  }
  return {.shown = std::move(shown)};
}

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

TEST_CASE("A slot takes a value that was read, which is described by where it stood") {
  Drafting drafting("Set the asset tag to the serial number of the chassis.", 8);
  drafting.Open("<goal.AssetTag>", nullptr,
                {Shelf({{"serial number", "SN-77"}, {"part number", "PN-1"}, {"depth", 12}})});
  REQUIRE(drafting.CountOf("read ") == 2);
  REQUIRE(drafting.CountOf("SN-77") == 0);
  REQUIRE(drafting.MarksOf("read serial number of another chassis") ==
          (Bit(Mark::kNamed) | Bit(Mark::kRead)));
  REQUIRE(drafting.MarksOf("read part number of another chassis") ==
          (Bit(Mark::kUnnamed) | Bit(Mark::kRead)));
  drafting.Lead({{"AssetTag", "SN-77"}});
  REQUIRE(drafting.Body() == Json{{"AssetTag", "SN-77"}});
  REQUIRE(drafting.draft().shown_body() == Json{{"AssetTag", "<goal.AssetTag>"}});
}

TEST_CASE("The other value in a body is the one that is sent by the same choice") {
  for (const char* serial : {"SN-77", "SN-78"}) {
    Drafting drafting("Set the asset tag to the serial number of the chassis.", 8);
    drafting.Open("<goal.AssetTag>", nullptr, {Shelf({{"serial number", serial}})});
    drafting.Choose("read serial number");
    REQUIRE(drafting.Body() == Json{{"AssetTag", serial}});
  }
}

TEST_CASE("Without leave to offer them, values that were read change no choice") {
  Drafting without("Set the asset tag to X1.");
  without.Open("<goal.AssetTag>");
  Drafting with("Set the asset tag to X1.");
  with.Open("<goal.AssetTag>", nullptr, {Shelf({{"serial number", "SN-77"}})});
  REQUIRE(with.draft().list()->key() == without.draft().list()->key());
}

TEST_CASE("Values that were read are few, each once, and what the goal names comes first") {
  std::vector<std::pair<std::string, Json>> values;
  for (int i = 0; i < 40; ++i) values.push_back({"a" + std::to_string(i), "V" + std::to_string(i)});
  values.push_back({"serial number", "SN-77"});
  values.push_back({"model", "SN-77"});
  values.push_back({"asset tag", "X9"});
  Drafting drafting("Set the asset tag to X1, like the serial number.", 4);
  drafting.Open("<goal.AssetTag>", nullptr, {Shelf(values), Shelf({{"sku", "X1"}})});
  REQUIRE(drafting.CountOf("read ") == 4);
  REQUIRE(drafting.CountOf("read serial number") == 1);
  REQUIRE(drafting.CountOf("read asset tag") == 1);
  Drafting all("Set the asset tag to X1, like the serial number.", 64);
  all.Open("<goal.AssetTag>", nullptr, {Shelf(values), Shelf({{"sku", "X1"}})});
  REQUIRE(all.CountOf("read ") == 42);
  // The sentence has the value already, and the other place of a value ranks lower.
  REQUIRE(all.CountOf("read sku") == 0);
  REQUIRE(all.CountOf("read model") == 0);
}

TEST_CASE("Values know whether their resource is the one to change, and whether they are fresh") {
  ReadResource box = Shelf({{"serial number", "SN-1"}, {"asset tag", "old"}});
  box.is_target = true;
  ReadResource shelf = Shelf({{"serial number", "SN-2"}});
  shelf.is_stale = shelf.is_named = true;
  Drafting drafting("Set the asset tag.", 8);
  drafting.Open("<goal.AssetTag>", nullptr, {box, shelf});
  REQUIRE(drafting.MarksOf("read serial number of this chassis") ==
          (Bit(Mark::kUnnamed) | Bit(Mark::kRead) | Bit(Mark::kTargetRead)));
  REQUIRE(drafting.MarksOf("read serial number of another chassis named in the goal") ==
          (Bit(Mark::kUnnamed) | Bit(Mark::kStale)));
  // What the property holds itself would change nothing.
  REQUIRE(drafting.CountOf("read asset tag") == 0);
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

TEST_CASE("Parts and values are marked of which a refusal speaks") {
  Drafting drafting("The tag and the name are RACK-7.");
  drafting.Open("", nullptr, {}, {"indicatorled", "rack-7"});
  REQUIRE(drafting.MarksOf("\"IndicatorLED\":\"Lit\"") == Bit(Mark::kInRefusal));
  REQUIRE(drafting.MarksOf("\"LocationIndicatorActive\":true") == 0);
  drafting.Choose("<goal.AssetTag>");
  REQUIRE((drafting.MarksOf("value upper dash digits") & Bit(Mark::kInRefusal)) != 0);
  REQUIRE((drafting.MarksOf("word tag") & Bit(Mark::kInRefusal)) == 0);
}

TEST_CASE("Parts are marked that unlock a BIOS attribute which the sentence names") {
  const Json legacy = {{"BootMode", "Bios"},
                       {"LegacyRoms", "Disabled"},
                       {"SecureBoot", "Disabled"},
                       {"QuietBoot", "Disabled"}};
  Drafting drafting("Switch secure boot on.", 0, BiosService());
  drafting.OpenBios(legacy);
  REQUIRE(drafting.MarksOf("\"BootMode\":\"Uefi\"") == (Bit(Mark::kUnlocks) | Bit(Mark::kDiffers)));
  REQUIRE(drafting.MarksOf("\"BootMode\":\"Bios\"") == Bit(Mark::kHolds));
  REQUIRE(drafting.MarksOf("\"LegacyRoms\":\"Enabled\"") == Bit(Mark::kDiffers));
  REQUIRE(drafting.MarksOf("\"QuietBoot\":\"Enabled\"") == Bit(Mark::kDiffers));

  Json with_roms = legacy;
  with_roms["LegacyRoms"] = "Enabled";
  drafting.OpenBios(with_roms);
  REQUIRE((drafting.MarksOf("\"BootMode\":\"Uefi\"") & Bit(Mark::kUnlocks)) != 0);
  REQUIRE((drafting.MarksOf("\"LegacyRoms\":\"Disabled\"") & Bit(Mark::kUnlocks)) != 0);

  Json modern = legacy;
  modern["BootMode"] = "Uefi";
  drafting.OpenBios(modern);
  REQUIRE((drafting.MarksOf("BootMode") & Bit(Mark::kUnlocks)) == 0);

  Drafting other("Boot without a logo, quiet boot that is.", 0, BiosService());
  other.OpenBios(legacy);
  REQUIRE((other.MarksOf("BootMode") & Bit(Mark::kUnlocks)) == 0);
}

TEST_CASE("A value is shown as a choice, in whose text small words count") {
  Drafting drafting("Change the tag from A1 to B2.");
  drafting.Open("<goal.AssetTag>");
  std::set<std::string> texts;
  const auto& list = *drafting.draft().list();
  for (std::size_t i = 0; i < list.size(); ++i) texts.insert(*list.at(i).text);
  REQUIRE(texts.contains(R"({"choice":"value upper digits after tag from before to"})"));
  REQUIRE(texts.contains(R"({"choice":"value upper digits after value to before nothing"})"));
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
