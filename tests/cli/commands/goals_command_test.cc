// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/goals_command.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace shoal::cli {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A file that its destructor removes.
class GoalFile {
 public:
  explicit GoalFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("shoal-goal-" + std::to_string(::getpid()) + ".toml")) {
    std::ofstream(path_) << text;
  }
  GoalFile(const GoalFile&) = delete;
  GoalFile& operator=(const GoalFile&) = delete;
  ~GoalFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

constexpr const char* kOwnGoal = R"(id = 100
name = "contact"
train = ["<a|b|c|d|e> <f|g|h|i|j|k|l|m> {Contact} on the manager."]
evaluate = ["The manager's contact is {Contact}."]
[parameters]
Contact = "user"
[[situations]]
name = "other"
optimum = 1
[[require]]
equals = { uri = "$system", pointer = "/AssetTag", value = "{Contact}" }
)";

}  // namespace

TEST_CASE("The list of goals says which captures each applies to") {
  const auto list = ListGoals("data");
  REQUIRE(list.ok());
  REQUIRE(Has(*list, "6 boot_order: dell-r750 hpe-dl380a-gen12"));
  REQUIRE_FALSE(ListGoals("/nowhere").ok());
}

TEST_CASE("A goal is shown as one episode on one capture, with its plan") {
  GoalChoice choice{.goal = "bios_attribute", .capture = "dmtf-rackmount1"};
  const auto shown = ShowGoal(choice);
  REQUIRE(shown.ok());
  REQUIRE(Has(*shown, "12 bios_attribute on dmtf-rackmount1"));
  REQUIRE(Has(*shown, "/redfish/v1/Systems/437XR1138R2/Bios/Settings"));
  REQUIRE(Has(*shown, "plan "));
  choice.goal = "12";
  REQUIRE(*ShowGoal(choice) == *shown);
  choice.capture = "openbmc-stock";
  REQUIRE(ShowGoal(choice).status().code() == absl::StatusCode::kNotFound);
  choice.goal = "no_such";
  REQUIRE(ShowGoal(choice).status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("One's own goal is checked against a capture, with file and line of what is wrong") {
  const GoalFile right(kOwnGoal);
  GoalChoice choice{.goal = right.path(), .capture = "dmtf-rackmount1"};
  const auto summary = CheckGoal(choice);
  REQUIRE(summary.ok());
  REQUIRE(Has(*summary, "other, 1 mutations: 200 of 200"));
  REQUIRE(Has(*summary, "distinct texts of training: 40"));

  const GoalFile wrong(std::string(kOwnGoal) + "colour = 1\n[[plan]]\nmethod = \"PATCH\"\n");
  const auto refused = CheckGoal(choice);
  REQUIRE(refused.status().code() == absl::StatusCode::kInvalidArgument);
  const std::string message(refused.status().message());
  REQUIRE(Has(message, choice.goal + ":"));
  REQUIRE(Has(message, "uri"));
}

TEST_CASE("A goal with too few phrasings, or with one of its evaluation, does not pass the check") {
  std::string few(kOwnGoal);
  few.replace(few.find("<a|b|c|d|e>"), 11, "<a|b|c|d>");
  const GoalFile file(few);
  GoalChoice choice{.goal = file.path(), .capture = "dmtf-rackmount1"};
  const std::string message = runtime::Message(CheckGoal(choice).status());
  REQUIRE(Has(message, choice.goal));
  REQUIRE(Has(message, "32 distinct texts, at least 40"));

  std::string same(kOwnGoal);
  same.replace(same.find("The manager's contact is {Contact}."), 35,
               "a f {Contact}, on the MANAGER");
  const GoalFile repeats(same);
  choice.goal = repeats.path();
  REQUIRE(Has(runtime::Message(CheckGoal(choice).status()), "repeats"));
}

TEST_CASE("Phrasings are shown by goal, with the number of distinct ones") {
  GoalChoice choice{.goal = "asset_tag", .capture = ""};
  choice.count = 3;
  const auto shown = ShowPhrasings(choice);
  REQUIRE(shown.ok());
  REQUIRE(Has(*shown, "4 asset_tag: "));
  REQUIRE(std::count(shown->begin(), shown->end(), '\n') == 4);
  REQUIRE(*ShowPhrasings(choice) == *shown);
}

TEST_CASE("A sentence is parsed into a goal, and several by lines of JSON") {
  GoalChoice choice{.goal = "", .capture = "openbmc-stock"};
  choice.sentence = "turn the server on";
  std::istringstream none;
  const auto one = ParseSentences(choice, none);
  REQUIRE(one.ok());
  REQUIRE(one->understood);
  REQUIRE(Has(one->text, "goal        1 power_on on openbmc-stock"));
  REQUIRE(Has(one->text, "/redfish/v1/Systems/system"));
  choice.sentence = "turn the server on and light its locator LED";
  const auto both = ParseSentences(choice, none);
  REQUIRE(both->understood);
  REQUIRE(Has(both->text, "turn the server on\ngoal        1 power_on on openbmc-stock"));
  REQUIRE(Has(both->text, "light its locator LED\ngoal        3 locate on openbmc-stock"));
  choice.sentence = "-";
  std::istringstream lines("turn the server on\nmake me a coffee\n");
  const auto two = ParseSentences(choice, lines);
  REQUIRE_FALSE(two->understood);
  REQUIRE(std::count(two->text.begin(), two->text.end(), '\n') == 2);
  REQUIRE(Has(two->text, "\"refusal\""));
}

}  // namespace shoal::cli
