// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/subscriber.h"

#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/transport/server.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/assembly.h"
#include "rl/parameters/difference.h"
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
