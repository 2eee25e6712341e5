// SPDX-License-Identifier: Apache-2.0
#include "cli/results/report.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/cluster/effective_config.h"
#include "cli/session/run_directory.h"
#include "platform/display/line_chart.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
TEST_CASE("a run's name is taken once, and latest points at the last run") {
  const doubles::TemporaryFolder folder;
  for (const char* name : {"one", "two"}) {
    const auto run = RunDirectory::Create(folder.path(), name);
    REQUIRE(run.ok());
    run->BecomeLatest();
  }
  REQUIRE(std::filesystem::read_symlink(folder.path() + "/latest") == "two");
  REQUIRE(absl::IsAlreadyExists(RunDirectory::Create(folder.path(), "one").status()));
  for (const char* name : {"", "..", "a/b", "latest"}) {
    REQUIRE(absl::IsInvalidArgument(RunDirectory::Create(folder.path(), name).status()));
  }
}

TEST_CASE("a report is one file that needs no network, whatever is missing or half written") {
  const doubles::TemporaryFolder folder;
  auto run = RunDirectory::Create(folder.path(), "run");
  REQUIRE(run.ok());
  REQUIRE(absl::IsNotFound(WriteReport(folder.path()).status()));
  REQUIRE(run->Write("run.json", R"({"name":"<run>","command":"shoal train x"})").ok());
  REQUIRE(WriteReport(run->path()).ok());
  REQUIRE(
      run->AppendLine("metrics.jsonl", R"({"environment_steps":1,"return":2,"details":{"loss":3}})")
          .ok());
  REQUIRE(
      run->AppendLine("metrics.jsonl", R"({"environment_steps":9,"return":4,"details":{"loss":1}})")
          .ok());
  REQUIRE(run->AppendLine("metrics.jsonl", R"({"environment_st)").ok());
  REQUIRE(run->Write("result.json",
                     R"({"line":"result x","totals":{"learned":{"episodes":3,"success":0.5}},)"
                     R"("pairs":[{"goal":"1","capture":"a","policy":"learned","episodes":3},)"
                     R"({"goal":"2","capture":"a","policy":"learned","episodes":5,)"
                     R"("open":{"equals /s /Seldom":1,"exists /s /Often":4}}]})")
              .ok());
  const auto path = WriteReport(run->path());
  REQUIRE(path.ok());
  const std::string html = runtime::ReadFile(*path).value();
  for (const char* part : {"<svg", "loss", "&lt;run&gt;", "result x", "<td>0.500</td>"}) {
    REQUIRE(html.find(part) != std::string::npos);
  }
  REQUIRE(html.find("exists /s /Often") < html.find("equals /s /Seldom"));
  REQUIRE(html.find("equals /s /Seldom") != std::string::npos);
  for (const char* outside : {"http://", "https://", "<script", "@import", "<link"}) {
    REQUIRE(html.find(outside) == std::string::npos);
  }
}

TEST_CASE("a report shows how training went and buckets in the order of their bounds") {
  const doubles::TemporaryFolder folder;
  auto run = RunDirectory::Create(folder.path(), "run");
  REQUIRE(run.ok());
  REQUIRE(run->Write("run.json", "{}").ok());
  for (const char* line :
       {R"({"environment_steps":1,"details":{"kl":3,"age/1":0.5,"age/16":0.25,"age/2":0.25}})",
        R"({"environment_steps":2,"details":{"kl":1,"age/1":0.5,"age/16":0.5,"age/2":0}})"}) {
    REQUIRE(run->AppendLine("metrics.jsonl", line).ok());
  }
  REQUIRE(run->Write("metrics_table.json",
                     R"([{"metric":"shoal_kl","group":"training","title":"divergence"},)"
                     R"({"metric":"shoal_age","kind":"histogram","group":"staleness",)"
                     R"("title":"rows by age","draw":"shares"}])")
              .ok());
  const std::string html = runtime::ReadFile(WriteReport(run->path()).value()).value();
  std::size_t last = 0;
  for (const char* part :
       {"<h2>How training went</h2>", "divergence", "<h2>Speed and staleness</h2>", "rows by age",
        "<th>1</th><th>2</th><th>16</th>", "<td>50 %</td><td>12 %</td><td>38 %</td>"}) {
    INFO(part);
    const std::size_t at = html.find(part);
    REQUIRE(at != std::string::npos);
    REQUIRE(at > last);
    last = at;
  }
  REQUIRE(html.find("Where the time went") == std::string::npos);
}

TEST_CASE("the programs' sections are put together, the first to print one keeps it") {
  const doubles::TemporaryFolder folder;
  const auto program = [&](const std::string& name, const std::string& script) {
    const std::string path = folder.path() + "/" + name;
    REQUIRE(runtime::WriteFileAtomically(path, "#!/bin/sh\n" + script).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  };
  const std::string first = program("first", "printf '[run]\\nseed = 9\\n[a]\\nb = \"x\"\\n'");
  const std::string second = program("second", "printf '[a.c]\\nd = 1\\n[e]\\nf = [\"g\"]\\n'");
  const auto config = EffectiveConfig::Gather("[run]\nseed = 1\n", {first, second}, {});
  REQUIRE(config.ok());
  REQUIRE(config->text() == "[run]\nseed = 1\n[a]\nb = \"x\"\n[e]\nf = [\"g\"]\n");
  REQUIRE(config->Text("a.b") == "x");
  REQUIRE(config->Texts("e.f") == std::vector<std::string>{"g"});
  REQUIRE_FALSE(config->Text("a.missing"));

  const auto other = config->WithOwn("[run]\nseed = 2\n");
  REQUIRE(other.ok());
  REQUIRE(other->text() == "[run]\nseed = 2\n[a]\nb = \"x\"\n[e]\nf = [\"g\"]\n");
  REQUIRE(absl::IsInternal(config->WithOwn("[run]\nseed =\n").status()));

  const std::string bad = program("bad", "echo 'x.toml:4: unknown key' >&2; exit 2");
  const auto refused = EffectiveConfig::Gather("", {first, bad}, {});
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE(runtime::Message(refused.status()) == "x.toml:4: unknown key");
}

TEST_CASE("settings are told apart by their sections") {
  const std::vector<std::string> settings = {"run.name=\"a\"", "cluster.learner=\"b:1\""};
  REQUIRE(AreAllOf(settings, {"run", "cluster"}));
  REQUIRE_FALSE(AreAllOf(settings, {"run"}));
  REQUIRE_FALSE(AreAllOf(std::vector<std::string>{"runner.name=1"}, {"run"}));
  REQUIRE(AreAllOf({}, {"run"}));
}

TEST_CASE("text survives as TOML") {
  REQUIRE(TomlText("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
  REQUIRE(TomlList({"a", "b"}) == "[\"a\", \"b\"]");
}

}  // namespace shoal::cli
