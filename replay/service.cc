// SPDX-License-Identifier: Apache-2.0
#include "replay/service.h"

#include <algorithm>
#include <chrono>

#include "platform/transport/status.h"
#include "replay/sample_stream.h"

namespace shoal::replay {
namespace {

std::size_t ReadThreads(const ShardOptions& options) {
  const bool reads = options.contents.memory_bytes > 0 ||
                     std::any_of(options.tables.begin(), options.tables.end(),
                                 [](const TableOptions& table) { return table.memory_bytes > 0; });
  return reads ? options.read_threads : 0;
}

// Returns whether the peer is connected by a socket in the file system.
bool IsLocal(const grpc::CallbackServerContext& context) {
  return context.peer().starts_with("unix:");
}

void FillInfo(const TableState& table, proto::TableInfo& out) {
  const auto seconds = [](runtime::Duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  const TableOptions& options = table.options;
  out.set_name(options.name);
  out.set_max_size(options.max_size);
  out.set_max_bytes(options.max_bytes);
  out.set_max_times_sampled(options.max_times_sampled);
  out.set_max_staleness(options.max_staleness);
  out.set_max_age_seconds(seconds(options.max_age));
  out.set_min_size(options.limiter.min_size);
  out.set_samples_per_insert(options.limiter.samples_per_insert);
  out.set_error_buffer(options.limiter.error_buffer);
  const TableStats& stats = table.stats;
  out.set_size(stats.size);
  out.set_bytes(stats.bytes);
  out.set_memory_bytes(stats.memory_bytes);
  out.set_disk_bytes(stats.disk_bytes);
  out.set_max_memory_bytes(options.memory_bytes);
  out.set_reads_total(stats.reads_total);
  out.set_read_wait_seconds_total(static_cast<double>(stats.read_wait_us_total) * 1e-6);
  out.set_lost_total(stats.lost_total);
  out.set_credit_steps(stats.credit);
  out.set_oldest_lag_steps(stats.oldest_lag);
  out.set_inserted_total(stats.inserted_total);
  out.set_sampled_total(stats.sampled_total);
  out.set_evicted_stale_total(stats.evicted_stale_total);
  out.set_duplicates_total(stats.duplicates_total);
  out.set_evicted_for_room_total(stats.evicted_for_room_total);
  out.set_signature(table.signature);
  out.set_insert_wait(std::string(NameOf(table.insert_wait)));
  out.set_sample_wait(std::string(NameOf(table.sample_wait)));
  out.set_seconds_since_insert(seconds(table.since_insert));
  out.set_seconds_since_sample(seconds(table.since_sample));
}

}  // namespace

Service::Service(const InsertStreamOptions& options, Shard& shard, TableSettings& settings,
                 runtime::Metrics& metrics)
    : options_(options),
      shard_(shard),
      settings_(settings),
      metrics_(shard.options(), metrics),
      waker_("replay-waker", [this] { WakeStreams(); }),
      reader_(ReadThreads(shard.options())) {}

Service::~Service() {
  shard_.Close();
  waker_.Join();
}

bool Service::Drain(runtime::Duration grace) {
  registry_.DrainAll();
  return registry_.AwaitEmpty(grace);
}

void Service::WakeStreams() {
  constexpr std::chrono::milliseconds kTick(100);
  std::uint64_t seen = 0;
  runtime::TimePoint looked{};
  while (!shard_.closed()) {
    seen = shard_.AwaitChange(seen, kTick);
    sample_streams_.WakeAll();
    insert_streams_.WakeAll();
    metrics_.Update(shard_.stats());
    const runtime::TimePoint now = runtime::SystemClock().Now();
    if (now - looked < kTick) continue;
    looked = now;
    metrics_.UpdateWaits(insert_streams_.Waiting(), sample_streams_.Waiting());
    settings_.FollowShards(now);
  }
}

grpc::ServerBidiReactor<proto::InsertRequest, proto::InsertReply>* Service::Insert(
    grpc::CallbackServerContext* context) {
  const auto stream = std::make_shared<InsertStream>(options_, IsLocal(*context), shard_,
                                                     insert_streams_, promises_, registry_);
  insert_streams_.Add(stream);
  return stream->Start();
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Service::Sample(
    grpc::CallbackServerContext* context) {
  const auto stream = std::make_shared<SampleStream>(IsLocal(*context), shard_, sample_streams_,
                                                     reader_, registry_);
  sample_streams_.Add(stream);
  return stream->Start();
}

grpc::ServerUnaryReactor* Service::Info(grpc::CallbackServerContext* context,
                                        const proto::InfoRequest*, proto::InfoReply* reply) {
  const std::map<std::string, std::uint32_t> inserters = insert_streams_.Waiting();
  const std::map<std::string, std::uint32_t> samplers = sample_streams_.Waiting();
  for (const TableState& table : shard_.tables()) {
    proto::TableInfo& out = *reply->add_tables();
    FillInfo(table, out);
    if (const auto found = inserters.find(table.options.name); found != inserters.end()) {
      out.set_waiting_inserters(found->second);
    }
    if (const auto found = samplers.find(table.options.name); found != samplers.end()) {
      out.set_waiting_samplers(found->second);
    }
  }
  const ShardStats stats = shard_.stats();
  reply->set_content_count(stats.content_count);
  reply->set_content_bytes(stats.content_bytes);
  reply->set_chunk_count(stats.chunk_count);
  reply->set_chunk_bytes(stats.chunk_bytes);
  reply->set_learner_checkpoint(stats.journal.learner_checkpoint);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* Service::Checkpoint(grpc::CallbackServerContext* context,
                                              const proto::CheckpointRequest* request,
                                              proto::CheckpointReply* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  shard_.Checkpoint(request->learner_checkpoint(),
                    [reactor, reply](const absl::StatusOr<std::string>& directory) {
                      if (directory.ok()) reply->set_directory(*directory);
                      reactor->Finish(transport::ToGrpc(directory.status()));
                    });
  return reactor;
}

grpc::ServerUnaryReactor* Service::Exclude(grpc::CallbackServerContext* context,
                                           const proto::ExcludeRequest* request,
                                           proto::ExcludeReply* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const std::uint64_t last_epoch =
      request->last_epoch() == 0 ? request->epoch() : request->last_epoch();
  const absl::StatusOr<std::size_t> removed =
      shard_.Exclude({.first = {.epoch = request->epoch(), .step = request->first_step()},
                      .last = {.epoch = last_epoch, .step = request->last_step()}});
  if (!removed.ok()) {
    reactor->Finish(transport::ToGrpc(removed.status()));
    return reactor;
  }
  reply->set_removed(*removed);
  shard_.WhenDurable(
      [reactor](const absl::Status& status) { reactor->Finish(transport::ToGrpc(status)); });
  return reactor;
}

grpc::ServerUnaryReactor* Service::Configure(grpc::CallbackServerContext* context,
                                             const proto::ConfigureRequest* request,
                                             proto::ConfigureReply*) {
  const std::vector<std::string> settings(request->settings().begin(), request->settings().end());
  const absl::Status status = settings_.Change(request->table(), settings);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(transport::ToGrpc(status));
  return reactor;
}

}  // namespace shoal::replay
