// SPDX-License-Identifier: Apache-2.0
// The gRPC service of one shard: Insert, Sample, Info and Configure. It owns the thread that wakes
// waiting streams, and those that read payloads from disk.
//
// Thread-safe. To end it, call Drain, then the server's Shutdown, then destroy it.
#pragma once

#include <memory>
#include <string>

#include "platform/runtime/clock.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/thread.h"
#include "platform/transport/stream_registry.h"
#include "proto/replay.grpc.pb.h"
#include "replay/batch_reader.h"
#include "replay/insert_stream.h"
#include "replay/promises.h"
#include "replay/shard.h"
#include "replay/shard_metrics.h"
#include "replay/table_settings.h"
#include "replay/waiters.h"

namespace shoal::replay {

// The service with callbacks for all methods. Sample has messages as gRPC's buffers.
using ServiceMethods = proto::Replay::WithCallbackMethod_Insert<
    proto::Replay::WithRawCallbackMethod_Sample<proto::Replay::WithCallbackMethod_Info<
        proto::Replay::WithCallbackMethod_Configure<proto::Replay::WithCallbackMethod_Checkpoint<
            proto::Replay::WithCallbackMethod_Exclude<proto::Replay::Service>>>>>>;

class Service final : public ServiceMethods {
 public:
  // The references must outlive the service.
  Service(const InsertStreamOptions& options, Shard& shard, TableSettings& settings,
          runtime::Metrics& metrics);
  ~Service() override;

  // Ends all streams with UNAVAILABLE and refuses new ones. Returns false if some are left after
  // `grace`.
  bool Drain(runtime::Duration grace);

  grpc::ServerBidiReactor<proto::InsertRequest, proto::InsertReply>* Insert(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Sample(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Info(grpc::CallbackServerContext* context,
                                 const proto::InfoRequest* request,
                                 proto::InfoReply* reply) override;
  grpc::ServerUnaryReactor* Checkpoint(grpc::CallbackServerContext* context,
                                       const proto::CheckpointRequest* request,
                                       proto::CheckpointReply* reply) override;
  grpc::ServerUnaryReactor* Exclude(grpc::CallbackServerContext* context,
                                    const proto::ExcludeRequest* request,
                                    proto::ExcludeReply* reply) override;
  grpc::ServerUnaryReactor* Configure(grpc::CallbackServerContext* context,
                                      const proto::ConfigureRequest* request,
                                      proto::ConfigureReply* reply) override;

 private:
  void WakeStreams();

  const InsertStreamOptions options_;
  Shard& shard_;
  TableSettings& settings_;
  ShardMetrics metrics_;
  Waiters insert_streams_;
  Promises promises_;
  Waiters sample_streams_;
  transport::StreamRegistry registry_;
  runtime::Thread waker_;
  BatchReader reader_;
};

}  // namespace shoal::replay
