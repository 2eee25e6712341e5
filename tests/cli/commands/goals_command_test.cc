// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/goals_command.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
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
train = ["Write {Contact} on the manager."]
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

  const GoalFile wrong(std::string(kOwnGoal) + "colour = 1\n[[plan]]\nmethod = \"PATCH\"\n");
  const auto refused = CheckGoal(choice);
  REQUIRE(refused.status().code() == absl::StatusCode::kInvalidArgument);
  const std::string message(refused.status().message());
  REQUIRE(Has(message, choice.goal + ":"));
  REQUIRE(Has(message, "uri"));
}

}  // namespace shoal::cli
