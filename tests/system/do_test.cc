// SPDX-License-Identifier: Apache-2.0
// Tests `shoal do` as a person starts it, against simulated hosts with TLS, a login and faults.
//
// SHOAL_DO_FIRST and SHOAL_DO_GOALS say which drawn goals are tried, SHOAL_DO_POLICY which run's
// policy solves them (default: experts), SHOAL_DO_KILLS how often an operation is killed.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "operated_host.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/random.h"
#include "shoal_run.h"
#include "tests/doubles/environment_number.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const std::vector<std::string> kAllCaptures = {
    "dell-r750",        "dmtf-acd",        "dmtf-catfish",  "dmtf-liquid-cooled-server",
    "dmtf-mpf",         "dmtf-rackmount1", "dmtf-smartnic", "dmtf-telemetry",
    "hpe-dl380a-gen12", "openbmc-stock"};
const std::vector<std::string> kFewCaptures = {"dmtf-rackmount1", "openbmc-stock"};

// A host in the start of a drawn goal, whom a person asks in words.
class SpokenHost {
 public:
  SpokenHost(const std::vector<std::string>& captures, const DrawnGoal& drawn,
             const DrawnGoals& goals)
      : host_(captures) {
    host_.Begin(drawn, json::array());
    arguments_ = host_.Arguments(goals, drawn, audit_.path());
  }

  // Says `sentence`, or gives the goals in `flags`, and returns once all of it is carried out.
  EndedRun Do(const std::string& sentence, const std::vector<std::string>& flags = {}) const {
    EndedRun ended = RunToEnd(With(With(InWords(arguments_, sentence), flags), {"--execute"}));
    INFO(ended.output);
    REQUIRE(ended.code == 0);
    return ended;
  }
  Verdict Judge() const { return host_.Judge(); }

 private:
  const doubles::TemporaryFolder audit_;
  OperatedHost host_;
  std::vector<std::string> arguments_;
};

// Returns the flags that permit the announced plan and little more: requests that a fault undoes
// are repeated.
std::vector<std::string> TightLimits(std::vector<std::string> arguments, seconds limit) {
  constexpr std::int64_t kRepeated = 8;
  std::erase(arguments, "--execute");
  std::istringstream lines(RunToEnd(std::move(arguments), limit).output);
  std::vector<std::string> limits;
  std::int64_t requests = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number;
    std::string method;
    std::string uri;
    words >> number >> method >> uri;
    if (number != std::to_string(requests + 1) + "." || !uri.starts_with("/")) continue;
    ++requests;
    limits = With(limits, {"--allow-method", method, "--allow-uri", uri});
  }
  return With(limits, {"--budget", std::to_string(requests + kRepeated)});
}

struct Tally {
  int drawn = 0;
  int reached = 0;
  int unannounced = 0;
  // Answers with 202.
  int accepted = 0;
};

bool HasEnded(const std::string& log) {
  return runtime::ReadFile(log).value_or("").find("\"record\":\"end\"") != std::string::npos;
}

// Has drawn goals reached on hosts with these faults, and requires that nothing else is done to
// them.
Tally Operate(std::int64_t first, std::int64_t count, const json& faults) {
  const std::vector<std::string>& captures = count > 10 ? kAllCaptures : kFewCaptures;
  const DrawnGoals goals(captures);
  OperatedHost host(captures);
  std::vector<std::string> more = {"--execute"};
  seconds limit{60};
  if (const char* const policy = std::getenv("SHOAL_DO_POLICY"); policy != nullptr) {
    more.insert(more.end(), {"--policy", policy});
    // The patience of a solver, and some time for the rest.
    limit = seconds(400);
  }
  Tally tally;
  for (auto number = first; number < first + count; ++number) {
    const DrawnGoal drawn = goals.Draw(static_cast<std::uint64_t>(number));
    const doubles::TemporaryFolder audit;
    host.Begin(drawn, faults);
    std::vector<std::string> arguments = With(host.Arguments(goals, drawn, audit.path()), more);
    // Half of the goals are permitted nothing but what they need.
    if (number % 2 == 0) arguments = With(arguments, TightLimits(arguments, limit));
    const EndedRun ended = RunToEnd(arguments, limit);
    const Verdict verdict = host.Judge();
    const std::vector<json> records = AuditOf(host.LogBelow(audit.path()));
    const std::vector<std::string> unannounced = Unannounced(verdict.changes, SentIn(records));
    const bool reached = ended.code == 0 && verdict.satisfied;
    ++tally.drawn;
    tally.accepted +=
        static_cast<int>(std::count_if(records.begin(), records.end(), [](const json& one) {
          return one.value("status", 0) == 202;
        }));
    tally.reached += reached ? 1 : 0;
    tally.unannounced += static_cast<int>(unannounced.size());
    std::printf("goal %lld %s on %s: %s, exit code %d, %zu changes\n",
                static_cast<long long>(number), drawn.goal->goal().name().c_str(),
                drawn.goal->capture_name().c_str(), reached ? "reached" : "missed", ended.code,
                verdict.changes.size());
    if (!reached) std::printf("%s\n", ended.output.c_str());
    INFO(ended.output);
    REQUIRE(unannounced.empty());
    REQUIRE(UnlikePlan(records).empty());
    // An operation that does not reach its goal says so.
    REQUIRE((ended.code != 0 || verdict.satisfied));
    host.End();
  }
  return tally;
}

}  // namespace

TEST_CASE("drawn goals are reached on hosts that fail, and nothing else is done to them", "[do]") {
  const Tally tally = Operate(doubles::EnvironmentNumber("SHOAL_DO_FIRST", 0),
                              doubles::EnvironmentNumber("SHOAL_DO_GOALS", 10), Faults(0.1, 5));
  std::printf("do goals=%d reached=%.3f unannounced=%d\n", tally.drawn,
              static_cast<double>(tally.reached) / tally.drawn, tally.unannounced);
  REQUIRE(tally.reached >= 0.9 * tally.drawn);
}

TEST_CASE("drawn goals are reached on hosts that make each change by a task", "[do]") {
  const json task = {{"name", "task"}, {"path", "/redfish/v1/**"}, {"task_ms", 400}};
  const Tally tally = Operate(0, 6, json::array({task}));
  std::printf("do tasks goals=%d reached=%.3f\n", tally.drawn,
              static_cast<double>(tally.reached) / tally.drawn);
  REQUIRE(tally.reached == tally.drawn);
  REQUIRE(tally.accepted > 0);
}

TEST_CASE("an operation that is killed is finished or explained by the same command",
          "[do_kills]") {
  const auto kills = doubles::EnvironmentNumber("SHOAL_DO_KILLS", 4);
  const std::vector<std::string> names = {"pxe_once", "event_pipeline", "account_audit", "locate"};
  const DrawnGoals goals(kFewCaptures);
  OperatedHost host(kFewCaptures);
  int killed = 0;
  int finished = 0;
  int explained = 0;
  for (std::uint64_t number = 0; killed < kills; ++number) {
    REQUIRE(number < 20 * static_cast<std::uint64_t>(kills));
    const DrawnGoal drawn = goals.Draw(number, names);
    if (drawn.episode.optimum < 2) continue;
    const doubles::TemporaryFolder audit;
    host.Begin(drawn, Faults(0, 20));
    const std::string log = host.LogBelow(audit.path());
    const std::vector<std::string> arguments =
        With(host.Arguments(goals, drawn, audit.path()), {"--execute"});
    runtime::Random random(5, number);
    const std::size_t records = 1 + random.Below(7);
    {
      ShoalRun run(arguments);
      const auto deadline = std::chrono::steady_clock::now() + seconds(30);
      while (std::chrono::steady_clock::now() < deadline && !HasEnded(log)) {
        const std::string text = runtime::ReadFile(log).value_or("");
        if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= records) break;
        ::usleep(1000);
      }
      run.Kill();
      REQUIRE(run.WaitForExit(seconds(10)));
    }
    if (HasEnded(log)) {
      host.End();
      continue;
    }
    ++killed;
    // Whatever was done to the host is in the log, and what was answered was done.
    const std::vector<std::string> before = SentIn(AuditOf(log));
    REQUIRE(Unannounced(host.Judge().changes, before).empty());

    const EndedRun again = RunToEnd(arguments);
    INFO(again.output);
    REQUIRE(again.Says("An operation of "));
    const Verdict verdict = host.Judge();
    REQUIRE(Unannounced(verdict.changes, SentIn(AuditOf(log))).empty());
    REQUIRE(UnlikePlan(AuditOf(log)).empty());
    const bool is_finished = again.code == 0 && verdict.satisfied;
    std::printf("kill %d of %s after %zu records: %s, exit code %d\n", killed,
                drawn.goal->goal().name().c_str(), records, is_finished ? "finished" : "explained",
                again.code);
    finished += is_finished ? 1 : 0;
    if (!is_finished) {
      REQUIRE(again.code == 3);
      ++explained;
    }
    // Without faults, no request takes effect twice.
    std::vector<std::string> changes = verdict.changes;
    REQUIRE(changes.size() <= AuditOf(log).front().at("plan").at("steps").size());
    host.End();
  }
  std::printf("do kills=%d finished=%d explained=%d\n", killed, finished, explained);
  REQUIRE(finished + explained == killed);
}

TEST_CASE("a person's sentence is understood and carried out", "[do]") {
  const DrawnGoals goals(kFewCaptures);
  SpokenHost host(kFewCaptures, goals.DrawWhere("power_on", IsOpen), goals);
  const EndedRun ended = host.Do("please turn the server on");
  REQUIRE(ended.Says("Understood as goal power_on"));
  REQUIRE(host.Judge().satisfied);
}

TEST_CASE("a sentence that asks for several goals is carried out goal by goal", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  SpokenHost host({"dmtf-rackmount1"}, goals.DrawWhere("power_on", IsOpen), goals);
  const EndedRun ended =
      host.Do("please turn the server on, and set the asset tag of everything to RACK-17-042");
  REQUIRE(ended.Says("Understood as goal power_on"));
  REQUIRE(ended.Says("Understood as goal asset_tag"));
  REQUIRE(ended.Says("goal=power_on+asset_tag outcome=reached"));
  const Verdict verdict = host.Judge();
  REQUIRE(verdict.satisfied);
  REQUIRE(verdict.changes.size() == 3);
  REQUIRE(verdict.changes[0].starts_with("POST "));
  REQUIRE(verdict.changes[1].starts_with("PATCH "));

  // All of it holds now, however it is asked for.
  const EndedRun again =
      host.Do("", {"--goal", "asset_tag", "--goal", "power_on", "--set", "AssetTag=RACK-17-042"});
  REQUIRE(again.Says("goal=asset_tag+power_on outcome=reached announced=0"));
  REQUIRE(host.Judge().changes.size() == 3);
}

TEST_CASE("of a goal with several targets only those are changed that the sentence names", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  SpokenHost host({"dmtf-rackmount1"}, goals.Draw(0, {"power_on"}), goals);
  const EndedRun ended = host.Do("set the asset tag of the chassis to RACK-17-042");
  REQUIRE(ended.Says("goal=asset_tag(chassis) outcome=reached announced=1 sent=1"));
  REQUIRE(host.Judge().changes == std::vector<std::string>{"PATCH /redfish/v1/Chassis/1U"});
}

TEST_CASE("goals that need a restart share one", "[do]") {
  const DrawnGoals goals({"dell-r750"});
  const DrawnGoal drawn = goals.Draw(0, {"iso_boot"});
  SpokenHost host({"dell-r750"}, drawn, goals);
  const EndedRun ended = host.Do("RAID1 on both disks, Secure Boot on, boot once from the ISO " +
                                 drawn.episode.values.at("Image").get<std::string>());
  REQUIRE(ended.Says("goal=raid1+secure_boot_chain+iso_boot outcome=reached"));
  const Verdict verdict = host.Judge();
  REQUIRE(verdict.satisfied);
  REQUIRE(ended.Says("ComputerSystem.Reset"));
  const std::string restart = "POST /redfish/v1/Systems/System.Embedded.1";
  CAPTURE(verdict.changes);
  REQUIRE(std::count(verdict.changes.begin(), verdict.changes.end(), restart) == 1);
}

TEST_CASE("an operation stops where the host does not do what its twin did", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost host({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.DrawWhere(
      "asset_tag", [](const redfish::Episode& episode) { return episode.optimum >= 2; });
  host.Begin(drawn, json::array());
  host.Teach(json::array({{{"name", "deaf"},
                           {"method", "PATCH"},
                           {"path", "/redfish/v1/Systems/*"},
                           {"respond", {{"status", 204}}}}}));
  const doubles::TemporaryFolder audit;
  std::vector<std::string> arguments =
      With(host.Arguments(goals, drawn, audit.path()), {"--execute"});
  *(std::find(arguments.begin(), arguments.end(), "--settle") + 1) = "1";
  const EndedRun stopped = RunToEnd(arguments);
  INFO(stopped.output);
  REQUIRE(stopped.code == 3);
  REQUIRE(stopped.Says("does not show its result: /AssetTag"));
  REQUIRE(NumberIn(stopped.last_line, "sent") == 1);
  REQUIRE(stopped.Says("Changed so far, with what was there before:"));
  REQUIRE(stopped.Says("    /AssetTag of /redfish/v1/Systems/"));

  // What was stopped has ended, so the next call plans anew.
  host.Teach(json::array());
  REQUIRE(RunToEnd(arguments).code == 0);
  REQUIRE(host.Judge().satisfied);
  const EndedRun again = RunToEnd(arguments);
  REQUIRE(again.code == 0);
  REQUIRE(again.Says("Nothing needs to change."));
  host.End();
}

TEST_CASE("an operation that is interrupted ends between two requests, and goes on later", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost host({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.DrawWhere(
      "pxe_once", [](const redfish::Episode& episode) { return episode.optimum >= 2; });
  host.Begin(drawn, Faults(0, 200));
  const doubles::TemporaryFolder audit;
  const std::vector<std::string> arguments =
      With(host.Arguments(goals, drawn, audit.path()), {"--execute"});
  InterruptOnceSent(arguments, host.LogBelow(audit.path()));
  std::vector<std::string> other = arguments;
  *std::find(other.begin(), other.end(), "pxe_once") = "power_on";
  const EndedRun refused = RunToEnd(other);
  REQUIRE(refused.code == 2);
  REQUIRE(refused.Says("--abandon"));
  const EndedRun finished = RunToEnd(arguments);
  INFO(finished.output);
  REQUIRE(finished.code == 0);
  REQUIRE(host.Judge().satisfied);
  REQUIRE(host.Judge().changes.size() == 2);
  host.End();
}

TEST_CASE("an operation goes on by its sentence where that does not apply to the host any more",
          "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost host({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.DrawWhere("power_on", IsOpen);
  host.Begin(drawn, Faults(0, 200));
  const doubles::TemporaryFolder audit;
  std::vector<std::string> arguments =
      With(InWords(host.Arguments(goals, drawn, audit.path()),
                   "turn the server on, and set the asset tag of everything to RACK-17-042"),
           {"--execute"});
  InterruptOnceSent(arguments, host.LogBelow(audit.path()));
  // In the terms of this capture the sentence is refused, as it has no asset tags.
  *std::find(arguments.begin(), arguments.end(), "dmtf-rackmount1") = "openbmc-stock";
  const EndedRun finished = RunToEnd(arguments);
  INFO(finished.output);
  REQUIRE(finished.code == 0);
  REQUIRE(finished.Says("goal=power_on+asset_tag outcome=reached"));
  REQUIRE(host.Judge().changes.size() == 3);
  const EndedRun refused = RunToEnd(arguments);
  REQUIRE(refused.code == 2);
  REQUIRE(refused.Says("is not understood"));
  host.End();
}

TEST_CASE("a password in a sentence is needed to go on, and is nowhere in the log", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost host({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.DrawWhere("power_on", IsOpen);
  host.Begin(drawn, Faults(0, 200));
  const doubles::TemporaryFolder audit;
  const auto say = [&](const std::string& password) {
    return With(
        InWords(host.Arguments(goals, drawn, audit.path()),
                "turn the server on, and create operator kim042 with password " + password + "."),
        {"--execute"});
  };
  const std::string password = "Abc.12345-pw";
  const std::string log = host.LogBelow(audit.path());
  const std::string begun = InterruptOnceSent(say(password), log);
  REQUIRE(begun.find(password) == std::string::npos);
  REQUIRE(RunToEnd(say("Xyz.98765-pw")).code == 2);
  const EndedRun finished = RunToEnd(say(password));
  INFO(finished.output);
  REQUIRE(finished.code == 0);
  REQUIRE(finished.Says("An operation of"));
  REQUIRE(finished.Says("goal=power_on+add_operator outcome=reached"));
  REQUIRE_FALSE(finished.Says(password));
  REQUIRE(runtime::ReadFile(log)->find(password) == std::string::npos);
  REQUIRE(host.Judge().changes.size() == 2);
  host.End();
}

TEST_CASE("an operation does not go on with another password than it began with", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost host({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.Draw(0, {"forced_password"});
  host.Begin(drawn, Faults(0, 200));
  const doubles::TemporaryFolder audit;
  const std::string log = host.LogBelow(audit.path());
  std::vector<std::string> arguments =
      With(host.Arguments(goals, drawn, audit.path()), {"--execute"});
  InterruptOnceSent(arguments, log);
  const std::vector<std::string> sent = SentIn(AuditOf(log));
  const doubles::TemporaryFolder secrets;
  const std::string other = "Password=" + secrets.Write("other", "An0ther-Passw0rd\n");
  std::vector<std::string> wrong = arguments;
  *std::find_if(wrong.begin(), wrong.end(),
                [](const std::string& text) { return text.starts_with("Password="); }) = other;
  const EndedRun refused = RunToEnd(wrong);
  INFO(refused.output);
  REQUIRE(refused.code == 2);
  REQUIRE(refused.Says("the value of Password is not the one"));
  REQUIRE(refused.Says("--abandon"));
  REQUIRE(SentIn(AuditOf(log)) == sent);
  REQUIRE(RunToEnd(arguments).Says("An operation of "));
  host.End();
}

TEST_CASE("an update that waits for a boot already is finished by the boot alone", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost host({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.DrawWhere("firmware_update", [](const redfish::Episode& episode) {
    return episode.situation == "staged";
  });
  host.Begin(drawn, json::array());
  const doubles::TemporaryFolder audit;
  const EndedRun ended = RunToEnd(With(host.Arguments(goals, drawn, audit.path()), {"--execute"}));
  INFO(ended.output);
  REQUIRE(ended.code == 0);
  REQUIRE(host.Judge().satisfied);
  REQUIRE(SentIn(AuditOf(host.LogBelow(audit.path()))).size() == 1);
  host.End();
}

TEST_CASE("passwords of a goal and of the login are nowhere but on the wire", "[do]") {
  const DrawnGoals goals({"dmtf-rackmount1"});
  OperatedHost host({"dmtf-rackmount1"});
  const DrawnGoal drawn = goals.DrawWhere("add_operator", [](const redfish::Episode& episode) {
    return episode.situation == "absent";
  });
  host.Begin(drawn, json::array());
  const doubles::TemporaryFolder audit;
  const EndedRun ended = RunToEnd(With(host.Arguments(goals, drawn, audit.path()), {"--execute"}));
  INFO(ended.output);
  REQUIRE(ended.code == 0);
  REQUIRE(host.Judge().satisfied);
  const std::string log = runtime::ReadFile(host.LogBelow(audit.path())).value_or("");
  REQUIRE(log.find("{Password}") != std::string::npos);
  for (const std::string& secret :
       {drawn.episode.values.at("Password").get<std::string>(), std::string("shoal-password")}) {
    REQUIRE(log.find(secret) == std::string::npos);
    REQUIRE_FALSE(ended.Says(secret));
  }
  host.End();
}

TEST_CASE("the password of a login may come from a pipe, which can be read once", "[do]") {
  const DrawnGoals goals({"openbmc-stock"});
  OperatedHost host({"openbmc-stock"});
  const DrawnGoal drawn = goals.DrawWhere("locate", IsOpen);
  host.Begin(drawn, json::array());
  const doubles::TemporaryFolder audit;
  std::vector<std::string> arguments = host.Arguments(goals, drawn, audit.path());
  const auto flag = std::find(arguments.begin(), arguments.end(), "--password-file");
  REQUIRE(flag != arguments.end());
  const std::string password = runtime::ReadFile(*(flag + 1)).value();
  // What is run has the end that is read as it is.
  std::array<int, 2> ends = {};
  REQUIRE(::pipe(ends.data()) == 0);
  REQUIRE(::write(ends[1], password.data(), password.size()) ==
          static_cast<ssize_t>(password.size()));
  ::close(ends[1]);
  *(flag + 1) = "/dev/fd/" + std::to_string(ends[0]);
  const EndedRun ended = RunToEnd(With(arguments, {"--execute"}));
  ::close(ends[0]);
  INFO(ended.output);
  REQUIRE(ended.code == 0);
  REQUIRE(host.Judge().satisfied);
  host.End();
}

TEST_CASE("a host that is an environment is read and nothing is done to it", "[do]") {
  const DrawnGoals goals({"openbmc-stock"});
  OperatedHost host({"openbmc-stock"});
  const DrawnGoal drawn =
      goals.DrawWhere("locate", [](const redfish::Episode& episode) { return !episode.satisfied; });
  host.Begin(drawn, json::array());
  std::vector<std::string> arguments =
      With({"train", "deploy/local/redfish.toml", "--goals", "3", "--episodes", "2"},
           host.EnvironmentFlags(goals.capture("openbmc-stock")));
  for (const char* setting :
       {"actor.environments=2", "learner.updates=1", "learner.round_unrolls=4",
        "train.demonstration_episodes=0", "train.baselines=[\"uniform\"]",
        "train.evaluate_every_seconds=0", "environment.wait_seconds=1"}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  const EndedRun read = RunToEnd(arguments);
  INFO(read.output);
  REQUIRE(read.code == 0);
  REQUIRE(read.Says("result success="));
  REQUIRE(host.Judge().changes.empty());

  // Whoever names methods may not let the policy that acts at random do it.
  const EndedRun refused =
      RunToEnd(With(arguments, {"--set", "environment.host.methods=[\"PATCH\"]", "--set",
                                "environment.host.budget=5", "--set", "actor.environments=1"}));
  INFO(refused.output);
  REQUIRE(refused.code != 0);
  REQUIRE(refused.Says("uniform"));
  const EndedRun judged = RunToEnd(
      With(arguments, {"--set", "environment.host.methods=[\"PATCH\"]", "--set",
                       "environment.host.budget=5", "--set", "train.evaluate_every_seconds=20"}));
  INFO(judged.output);
  REQUIRE(judged.code == 2);
  REQUIRE(judged.Says("set train.evaluate_every_seconds"));

  // A run would keep the password.
  const EndedRun revealing = RunToEnd(
      With(arguments, {"--set", "environment.host.url=\"https://root:calvin@127.0.0.1:1\""}));
  INFO(revealing.output);
  REQUIRE(revealing.code == 2);
  REQUIRE_FALSE(revealing.Says("calvin"));
  host.End();
}

TEST_CASE("wrong words to do are named, and nothing is asked of a host", "[do]") {
  const doubles::TemporaryFolder audit;
  const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
    const EndedRun ended = RunToEnd(With(std::move(arguments), {"--audit", audit.path()}));
    INFO(ended.output);
    REQUIRE(ended.code == 2);
    REQUIRE(ended.Says(words));
  };
  const std::string host = "https://127.0.0.1:1";
  refused({"do", "power on"}, "--host or --hosts is required");
  refused({"do", "power on", "--hosts", "no/such/hosts.toml"}, "no/such/hosts.toml");
  refused({"do", "--host", host}, "a sentence is needed, or --goal");
  refused({"do", "make me a coffee", "--host", host, "--capture", "openbmc-stock"},
          "not understood");
  refused({"do", "power on", "--host", host, "--goal", "99"}, "there is no goal");
  refused({"do", "power on", "--host", host, "--goal", "1", "--set", "Tag"}, "Name=value");
  refused({"do", "power on", "--host", host, "--goal", "1", "--user", "root"}, "--password-file");
  refused({"do", "power on", "--host", "ftp://bmc", "--goal", "1"}, "ftp://bmc");
  refused({"do", "power on", "--host", host, "--goal", "1", "--allow-uri", "x"}, "x");
}

}  // namespace shoal::tests
