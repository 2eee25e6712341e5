// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/cluster/child_process.h"
#include "platform/runtime/program.h"

namespace shoal::tests {
namespace {

namespace fs = std::filesystem;

// A tree that was made by `cmake --install` and then moved. The destructor removes it.
class MovedTree {
 public:
  MovedTree() {
    char pattern[] = "/tmp/shoal-install-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    const auto installed =
        cli::RunToEnd({SHOAL_CMAKE, "--install", SHOAL_BUILD, "--prefix", folder_ + "/installed"});
    INFO(installed.status().ToString());
    REQUIRE(installed.ok());
    fs::rename(folder_ + "/installed", root());
  }
  ~MovedTree() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  MovedTree(const MovedTree&) = delete;
  MovedTree& operator=(const MovedTree&) = delete;

  std::string root() const { return folder_ + "/moved"; }

  // Returns what the command prints to standard output in the tree. REQUIREs exit code 0.
  std::string Type(const std::string& command) const {
    const auto output = cli::RunToEnd({"/bin/sh", "-c", "cd " + root() + " && " + command});
    INFO(command << ": " << output.status().ToString());
    REQUIRE(output.ok());
    return *output;
  }

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE(
    "an installed tree that was moved trains with two ranks, by files and libraries of its own",
    "[install]") {
  const MovedTree tree;
  for (const char* path : {"data/captures/dell-r750.tar.xz", "data/goals", "data/encoder",
                           "deploy/local/redfish.toml", "LICENSE", "NOTICE"}) {
    INFO(path);
    REQUIRE(fs::exists(fs::path(tree.root()) / path));
  }
  REQUIRE(tree.Type("bin/shoal --version") == runtime::GitRevision() + "\n");
  REQUIRE(tree.Type("bin/learner --help").find("--world-size") != std::string::npos);
  const std::string libraries = tree.Type("ldd bin/learner bin/inference bin/encoder");
  INFO(libraries);
  REQUIRE(libraries.find(tree.root() + "/bin/../lib/libtorch_cpu.so") != std::string::npos);
  REQUIRE(libraries.find("not found") == std::string::npos);
  REQUIRE(libraries.find("/torch/lib/") == std::string::npos);
  REQUIRE(libraries.find("/nvidia/") == std::string::npos);

  const std::string output = tree.Type(
      "bin/shoal train deploy/local/cartpole.toml --world-size 2 --episodes 1"
      " --set learner.updates=2 --set train.evaluate_every_seconds=0 --set 'train.baselines=[]'");
  INFO(output);
  REQUIRE(output.find("result greedy=") != std::string::npos);
  REQUIRE_FALSE(fs::is_empty(tree.root() + "/runs"));
}

}  // namespace shoal::tests
