// SPDX-License-Identifier: Apache-2.0
// A diagnosis says in plain sentences what is wrong with a running cluster: who is down, and who
// waits for whom and why.
//
// A wait is normal: a learner waits for the next unroll, and an inserter for the learner. It is
// reported as a block once nothing has moved for `patience`.
#pragma once

#include <string>
#include <vector>

#include "cli/diagnosis/cluster_state.h"

namespace shoal::cli {

// The values are the exit codes of `shoal doctor`.
enum class Verdict : int { kHealthy = 0, kBlocked = 1, kUnknown = 2 };

struct Finding {
  // Whether it keeps the cluster from its work, or is only worth knowing.
  bool blocks = false;
  // The process or table that it is about, such as "replay shard 127.0.0.1:4000" or "table games".
  std::string about;
  // One sentence.
  std::string sentence;
};

struct Diagnosis {
  Verdict verdict = Verdict::kHealthy;
  // Those that block first.
  std::vector<Finding> findings;
};

// kUnknown: no process answers, or there is none to ask.
Diagnosis Diagnose(const ClusterState& state, double patience_seconds);

// Returns one line for each finding, and a last one with the verdict.
std::string ToText(const Diagnosis& diagnosis);
// Returns {"verdict", "findings": [{"blocks", "about", "sentence"}]}.
std::string ToJson(const Diagnosis& diagnosis);

}  // namespace shoal::cli
