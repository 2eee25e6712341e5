// SPDX-License-Identifier: Apache-2.0
#include "operated_host.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "operate/comparison.h"
#include "platform/http/fetch.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/random.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/goal_definition.h"

namespace shoal::tests {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr const char* kInstance = "/shoal/v1/instances/host";

std::vector<std::string> Settings(const std::vector<std::string>& captures,
                                  const std::string& folder) {
  std::string names;
  for (const std::string& capture : captures)
    names += (names.empty() ? "\"" : ", \"") + capture + "\"";
  return {"captures=[" + names + "]",
          "listen=\"127.0.0.1:0\"",
          "control_listen=\"127.0.0.1:0\"",
          "clock=\"virtual\"",
          "certificate_file=\"" + folder + "/mock.pem\"",
          "key_file=\"" + folder + "/mock.key\""};
}

std::string Administrator(const redfish::Capture& capture) {
  for (const auto& [uri, body] : capture.resources()) {
    const bool is_account =
        redfish::TextAt(body, "@odata.type").find(".ManagerAccount") != std::string::npos;
    if (is_account && redfish::TextAt(body, "RoleId") == "Administrator" &&
        body.value("Enabled", false) && !redfish::TextAt(body, "UserName").empty()) {
      return redfish::TextAt(body, "UserName");
    }
  }
  return "";
}

}  // namespace

DrawnGoals::DrawnGoals(const std::vector<std::string>& captures) {
  const redfish::GoalSuite suite = redfish::LoadGoals("data/goals").value();
  for (const std::string& name : captures) {
    captures_[name] = redfish::Capture::Load("data/captures/" + name + ".tar.xz").value();
    const auto applied = redfish::ApplyGoals(suite, *captures_[name]).value();
    for (const auto& goal : applied) {
      // These need passwords of the BIOS, which no service shows to its twin.
      const bool is_blind =
          goal->goal().name() == "bios_password" || goal->goal().name() == "commission_server";
      if (!is_blind) goals_.push_back(goal);
    }
  }
}

DrawnGoal DrawnGoals::Draw(std::uint64_t number, const std::vector<std::string>& names) const {
  runtime::Random random(7, number);
  const auto is_wanted = [&](const auto& goal) {
    return names.empty() ||
           std::find(names.begin(), names.end(), goal->goal().name()) != names.end();
  };
  REQUIRE(std::any_of(goals_.begin(), goals_.end(), is_wanted));
  for (;;) {
    const auto& goal = goals_[random.Below(goals_.size())];
    if (!is_wanted(goal)) continue;
    return {goal, goal->DrawEpisode(11, number, redfish::Split::kEvaluate).value()};
  }
}

bool IsOpen(const redfish::Episode& episode) { return !episode.satisfied; }

OperatedHost::OperatedHost(const std::vector<std::string>& captures)
    : mock_(Settings(captures, files_.path())) {}

json OperatedHost::Control(const std::string& method, const std::string& path,
                           const json& body) const {
  const auto answer = http::Fetch(
      mock_.control(),
      {.method = method, .target = path, .body = body.is_null() ? std::string() : body.dump()});
  INFO(method << " " << path << " " << runtime::Message(answer.status()));
  REQUIRE(answer.ok());
  INFO(answer->body);
  REQUIRE(answer->status < 300);
  return json::parse(answer->body, nullptr, false);
}

void OperatedHost::Begin(const DrawnGoal& drawn, const json& faults) {
  const json made = Control("POST", "/shoal/v1/instances",
                            {{"id", "host"},
                             {"capture", drawn.goal->capture_name()},
                             {"clock", "real"},
                             {"authentication", "required"},
                             {"event_delivery", "simulated"},
                             {"power_transient_ms", 200},
                             {"task_duration_ms", 300},
                             {"port", 0}});
  url_ = "https://" + made.at("address").get<std::string>();
  Control(
      "POST", std::string(kInstance) + "/reset",
      {{"start", redfish::ToJson(drawn.episode.start)}, {"watch", drawn.episode.watch->ToJson()}});
  Control("PUT", std::string(kInstance) + "/faults", {{"faults", faults}, {"seed", 3}});
}

void OperatedHost::Teach(const json& rules) {
  Control("PUT", std::string(kInstance) + "/rules", {{"rules", rules}});
}

void OperatedHost::End() { Control("DELETE", kInstance, nullptr); }

std::vector<std::string> OperatedHost::Arguments(const DrawnGoals& goals, const DrawnGoal& drawn,
                                                 const std::string& audit) const {
  const redfish::Goal& goal = drawn.goal->goal();
  const auto& values = drawn.episode.values;
  std::vector<std::string> arguments = {"do",        drawn.episode.text,
                                        "--goal",    goal.name(),
                                        "--host",    url_,
                                        "--capture", drawn.goal->capture_name(),
                                        "--ca-file", files_.path() + "/mock.pem",
                                        "--audit",   audit,
                                        "--settle",  "20",
                                        "--doubt",   "1",
                                        "--timeout", "5"};
  const std::string plan = json(drawn.goal->PlanOf({})).dump();
  std::string login = "shoal-password";
  for (const auto& [parameter, generator] : goal.definition().parameters) {
    for (const std::string& name : {parameter, "other:" + parameter}) {
      const bool is_used = name == parameter || plan.find("{" + name + "}") != std::string::npos;
      if (!is_used || !values.contains(name)) continue;
      const std::string text = values.find(name)->second.get<std::string>();
      const bool is_secret = generator == "password";
      arguments.insert(
          arguments.end(),
          {is_secret ? "--set-file" : "--set",
           name + "=" + (is_secret ? files_.Write("secret-" + name, text + "\n") : text)});
      // The start of this goal sets the administrator's password.
      if (is_secret && goal.name() == "session_hygiene") login = text;
    }
  }
  // A session of the command's own would be one more to clean up, if its logout were lost.
  if (goal.name() == "session_hygiene") {
    arguments.insert(arguments.end(), {"--auth", "basic"});
  }
  std::set<std::string> others;
  for (const auto& reading : goal.definition().orders) others.insert(reading.name);
  for (const auto& choice : goal.definition().choices) {
    for (const auto& [name, value] : choice.values) others.insert(name);
  }
  for (const std::string& name : others) {
    const auto found = values.find(name);
    if (found == values.end()) continue;
    const json& value = found->second;
    arguments.insert(
        arguments.end(),
        {"--set", name + "=" + (value.is_string() ? value.get<std::string>() : value.dump())});
  }
  arguments.insert(arguments.end(),
                   {"--user", Administrator(goals.capture(drawn.goal->capture_name())),
                    "--password-file", files_.Write("login", login + "\n")});
  return arguments;
}

std::map<std::string, std::string> OperatedHost::Access(const redfish::Capture& capture) const {
  return {{"url", url_},
          {"user", Administrator(capture)},
          {"password_file", files_.Write("login", "shoal-password\n")},
          {"ca_file", files_.path() + "/mock.pem"}};
}

std::vector<std::string> OperatedHost::EnvironmentFlags(const redfish::Capture& capture) const {
  std::vector<std::string> flags = {"--capture", capture.name(), "--access", "host"};
  for (const auto& [name, value] : Access(capture)) {
    flags.insert(flags.end(), {"--set", "environment.host." + name + "=" + json(value).dump()});
  }
  return flags;
}

std::string OperatedHost::Table(const redfish::Capture& capture) const {
  std::string table = "[[do.host]]\ncapture = " + json(capture.name()).dump() + "\n";
  for (const auto& [name, value] : Access(capture)) {
    table += name + " = " + json(value).dump() + "\n";
  }
  return table;
}

Verdict OperatedHost::Judge() const {
  Verdict verdict;
  const json seen = Control("POST", std::string(kInstance) + "/evaluate", json::object());
  verdict.satisfied = seen.at("satisfied").get<bool>();
  const json history = Control("GET", std::string(kInstance) + "/history", nullptr);
  std::int64_t sessions = 0;
  for (const json& record : history.at("records")) {
    const std::string uri = record.at("uri").get<std::string>();
    const std::string kind = record.at("kind").get<std::string>();
    if (kind == "login") ++sessions;
    if (kind != "change") continue;
    const std::string method = record.at("detail").at("Method").get<std::string>();
    // The command logs out by deleting a session that it has made.
    const bool is_logout =
        method == "DELETE" && uri.find("/Sessions/") != std::string::npos && sessions-- > 0;
    if (!is_logout) verdict.changes.push_back(method + " " + uri);
  }
  return verdict;
}

std::string OperatedHost::LogBelow(const std::string& audit) const {
  std::string name = url_.substr(url_.rfind('/') + 1);
  std::replace(name.begin(), name.end(), ':', '_');
  return audit + "/" + name + ".jsonl";
}

json Faults(double rate, int latency_ms) {
  json faults = json::array({{{"name", "slow"}, {"latency_ms", latency_ms}}});
  if (rate > 0) {
    faults.push_back({{"name", "busy"}, {"status", 503}, {"retry_after_seconds", 1}});
    faults.push_back({{"name", "broken"}, {"status", 500}});
    faults.push_back({{"name", "unheard"}, {"drop", "request"}});
    faults.push_back({{"name", "unanswered"}, {"drop", "answer"}});
    faults.push_back({{"name", "garbled"}, {"malformed", "truncated"}});
  }
  for (json& fault : faults) {
    fault["path"] = "/**";
    if (fault["name"] != "slow") fault["probability"] = rate / 5;
  }
  return faults;
}

std::vector<std::string> InWords(std::vector<std::string> arguments, const std::string& sentence) {
  const auto goal = std::find(arguments.begin(), arguments.end(), "--goal");
  REQUIRE(goal != arguments.end());
  arguments.erase(goal, goal + 2);
  arguments.at(1) = sentence;
  return arguments;
}

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string InterruptOnceSent(const std::vector<std::string>& arguments, const std::string& log) {
  ShoalRun run(arguments);
  REQUIRE(Eventually(seconds(30), [&] { return !SentIn(AuditOf(log)).empty(); }));
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(20)));
  INFO(run.output());
  REQUIRE(run.exit().code == 5);
  return run.output();
}

std::vector<json> AuditOf(const std::string& path) {
  std::vector<json> records;
  const std::string text = runtime::ReadFile(path).value_or("");
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
    records.push_back(json::parse(text.substr(begin, end - begin), nullptr, false));
    REQUIRE(records.back().is_object());
    begin = end + 1;
  }
  return records;
}

std::vector<std::string> SentIn(const std::vector<json>& records) {
  std::vector<std::string> sent;
  for (const json& record : records) {
    if (record.at("record") != "send") continue;
    std::string uri = record.at("uri").get<std::string>();
    // The history names the resource of an action.
    uri = uri.substr(0, uri.find("/Actions/"));
    sent.push_back(record.at("method").get<std::string>() + " " + uri);
  }
  return sent;
}

std::vector<std::string> UnlikePlan(const std::vector<json>& records) {
  std::vector<std::string> unlike;
  json plan;
  operate::MadeUris made;
  for (const json& record : records) {
    const std::string kind = record.at("record").get<std::string>();
    if (kind == "plan") {
      plan = record.at("plan").at("steps");
      made.clear();
    }
    if (kind == "done" && record.contains("made")) {
      record.at("made").get_to(made);
    }
    if (kind != "send") continue;
    const json& step = plan.at(record.at("step").get<std::size_t>());
    const bool is_planned =
        record.at("method") == step.at("method") &&
        record.at("uri") == operate::OnHost(made, step.at("uri").get<std::string>()) &&
        record.at("body") == operate::OnHost(made, step.at("body"));
    if (!is_planned) unlike.push_back(record.dump());
  }
  return unlike;
}

std::vector<std::string> Unannounced(std::vector<std::string> changes,
                                     std::vector<std::string> sent) {
  std::erase_if(changes, [&](const std::string& change) {
    const auto found = std::find(sent.begin(), sent.end(), change);
    if (found == sent.end()) return false;
    sent.erase(found);
    return true;
  });
  return changes;
}

}  // namespace shoal::tests
