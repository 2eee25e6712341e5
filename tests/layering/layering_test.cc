// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "rules.h"

namespace shoal::layering {
namespace {

namespace fs = std::filesystem;

constexpr char kStart[] = "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n";

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool IsSource(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc";
}

std::vector<std::string> BreachesBelow(const std::string& folder) {
  std::vector<std::string> all;
  if (!fs::exists(folder)) return all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || !IsSource(entry.path())) continue;
    const auto breaches = Breaches(entry.path().string(), Read(entry.path()));
    all.insert(all.end(), breaches.begin(), breaches.end());
  }
  return all;
}

bool Breaks(const std::string& path, const std::string& include) {
  return !Breaches(path, kStart + ("#include " + include + "\n")).empty();
}

// Returns the comment lines of a source, or the whole of a document.
std::string Prose(const fs::path& path) {
  const std::string text = Read(path);
  if (path.extension() == ".md") return text;
  static const std::regex comment("[ \\t]*//.*");
  std::istringstream lines(text);
  std::string comments;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, comment)) comments += line + "\n";
  }
  return comments;
}

// Returns the paths of files that the text names and that are nowhere: neither from the root, nor
// from lib/, nor from the folder of `path` or the one above it.
std::vector<std::string> StalePaths(const fs::path& path, const std::string& text) {
  static const std::regex named(
      "(^|[^A-Za-z0-9_/.:$<{-])((?:[A-Za-z0-9_-]+/)+[A-Za-z0-9_.-]+\\.(?:h|cc|md|proto|py|sh|toml))"
      "(?![A-Za-z0-9_])");
  std::vector<std::string> stale;
  const fs::path folder = path.parent_path();
  for (auto it = std::sregex_iterator(text.begin(), text.end(), named);
       it != std::sregex_iterator(); ++it) {
    const std::string file = (*it)[2];
    const auto there = [&file](const fs::path& base) { return fs::exists(base / file); };
    if (there(".") || there("lib") || there(folder) || there(folder.parent_path())) continue;
    stale.push_back(path.string() + " names " + file + ", which is not there");
  }
  return stale;
}

}  // namespace

TEST_CASE("every source file keeps to the include table") {
  std::string all;
  for (const char* folder : {"actor", "cli", "encoder", "inference", "learner", "lib", "local",
                             "mockserver", "operate", "replay", "tests"}) {
    for (const std::string& breach : BreachesBelow(folder)) all += breach + "\n";
  }
  INFO(all);
  REQUIRE(all.empty());
}

TEST_CASE("every file that a comment of C++ or a document names is there") {
  std::string all;
  for (const char* document : {"README.md", "CONTRIBUTING.md"}) {
    for (const std::string& stale : StalePaths(document, Prose(document))) all += stale + "\n";
  }
  for (const char* folder :
       {"actor", "cli", "data", "deploy", "docs", "encoder", "inference", "learner", "lib", "local",
        "mockserver", "operate", "proto", "replay", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path& path = entry.path();
      // A decision tells of the tree as it was.
      if (path.parent_path() == "docs/decisions") continue;
      if (!IsSource(path) && path.extension() != ".md") continue;
      for (const std::string& stale : StalePaths(path, Prose(path))) all += stale + "\n";
    }
  }
  INFO(all);
  REQUIRE(all.empty());
  REQUIRE(StalePaths("docs/a.md", "see `lib/no/such.h`.").size() == 1);
  REQUIRE(StalePaths("docs/a.md", "see tests/layering/rules.h").empty());
}

TEST_CASE("the build adds folders in the order of the table") {
  const std::string text = Read("CMakeLists.txt");
  const std::regex add("add_subdirectory\\((?:lib/)?([a-z/]+)\\)");
  std::vector<std::string> added;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), add); it != std::sregex_iterator();
       ++it) {
    if ((*it)[1] != "tests") added.push_back((*it)[1]);
  }
  REQUIRE(added.size() > 10);
  std::vector<std::string> expected;
  std::copy_if(Folders().begin(), Folders().end(), std::back_inserter(expected),
               [&](const std::string& folder) {
                 return std::find(added.begin(), added.end(), folder) != added.end();
               });
  REQUIRE(added == expected);
}

TEST_CASE("a folder must not see the libraries that it is kept from") {
  REQUIRE(Breaks("lib/platform/runtime/clock.h", "<boost/asio.hpp>"));
  REQUIRE(Breaks("lib/redfish/goals/goal.h", "<sys/socket.h>"));
  REQUIRE(Breaks("lib/redfish/goals/goal.h", "\"proto/content.pb.h\""));
  REQUIRE(Breaks("inference/server.cc", "<ATen/ATen.h>"));
  REQUIRE(Breaks("learner/loop.cc", "<boost/beast.hpp>"));
  REQUIRE(Breaks("lib/rl/model/network.h", "<google/protobuf/message.h>"));
  REQUIRE_FALSE(Breaks("lib/platform/http/client.cc", "<boost/beast.hpp>"));
  REQUIRE_FALSE(Breaks("lib/rl/model/network.cc", "<torch/nn/modules/linear.h>"));
}

TEST_CASE("arrows point up, and processes meet through clients") {
  REQUIRE(Breaks("lib/platform/runtime/clock.h", "\"platform/transport/channel.h\""));
  REQUIRE(Breaks("replay/table.h", "\"learner/round.h\""));
  REQUIRE(Breaks("learner/loop.cc", "\"replay/table.h\""));
  REQUIRE(Breaks("cli/report.cc", "\"actor/environment.h\""));
  REQUIRE_FALSE(Breaks("cli/commands/do_command.cc", "\"actor/solver/policy_solver.h\""));
  REQUIRE(Breaks("learner/learner.cc", "\"actor/solver/policy_solver.h\""));
  REQUIRE(Breaks("actor/main.cc", "\"mockserver/process/front.h\""));
  REQUIRE_FALSE(Breaks("actor/inprocess.cc", "\"mockserver/instance/instance.h\""));
  REQUIRE(Breaks("actor/main.cc", "\"mockserver/proxy/proxy.h\""));
  REQUIRE_FALSE(Breaks("learner/loop.cc", "\"replay/client/sampler.h\""));
  REQUIRE_FALSE(Breaks("local/thread_cluster.cc", "\"learner/learner.h\""));
  REQUIRE(Breaks("cli/commands/train_command.cc", "\"local/thread_cluster.h\""));
  REQUIRE(Breaks("learner/learner.cc", "\"local/thread_cluster.h\""));
  REQUIRE_FALSE(Breaks("tests/actor/loop_test.cc", "\"actor/environment.h\""));
}

TEST_CASE("rooms of a program point one way, too") {
  REQUIRE(Breaks("mockserver/service/editor.h", "\"mockserver/instance/instance.h\""));
  REQUIRE(Breaks("mockserver/access/access.cc", "\"mockserver/behaviours/power.h\""));
  REQUIRE(Breaks("mockserver/behaviours/power.cc", "\"mockserver/rules/rules.h\""));
  REQUIRE(Breaks("mockserver/instance/instance.h", "\"mockserver/process/front.h\""));
  REQUIRE(Breaks("mockserver/service/editor.h", "<boost/asio.hpp>"));
  REQUIRE_FALSE(Breaks("mockserver/instance/instance.cc", "\"mockserver/behaviours/power.h\""));
  REQUIRE_FALSE(Breaks("mockserver/main.cc", "\"mockserver/process/front.h\""));
  REQUIRE(Breaks("actor/environments/environment.h", "\"actor/loop/episode_plan.h\""));
  REQUIRE(Breaks("learner/unrolls/round.h", "\"learner/learner_options.h\""));
  REQUIRE(Breaks("cli/results/report.cc", "\"cli/session/progress.h\""));
  REQUIRE(Breaks("inference/core/act_engine.h", "\"inference/service/options.h\""));
  REQUIRE_FALSE(Breaks("cli/session/progress.h", "\"cli/metrics/metric_table.h\""));
}

TEST_CASE("the whole of torch, Catch's CHECK and a header without its guard are found") {
  REQUIRE(Breaks("lib/rl/model/network.cc", "<torch/torch.h>"));
  const std::string start = kStart;
  REQUIRE_FALSE(Breaches("tests/a_test.cc", start + "  CHECK" + "(a == b);\n").empty());
  REQUIRE_FALSE(Breaches("tests/a_test.cc", start + "CHECK" + "_FALSE(a);\n").empty());
  REQUIRE(Breaches("lib/platform/http/a.cc", start + "SHOAL_CHECK" + "(a);\n").empty());
  REQUIRE_FALSE(Breaches("lib/platform/http/a.h", "#pragma once\n").empty());
}

}  // namespace shoal::layering
