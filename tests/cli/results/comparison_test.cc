// SPDX-License-Identifier: Apache-2.0
#include "cli/results/comparison.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/session/run_directory.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

// Writes a run that one evaluation and its result describe, and returns its folder.
std::string WriteRun(const std::string& folder, const std::string& name, const std::string& config,
                     const std::string& evaluation, const std::string& result) {
  auto run = RunDirectory::Create(folder, name);
  REQUIRE(run.ok());
  REQUIRE(run->Write("run.json", "{}").ok());
  REQUIRE(run->Write("config.toml", config).ok());
  REQUIRE(run->AppendLine("evaluations.jsonl", evaluation).ok());
  REQUIRE(run->Write("result.json", result).ok());
  return run->path();
}

std::string Config(const std::string& name, int seed, const std::string& algorithm) {
  return "[run]\nname = \"" + name + "\"\nseed = " + std::to_string(seed) +
         "\n[cluster]\nlearner = \"127.0.0.1:" + std::to_string(1000 + seed) +
         "\"\n[learner]\nfolder = \"runs/" + name + "/parameters\"\n[algorithm]\nname = \"" +
         algorithm + "\"\n";
}

}  // namespace

TEST_CASE("runs that differ in their seed alone are one group with one curve and its band") {
  const doubles::TemporaryFolder folder;
  std::vector<std::string> runs;
  for (int seed = 1; seed <= 3; ++seed) {
    for (const std::string algorithm : {"ppo", "d<q>n"}) {
      const std::string name = algorithm.substr(0, 1) + std::to_string(seed);
      const std::string score = std::to_string(seed * 100);
      runs.push_back(WriteRun(folder.path(), name, Config(name, seed, algorithm),
                              R"({"environment_steps":50,"return":1,"seconds":2})"
                              "\n"
                              R"({"environment_steps":90,"return":)" +
                                  score + R"(,"seconds":4})",
                              R"({"line":"result greedy=)" + score +
                                  (seed < 3 ? " reached_steps=" + score + "00" : "") +
                                  R"( env_steps=90 seconds=4"})"));
    }
  }
  const std::string path = folder.path() + "/page.html";
  REQUIRE(WriteComparison(runs, path).ok());
  const std::string html = runtime::ReadFile(path).value();
  for (const char* part :
       {"<td>ppo</td><td>3</td>", "<td>d&lt;q&gt;n</td><td>3</td>", "200 [100, 300]", "2 of 3",
        "<td>15k</td>", "<polygon", "environment steps", "seconds"}) {
    INFO(part);
    REQUIRE(html.find(part) != std::string::npos);
  }
  for (const char* outside : {"http://", "https://", "<script", "<link", "127.0.0.1"}) {
    REQUIRE(html.find(outside) == std::string::npos);
  }
}

TEST_CASE("runs are told apart by their settings, whatever their folders and paths are called") {
  const doubles::TemporaryFolder folder;
  const std::string evaluation = R"({"environment_steps":50,"return":1,"seconds":2})";
  std::vector<std::string> runs;
  for (const std::string algorithm : {"ppo", "dqn"}) {
    for (int seed = 1; seed <= 2; ++seed) {
      const std::string name = seed == 1 ? algorithm : algorithm + "-2";
      runs.push_back(WriteRun(folder.path(), name, Config(name, seed, algorithm), evaluation, "") +
                     (seed == 1 ? "/" : ""));
    }
  }
  std::filesystem::create_directory_symlink(folder.path() + "/ppo-2", folder.path() + "/latest");
  runs[1] = folder.path() + "/latest";
  const std::string path = folder.path() + "/page.html";
  REQUIRE(WriteComparison(runs, path).ok());
  const std::string html = runtime::ReadFile(path).value();
  REQUIRE(html.find("<td>ppo</td><td>2</td>") != std::string::npos);
  REQUIRE(html.find("<td>dqn</td><td>2</td>") != std::string::npos);
}

TEST_CASE("a run without results is drawn as far as it is, and a folder without a run is named") {
  const doubles::TemporaryFolder folder;
  const std::string run = WriteRun(folder.path(), "a", "", R"({"environment_st)", "");
  const std::string path = folder.path() + "/page.html";
  REQUIRE(WriteComparison({run, run}, path).ok());
  REQUIRE(runtime::ReadFile(path)->find("0 of 2") != std::string::npos);
  const absl::Status missing = WriteComparison({run, folder.path()}, path);
  REQUIRE(absl::IsNotFound(missing));
  REQUIRE(runtime::Message(missing).find(folder.path()) != std::string::npos);

  const std::string odd =
      WriteRun(folder.path(), "b", "", R"({"environment_steps":"many","return":1})", "");
  REQUIRE(absl::IsDataLoss(WriteComparison({run, odd}, path)));
}

}  // namespace shoal::cli
