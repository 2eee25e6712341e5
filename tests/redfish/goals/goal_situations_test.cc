// SPDX-License-Identifier: Apache-2.0
// Tests what goals with situations read in a capture, and how often they start in each situation.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "platform/runtime/random.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/episode_draw.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/goal_places.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/redfish/capture/shipped.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

std::shared_ptr<const AppliedGoal> GoalOn(const std::string& file, const std::string& capture) {
  const auto goal = Goal::Load("data/goals/" + file + ".toml");
  REQUIRE(goal.ok());
  const auto applied = AppliedGoal::Create(*goal, Shipped(capture), {});
  INFO(applied.status().message());
  REQUIRE(applied.ok());
  return *applied;
}

double SatisfiedShare(const AppliedGoal& goal) {
  constexpr int kDraws = 3000;
  int satisfied = 0;
  for (std::uint64_t number = 0; number < kDraws; ++number) {
    satisfied += goal.DrawEpisode(21, number, Split::kTrain)->satisfied ? 1 : 0;
  }
  return satisfied / static_cast<double>(kDraws);
}

}  // namespace

TEST_CASE("As many starts are satisfied where a capture allows fewer of the other situations") {
  // One capture has no legacy boot mode, and the other has no volumes that wait for a boot.
  for (const char* file : {"13-secure_boot_chain", "16-raid1"}) {
    const double one = SatisfiedShare(*GoalOn(file, "hpe-dl380a-gen12"));
    const double other = SatisfiedShare(*GoalOn(file, "dell-r750"));
    INFO(file << " " << one << " " << other);
    REQUIRE(std::abs(one - other) < 0.05);
    REQUIRE(std::abs(one - 0.5) < 0.05);
  }
}

TEST_CASE(
    "An episode in a situation of one's choice is the one that would be drawn, but for its start") {
  const auto goal = GoalOn("10-account_audit", "openbmc-stock");
  const auto situations = goal->Situations();
  double shares = 0;
  for (const SituationShare& one : situations) shares += one.share;
  REQUIRE(shares == Approx(1.0));
  for (std::uint64_t number = 0; number < 20; ++number) {
    const Episode drawn = *goal->DrawEpisode(1, number, Split::kTrain);
    for (std::size_t i = 0; i < situations.size(); ++i) {
      const Episode chosen = *goal->DrawEpisode(1, number, Split::kTrain, {}, i);
      REQUIRE(chosen.situation == situations[i].name);
      REQUIRE(chosen.satisfied == situations[i].satisfied);
      REQUIRE(chosen.text == drawn.text);
      if (chosen.situation == drawn.situation) {
        REQUIRE(ToJson(chosen.start) == ToJson(drawn.start));
      }
    }
  }
  const auto past = goal->DrawEpisode(1, 0, Split::kTrain, {}, situations.size());
  REQUIRE(past.status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("Situations are drawn by the shares that are told") {
  const auto goal = GoalOn("10-account_audit", "dell-r750");
  std::map<std::string, int> drawn;
  for (std::uint64_t number = 0; number < 3000; ++number) {
    ++drawn[goal->DrawEpisode(21, number, Split::kTrain)->situation];
  }
  for (const SituationShare& one : goal->Situations()) {
    REQUIRE(drawn.at(one.name) == Approx(3000 * one.share).margin(150));
  }
}

TEST_CASE("A version that an item of the inventory has already is not drawn") {
  const auto goal = GoalOn("18-firmware_update", "dell-r750");
  std::set<Json> present;
  for (const auto& [uri, body] : Shipped("dell-r750").resources()) {
    if (uri.starts_with("/redfish/v1/UpdateService/FirmwareInventory/")) {
      present.insert(body.value("Version", Json()));
    }
  }
  for (std::uint64_t number = 0; number < 4000; ++number) {
    const Episode episode = *goal->DrawEpisode(1, number, Split::kTrain);
    REQUIRE_FALSE(present.contains(episode.values.at("Version")));
  }
}

TEST_CASE("What is taken is drawn when nothing else is left, and never before") {
  Json taken = Json::array();
  const auto add = [&taken](int from, int to) {
    for (int major = from; major <= to; ++major) {
      for (int minor = 0; minor < 100; ++minor) {
        taken.push_back(std::to_string(major) + "." + std::to_string(minor));
      }
    }
  };
  add(3, 30);
  runtime::Random random(4);
  for (int i = 0; i < 200; ++i) {
    const TextValues values = DrawValues({{"V", "version"}}, {{"V", taken}}, random);
    for (const char* name : {"V", "other:V"}) {
      REQUIRE(std::find(taken.begin(), taken.end(), values.at(name)) == taken.end());
    }
  }
  add(31, 40);
  REQUIRE(DrawValues({{"V", "version"}}, {{"V", taken}}, random).size() == 2);
}

TEST_CASE("Only a parameter can have values that are taken") {
  const doubles::TemporaryFolder folder;
  const std::string text =
      "id = 1\nname = \"a\"\ntrain = [\"x\"]\nevaluate = [\"y\"]\n"
      "[[situations]]\nname = \"s\"\noptimum = 1\n[taken]\nX = [1]\n";
  const auto goal = Goal::Load(folder.Write("wrong.toml", text));
  REQUIRE(goal.status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(Goal::Load(folder.Write("right.toml", text + "[parameters]\nX = \"tag\"\n")).ok());
}

TEST_CASE("Defaults of BIOS attributes are the registry's, and where it says none, as captured") {
  const auto defaults = [](const char* capture) {
    return GoalOn("15-bios_defaults", capture)
        ->DrawEpisode(1, 0, Split::kTrain)
        ->values.at("defaults");
  };
  const auto captured = [](const char* capture, const char* uri) {
    return Shipped(capture).Find(uri)->at("Attributes");
  };
  Json hpe = captured("hpe-dl380a-gen12", "/redfish/v1/Systems/1/bios");
  REQUIRE(hpe.at("TimeZone") == "Unspecified");
  hpe["TimeZone"] = "Utc0";
  const Json of_registry = defaults("hpe-dl380a-gen12");
  REQUIRE(of_registry.at("TimeZone") == "Utc0");
  REQUIRE(of_registry.size() == hpe.size());
  REQUIRE(defaults("dell-r750") ==
          captured("dell-r750", "/redfish/v1/Systems/System.Embedded.1/Bios"));
  REQUIRE(defaults("dmtf-rackmount1") ==
          captured("dmtf-rackmount1", "/redfish/v1/Systems/437XR1138R2/Bios"));
}

TEST_CASE("What may change in members of a condition is theirs alone, places in it included") {
  const doubles::TemporaryFolder folder;
  const auto load = [&](const std::string& name, const std::string& where) {
    return Goal::Load(
        folder.Write(name,
                     "id = 1\nname = \"a\"\ntrain = [\"x\"]\nevaluate = [\"y\"]\n"
                     "[[places]]\nname = \"accounts\"\nfrom = \"root\"\n"
                     "links = [\"/AccountService\", \"/Accounts\"]\n"
                     "[[situations]]\nname = \"s\"\noptimum = 1\n"
                     "[[allowed]]\nresource = \"accounts\"\nmembers = true\npointer = \"/RoleId\"\n"
                     "where = " +
                         where + "\n"));
  };
  const auto allowed = [&](const std::string& name, const std::string& where) {
    const auto goal = AppliedGoal::Create(*load(name, where), Shipped("dell-r750"), {});
    std::vector<std::string> names;
    for (const PropertyPath& path :
         goal.value()->DrawEpisode(1, 0, Split::kTrain)->watch->allowed()) {
      names.push_back(path.uri.substr(path.uri.rfind('/') + 1));
    }
    return names;
  };
  using Names = std::vector<std::string>;
  const std::string named = "{ equals = { pointer = \"/UserName\", value = \"root\" } }";
  REQUIRE(allowed("root.toml", named) == Names{"2"});
  REQUIRE(allowed("others.toml", "{ not = " + named + " }").size() == 15);
  REQUIRE(allowed("place.toml", "{ all = [" + named +
                                    ", { exists = { uri = \"$accounts\", pointer = \"\" } }] }") ==
          Names{"2"});
  REQUIRE(
      allowed("none.toml", "{ exists = { uri = \"$accounts/none\", pointer = \"\" } }").empty());
  const auto list =
      load("list.toml", "{ exists = { uri = \"$members:accounts\", pointer = \"\" } }");
  REQUIRE(AppliedGoal::Create(*list, Shipped("dell-r750"), {}).status().code() ==
          absl::StatusCode::kInvalidArgument);
  const auto wrong = load("wrong.toml", "{ equal = 1 }").status();
  REQUIRE(wrong.code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(std::string(wrong.message()).find("\"equal\"") != std::string::npos);
}

TEST_CASE("A place may be told from the one above it") {
  const Capture& capture = Shipped("dell-r750");
  const auto find = [&](const std::string& above) {
    const Json other = {{"not", {{"equals", {{"pointer", "/@odata.id"}, {"value", above}}}}}};
    return FindPlaces({{.name = "account",
                        .from = "root",
                        .links = {"/AccountService", "/Accounts"},
                        .member = {{"exists", {{"pointer", "/UserName"}}}}},
                       {.name = "another",
                        .from = "root",
                        .links = {"/AccountService", "/Accounts"},
                        .member = other}},
                      {}, capture);
  };
  const Places places = find("$account").value();
  REQUIRE(capture.Find(places.at("account")) != nullptr);
  REQUIRE(capture.Find(places.at("another")) != nullptr);
  REQUIRE(places.at("another") != places.at("account"));
  const absl::Status wrong = find("$moon").status();
  REQUIRE(wrong.code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(std::string(wrong.message()).find("\"$moon\"") != std::string::npos);
}

TEST_CASE("Members of a place are listed with and without another place") {
  const Capture& capture = Shipped("hpe-dl380a-gen12");
  const std::string volumes = "/redfish/v1/Systems/1/Storage/DE010000/Volumes";
  const Places places = {{"volumes", volumes}, {"volume", volumes + "/1"}, {"absent", ""}};
  REQUIRE(*PutPlaces("$members:volumes", places, capture) == Json::array({volumes + "/1"}));
  REQUIRE(*PutPlaces("$members:volumes:-absent", places, capture) == Json::array({volumes + "/1"}));
  REQUIRE(*PutPlaces("$members:volumes:-volume", places, capture) == Json::array());
  for (const char* wrong : {"$members:volumes:-moon", "$members:volumes:volume"}) {
    REQUIRE(PutPlaces(wrong, places, capture).status().code() ==
            absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("An exchanged episode is the drawn one with the decisive value in another member") {
  const auto goal = Goal::Load("data/reading/201-remove_role.toml");
  REQUIRE(goal.ok());
  const Capture& capture = Shipped("dmtf-mpf");
  const auto drawn = *AppliedGoal::Create(*goal, capture, {});
  const auto exchanged = *AppliedGoal::Create(*goal, capture, {}, Starts::kExchanged);
  std::set<std::string> situations;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const Episode one = *drawn->DrawEpisode(3, number, Split::kEvaluate);
    const Episode other = *exchanged->DrawEpisode(3, number, Split::kEvaluate);
    REQUIRE_FALSE(one.exchanged);
    // An episode that asks for nothing has nothing to exchange.
    REQUIRE(other.exchanged == !one.satisfied);
    REQUIRE((other.situation != one.situation) == other.exchanged);
    REQUIRE(other.text == one.text);
    REQUIRE(other.values == one.values);
    REQUIRE(other.optimum == one.optimum);
    // Who is made, and in which order, stays; two of them exchange their roles.
    REQUIRE(other.start.size() == one.start.size());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < one.start.size(); ++i) {
      const Json difference = Json::diff(one.start[i].value, other.start[i].value);
      changed += difference.size();
      for (const Json& operation : difference) REQUIRE(operation.at("path") == "/RoleId");
    }
    REQUIRE(changed == (other.exchanged ? 2 : 0));
    situations.insert(other.situation);
  }
  REQUIRE(situations.size() == 4);
}

TEST_CASE("A situation is exchanged for another one of the same cost and condition") {
  const doubles::TemporaryFolder folder;
  const auto load = [&](const std::string& first, const std::string& second) {
    return Goal::Load(
        folder.Write("goal.toml",
                     "id = 9\nname = \"g\"\ntrain = [\"Do it.\"]\nevaluate = [\"Act now.\"]\n"
                     "[[situations]]\nname = \"a\"\n" +
                         first + "[[situations]]\nname = \"b\"\n" + second));
  };
  REQUIRE(load("optimum = 1\nexchanged = \"b\"\n", "optimum = 1\nexchanged = \"a\"\n").ok());
  for (const auto& [first, second] : std::map<std::string, std::string>{
           {"optimum = 1\nexchanged = \"c\"\n", "optimum = 1\n"},
           {"optimum = 1\nexchanged = \"a\"\n", "optimum = 1\n"},
           {"optimum = 1\nexchanged = \"b\"\n", "optimum = 2\n"},
           {"optimum = 1\nexchanged = \"b\"\n",
            "optimum = 1\nwhere = { exists = { uri = \"$system\", pointer = \"\" } }\n"}}) {
    const auto wrong = load(first, second);
    INFO(first << second);
    REQUIRE(wrong.status().code() == absl::StatusCode::kInvalidArgument);
    REQUIRE(wrong.status().message().find("\"a\"") != std::string::npos);
  }
}

}  // namespace shoal::redfish
