// SPDX-License-Identifier: Apache-2.0
// `shoal replay info` prints the tables of all replay shards of a cluster, and `shoal replay set
// TABLE option=value ...` changes options of a table on all of them while they run.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <span>
#include <string>

#include "platform/runtime/status.h"
#include "proto/replay.pb.h"

namespace shoal::cli {

// Returns the text of `shoal replay info`: each table with its items, bytes and columns, and for
// each shard what it holds, its credit, and whether inserts and samples wait, and why. `answers`
// has one entry for each address.
std::string DescribeTables(std::span<const std::string> addresses,
                           std::span<const absl::StatusOr<proto::InfoReply>> answers);

// Adds the subcommands to `app`. Parsing them sets `action` to a function that runs them and
// returns the exit code, which is `failed` if a shard did not answer and `configuration` if one
// refused a setting.
void AddReplay(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
