// SPDX-License-Identifier: Apache-2.0
// Tests who consents to what `shoal do` sends, how much of it, and to which of several hosts.
#include <stdio.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operated_host.h"
#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const std::vector<std::string> kConsentCaptures = {"dmtf-rackmount1"};

bool IsLong(const redfish::Episode& episode) { return episode.optimum >= 2; }

// Returns what `shoal` prints, and its exit code, where `input` is piped into it.
EndedRun Answered(const std::string& input, const std::vector<std::string>& arguments) {
  const doubles::TemporaryFolder files;
  std::string command = "cat " + files.Write("input", input) + " | " SHOAL_PROGRAMS "/shoal";
  for (const std::string& argument : arguments) {
    REQUIRE(argument.find('\'') == std::string::npos);
    command += " '" + argument + "'";
  }
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  EndedRun ended;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    ended.output.push_back(static_cast<char>(c));
  }
  ended.code = WEXITSTATUS(::pclose(pipe));
  return ended;
}

}  // namespace

TEST_CASE("a plan is announced and not sent without consent, and never beyond its permissions",
          "[do]") {
  const DrawnGoals goals(kConsentCaptures);
  OperatedHost host(kConsentCaptures);
  const DrawnGoal drawn = goals.DrawWhere("pxe_once", IsLong);
  host.Begin(drawn, json::array());
  const doubles::TemporaryFolder audit;
  const std::vector<std::string> arguments = host.Arguments(goals, drawn, audit.path());

  const EndedRun announced = RunToEnd(arguments);
  INFO(announced.output);
  REQUIRE(announced.code == 0);
  REQUIRE(announced.Says("changes /Boot/BootSourceOverrideTarget"));
  REQUIRE(announced.last_line == "Nothing was sent; --execute sends these requests.");

  for (const std::vector<std::string>& limit :
       std::vector<std::vector<std::string>>{{"--budget", "1"},
                                             {"--allow-method", "PATCH"},
                                             {"--allow-uri", "/redfish/v1/Chassis/**"}}) {
    const EndedRun refused = RunToEnd(With(arguments, With(limit, {"--execute"})));
    INFO(refused.output);
    REQUIRE(refused.code == 4);
  }
  REQUIRE(host.Judge().changes.empty());

  REQUIRE(RunToEnd(With(arguments, {"--execute", "--budget", "2"})).code == 0);
  REQUIRE(host.Judge().satisfied);
  REQUIRE(host.Judge().changes.size() == 2);
  host.End();
}

TEST_CASE("a line that is exactly yes consents from a pipe as well, and nothing else does",
          "[do]") {
  const DrawnGoals goals(kConsentCaptures);
  OperatedHost host(kConsentCaptures);
  DrawnGoal drawn = goals.DrawWhere("pxe_once", IsLong);
  drawn.episode.text = "boot from the network once";
  host.Begin(drawn, json::array());
  const doubles::TemporaryFolder audit;
  const std::vector<std::string> arguments = host.Arguments(goals, drawn, audit.path());
  for (const char* const answer : {"", "yes", "yes please\n", "\nyes\n"}) {
    const EndedRun announced = Answered(answer, arguments);
    INFO(announced.output);
    REQUIRE(announced.code == 0);
    REQUIRE(announced.Says("Type yes to send these requests"));
    REQUIRE(announced.Says("Nothing was sent"));
  }
  REQUIRE(host.Judge().changes.empty());
  const EndedRun sent = Answered("yes\n", arguments);
  INFO(sent.output);
  REQUIRE(sent.code == 0);
  REQUIRE(host.Judge().satisfied);
  host.End();
}

TEST_CASE("a fleet is operated host by host under one budget", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost first({"dmtf-rackmount1"});
  OperatedHost second({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.DrawWhere(
      "locate", [](const redfish::Episode& episode) { return episode.optimum >= 2; });
  first.Begin(drawn, json::array());
  second.Begin(drawn, json::array());
  const doubles::TemporaryFolder audit;
  const std::vector<std::string> arguments =
      With(first.Arguments(goals, drawn, audit.path()),
           {"--host", second.url(), "--insecure", "--execute"});
  REQUIRE(RunToEnd(With(arguments, {"--budget", "3"})).code == 4);
  REQUIRE(first.Judge().changes.empty());
  REQUIRE(second.Judge().changes.empty());
  const EndedRun ended = RunToEnd(With(arguments, {"--budget", "4"}));
  INFO(ended.output);
  REQUIRE(ended.code == 0);
  REQUIRE(first.Judge().satisfied);
  REQUIRE(second.Judge().satisfied);
  first.End();
  second.End();
}

TEST_CASE(
    "a fleet goes on where it was killed: finished hosts are passed over, and the budget counts",
    "[do]") {
  const DrawnGoals goals(kConsentCaptures);
  OperatedHost first(kConsentCaptures);
  OperatedHost second(kConsentCaptures);
  const DrawnGoal drawn = goals.DrawWhere("pxe_once", IsLong);
  first.Begin(drawn, json::array());
  second.Begin(drawn, json::array());
  second.Teach(json::array({{{"name", "busy"},
                             {"method", "PATCH"},
                             {"path", "/redfish/v1/Systems/*"},
                             {"respond", {{"status", 503}}}}}));
  const doubles::TemporaryFolder audit;
  const std::vector<std::string> arguments =
      With(first.Arguments(goals, drawn, audit.path()),
           {"--host", second.url(), "--insecure", "--execute"});
  {
    ShoalRun run(arguments);
    REQUIRE(Eventually(seconds(60),
                       [&] { return SentIn(AuditOf(second.LogBelow(audit.path()))).size() >= 3; }));
    run.Kill();
    REQUIRE(run.WaitForExit(seconds(20)));
  }
  second.Teach(json::array());
  const std::vector<std::string> done = first.Judge().changes;
  REQUIRE(done.size() == 2);

  // Two requests to the first host, three to the second, and one more that it needs.
  const EndedRun refused = RunToEnd(With(arguments, {"--budget", "5"}));
  INFO(refused.output);
  REQUIRE(refused.code == 4);
  REQUIRE(second.Judge().changes.empty());

  const EndedRun ended = RunToEnd(With(arguments, {"--budget", "30"}));
  INFO(ended.output);
  REQUIRE(ended.code == 0);
  REQUIRE(ended.Says(" was reached by this command"));
  REQUIRE(first.Judge().changes == done);
  REQUIRE(second.Judge().satisfied);
  REQUIRE(second.Judge().changes.size() == 2);

  // The command has ended, so the same words are another one.
  std::vector<std::string> anew = arguments;
  std::erase(anew, "--execute");
  const EndedRun announced = RunToEnd(anew);
  INFO(announced.output);
  REQUIRE_FALSE(announced.Says(" was reached by this command"));
  first.End();
  second.End();
}

}  // namespace shoal::tests
