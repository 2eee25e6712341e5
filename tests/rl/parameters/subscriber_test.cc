// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/subscriber.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/transport/channel.h"
#include "platform/transport/server.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/assembly.h"
#include "rl/parameters/difference.h"
#include "tests/doubles/eventually.h"
#include "tests/rl/parameters/values.h"
#include "tests/rl/parameters/weights.h"

namespace shoal::parameters {
namespace {

// The versions that a subscriber handed over, in order.
struct Taken {
  void operator()(const Parameters& parameters) ABSL_LOCKS_EXCLUDED(mutex) {
    const runtime::MutexLock lock(mutex);
    all.push_back(parameters);
    changed.NotifyAll();
  }
  void Await(const Version& version) ABSL_LOCKS_EXCLUDED(mutex) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    const runtime::MutexLock lock(mutex);
    while (all.empty() || all.back().version < version) {
      REQUIRE(changed.WaitUntil(mutex, deadline));
    }
    REQUIRE(all.back().version == version);
  }
  std::vector<Version> versions() ABSL_LOCKS_EXCLUDED(mutex) {
    const runtime::MutexLock lock(mutex);
    std::vector<Version> out;
    for (const Parameters& one : all) out.push_back(one.version);
    return out;
  }

  runtime::Mutex mutex;
  runtime::CondVar changed;
  std::vector<Parameters> all ABSL_GUARDED_BY(mutex);
};

struct Subscribed {
  explicit Subscribed(const std::string& address, const std::string& folder = "",
                      const std::string& spec_digest = "")
      : subscriber(*Subscriber::Create(
            {.address = address, .client = "test", .folder = folder, .spec_digest = spec_digest},
            [this](const Parameters& p) { taken(p); }, metrics)) {}

  void AwaitRefusal() {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (metrics.Counter("shoal_parameters_refused_total", "Versions refused").Value() < 1) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::yield();
    }
  }

  runtime::Metrics metrics;
  Taken taken;
  std::unique_ptr<Subscriber> subscriber;
};

// Sends the parts that the test wrote to each subscriber once, then ends the stream. A subscriber
// that states no SHA-256 gets other parts, if there are some.
class Script final : public proto::Parameters::Service {
 public:
  explicit Script(std::vector<proto::ParametersPart> parts,
                  std::vector<proto::ParametersPart> to_who_holds_nothing = {})
      : parts_(std::move(parts)), to_who_holds_nothing_(std::move(to_who_holds_nothing)) {
    auto server = transport::Server::Create({}, {this});
    REQUIRE(server.ok());
    server_ = *std::move(server);
  }
  grpc::Status Subscribe(grpc::ServerContext*, const proto::SubscribeRequest* request,
                         grpc::ServerWriter<proto::ParametersPart>* writer) override {
    const bool other = request->known_sha256().empty() && !to_who_holds_nothing_.empty();
    for (const auto& part : other ? to_who_holds_nothing_ : parts_) writer->Write(part);
    return grpc::Status::OK;
  }
  const std::string& address() const { return server_->address(); }

 private:
  const std::vector<proto::ParametersPart> parts_;
  const std::vector<proto::ParametersPart> to_who_holds_nothing_;
  std::unique_ptr<transport::Server> server_;
};

proto::ParametersPart WholePart(const Parameters& parameters) {
  return PartAt({.published = PublishedOf(parameters)}, 0);
}

TEST_CASE("a subscriber follows its publisher, across a restart of it") {
  auto server = std::make_unique<PublisherServer>();
  const std::string address = server->address();
  server->publisher().Publish(ParametersOf(1, 0, 3 << 20));
  Subscribed subscribed(address);
  subscribed.taken.Await({1, 0});
  server->publisher().Publish(ParametersOf(1, 1));
  subscribed.taken.Await({1, 1});
  server.reset();
  server = std::make_unique<PublisherServer>(address);
  server->publisher().Publish(ParametersOf(1, 1));
  server->publisher().Publish(ParametersOf(2, 0));
  subscribed.taken.Await({2, 0});
  REQUIRE(subscribed.taken.versions() == std::vector<Version>{{1, 0}, {1, 1}, {2, 0}});
  REQUIRE(subscribed.subscriber->known() == Version{2, 0});
  const runtime::MutexLock lock(subscribed.taken.mutex);
  REQUIRE(*subscribed.taken.all[0].bytes == *ParametersOf(1, 0, 3 << 20).bytes);
}

TEST_CASE("the newest version is there again at the next start") {
  const doubles::TemporaryFolder folder;
  {
    PublisherServer server;
    server.publisher().Publish(ParametersOf(1, 0));
    Subscribed subscribed(server.address(), folder.path());
    subscribed.taken.Await({1, 0});
    for (std::uint64_t step = 1; step <= 4; ++step) {
      server.publisher().Publish(ParametersOf(1, step));
      subscribed.taken.Await({1, step});
    }
  }
  std::string nobody;
  {
    const PublisherServer gone;
    nobody = gone.address();
  }
  Subscribed again(nobody, folder.path());
  again.taken.Await({1, 4});
  REQUIRE(ParametersFolder(folder.path()).List().size() <= 3);
}

TEST_CASE("a version whose SHA-256 does not match is refused, and the next good one is taken") {
  auto bad = WholePart(ParametersOf(1, 5));
  bad.set_sha256(std::string(32, 'x'));
  std::string address;
  {
    Script script({bad});
    Subscribed subscribed(script.address());
    subscribed.AwaitRefusal();
    REQUIRE(subscribed.taken.versions().empty());
  }
}

TEST_CASE("parameters of a learner of another protocol version are refused") {
  auto other = WholePart(ParametersOf(1, 5));
  other.set_protocol_version(7);
  Script script({other});
  Subscribed subscribed(script.address());
  subscribed.AwaitRefusal();
  REQUIRE(subscribed.taken.versions().empty());
}

TEST_CASE("what is not newer, or of another spec, is refused and the stream goes on") {
  Parameters other = ParametersOf(1, 3);
  other.spec_digest = "other";
  Script script({WholePart(ParametersOf(1, 2)), WholePart(ParametersOf(1, 1)), WholePart(other),
                 WholePart(ParametersOf(1, 2)), WholePart(ParametersOf(2, 0))});
  Subscribed subscribed(script.address(), "", "spec");
  subscribed.taken.Await({2, 0});
  REQUIRE(subscribed.taken.versions() == std::vector<Version>{{1, 2}, {2, 0}});
}

TEST_CASE("a folder of another spec is not handed over") {
  const doubles::TemporaryFolder folder;
  REQUIRE(ParametersFolder(folder.path()).Save(ParametersOf(1, 9)).ok());
  PublisherServer server;
  server.publisher().Publish(ParametersOf(1, 1));
  Subscribed subscribed(server.address(), folder.path(), "another");
  Parameters right = ParametersOf(1, 2);
  right.spec_digest = "another";
  server.publisher().Publish(right);
  subscribed.taken.Await({1, 2});
  REQUIRE(subscribed.taken.versions().size() == 1);
}

TEST_CASE("a subscriber takes differences, also after both ends were gone for a while") {
  const doubles::TemporaryFolder folder;
  const auto sent = [](PublisherServer& server, const std::string& as) {
    return server.metrics()
        .Counter("shoal_parameters_sent_total", "Versions sent to subscribers", {{"as", as}})
        .Value();
  };
  PublisherServer server("127.0.0.1:0", {.differences = true});
  {
    server.publisher().Publish(TrainedVersion(1));
    Subscribed subscribed(server.address(), folder.path());
    subscribed.taken.Await({1, 1});
    server.publisher().Publish(TrainedVersion(2));
    subscribed.taken.Await({1, 2});
  }
  REQUIRE(sent(server, "file") == 1);
  REQUIRE(sent(server, "difference") == 1);
  // The publisher may still send something to a stream that has not ended.
  REQUIRE(doubles::Eventually([&] { return server.publisher().subscribers() == 0; }));
  server.publisher().Publish(TrainedVersion(3));
  Subscribed again(server.address(), folder.path());
  again.taken.Await({1, 3});
  REQUIRE(sent(server, "file") == 1);
  REQUIRE(sent(server, "difference") == 2);
  const runtime::MutexLock lock(again.taken.mutex);
  REQUIRE(*again.taken.all.back().bytes == *TrainedVersion(3).bytes);
}

TEST_CASE("after a difference that restores another file the whole file is asked for and taken") {
  const doubles::TemporaryFolder folder;
  REQUIRE(ParametersFolder(folder.path()).Save(TrainedVersion(1)).ok());
  auto wrong = MakeDifference(*TrainedVersion(1).bytes, *TrainedVersion(3).bytes);
  REQUIRE(wrong.ok());
  const auto part = PartAt({.published = PublishedOf(TrainedVersion(2)),
                            .base = PublishedOf(TrainedVersion(1)),
                            .difference = std::make_shared<const std::string>(*std::move(wrong))},
                           0);
  Script script({part}, {WholePart(TrainedVersion(2))});
  Subscribed subscribed(script.address(), folder.path());
  subscribed.AwaitRefusal();
  subscribed.taken.Await({1, 2});
  REQUIRE(subscribed.taken.versions() == std::vector<Version>{{1, 1}, {1, 2}});
}

// Relays each stream to a publisher, and cuts the first one after so many parts.
class CuttingRelay final : public proto::Parameters::Service {
 public:
  // `on_cut` returns the address of the publisher from then on.
  CuttingRelay(std::string address, int parts, std::function<std::string()> on_cut)
      : parts_(parts), on_cut_(std::move(on_cut)), to_(std::move(address)) {
    auto server = transport::Server::Create({}, {this});
    REQUIRE(server.ok());
    server_ = *std::move(server);
  }

  grpc::Status Subscribe(grpc::ServerContext* context, const proto::SubscribeRequest* request,
                         grpc::ServerWriter<proto::ParametersPart>* writer) override {
    const auto stub = proto::Parameters::NewStub(transport::CreateChannel(to_));
    const auto onward = grpc::ClientContext::FromServerContext(*context);
    const auto stream = stub->Subscribe(onward.get(), *request);
    proto::ParametersPart part;
    while (stream->Read(&part)) {
      {
        const runtime::MutexLock lock(mutex_);
        offsets_.push_back(part.offset());
      }
      writer->Write(part);
      if (--parts_ != 0) continue;
      to_ = on_cut_();
      return {grpc::StatusCode::UNAVAILABLE, "cut"};
    }
    return stream->Finish();
  }

  const std::string& address() const { return server_->address(); }
  // Of all parts that were relayed.
  std::vector<std::uint64_t> offsets() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return offsets_;
  }

 private:
  // The subscriber has one stream at a time.
  int parts_;
  const std::function<std::string()> on_cut_;
  std::string to_;
  runtime::Mutex mutex_;
  std::vector<std::uint64_t> offsets_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<transport::Server> server_;
};

// Four parts.
constexpr std::size_t kFourParts = std::size_t{7} << 19;

TEST_CASE("after a stream broke within a file only the rest of it comes, though others are newer") {
  PublisherServer server;
  server.publisher().Publish(ParametersOf(1, 1, kFourParts));
  CuttingRelay relay(server.address(), 2, [&] {
    server.publisher().Publish(ParametersOf(1, 2));
    return server.address();
  });
  Subscribed subscribed(relay.address());
  subscribed.taken.Await({1, 2});
  REQUIRE(subscribed.taken.versions() == std::vector<Version>{{1, 1}, {1, 2}});
  REQUIRE(relay.offsets() ==
          std::vector<std::uint64_t>{0, kPartBytes, 2 * kPartBytes, 3 * kPartBytes, 0});
  REQUIRE(ResumedBytes(server) == 2 * kPartBytes);
  const runtime::MutexLock lock(subscribed.taken.mutex);
  REQUIRE(*subscribed.taken.all[0].bytes == *ParametersOf(1, 1, kFourParts).bytes);
}

TEST_CASE(
    "after a stream broke another publisher's file of that version comes from its beginning") {
  PublisherServer before;
  before.publisher().Publish(VersionOf(1, std::string(kFourParts, 'a')));
  PublisherServer after;
  after.publisher().Publish(VersionOf(1, std::string(kFourParts, 'b')));
  CuttingRelay relay(before.address(), 2, [&] { return after.address(); });
  Subscribed subscribed(relay.address());
  subscribed.taken.Await({1, 1});
  REQUIRE(relay.offsets() ==
          std::vector<std::uint64_t>{0, kPartBytes, 0, kPartBytes, 2 * kPartBytes, 3 * kPartBytes});
  const runtime::MutexLock lock(subscribed.taken.mutex);
  REQUIRE(*subscribed.taken.all[0].bytes == std::string(kFourParts, 'b'));
}

TEST_CASE("a publisher that goes on with another file is refused and asked for the whole one") {
  const Parameters right = VersionOf(1, std::string(kFourParts, 'a'));
  Parameters wrong = VersionOf(1, std::string(kFourParts, 'b'));
  wrong.sha256 = right.sha256;
  class Liar final : public proto::Parameters::Service {
   public:
    Liar(const Parameters& right, const Parameters& wrong) : right_(right), wrong_(wrong) {}
    grpc::Status Subscribe(grpc::ServerContext*, const proto::SubscribeRequest* request,
                           grpc::ServerWriter<proto::ParametersPart>* writer) override {
      const int stream = ++streams_;
      if (stream == 1) {
        writer->Write(PartAt({.published = PublishedOf(right_)}, 0));
        return {grpc::StatusCode::UNAVAILABLE, "cut"};
      }
      const std::uint64_t begin = request->partial().bytes();
      const Shipment shipment = {.published = PublishedOf(stream == 2 ? wrong_ : right_)};
      for (std::uint64_t at = begin; at < kFourParts; at += kPartBytes) {
        writer->Write(PartAt(shipment, at, at == begin));
      }
      return grpc::Status::OK;
    }

   private:
    const Parameters right_;
    const Parameters wrong_;
    std::atomic<int> streams_ = 0;
  } liar(right, wrong);
  const auto server = transport::Server::Create({}, {&liar});
  REQUIRE(server.ok());
  Subscribed subscribed((*server)->address());
  subscribed.AwaitRefusal();
  subscribed.taken.Await({1, 1});
  const runtime::MutexLock lock(subscribed.taken.mutex);
  REQUIRE(*subscribed.taken.all[0].bytes == *right.bytes);
}

TEST_CASE("a subscriber needs an address and somebody who takes the parameters") {
  runtime::Metrics metrics;
  REQUIRE(absl::IsInvalidArgument(Subscriber::Create(
                                      {}, [](const Parameters&) {}, metrics)
                                      .status()));
  REQUIRE(absl::IsInvalidArgument(
      Subscriber::Create({.address = "127.0.0.1:1"}, nullptr, metrics).status()));
}

}  // namespace
}  // namespace shoal::parameters
