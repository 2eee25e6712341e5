// SPDX-License-Identifier: Apache-2.0
#include "replay/client/sampler.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/transport/protocol.h"
#include "platform/transport/server.h"
#include "platform/transport/server_stream.h"
#include "proto/replay.grpc.pb.h"
#include "replay/client/link.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/manual_clock.h"
#include "tests/replay/messages.h"

namespace shoal::replay::client {
namespace {

using SampleLink = Link<proto::SampleRequest, proto::SampleReply>;

constexpr std::chrono::seconds kPatience{20};

// A shard that answers each message of a sampler as the test says.
class ScriptedShard final : public proto::Replay::CallbackService {
 public:
  using Script = std::function<std::vector<proto::SampleReply>(const proto::SampleRequest&)>;

  explicit ScriptedShard(Script script,
                         std::uint32_t protocol_version = transport::kProtocolVersion)
      : script_(std::move(script)), protocol_version_(protocol_version) {
    auto server = transport::Server::Create({.listen = "127.0.0.1:0"}, {this});
    REQUIRE(server.ok());
    server_ = *std::move(server);
  }
  ~ScriptedShard() override { server_->Shutdown(std::chrono::milliseconds(0)); }

  const std::string& address() const { return server_->address(); }

  // Blocks until a stream has ended. Returns false if none ends in time.
  bool AwaitEnd() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const runtime::MutexLock lock(mutex_);
    while (ends_ == 0) {
      if (!changed_.WaitUntil(mutex_, deadline)) break;
    }
    return ends_ > 0;
  }

  // Sends a message on the stream that was opened last, if there is one.
  void Push(proto::SampleReply reply) {
    const runtime::MutexLock lock(mutex_);
    if (stream_ != nullptr) stream_->Send(std::move(reply));
  }

 private:
  class Stream final : public transport::ServerStream<proto::SampleRequest, proto::SampleReply> {
   public:
    explicit Stream(ScriptedShard& shard)
        : ServerStream(transport::ServerStreamOptions{.window = 1 << 20}, shard.registry_),
          shard_(shard) {}

   private:
    void OnMessage(proto::SampleRequest&& request) override {
      std::vector<proto::SampleReply> replies = shard_.script_(request);
      if (request.has_hello()) {
        // A shard welcomes a sampler and tells its mass in one message.
        if (replies.empty()) replies.emplace_back();
        replies.front().mutable_welcome()->set_protocol_version(shard_.protocol_version_);
      }
      for (proto::SampleReply& reply : replies) Send(std::move(reply));
      Release();
    }
    void OnEnd() override {
      const runtime::MutexLock lock(shard_.mutex_);
      ++shard_.ends_;
      shard_.changed_.NotifyAll();
    }
    ScriptedShard& shard_;
  };

  grpc::ServerBidiReactor<proto::SampleRequest, proto::SampleReply>* Sample(
      grpc::CallbackServerContext*) override {
    auto stream = std::make_shared<Stream>(*this);
    {
      const runtime::MutexLock lock(mutex_);
      stream_ = stream;
    }
    return stream->Start();
  }

  const Script script_;
  const std::uint32_t protocol_version_;
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  int ends_ ABSL_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Stream> stream_ ABSL_GUARDED_BY(mutex_);
  transport::StreamRegistry registry_;
  std::unique_ptr<transport::Server> server_;
};

proto::SampleReply ReplyOf(std::size_t items) {
  proto::SampleReply reply;
  for (std::size_t i = 0; i < items; ++i) *reply.add_items()->mutable_item() = ItemOf(i);
  return reply;
}

// Takes contents when the test opens it.
class GatedSink final : public ContentSink {
 public:
  void AddEmbeddings(const proto::Embeddings&) override {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const runtime::MutexLock lock(mutex_);
    while (!open_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return;
    }
  }
  void AddCatalog(const proto::Catalog&) override {}
  void AddOverlay(const proto::Overlay&) override {}
  void Open() {
    const runtime::MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

std::unique_ptr<Sampler> SamplerOf(const ScriptedShard& shard, ContentSink& sink,
                                   runtime::Metrics& metrics,
                                   runtime::Clock& clock = runtime::SystemClock()) {
  return *Sampler::Create(
      {.addresses = {shard.address()}, .client = "test", .table = "unrolls", .prefetch = 4}, sink,
      metrics, clock);
}

TEST_CASE("items beyond the credit are dropped and counted, and the shard's stream is cancelled") {
  ScriptedShard shard([](const proto::SampleRequest& request) {
    if (request.credit() == 0) return std::vector<proto::SampleReply>{};
    return std::vector<proto::SampleReply>{ReplyOf(request.credit()), ReplyOf(1), ReplyOf(1000)};
  });
  FakeSink sink;
  runtime::Metrics metrics;
  const auto sampler = SamplerOf(shard, sink, metrics);
  REQUIRE(shard.AwaitEnd());
  const SamplerStats stats = sampler->stats();
  REQUIRE(stats.dropped_invalid_total >= 1);
  REQUIRE(stats.received_total == 4);
  REQUIRE(stats.waiting == 4);
  REQUIRE(sampler->Next(kPatience).ok());
}

TEST_CASE("a shard of another protocol version is refused, naming both ends and both versions") {
  ScriptedShard shard([](const auto&) { return std::vector<proto::SampleReply>{}; }, 7);
  runtime::Mutex mutex;
  runtime::CondVar changed;
  SampleLink link(shard.address(), transport::OverSockets(), "Sample", "learner", [&] {
    const runtime::MutexLock lock(mutex);
    changed.NotifyAll();
  });
  proto::SampleRequest hello;
  hello.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
  REQUIRE(link.MayOpen(runtime::SystemClock().Now()));
  link.Open(hello);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::optional<absl::Status> end;
  while (!end) {
    REQUIRE(link.TakeReplies().empty());
    end = link.TakeEnd(runtime::SystemClock().Now());
    if (end) break;
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    const runtime::MutexLock lock(mutex);
    changed.WaitUntil(mutex, std::chrono::steady_clock::now() + kLinkTick);
  }
  REQUIRE(absl::IsFailedPrecondition(*end));
  REQUIRE(runtime::Message(*end).starts_with("replay shard at " + shard.address() +
                                             " speaks protocol 7, this learner speaks " +
                                             std::to_string(transport::kProtocolVersion) + ":"));
}

TEST_CASE("a sampler sends new priorities to the shard that the item came from, and checks them") {
  runtime::Mutex mutex;
  runtime::CondVar changed;
  std::vector<proto::PriorityUpdate> updates;
  ScriptedShard shard([&](const proto::SampleRequest& request) {
    const runtime::MutexLock lock(mutex);
    updates.insert(updates.end(), request.priorities().begin(), request.priorities().end());
    changed.NotifyAll();
    return std::vector<proto::SampleReply>{};
  });
  FakeSink sink;
  runtime::Metrics metrics;
  const auto sampler = SamplerOf(shard, sink, metrics);
  PriorityUpdate update{.id = ItemOf(5).id(), .priority = 0.25F};
  REQUIRE(sampler->UpdatePriorities({&update, 1}).ok());
  {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const runtime::MutexLock lock(mutex);
    while (updates.empty()) REQUIRE(changed.WaitUntil(mutex, deadline));
    REQUIRE(updates[0].id().environment_id() == 5);
    REQUIRE(updates[0].priority() == 0.25F);
  }
  update.shard = 1;
  REQUIRE(absl::IsInvalidArgument(sampler->UpdatePriorities({&update, 1})));
  update = {.id = update.id, .priority = std::numeric_limits<float>::quiet_NaN()};
  REQUIRE(absl::IsInvalidArgument(sampler->UpdatePriorities({&update, 1})));
}

proto::PolicyVersion Version(std::uint64_t step) {
  proto::PolicyVersion version;
  version.set_epoch(1);
  version.set_step(step);
  return version;
}

TEST_CASE("on demand credit is what is wanted, and follows all priorities") {
  runtime::Mutex mutex;
  std::vector<proto::SampleRequest> requests;
  ScriptedShard shard([&](const proto::SampleRequest& request) {
    const runtime::MutexLock lock(mutex);
    requests.push_back(request);
    if (request.credit() == 0) return std::vector<proto::SampleReply>{};
    return std::vector<proto::SampleReply>{ReplyOf(request.credit())};
  });
  FakeSink sink;
  runtime::Metrics metrics;
  const auto sampler = *Sampler::Create({.addresses = {shard.address()},
                                         .client = "test",
                                         .table = "unrolls",
                                         .prefetch = 4,
                                         .on_demand = true},
                                        sink, metrics);
  REQUIRE(doubles::Eventually([&] { return sampler->stats().live_shards == 1; }));
  const auto take = [&](std::size_t count, std::uint64_t played) {
    for (; count > 0; --count) {
      sampler->Want(count, Version(played));
      REQUIRE(sampler->Next(kPatience).ok());
    }
  };
  take(3, 7);
  // More than one message has room for.
  const std::vector<PriorityUpdate> updates(PriorityOutbox::kMaxInMessage + 1,
                                            {.id = ItemOf(5).id(), .priority = 0.25F});
  REQUIRE(sampler->UpdatePriorities(updates).ok());
  take(6, 8);
  const runtime::MutexLock lock(mutex);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> credits;
  std::size_t told = 0;
  for (const proto::SampleRequest& request : requests) {
    told += static_cast<std::size_t>(request.priorities_size());
    if (request.credit() == 0) continue;
    credits.emplace_back(request.credit(), request.after_round().step());
    REQUIRE(told == (credits.size() == 1 ? 0 : updates.size()));
  }
  REQUIRE(credits == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{3, 7}, {6, 8}});
}

TEST_CASE("on demand a lost shard is an error, and two shards are refused") {
  FakeSink sink;
  runtime::Metrics metrics;
  std::optional<ScriptedShard> shard(std::in_place,
                                     [](const auto&) { return std::vector<proto::SampleReply>{}; });
  SamplerOptions options = {.addresses = {shard->address()}, .table = "unrolls"};
  options.on_demand = true;
  const auto sampler = *Sampler::Create(options, sink, metrics);
  REQUIRE(doubles::Eventually([&] { return sampler->stats().live_shards == 1; }));
  REQUIRE(absl::IsDeadlineExceeded(sampler->Next(std::chrono::milliseconds(0)).status()));
  shard.reset();
  REQUIRE(absl::IsFailedPrecondition(sampler->Next(kPatience).status()));
  options.addresses.push_back(options.addresses[0] + "0");
  REQUIRE(absl::IsInvalidArgument(Sampler::Create(options, sink, metrics).status()));
}

TEST_CASE("contents that a sink let go are named to the shard before it gets more credit") {
  class ForgetfulSink final : public ContentSink {
   public:
    void AddEmbeddings(const proto::Embeddings&) override { ++added_; }
    void AddCatalog(const proto::Catalog&) override {}
    void AddOverlay(const proto::Overlay&) override {}
    std::vector<content::ContentKey> TakeForgotten() override {
      if (added_ == 0) return {};
      added_ = 0;
      return {content::KeyOf("a")};
    }

   private:
    // Used by the sampler's thread only.
    int added_ = 0;
  };
  runtime::Mutex mutex;
  runtime::CondVar changed;
  std::vector<std::string> forgotten;
  bool gave = false;
  ScriptedShard shard([&](const proto::SampleRequest& request) {
    const runtime::MutexLock lock(mutex);
    forgotten.insert(forgotten.end(), request.forgotten_keys().begin(),
                     request.forgotten_keys().end());
    changed.NotifyAll();
    if (std::exchange(gave, true)) return std::vector<proto::SampleReply>{};
    const std::vector<std::string> keys = {KeyBytes("a")};
    std::vector<proto::SampleReply> replies(1);
    *replies[0].add_embeddings() = EmbeddingsOf(keys);
    return replies;
  });
  ForgetfulSink sink;
  runtime::Metrics metrics;
  const auto sampler = SamplerOf(shard, sink, metrics);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const runtime::MutexLock lock(mutex);
  while (forgotten.empty()) REQUIRE(changed.WaitUntil(mutex, deadline));
  REQUIRE(forgotten == std::vector<std::string>{KeyBytes("a")});
}

TEST_CASE("a shard that floods a busy sampler has its stream cancelled") {
  ScriptedShard shard([](const proto::SampleRequest& request) {
    std::vector<proto::SampleReply> flood;
    if (!request.has_hello()) return flood;
    flood.resize(2 * SampleLink::kMaxReplies + 1);
    const std::vector<std::string> keys = {KeyBytes("a")};
    *flood[0].add_embeddings() = EmbeddingsOf(keys);
    return flood;
  });
  GatedSink sink;
  runtime::Metrics metrics;
  const auto sampler = SamplerOf(shard, sink, metrics);
  REQUIRE(shard.AwaitEnd());
  sink.Open();
}

proto::SampleReply MassOf(double sum) {
  proto::SampleReply reply;
  reply.mutable_mass()->set_size(10);
  reply.mutable_mass()->set_sum(sum);
  reply.mutable_mass()->set_least(1);
  return reply;
}

proto::SampleReply Waiting(const std::string& option = "samples_per_insert") {
  proto::SampleReply reply;
  reply.set_wait(option);
  return reply;
}

// Lets time pass, and the sampler's thread look at it.
void Pass(doubles::ManualClock& clock, std::chrono::seconds time) {
  // It may have read the time just before, and then looks again a tick later.
  for (const runtime::Duration by : {runtime::Duration(time), runtime::Duration(kLinkTick)}) {
    clock.Advance(by);
    const std::uint64_t waits = clock.waits();
    REQUIRE(doubles::Eventually([&] { return clock.waits() > waits + 4; }));
  }
}

// Returns the error of a Next in vain.
std::string ErrorOf(Sampler& sampler) {
  const absl::Status none = sampler.Next(std::chrono::milliseconds(0)).status();
  REQUIRE(absl::IsDeadlineExceeded(none));
  return runtime::Message(none);
}

TEST_CASE("a shard whose table waits is not taken for a silent one, and the learner hears why") {
  ScriptedShard shard([](const proto::SampleRequest&) { return std::vector{MassOf(10)}; });
  FakeSink sink;
  runtime::Metrics metrics;
  doubles::ManualClock clock;
  const auto sampler = SamplerOf(shard, sink, metrics, clock);
  REQUIRE(doubles::Eventually([&] { return sampler->stats().live_shards == 1; }));
  for (int passed = 1; passed <= 10; ++passed) {
    Pass(clock, std::chrono::seconds(1));
    const std::string option = "option " + std::to_string(passed);
    shard.Push(Waiting(option));
    const std::string told = "shard " + shard.address() + " waits for " + option;
    REQUIRE(doubles::Eventually([&] { return ErrorOf(*sampler).ends_with(told); }));
  }
  REQUIRE(sampler->stats().left_out_shards == 0);
  // Now it hangs.
  Pass(clock, std::chrono::seconds(3));
  REQUIRE(doubles::Eventually([&] { return sampler->stats().left_out_shards == 1; }));
}

TEST_CASE("a shard that is gone is not named as one that waits") {
  const auto script = [](const proto::SampleRequest&) { return std::vector<proto::SampleReply>{}; };
  std::optional<ScriptedShard> gone(std::in_place, script);
  ScriptedShard stays(script);
  FakeSink sink;
  runtime::Metrics metrics;
  const auto sampler = *Sampler::Create(
      {.addresses = {gone->address(), stays.address()}, .client = "test", .table = "unrolls"}, sink,
      metrics);
  REQUIRE(doubles::Eventually([&] { return sampler->stats().live_shards == 2; }));
  const auto names = [&](const ScriptedShard& shard) {
    return ErrorOf(*sampler).ends_with("shard " + shard.address() + " waits for min_size");
  };
  gone->Push(Waiting("min_size"));
  REQUIRE(doubles::Eventually([&] { return names(*gone); }));
  gone.reset();
  REQUIRE(doubles::Eventually([&] { return sampler->stats().live_shards == 1; }));
  REQUIRE(ErrorOf(*sampler) == "no unroll came in 0 ms");
  // The wait of another one does not end with it.
  stays.Push(Waiting("min_size"));
  REQUIRE(doubles::Eventually([&] { return names(stays); }));
}

TEST_CASE("a shard that waits keeps its part in the draws while no other one has items") {
  ScriptedShard waiting([](const proto::SampleRequest&) { return std::vector{MassOf(90)}; });
  ScriptedShard empty([](const proto::SampleRequest&) {
    std::vector<proto::SampleReply> replies(1);
    replies[0].mutable_mass();
    return replies;
  });
  FakeSink sink;
  runtime::Metrics metrics;
  doubles::ManualClock clock;
  const auto sampler = *Sampler::Create({.addresses = {waiting.address(), empty.address()},
                                         .client = "test",
                                         .table = "unrolls",
                                         .prefetch = 8},
                                        sink, metrics, clock);
  REQUIRE(doubles::Eventually([&] { return sampler->stats().live_shards == 2; }));
  for (int passed = 1; passed <= 5; ++passed) {
    Pass(clock, std::chrono::seconds(1));
    const std::string option = "option " + std::to_string(passed);
    waiting.Push(Waiting(option));
    REQUIRE(doubles::Eventually([&] { return ErrorOf(*sampler).ends_with(option); }));
    REQUIRE(sampler->stats().left_out_shards == 0);
  }
}

TEST_CASE("a shard that has credit, talks and gives nothing holds up nobody, though it waits") {
  const bool waits = GENERATE(false, true);
  // Nine in ten draws are of the shard that gives nothing. It says so whenever it is asked.
  ScriptedShard mute([waits](const proto::SampleRequest&) {
    return waits ? std::vector{MassOf(90), Waiting()} : std::vector{MassOf(90)};
  });
  std::atomic<std::uint64_t> next = 0;
  ScriptedShard giving([&](const proto::SampleRequest& request) {
    std::vector<proto::SampleReply> replies = {MassOf(10)};
    for (std::uint32_t i = 0; i < request.credit(); ++i) {
      *replies[0].add_items()->mutable_item() = ItemOf(next++);
      replies[0].mutable_items(static_cast<int>(i))->set_times_sampled(1);
    }
    return replies;
  });
  FakeSink sink;
  runtime::Metrics metrics;
  const auto sampler = *Sampler::Create({.addresses = {mute.address(), giving.address()},
                                         .client = "test",
                                         .table = "unrolls",
                                         .prefetch = 8},
                                        sink, metrics);
  for (int i = 0; i < 100; ++i) {
    std::optional<SampledUnroll> unroll;
    REQUIRE(doubles::Eventually([&] {
      if (waits) mute.Push(Waiting());
      auto next = sampler->Next(std::chrono::milliseconds(100));
      if (next.ok()) unroll = *std::move(next);
      return unroll.has_value();
    }));
    REQUIRE(unroll->shard == 1);
  }
}

}  // namespace
}  // namespace shoal::replay::client
