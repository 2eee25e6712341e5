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

// Returns the command line of `shoal` with these arguments.
std::string CommandLine(const std::vector<std::string>& arguments) {
  std::string command = SHOAL_PROGRAMS "/shoal";
  for (const std::string& argument : arguments) {
    REQUIRE(argument.find('\'') == std::string::npos);
    command += " '" + argument + "'";
  }
  return command;
}

// Returns what a shell prints that runs the command, and its exit code.
EndedRun InShell(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  EndedRun ended;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    ended.output.push_back(static_cast<char>(c));
  }
  ended.code = WEXITSTATUS(::pclose(pipe));
  return ended;
}

// Returns what `shoal` prints, and its exit code, where `input` is piped into it.
EndedRun Answered(const std::string& input, const std::vector<std::string>& arguments) {
  const doubles::TemporaryFolder files;
  return InShell("cat " + files.Write("input", input) + " | " + CommandLine(arguments));
}

// Runs the command and kills it once the log of a host says that requests were sent.
void KillOnceSent(const std::vector<std::string>& arguments, const std::string& log,
                  std::size_t requests) {
  ShoalRun run(arguments);
  REQUIRE(Eventually(seconds(60), [&] { return SentIn(AuditOf(log)).size() >= requests; }));
  run.Kill();
  REQUIRE(run.WaitForExit(seconds(20)));
}

// A rule of the control API by which a host has no time for any PATCH of its system.
const json kBusy = json::array({{{"name", "busy"},
                                 {"method", "PATCH"},
                                 {"path", "/redfish/v1/Systems/*"},
                                 {"respond", {{"status", 503}}}}});

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
  REQUIRE(announced.last_line.starts_with("Nothing was sent; --execute sends these requests."));

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

TEST_CASE("a loop that reads hosts from standard input loses none of its lines", "[do]") {
  const DrawnGoals goals(kConsentCaptures);
  OperatedHost host(kConsentCaptures);
  const DrawnGoal drawn = goals.DrawWhere("power_on", IsOpen);
  host.Begin(drawn, json::array());
  const doubles::TemporaryFolder files;
  const std::string list = files.Write("hosts", host.url() + "\n" + host.url() + "\n");
  std::string command = CommandLine(host.Arguments(goals, drawn, files.path()));
  command.replace(command.find(host.url()), host.url().size(), "'\"$host\"'");
  const std::string loop = "while read host; do " + command + "; done";
  for (const std::string& line : {loop + " < " + list, "cat " + list + " | " + loop}) {
    const EndedRun ended = InShell(line);
    INFO(ended.output);
    REQUIRE(ended.code == 0);
    REQUIRE(Count(ended.output, "Nothing was sent") == 2);
    REQUIRE(ended.Says("Nothing was read from standard input"));
  }
  REQUIRE(host.Judge().changes.empty());
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
  second.Teach(kBusy);
  const doubles::TemporaryFolder audit;
  const std::vector<std::string> arguments =
      With(first.Arguments(goals, drawn, audit.path()),
           {"--host", second.url(), "--insecure", "--execute"});
  KillOnceSent(arguments, second.LogBelow(audit.path()), 3);
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

TEST_CASE("a fleet in which one host needs nothing goes on by its sentence where it was killed",
          "[do]") {
  const DrawnGoals goals(kConsentCaptures);
  OperatedHost first(kConsentCaptures);
  OperatedHost second(kConsentCaptures);
  const DrawnGoal drawn = goals.DrawWhere("power_on", IsOpen);
  first.Begin(drawn, json::array());
  second.Begin(drawn, Faults(0, 200));
  const std::string sentence =
      "turn the server on, and set the asset tag of everything to RACK-17-042";
  const doubles::TemporaryFolder earlier;
  REQUIRE(RunToEnd(
              With(InWords(first.Arguments(goals, drawn, earlier.path()), sentence), {"--execute"}))
              .code == 0);
  const std::vector<std::string> changes = first.Judge().changes;

  const doubles::TemporaryFolder audit;
  std::vector<std::string> arguments =
      With(InWords(first.Arguments(goals, drawn, audit.path()), sentence),
           {"--host", second.url(), "--insecure", "--execute"});
  KillOnceSent(arguments, second.LogBelow(audit.path()), 1);
  const std::vector<json> records = AuditOf(first.LogBelow(audit.path()));
  REQUIRE(records.size() == 2);
  REQUIRE(records.front().at("plan").at("steps").empty());
  REQUIRE(records.back().at("outcome") == "reached");

  // In the terms of this capture the sentence is refused, as it has no asset tags.
  *std::find(arguments.begin(), arguments.end(), "dmtf-rackmount1") = "openbmc-stock";
  const EndedRun ended = RunToEnd(arguments);
  INFO(ended.output);
  REQUIRE(ended.code == 0);
  REQUIRE(ended.Says(" was reached by this command"));
  REQUIRE(first.Judge().changes == changes);
  REQUIRE(second.Judge().satisfied);
  REQUIRE(second.Judge().changes.size() == 3);
  first.End();
  second.End();
}

TEST_CASE("who does not consent leaves another command's operation as it is", "[do]") {
  const DrawnGoals goals(kConsentCaptures);
  OperatedHost first(kConsentCaptures);
  OperatedHost second(kConsentCaptures);
  const DrawnGoal drawn = goals.DrawWhere("pxe_once", IsLong);
  first.Begin(drawn, json::array());
  first.Teach(kBusy);
  second.Begin(drawn, json::array());
  const doubles::TemporaryFolder audit;
  const std::vector<std::string> fleet = With(first.Arguments(goals, drawn, audit.path()),
                                              {"--host", second.url(), "--insecure", "--execute"});
  KillOnceSent(fleet, first.LogBelow(audit.path()), 1);
  first.Teach(json::array());

  // Of the second host's operation nothing was sent yet.
  const std::string log = second.LogBelow(audit.path());
  const std::string begun = runtime::ReadFile(log).value();
  REQUIRE(AuditOf(log).size() == 1);
  const DrawnGoal other = goals.Draw(0, {"asset_tag"});
  const std::vector<std::string> tagged = second.Arguments(goals, other, audit.path());
  const EndedRun announced = RunToEnd(tagged);
  INFO(announced.output);
  REQUIRE(announced.code == 0);
  REQUIRE(announced.Says("was not begun: goal pxe_once"));
  REQUIRE(announced.Says("Nothing was sent"));
  REQUIRE(RunToEnd(With(tagged, {"--abandon"})).Says("Nothing was sent"));
  REQUIRE(RunToEnd(With(tagged, {"--execute", "--budget", "0"})).code == 4);
  REQUIRE(runtime::ReadFile(log).value() == begun);

  SECTION("so its command goes on") {
    const EndedRun ended = RunToEnd(fleet);
    INFO(ended.output);
    REQUIRE(ended.code == 0);
    REQUIRE(first.Judge().satisfied);
    REQUIRE(second.Judge().satisfied);
    REQUIRE(second.Judge().changes.size() == 2);
  }
  SECTION("and who consents ends it") {
    REQUIRE(RunToEnd(With(tagged, {"--execute"})).code == 0);
    const std::vector<json> records = AuditOf(log);
    REQUIRE(records.at(1).at("outcome") == "abandoned");
    // The operation is not one of the fleet's command.
    REQUIRE(records.at(2).at("plan").at("command") != records.at(0).at("plan").at("command"));
    REQUIRE(records.back().at("outcome") == "reached");
  }
  first.End();
  second.End();
}

TEST_CASE("hosts of a file each have their own login, trust and capture", "[do]") {
  const DrawnGoals server_goals({"dmtf-rackmount1"});
  const DrawnGoals board_goals({"openbmc-stock"});
  OperatedHost server({"dmtf-rackmount1"});
  OperatedHost board({"openbmc-stock"});
  const DrawnGoal drawn = server_goals.DrawWhere("power_on", IsOpen);
  server.Begin(drawn, json::array());
  board.Begin(board_goals.DrawWhere("power_on", IsOpen), json::array());
  const doubles::TemporaryFolder files;
  const std::string server_table = server.Table(server_goals.capture("dmtf-rackmount1"));
  const std::string board_table = board.Table(board_goals.capture("openbmc-stock"));

  // A host of a flag stands before those of the file.
  const std::vector<std::string> mixed = With(server.Arguments(server_goals, drawn, files.path()),
                                              {"--hosts", files.Write("board.toml", board_table)});
  const EndedRun announced = RunToEnd(mixed);
  INFO(announced.output);
  REQUIRE(announced.code == 0);
  const std::size_t first = announced.output.find(server.url() + ": goal power_on");
  REQUIRE(first < announced.output.find(board.url() + ": goal power_on"));

  const std::vector<std::string> alone = {
      "do",         "--goal",
      "power_on",   "--audit",
      files.path(), "--execute",
      "--settle",   "20",
      "--hosts",    files.Write("hosts.toml", server_table + board_table)};
  const EndedRun ended = RunToEnd(alone);
  INFO(ended.output);
  REQUIRE(ended.code == 0);
  REQUIRE(server.Judge().satisfied);
  REQUIRE(board.Judge().satisfied);
  REQUIRE_FALSE(ended.Says("shoal-password"));
  REQUIRE(runtime::ReadFile(board.LogBelow(files.path()))->find("shoal-password") ==
          std::string::npos);

  // One that cannot be operated is named before anything is asked of the others.
  for (const auto& [table, words] : std::vector<std::pair<std::string, std::string>>{
           {server_table, "more.toml:7: " + server.url() + " is listed before, at "},
           {"[[do.host]]\nurl = \"bmc.lab\"\ncapture = \"nowhere\"\n", "more.toml:7: "},
           {"[[do.host]]\nurl = \"bmc.lab\"\nuser = \"root\"\n", "more.toml:7: user root"},
           {"[[do.host]]\nurl = \"bmc.lab\"\npassword = \"x\"\n", "more.toml:9: unknown key"}}) {
    std::vector<std::string> wrong = alone;
    wrong.back() = files.Write("more.toml", server_table + table);
    const EndedRun refused = RunToEnd(wrong);
    INFO(refused.output);
    REQUIRE(refused.code == 2);
    REQUIRE(refused.Says(words));
  }
  server.End();
  board.End();
}

}  // namespace shoal::tests
