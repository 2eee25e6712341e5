// SPDX-License-Identifier: Apache-2.0
// Asks all shards what they hold and who waits for what, changes options of their tables, and has
// them write checkpoints and exclude versions.
//
// The functions block for at most `timeout`, and ask all shards at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "proto/replay.pb.h"

namespace shoal::replay::client {

// Each function returns an answer for each address, in their order. UNAVAILABLE and
// DEADLINE_EXCEEDED: that shard is down or does not answer. Other errors are those of the RPC.

std::vector<absl::StatusOr<proto::InfoReply>> AskShards(std::span<const std::string> addresses,
                                                        runtime::Duration timeout);

// Changes `table` on all shards by settings "option=value" (ConfigureRequest). A shard that is down
// starts later with the options of its cluster file.
std::vector<absl::StatusOr<proto::ConfigureReply>> ConfigureShards(
    std::span<const std::string> addresses, const std::string& table,
    std::span<const std::string> settings, runtime::Duration timeout);

// Has every shard write a checkpoint with this id of a learner's checkpoint.
std::vector<absl::StatusOr<proto::CheckpointReply>> CheckpointShards(
    std::span<const std::string> addresses, const std::string& learner_checkpoint,
    runtime::Duration timeout);

// Excludes a range of versions on all shards. A shard that is down
// excludes nothing.
std::vector<absl::StatusOr<proto::ExcludeReply>> ExcludeFromShards(
    std::span<const std::string> addresses, const proto::ExcludeRequest& request,
    runtime::Duration timeout);

}  // namespace shoal::replay::client
