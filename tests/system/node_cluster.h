// SPDX-License-Identifier: Apache-2.0
// A cluster whose learner's ranks are on nodes that share no disk. The test starts the nodes, and
// takes them away. Replay, inference and actor run from the beginning.
//
// A node is a process with a folder of its own, and with a network of its own where there are some.
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "node_network.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {

using doubles::FreePort;

// The job that all processes are given.
inline constexpr const char* kNodeJob = "deploy/local/cartpole.toml";

class NodeCluster {
 public:
  // Each node is in the network of its number, or all are on this machine's if there are none. The
  // other programs know the first node as the learner.
  explicit NodeCluster(std::size_t nodes, std::vector<NodeNetwork> networks = {});

  // Starts a node: variables of the environment first, then its learner with these flags.
  void StartNode(std::size_t node, const std::vector<std::string>& variables,
                 const std::vector<std::string>& flags);
  // Takes a node away, as a loss of power does.
  void KillNode(std::size_t node);
  void Signal(std::size_t node, int signal);
  // Puts the folder of a node aside.
  void LoseDisk(std::size_t node);
  // Returns an address of a node at a port that was free just now.
  std::string NewAddress(std::size_t node) const;
  const NodeNetwork& network(std::size_t node) const { return networks_[node]; }
  // Waits for the end of a node.
  cli::ExitState AwaitEnd(std::size_t node);

  // Returns the number of updates in the newest checkpoint of a node.
  std::int64_t Saved(std::size_t node) const;
  // Requires that a node saves at least so many.
  void RequireSaved(std::size_t node, std::int64_t updates) const;
  std::set<std::string> FilesOfNewest(std::size_t node) const;
  std::string FileOf(std::size_t node, const std::string& name) const;
  // Returns what all starts of a node have logged.
  std::string Log(std::size_t node) const;
  std::string Log() const;
  // Requires that no log of any folder, lost ones included, has a use of an unroll twice.
  void RequireNoUseTwice() const;
  // Requires that training ends, and that its policy returns 475 or more.
  void RequireSolved();

 private:
  std::string FolderOf(std::size_t node) const;
  std::string LogOf(std::size_t node) const;
  // The address of a port of a node, and one of those programs that are not on nodes.
  std::string At(std::size_t node, std::uint16_t port) const;
  std::string NewAddress() const;
  void Start(const std::string& program, std::vector<std::string> settings);

  const doubles::TemporaryFolder folder_;
  const std::vector<NodeNetwork> networks_;
  const std::string replay_ = NewAddress();
  const std::string inference_ = NewAddress();
  const std::uint16_t learner_ = FreePort();
  const std::uint16_t metrics_ = FreePort();
  std::size_t lost_ = 0;
  std::vector<std::unique_ptr<cli::ChildProcess>> others_;
  std::vector<std::unique_ptr<cli::ChildProcess>> nodes_;
};

}  // namespace shoal::tests
