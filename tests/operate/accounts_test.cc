// SPDX-License-Identifier: Apache-2.0
// Operations on accounts: members that somebody else makes, and passwords that are refused.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "account_host.h"
#include "operate/executor.h"
#include "operate/host_state.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

// The steps that make bob an operator and then an administrator. On the twin his account is number
// `id`.
std::vector<Step> MakeBob(const std::string& id) {
  const std::string account = kAccountCollection + "/" + id;
  const Json admin = {{"@odata.id", kAccountCollection + "/1"}};
  const Json bob = {{"@odata.id", account}};
  return {{.method = "POST",
           .uri = kAccountCollection,
           .body = {{"UserName", "bob"}, {"Password", "Tr0ub4dor&3"}, {"RoleId", "Operator"}},
           .status = 201,
           .location = account,
           .effects =
               {{.uri = kAccountCollection,
                 .pointer = "/Members",
                 .before = Json::array({admin}),
                 .after = Json::array({admin, bob})},
                {.uri = account, .pointer = "", .before = nullptr, .after = bob, .matters = true}}},
          {.method = "PATCH",
           .uri = account,
           .body = {{"RoleId", "Administrator"}},
           .status = 200,
           .effects = {{.uri = account,
                        .pointer = "/RoleId",
                        .before = "Operator",
                        .after = "Administrator",
                        .matters = true}}}};
}

// Carries `steps` out on `host` until `predicate` holds, with pauses that do not wait.
Execution Operate(AccountHost& host, std::vector<Step> steps, const Json& predicate,
                  milliseconds settle = milliseconds(50)) {
  const doubles::TemporaryFolder folder;
  HostOptions options;
  options.name = "accounts";
  options.access.connection.address = host.address();
  Host reached(std::move(options), runtime::SystemClock(), [](runtime::Duration) { return false; });
  const auto log = AuditLog::Open(folder.At("accounts.jsonl"), runtime::SystemClock()).value();
  const Permissions permissions;
  const Secrets secrets(std::map<std::string, std::string>{{"Password", "Tr0ub4dor&3"}});
  Budget budget(20);
  Executor executor(reached, *log, permissions, budget, secrets,
                    {.settle = settle, .doubt = milliseconds(5)}, [](const std::string&) {});
  const Announcement announcement = {
      .host = "accounts", .goal = "let_in", .steps = std::move(steps), .predicate = predicate};
  REQUIRE(LogPlan(announcement, secrets, *log).ok());
  return executor.Run(announcement);
}

const Json kNothing = {{"all", Json::array()}};

}  // namespace

TEST_CASE("a member that somebody else makes while an answer is lost is not taken for the own") {
  // The other's account may well have the URI that the twin gave to bob's.
  for (const char* id : {"2", "9"}) {
    INFO(id);
    AccountHost host({{.other = "eve", .acts = false, .status = 0}});
    const Execution execution = Operate(host, MakeBob(id), kNothing);
    INFO(execution.reason);
    REQUIRE(execution.outcome == Outcome::kStopped);
    REQUIRE(execution.reason.find(kAccountCollection + "/2") != std::string::npos);
    REQUIRE(host.requests() == std::vector<std::string>{"POST " + kAccountCollection});
    REQUIRE(host.RoleOf("eve") == "ReadOnly");
  }
}

TEST_CASE("the own member is found beside one that somebody else makes while an answer is lost") {
  for (const char* id : {"2", "9"}) {
    INFO(id);
    AccountHost host({{.other = "eve", .acts = true, .status = 0}});
    const Execution execution = Operate(host, MakeBob(id), kNothing);
    INFO(execution.reason);
    REQUIRE(execution.outcome == Outcome::kReached);
    REQUIRE(host.requests().back() == "PATCH " + kAccountCollection + "/3");
    REQUIRE(host.RoleOf("bob") == "Administrator");
    REQUIRE(host.RoleOf("eve") == "ReadOnly");
  }
}

TEST_CASE("a member that the host refuses to make is not taken from somebody else") {
  AccountHost host({{.other = "bob", .acts = false, .status = 409}});
  REQUIRE(Operate(host, MakeBob("2"), kNothing).outcome == Outcome::kStopped);
  REQUIRE(host.requests().size() == 1);
}

TEST_CASE("a POST that did not arrive is sent again, and its answer names the member") {
  AccountHost host({{.acts = false, .status = 0}});
  REQUIRE(Operate(host, MakeBob("9"), kNothing).outcome == Outcome::kReached);
  REQUIRE(host.RoleOf("bob") == "Administrator");
}

TEST_CASE("a password that is refused is tried twice and no more, so that no account is locked") {
  AccountHost host;
  host.SetPassword("another");
  const Json logs_in = {{{"equals", {{"pointer", "/UserName"}, {"value", "admin"}}}},
                        {{"has_password", {{"value", "Tr0ub4dor&3"}}}}};
  // It ends at the second refusal, however slow the host is.
  const Execution execution = Operate(
      host, {}, {{"some", {{"members", kAccountCollection}, {"holds", {{"all", logs_in}}}}}},
      std::chrono::minutes(10));
  INFO(execution.reason);
  REQUIRE(execution.outcome == Outcome::kStopped);
  REQUIRE(execution.reason.find("admin") != std::string::npos);
  REQUIRE(execution.reason.find("Tr0ub4dor") == std::string::npos);
  REQUIRE(host.refusals() == 2);
}

TEST_CASE("a login whose answer is lost counts as one that was refused") {
  AccountHost host;
  host.SetPassword("another");
  host.LoseRefusals();
  HostOptions options;
  options.access.connection.address = host.address();
  Host reached(std::move(options), runtime::SystemClock(), [](runtime::Duration) { return false; });
  REQUIRE(absl::IsFailedPrecondition(
      reached.CanLogIn(kAccountCollection + "/1", "admin", "Tr0ub4dor&3").status()));
  REQUIRE(host.refusals() == kRefusedLogins);
}

TEST_CASE("one look at a host tries a login once, however often it is asked for") {
  AccountHost host;
  host.SetPassword("another");
  HostOptions options;
  options.access.connection.address = host.address();
  Host reached(std::move(options), runtime::SystemClock(), [](runtime::Duration) { return false; });
  const std::vector<redfish::HistoryRecord> history;
  HostState state(reached, history);
  host.SetPassword("");
  REQUIRE(state.Find(kAccountCollection + "/1") != nullptr);
  host.SetPassword("another");
  REQUIRE_FALSE(state.HasPassword(kAccountCollection + "/1", "", "Tr0ub4dor&3"));
  REQUIRE_FALSE(state.HasPassword(kAccountCollection + "/1", "", "Tr0ub4dor&3"));
  REQUIRE(state.status().ok());
  REQUIRE(host.refusals() == 1);
}

TEST_CASE("a password that the host takes late is tried once more") {
  AccountHost host;
  host.SetPassword("another");
  HostOptions options;
  options.access.connection.address = host.address();
  Host reached(std::move(options), runtime::SystemClock(), [](runtime::Duration) { return false; });
  REQUIRE_FALSE(reached.CanLogIn(kAccountCollection + "/1", "admin", "Tr0ub4dor&3").value());
  host.SetPassword("Tr0ub4dor&3");
  REQUIRE(reached.CanLogIn(kAccountCollection + "/1", "admin", "Tr0ub4dor&3").value());
  // A login that succeeds ends the row of refusals, here as on a host.
  host.SetPassword("another");
  REQUIRE_FALSE(reached.CanLogIn(kAccountCollection + "/1", "admin", "Tr0ub4dor&3").value());
  REQUIRE(absl::IsFailedPrecondition(
      reached.CanLogIn(kAccountCollection + "/1", "admin", "Tr0ub4dor&3").status()));
  REQUIRE(absl::IsFailedPrecondition(
      reached.CanLogIn(kAccountCollection + "/1", "admin", "Tr0ub4dor&3").status()));
  REQUIRE(host.refusals() == 3);
}

}  // namespace shoal::operate
