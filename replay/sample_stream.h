// SPDX-License-Identifier: Apache-2.0
// The shard's end of one Sample stream. It takes credit, and gives items after the contents that
// they need. It ends when a later learner group samples from its table.
//
// Lifetime and locks are those of transport::ServerStream. `mutex_` is taken before the stream's
// own lock, never after, and is held from sampling to sending, so that contents leave before the
// items that use them. At most two messages wait to be written, because sampled items are lost when
// the stream breaks. Batches of which a use has to be on disk first, or a payload is to be read
// from there, are kept back until then, and leave in the order in which they were sampled. At most
// sixteen of them wait, so this is also how far ahead of the client payloads are read.
//
// Messages are gRPC's buffers, so that large payloads are sent from where their items hold them
// (replay/outgoing.h). A message that is no SampleRequest ends the stream with INVALID_ARGUMENT.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/transport/server_stream.h"
#include "proto/replay.pb.h"
#include "replay/batch_reader.h"
#include "replay/shard.h"
#include "replay/shared_ring.h"
#include "replay/waiters.h"

namespace shoal::replay {

class SampleStream final : public transport::ServerStream<grpc::ByteBuffer, grpc::ByteBuffer>,
                           public Waiter {
 public:
  // `local` says that the client is on this host, so that it may have a ring. The references must
  // outlive the stream.
  SampleStream(bool local, Shard& shard, Waiters& streams, BatchReader& batch_reader,
               transport::StreamRegistry& registry)
      : ServerStream({}, registry),
        local_(local),
        shard_(shard),
        streams_(streams),
        batch_reader_(batch_reader) {}

  // Samples and sends as many items as credit and table allow.
  void Wake() override ABSL_LOCKS_EXCLUDED(mutex_);
  // Its table, while it has credit.
  std::set<std::string> WaitsFor() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A batch that was sampled and has not left.
  struct Held {
    std::shared_ptr<SampleBatch> batch;
    // The number of forgotten keys that were heard when it was sampled.
    std::uint64_t forgotten_total = 0;
    bool reading = false;
  };

  void OnMessage(grpc::ByteBuffer&& message) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWritable() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnEnd() override ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Status Take(const proto::SampleRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Greet(const proto::SampleRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes a ring and puts its address into the welcome.
  void OfferRing(proto::SampleWelcome& welcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes from a request whether the client reads the ring, and what of it is free.
  absl::Status FollowRing(const proto::SampleRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Samples now, or stands in line if others have waited longer for the table.
  void AskLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Samples and sends, and takes a new place in line if there was something and more is wanted.
  void SampleLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether there is credit, and room for another batch.
  bool WantsLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Compares what the client expects with the table's signature, until there is one.
  absl::Status CheckExpected() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Put into `reply` what the client has not heard of yet: the table's mass, and that so many
  // forgotten keys were heard. Return false if there is nothing new.
  bool TellMassLocked(proto::SampleReply& reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool TellForgottenLocked(std::uint64_t total, proto::SampleReply& reply)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns what keeps samples back, or "".
  std::string_view WaitLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts what the table waits for into `reply`. Returns false if the client has no credit, or has
  // heard of the table a moment ago.
  bool TellWaitLocked(proto::SampleReply& reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Keeps a batch until it may leave, and has what it lacks read.
  void HoldLocked(SampleBatch&& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The payloads of a batch have been read.
  void OnRead(const std::shared_ptr<SampleBatch>& batch) ABSL_LOCKS_EXCLUDED(mutex_);
  // Sends what was kept back and may leave.
  void SendHeldLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendLocked(Held held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const bool local_;
  Shard& shard_;
  Waiters& streams_;
  BatchReader& batch_reader_;

  runtime::Mutex mutex_;
  std::string table_ ABSL_GUARDED_BY(mutex_);
  std::uint32_t max_lag_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t group_epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  // What the client expects of the items. Nothing once it was compared.
  std::optional<Signature> expected_ ABSL_GUARDED_BY(mutex_);
  // -1 before the hello and after the end.
  int reader_ ABSL_GUARDED_BY(mutex_) = -1;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  // After payloads that could not be read nothing is sampled until then.
  runtime::TimePoint retry_from_ ABSL_GUARDED_BY(mutex_){};
  std::uint64_t credit_ ABSL_GUARDED_BY(mutex_) = 0;
  // The round that has to end before the credit counts. Any has, where there is no lock step.
  PolicyVersion after_round_ ABSL_GUARDED_BY(mutex_);
  // When items left last, credit came after there was none, or the client was told what the table
  // waits for.
  runtime::TimePoint heard_ ABSL_GUARDED_BY(mutex_){};
  // Null where payloads leave in messages. Used once the client has said that it reads it.
  std::unique_ptr<RingWriter> ring_ ABSL_GUARDED_BY(mutex_);
  bool reads_ring_ ABSL_GUARDED_BY(mutex_) = false;
  // The number of forgotten keys that the client has named, and that it was told was heard.
  std::uint64_t forgotten_total_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t told_forgotten_ ABSL_GUARDED_BY(mutex_) = 0;
  // Batches that are kept back, in order.
  std::deque<Held> held_ ABSL_GUARDED_BY(mutex_);
  // True if the client shares out its credit by mass.
  bool tells_mass_ ABSL_GUARDED_BY(mutex_) = false;
  Mass told_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::replay
