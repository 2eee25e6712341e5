// SPDX-License-Identifier: Apache-2.0
#include "operate/audit_log.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "operate/announcement.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/file_size_limit.h"
#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

Announcement SomeAnnouncement() {
  return {.host = "https://bmc.lab:443",
          .goal = "add_operator",
          .sentence = "let bob in with hunter2-hunter2",
          .values = {{"Password", "hunter2-hunter2"}, {"UserName", "bob"}},
          .solver = "the expert's plan",
          .steps = {{.method = "POST",
                     .uri = "/redfish/v1/AccountService/Accounts",
                     .body = {{"UserName", "bob"}, {"Password", "hunter2-hunter2"}},
                     .status = 201,
                     .location = "/redfish/v1/AccountService/Accounts/3",
                     .effects = {{.uri = "/redfish/v1/AccountService/Accounts/3",
                                  .pointer = "",
                                  .before = nullptr,
                                  .after = {{"@odata.id", "/redfish/v1/AccountService/Accounts/3"}},
                                  .matters = true}}},
                    {.method = "PATCH", .uri = "/redfish/v1", .session = 0, .status = 200}},
          .predicate = {{"all", Json::array()}},
          .history = {}};
}

const Secrets kKnown(std::map<std::string, std::string>{{"Password", "hunter2-hunter2"}});

}  // namespace

TEST_CASE("a log knows how far an operation came, also after a crash in the middle of a line") {
  const doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  const std::string path = folder.At("host.jsonl");
  {
    const auto log = AuditLog::Open(path, clock).value();
    REQUIRE_FALSE(log->unfinished());
    const Json plan = ToJson(SomeAnnouncement(), kKnown).value();
    REQUIRE(log->Append({{"record", "plan"}, {"plan", plan}}).ok());
    REQUIRE(log->Append({{"record", "send"}, {"step", 0}, {"before", {{"u /p", 1}}}}).ok());
    REQUIRE(log->Append({{"record", "answer"}, {"step", 0}, {"status", 201}, {"location", "/a/7"}})
                .ok());
    REQUIRE(log->Append({{"record", "done"}, {"step", 0}, {"made", {{"/a/3", "/a/7"}}}}).ok());
    REQUIRE(log->Append({{"record", "send"}, {"step", 1}, {"before", Json::object()}}).ok());
    REQUIRE(log->Append({{"record", "interrupted"}}).ok());
  }
  std::ofstream(path, std::ios::app) << "{\"record\": \"ans";
  const auto log = AuditLog::Open(path, clock).value();
  REQUIRE(log->unfinished());
  const PastOperation& past = *log->unfinished();
  REQUIRE(past.steps.at(0).is_done);
  REQUIRE(past.steps.at(0).status == 201);
  REQUIRE(past.steps.at(0).before == Json{{"u /p", 1}});
  REQUIRE(past.made.at("/a/3") == "/a/7");
  REQUIRE_FALSE(past.steps.at(1).is_done);
  REQUIRE(past.steps.at(1).status == 0);
  REQUIRE(past.steps.at(1).before);

  const Announcement again = ParseAnnouncement(past.plan, kKnown).value();
  REQUIRE(again.steps == SomeAnnouncement().steps);
  REQUIRE(again.values == SomeAnnouncement().values);

  REQUIRE(log->Append({{"record", "end"}, {"outcome", "reached"}}).ok());
  REQUIRE_FALSE(log->unfinished());
  REQUIRE(log->last()->outcome == "reached");
  REQUIRE(AuditLog::Open(folder.At("other.jsonl"), clock).value()->last() == std::nullopt);
}

TEST_CASE("a log counts the requests that may have been sent, and those that never were") {
  const doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  const auto log = AuditLog::Open(folder.At("host.jsonl"), clock).value();
  const Json plan = ToJson(SomeAnnouncement(), kKnown).value();
  const auto append = [&](const char* kind) {
    REQUIRE(log->Append({{"record", kind}, {"step", 0}}).ok());
  };
  REQUIRE(log->Append({{"record", "plan"}, {"plan", plan}}).ok());
  REQUIRE(log->last()->sent() == 0);
  REQUIRE(log->last()->unsent() == 2);
  append("send");
  append("unsent");
  REQUIRE(log->last()->sent() == 0);
  REQUIRE(log->last()->unsent() == 2);
  append("send");
  append("lost");
  append("send");
  REQUIRE(log->last()->sent() == 2);
  REQUIRE(log->last()->unsent() == 1);
}

TEST_CASE("a log is readable by its owner alone") {
  const doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  const std::string path = folder.At("host.jsonl");
  REQUIRE(AuditLog::Open(path, clock).ok());
  using std::filesystem::perms;
  REQUIRE(std::filesystem::status(path).permissions() == (perms::owner_read | perms::owner_write));
}

TEST_CASE("a record that the disk has no room for leaves no part of itself behind") {
  const doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  const std::string path = folder.At("host.jsonl");
  const auto log = AuditLog::Open(path, clock).value();
  REQUIRE(log->Append({{"record", "interrupted"}}).ok());
  const std::string before = runtime::ReadFile(path).value();
  absl::Status refused;
  {
    const doubles::FileSizeLimit full(before.size() + 20);
    refused = log->Append({{"record", "send"}, {"step", 0}});
  }
  REQUIRE_FALSE(refused.ok());
  REQUIRE(runtime::ReadFile(path).value() == before);
  REQUIRE_FALSE(log->last());
  REQUIRE(log->Append({{"record", "interrupted"}}).ok());
  REQUIRE(runtime::ReadFile(path).value() == before + before);
}

TEST_CASE("a log holds no secret, and a plan from it needs the secrets again") {
  const doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  const std::string path = folder.At("host.jsonl");
  const auto log = AuditLog::Open(path, clock).value();
  REQUIRE(
      log->Append({{"record", "plan"}, {"plan", ToJson(SomeAnnouncement(), kKnown).value()}}).ok());
  const std::string text = runtime::ReadFile(path).value();
  REQUIRE(text.find("hunter2") == std::string::npos);
  REQUIRE(text.find("{Password}") != std::string::npos);

  const Json unknown = ToJson(SomeAnnouncement(), Secrets()).value();
  REQUIRE(unknown.dump().find("REDACTED") != std::string::npos);
  REQUIRE(absl::IsFailedPrecondition(ParseAnnouncement(unknown, kKnown).status()));
}

TEST_CASE(
    "a plan knows the secrets of its sentence for whoever says it again, and for nobody else") {
  Announcement said = SomeAnnouncement();
  said.sentence = "make the password hunter2-hunter2, and the attribute as it should be";
  said.is_understood = true;
  said.given = {"To"};
  const redfish::Values given = {{"To", "On"}};
  const Json plan = ToJson(said, kKnown).value();
  const auto recalled = RecallSecrets(plan, said.sentence, given);
  REQUIRE(recalled.has_value());
  REQUIRE(recalled->values() ==
          std::map<std::string, std::string>{{"Password", "hunter2-hunter2"}});
  REQUIRE_FALSE(RecallSecrets(plan, "make the password hunter2-hunter2", given).has_value());
  REQUIRE_FALSE(RecallSecrets(plan, said.sentence, {}).has_value());
  REQUIRE_FALSE(RecallSecrets(nullptr, said.sentence, given).has_value());

  said.is_understood = false;
  REQUIRE_FALSE(RecallSecrets(ToJson(said, kKnown).value(), said.sentence, given).has_value());
  // Braces of the sentence's own stand for nothing.
  said.is_understood = true;
  said.sentence = "set the asset tag to {A-17}";
  REQUIRE_FALSE(
      RecallSecrets(ToJson(said, kKnown).value(), "set the asset tag to B-99", given).has_value());
}

TEST_CASE("a plan from the log is refused where a secret is missing or is another one now") {
  const Json plan = ToJson(SomeAnnouncement(), kKnown).value();
  REQUIRE(ParseAnnouncement(plan, kKnown).ok());
  const auto refusal = [&](std::map<std::string, std::string> secrets) {
    const absl::Status status = ParseAnnouncement(plan, Secrets(std::move(secrets))).status();
    REQUIRE(absl::IsFailedPrecondition(status));
    return std::string(status.message());
  };
  const std::string other = refusal({{"Password", "hunter3-hunter3"}});
  REQUIRE(other.find("Password") != std::string::npos);
  REQUIRE(other.find("hunter") == std::string::npos);
  REQUIRE(refusal({}).find("Password") != std::string::npos);
  // The login may have another password now, since the plan does not hold it.
  REQUIRE(
      ParseAnnouncement(plan, Secrets({{"Password", "hunter2-hunter2"}, {"login", "new"}})).ok());
  Json without = plan;
  without.erase("secrets");
  REQUIRE(absl::IsDataLoss(ParseAnnouncement(without, kKnown).status()));
}

TEST_CASE("only one process uses a log, and a line that is no record is named") {
  const doubles::TemporaryFolder folder;
  doubles::ManualClock clock;
  const std::string path = folder.At("host.jsonl");
  {
    const auto log = AuditLog::Open(path, clock).value();
    REQUIRE(absl::IsFailedPrecondition(AuditLog::Open(path, clock).status()));
  }
  std::ofstream(path, std::ios::app) << "{\"record\": \"end\"}\nwhat\n";
  const auto damaged = AuditLog::Open(path, clock);
  REQUIRE(absl::IsDataLoss(damaged.status()));
  REQUIRE(std::string(damaged.status().message()).find(":2") != std::string::npos);
}

}  // namespace shoal::operate
