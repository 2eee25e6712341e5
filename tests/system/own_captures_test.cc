// SPDX-License-Identifier: Apache-2.0
// Tests captures that a person brings along: every command takes them by path, and they may be of a
// host that refuses the start of a goal.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr char kTenCaptures[] = "deploy/local/redfish.toml";

// Writes a folder with a shipped capture that requires such long passwords that goal 8 cannot
// create the account with which some of its episodes start: the service answers 400.
std::string StrictCapture(const doubles::TemporaryFolder& folder) {
  std::string path = folder.At("strict");
  REQUIRE(
      RunToEnd({"capture", "import", "data/captures/openbmc-stock.tar.xz", "--out", path}).code ==
      0);
  const std::string file = path + "/redfish/v1/AccountService/index.json";
  auto accounts = nlohmann::json::parse(runtime::ReadFile(file).value());
  accounts["MinPasswordLength"] = 20;
  REQUIRE(runtime::WriteFileAtomically(file, accounts.dump()).ok());
  return path;
}

std::string CopiedArchive(const doubles::TemporaryFolder& folder) {
  std::string path = folder.At("lab 1.2.tar.xz");
  fs::copy_file("data/captures/dmtf-rackmount1.tar.xz", path);
  return path;
}

}  // namespace

TEST_CASE("a goal whose start a host refuses is named, and training and evaluation end",
          "[captures]") {
  const doubles::TemporaryFolder folder;
  const std::string strict = StrictCapture(folder);
  ShoalRun run({"train", kTenCaptures, "--minutes", "0.2", "--goals", "3,8", "--capture", strict,
                "--episodes", "3"});
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(NumberIn(run.last_line(), "given_up_pairs") == 1);
  REQUIRE(run.updates() > 0);

  ShoalRun evaluation({"evaluate", run.folder() + "/run", "--episodes", "3", "--name", "again",
                       "--set", "run.directory=\"" + run.folder() + "\""});
  REQUIRE(evaluation.WaitForExit(seconds(120)));
  INFO(evaluation.output());
  REQUIRE(evaluation.exit().code == 0);
  REQUIRE(NumberIn(evaluation.last_line(), "given_up_pairs") == 1);
  const std::string output = evaluation.output();
  const std::size_t table = output.find("given up");
  REQUIRE(table != std::string::npos);
  const std::size_t pair = output.find("8 add_operator  strict", table);
  REQUIRE(pair != std::string::npos);
  REQUIRE(output.substr(pair, output.find('\n', pair) - pair).find("400") != std::string::npos);
  // Goal 3 was evaluated all the same.
  REQUIRE(NumberIn(evaluation.last_line(), "episodes") == 3);
}

TEST_CASE("training of which no episode can begin ends with the reason, once", "[captures]") {
  const doubles::TemporaryFolder folder;
  const std::string strict = StrictCapture(folder);
  ShoalRun run({"train", kTenCaptures, "--minutes", "2", "--goals", "8", "--capture", strict});
  REQUIRE(run.WaitForExit(seconds(60)));
  const std::string output = run.output();
  INFO(output);
  REQUIRE(run.exit().code == 2);
  const std::string words = "no episode can begin on any of 1 pairs";
  const std::size_t said = output.find(words);
  REQUIRE(said != std::string::npos);
  REQUIRE(output.find(words, said + 1) == std::string::npos);
}

TEST_CASE("a folder is trained on and an archive is held out, by their paths", "[captures]") {
  const doubles::TemporaryFolder folder;
  const std::string archive = CopiedArchive(folder);
  ShoalRun run({"train", kTenCaptures, "--minutes", "0.15", "--goals", "1,3", "--capture",
                StrictCapture(folder), "--hold-out", archive, "--episodes", "2"});
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.output().find("learned, zero-shot on lab 1.2") != std::string::npos);
  REQUIRE_FALSE(run.File("encoder.idf").empty());
}

TEST_CASE(
    "a capture that is nowhere ends the command in one line that says where it was looked for",
    "[captures]") {
  const std::vector<std::vector<std::string>> commands = {
      {"train", kTenCaptures, "--capture", "opnbmc-stock"},
      {"train", kTenCaptures, "--hold-out", "opnbmc-stock"},
      {"train", kTenCaptures, "--access", "inprocess", "--capture", "opnbmc-stock"},
      {"goals", "show", "1", "opnbmc-stock"}};
  for (const std::vector<std::string>& command : commands) {
    const EndedRun ended = RunToEnd(command);
    INFO(ended.output);
    REQUIRE(ended.code != 0);
    REQUIRE(std::count(ended.output.begin(), ended.output.end(), '\n') == 1);
    REQUIRE(
        ended.Says("looked for data/captures/opnbmc-stock.tar.xz, data/captures/opnbmc-stock, "
                   "opnbmc-stock (did you mean openbmc-stock?)"));
  }
}

}  // namespace shoal::tests
