// SPDX-License-Identifier: Apache-2.0
#include "cli/session/run_directory.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>

#include "cli/session/progress.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

TEST_CASE("A run goes on where it is, but not in two programs at once") {
  const doubles::TemporaryFolder folder;
  std::optional<RunDirectory> first = *RunDirectory::Create(folder.path(), "run");
  REQUIRE(absl::IsNotFound(RunDirectory::Open(first->path()).status()));
  REQUIRE(first->Write("config.toml", "[run]\n").ok());
  const auto second = RunDirectory::Open(first->path());
  REQUIRE(absl::IsFailedPrecondition(second.status()));
  REQUIRE(runtime::Message(second.status()) ==
          "the run " + first->path() + " goes on in another program");
  const std::string path = first->path();
  first.reset();
  REQUIRE(RunDirectory::Open(path).ok());
}

TEST_CASE("A line that a kill cut off is gone when the run goes on") {
  const doubles::TemporaryFolder folder;
  const RunDirectory run = *RunDirectory::Create(folder.path(), "run");
  REQUIRE(run.LastLines("metrics.jsonl")->empty());
  REQUIRE(run.AppendLine("metrics.jsonl", "one").ok());
  REQUIRE(run.AppendLine("metrics.jsonl", "two").ok());
  const std::string file = run.path() + "/metrics.jsonl";
  std::filesystem::resize_file(file, 6);
  REQUIRE(*run.LastLines("metrics.jsonl") == std::vector<std::string>{"one"});
  REQUIRE(run.AppendLine("metrics.jsonl", "three").ok());
  REQUIRE(*runtime::ReadFile(file) == "one\nthree\n");
}

TEST_CASE("Of a long file the last lines are read, each of them whole") {
  const doubles::TemporaryFolder folder;
  const RunDirectory run = *RunDirectory::Create(folder.path(), "run");
  const std::string line(1000, 'x');
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(run.AppendLine("metrics.jsonl", std::to_string(i) + line).ok());
  }
  const std::vector<std::string> lines = *run.LastLines("metrics.jsonl");
  REQUIRE(lines.size() > 4000);
  REQUIRE(lines.size() < 4200);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    REQUIRE(lines[i] == std::to_string(5000 - lines.size() + i) + line);
  }
}

TEST_CASE("A run that goes on forgets that training diverged") {
  const doubles::TemporaryFolder folder;
  const RunDirectory run = *RunDirectory::Create(folder.path(), "a");
  REQUIRE(run.ForgetDivergence().ok());
  REQUIRE(run.Write("diverged", "training diverged").ok());
  REQUIRE(run.ForgetDivergence().ok());
  REQUIRE(absl::IsNotFound(runtime::ReadFile(run.path() + "/diverged").status()));
}

TEST_CASE("A run knows from its last line how far it had come") {
  const Progress progress{.seconds = 61.5, .environment_steps = 1000, .updates = 7};
  const absl::StatusOr<Progress> read = ParseProgress(ToJson(progress));
  REQUIRE(read.ok());
  REQUIRE(read->seconds == 61.5);
  REQUIRE(read->environment_steps == 1000);
  REQUIRE(read->updates == 7);
  for (const char* line : {"", "[]", "{\"seconds\": 1}",
                           "{\"seconds\": \"1\", \"environment_steps\": 2, \"updates\": 3}",
                           "{\"seconds\": -1, \"environment_steps\": 2, \"updates\": 3}",
                           "{\"seconds\": 1e300, \"environment_steps\": 2, \"updates\": 3}"}) {
    INFO(line);
    REQUIRE(absl::IsDataLoss(ParseProgress(line).status()));
  }
}

}  // namespace
}  // namespace shoal::cli
