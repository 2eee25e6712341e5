// SPDX-License-Identifier: Apache-2.0
#include "replay/client/sampled_shard.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "platform/transport/protocol.h"

namespace shoal::replay::client {
namespace {

// The most forgotten keys that one message carries.
constexpr std::size_t kKeysInMessage = 16384;

}  // namespace

void SampledShard::Open(const SamplerOptions& options) {
  proto::SampleRequest request;
  proto::SampleHello& hello = *request.mutable_hello();
  hello.set_protocol_version(transport::kProtocolVersion);
  hello.set_client(options.client);
  hello.set_table(options.table);
  hello.set_max_lag(options.max_lag);
  hello.set_group_epoch(options.group_epoch);
  hello.set_rank(options.rank);
  hello.set_world(options.world);
  hello.set_signature(options.signature);
  if (options.shares_memory) ring.Ask(address, hello);
  link.Open(std::move(request));
  outstanding = drawn = 0;
  told_ = {};
  forgotten_.clear();
  forgotten_total_ = 0;
  chunks.Clear();
}

void SampledShard::Forget(std::vector<std::string> keys) {
  forgotten_total_ += keys.size();
  std::move(keys.begin(), keys.end(), std::back_inserter(forgotten_));
}

bool SampledShard::ForgetChunks(std::size_t bytes) {
  std::vector<std::string> keys = chunks.Leave(bytes, forgotten_total_);
  const bool some = !keys.empty();
  Forget(std::move(keys));
  return some;
}

std::uint64_t SampledShard::CountInserted(std::uint64_t steps_total) {
  const std::uint64_t before = inserted_steps_.value_or(steps_total);
  inserted_steps_ = steps_total;
  // A shard that restarted counts from 0 again.
  return steps_total >= before ? steps_total - before : steps_total;
}

void SampledShard::Ask(proto::SampleRequest request, std::size_t credit,
                       const PolicyVersion& current, runtime::TimePoint now) {
  for (std::size_t i = 0; i < kKeysInMessage && !forgotten_.empty(); ++i) {
    request.add_forgotten_keys(std::move(forgotten_.front()));
    forgotten_.pop_front();
  }
  request.set_credit(static_cast<std::uint32_t>(credit));
  const bool news = told_ < current;
  if (news) {
    request.mutable_current_version()->set_epoch(current.epoch);
    request.mutable_current_version()->set_step(current.step);
  }
  const bool tells_ring = ring.Tell(request);
  if (credit == 0 && !news && !tells_ring && request.priorities_size() == 0 &&
      request.forgotten_keys_size() == 0) {
    return;
  }
  ring.Told(request);
  if (!link.Send(std::move(request))) return;
  if (outstanding == 0) silence.Begin(now);
  outstanding += credit;
  drawn -= std::min(drawn, credit);
  told_ = current;
}

}  // namespace shoal::replay::client
