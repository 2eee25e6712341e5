// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/placer_process.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/doubles/temporary_folder.h"
#include "tests/placement/small_graphs.h"

namespace shoal::cli {
namespace {

// A folder with a program `placer` that does what a script says.
class ScriptedPlacer {
 public:
  explicit ScriptedPlacer(const std::string& script) {
    const std::string path = folder_.path() + "/placer";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  absl::StatusOr<placement::Found> Run(const placement::SearchOptions& options = {}) const {
    placement::Graph graph;
    placement::AddOperation(graph, 1, 1, {});
    placement::Simulator simulator =
        placement::Simulator::Create(graph, placement::EqualDevices(2, 1000)).value();
    return RunPlacer(Task(), simulator, options);
  }
  PlacerTask Task() const {
    PlacerTask task;
    task.programs = folder_.path();
    task.graph = "graph.json";
    task.devices = "devices.toml";
    return task;
  }

 private:
  const doubles::TemporaryFolder folder_;
};

TEST_CASE("a placer that fails is told of in its own words, or by the end of its standard error") {
  const absl::Status said = ScriptedPlacer("echo failed no memory; exit 1").Run().status();
  REQUIRE(absl::IsInternal(said));
  REQUIRE(runtime::Message(said) == "no memory");
  const absl::Status loader =
      ScriptedPlacer("echo first >&2; echo libtorch.so is missing >&2; exit 1").Run().status();
  REQUIRE(absl::IsInternal(loader));
  REQUIRE(runtime::Message(loader) ==
          "the program placer ended with exit code 1: libtorch.so is missing");
}

TEST_CASE("an answer that is no placement is the program's fault, not the user's") {
  const absl::Status wrong = ScriptedPlacer("echo 'found {}'").Run().status();
  REQUIRE(absl::IsInternal(wrong));
}

TEST_CASE("a placer is told to stop when its time is over, whatever it thinks itself") {
  const ScriptedPlacer endless("exec cat > /dev/null");
  REQUIRE(absl::IsCancelled(endless.Run({.seconds = 0}).status()));
  REQUIRE(absl::IsCancelled(endless.Run({.stop = [] { return true; }}).status()));
}

TEST_CASE("that there is no placer is said before anything is searched") {
  const ScriptedPlacer there("exit 0");
  REQUIRE(CheckPlacer(there.Task()).ok());
  PlacerTask missing = there.Task();
  missing.programs += "/none";
  REQUIRE(absl::IsNotFound(CheckPlacer(missing)));
}

}  // namespace
}  // namespace shoal::cli
