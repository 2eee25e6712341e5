// SPDX-License-Identifier: Apache-2.0
#include "replay/service.h"

#include <chrono>

#include "replay/sample_stream.h"

namespace shoal::replay {

Service::Service(const InsertStreamOptions& options, Shard& shard, runtime::Metrics& metrics)
    : options_(options),
      shard_(shard),
      metrics_(shard.options(), metrics),
      waker_("replay-waker", [this] { WakeStreams(); }) {}

Service::~Service() {
  shard_.Close();
  waker_.Join();
}

bool Service::Drain(runtime::Duration grace) {
  registry_.DrainAll();
  return registry_.AwaitEmpty(grace);
}

void Service::WakeStreams() {
  std::uint64_t seen = 0;
  while (!shard_.closed()) {
    seen = shard_.AwaitChange(seen, std::chrono::milliseconds(100));
    sample_streams_.WakeAll();
    insert_streams_.WakeAll();
    metrics_.Update(shard_.stats());
  }
}

grpc::ServerBidiReactor<proto::InsertRequest, proto::InsertReply>* Service::Insert(
    grpc::CallbackServerContext*) {
  const auto stream = std::make_shared<InsertStream>(options_, shard_, insert_streams_, registry_);
  insert_streams_.Add(stream);
  return stream->Start();
}

grpc::ServerBidiReactor<proto::SampleRequest, proto::SampleReply>* Service::Sample(
    grpc::CallbackServerContext*) {
  const auto stream = std::make_shared<SampleStream>(shard_, sample_streams_, registry_);
  sample_streams_.Add(stream);
  return stream->Start();
}

grpc::ServerUnaryReactor* Service::Info(grpc::CallbackServerContext* context,
                                        const proto::InfoRequest*, proto::InfoReply* reply) {
  const ShardStats stats = shard_.stats();
  for (std::size_t i = 0; i < stats.tables.size(); ++i) {
    const TableOptions& options = shard_.options().tables[i];
    const TableStats& table = stats.tables[i];
    proto::TableInfo& out = *reply->add_tables();
    out.set_name(options.name);
    out.set_size(table.size);
    out.set_bytes(table.bytes);
    out.set_max_size(options.max_size);
    out.set_max_bytes(options.max_bytes);
    out.set_inserted_total(table.inserted_total);
    out.set_sampled_total(table.sampled_total);
    out.set_evicted_stale_total(table.evicted_stale_total);
    out.set_duplicates_total(table.duplicates_total);
    out.set_evicted_for_room_total(table.evicted_for_room_total);
    out.set_signature(shard_.SignatureOf(options.name));
  }
  reply->set_content_count(stats.content_count);
  reply->set_content_bytes(stats.content_bytes);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace shoal::replay
