// SPDX-License-Identifier: Apache-2.0
#include "replay/client/priority_outbox.h"

#include <catch2/catch.hpp>
#include <limits>

namespace shoal::replay::client {
namespace {

// The update of item `sequence` of a shard; its priority is its sequence.
PriorityUpdate Of(std::size_t shard, std::size_t sequence) {
  PriorityUpdate update{.shard = shard, .id = {}, .priority = static_cast<float>(sequence)};
  update.id.set_first_sequence(sequence);
  return update;
}

TEST_CASE("new priorities leave in order, to the shard of their item, as many as a message holds") {
  PriorityOutbox outbox;
  outbox.AddShard();
  outbox.AddShard();
  for (std::size_t i = 0; i < PriorityOutbox::kMaxInMessage + 2; ++i) {
    const PriorityUpdate update = Of(1, i);
    REQUIRE(outbox.Add({&update, 1}).ok());
  }
  proto::SampleRequest other;
  REQUIRE_FALSE(outbox.MoveTo(other, 0));
  REQUIRE(other.priorities_size() == 0);
  proto::SampleRequest first;
  REQUIRE(outbox.MoveTo(first, 1));
  REQUIRE(first.priorities_size() == static_cast<int>(PriorityOutbox::kMaxInMessage));
  REQUIRE(first.priorities(0).id().first_sequence() == 0);
  proto::SampleRequest last;
  REQUIRE_FALSE(outbox.MoveTo(last, 1));
  REQUIRE(last.priorities_size() == 2);
  REQUIRE(last.priorities(1).id().first_sequence() == PriorityOutbox::kMaxInMessage + 1);
  REQUIRE(last.priorities(1).priority() == static_cast<float>(PriorityOutbox::kMaxInMessage + 1));
  REQUIRE(outbox.dropped_total() == 0);
}

TEST_CASE("the oldest priorities of a shard that is away are dropped and counted") {
  PriorityOutbox outbox;
  outbox.AddShard();
  const std::vector<PriorityUpdate> updates(PriorityOutbox::kMaxWaiting, Of(0, 1));
  REQUIRE(outbox.Add(updates).ok());
  const std::vector<PriorityUpdate> more(3, Of(0, 2));
  REQUIRE(outbox.Add(more).ok());
  REQUIRE(outbox.dropped_total() == 3);
  outbox.Clear(0);
  REQUIRE(outbox.dropped_total() == 3 + PriorityOutbox::kMaxWaiting);
  proto::SampleRequest request;
  REQUIRE_FALSE(outbox.MoveTo(request, 0));
  REQUIRE(request.priorities_size() == 0);
}

TEST_CASE("with one priority or shard out of range none of the priorities is taken") {
  PriorityOutbox outbox;
  outbox.AddShard();
  PriorityUpdate below = Of(0, 1);
  below.priority = -1;
  PriorityUpdate no_number = Of(0, 1);
  no_number.priority = std::numeric_limits<float>::quiet_NaN();
  for (const PriorityUpdate& bad : {Of(1, 1), below, no_number}) {
    REQUIRE(absl::IsInvalidArgument(outbox.Add(std::vector{Of(0, 1), bad})));
  }
  proto::SampleRequest request;
  REQUIRE_FALSE(outbox.MoveTo(request, 0));
  REQUIRE(request.priorities_size() == 0);
}

}  // namespace
}  // namespace shoal::replay::client
