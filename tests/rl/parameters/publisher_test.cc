// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/publisher.h"

#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <optional>

#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/assembly.h"
#include "rl/parameters/half_precision.h"
#include "rl/parameters/version_wire.h"
#include "tests/rl/parameters/values.h"
#include "tests/rl/parameters/weights.h"

namespace shoal::parameters {
namespace {

// A subscriber that reads when the test says so.
class Reader {
 public:
  explicit Reader(const std::string& address, std::optional<Version> known = std::nullopt,
                  std::uint32_t protocol = transport::kProtocolVersion)
      : stub_(proto::Parameters::NewStub(transport::CreateChannel(address))), assembly_(1 << 30) {
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    proto::SubscribeRequest request;
    request.set_protocol_version(protocol);
    request.set_client("inference-0");
    if (known) *request.mutable_known() = ToProto(*known);
    call_ = stub_->Subscribe(&context_, request);
  }
  // A subscriber that takes differences and has `held`, whose SHA-256 it states as `digest`.
  Reader(const std::string& address, const std::optional<Parameters>& held,
         const std::string& digest)
      : stub_(proto::Parameters::NewStub(transport::CreateChannel(address))), assembly_(1 << 30) {
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    proto::SubscribeRequest request;
    request.set_protocol_version(transport::kProtocolVersion);
    request.set_client("inference-0");
    request.set_takes_differences(true);
    request.set_known_sha256(digest);
    if (held) {
      *request.mutable_known() = ToProto(held->version);
      assembly_.Hold(*held);
    }
    call_ = stub_->Subscribe(&context_, request);
  }
  explicit Reader(const std::string& address, const Parameters& held)
      : Reader(address, held, Sha256(*held.bytes)) {}
  // A subscriber that says that it has a part of a file. It reads parts alone.
  Reader(const std::string& address, const proto::PartialParameters& partial,
         std::optional<Version> known = std::nullopt)
      : stub_(proto::Parameters::NewStub(transport::CreateChannel(address))), assembly_(1 << 30) {
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    proto::SubscribeRequest request;
    request.set_protocol_version(transport::kProtocolVersion);
    request.set_client("inference-0");
    if (known) *request.mutable_known() = ToProto(*known);
    *request.mutable_partial() = partial;
    call_ = stub_->Subscribe(&context_, request);
  }

  // Returns the next part, which must come.
  proto::ParametersPart NextPart() {
    proto::ParametersPart part;
    REQUIRE(call_->Read(&part));
    return part;
  }
  // Whether the last version came as a difference.
  bool differed() const { return differed_; }
  // Returns the next complete version, or nothing if the stream ended.
  std::optional<Parameters> Next() {
    proto::ParametersPart part;
    while (call_->Read(&part)) {
      if (part.offset() == 0) differed_ = part.has_difference();
      auto whole = assembly_.Add(part);
      REQUIRE(whole.ok());
      if (whole->has_value()) return **std::move(whole);
    }
    return std::nullopt;
  }
  grpc::Status Finish() { return call_->Finish(); }
  void Cancel() { context_.TryCancel(); }

 private:
  const std::unique_ptr<proto::Parameters::Stub> stub_;
  Assembly assembly_;
  bool differed_ = false;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<proto::ParametersPart>> call_;
};

TEST_CASE("a subscriber gets the newest version at once and each newer one as it comes") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 0)));
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  Reader reader(server.address());
  REQUIRE(reader.Next()->version == Version{1, 1});
  REQUIRE_FALSE(server.publisher().Publish(ParametersOf(1, 1)));
  REQUIRE_FALSE(server.publisher().Publish(ParametersOf(0, 9)));
  REQUIRE(server.publisher().Publish(ParametersOf(2, 0)));
  REQUIRE(reader.Next()->version == Version{2, 0});
  REQUIRE(server.publisher().current() == Version{2, 0});
  REQUIRE(server.publisher().subscribers() == 1);
}

TEST_CASE("what a subscriber knows already is not sent") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 5)));
  Reader reader(server.address(), Version{1, 5});
  Reader other(server.address());
  REQUIRE(other.Next()->version == Version{1, 5});
  REQUIRE(server.publisher().Publish(ParametersOf(1, 6)));
  REQUIRE(reader.Next()->version == Version{1, 6});
}

TEST_CASE("a slow subscriber skips versions and holds nobody up") {
  PublisherServer server;
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1, kBytes)));
  Reader slow(server.address());
  Reader quick(server.address());
  REQUIRE(quick.Next()->version == Version{1, 1});
  for (std::uint64_t step = 2; step <= 7; ++step) {
    REQUIRE(server.publisher().Publish(ParametersOf(1, step, kBytes)));
    REQUIRE(quick.Next()->version == Version{1, step});
  }
  int versions = 0;
  Version last;
  while (last != Version{1, 7}) {
    const auto next = slow.Next();
    REQUIRE(next);
    REQUIRE(next->version > last);
    last = next->version;
    ++versions;
  }
  REQUIRE(versions <= 3);
}

TEST_CASE("a subscriber of another protocol version is refused, naming both ends and versions") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  Reader reader(server.address(), std::nullopt, 99);
  REQUIRE_FALSE(reader.Next());
  const grpc::Status end = reader.Finish();
  REQUIRE(end.error_code() == grpc::FAILED_PRECONDITION);
  REQUIRE(end.error_message().starts_with("inference-0 speaks protocol 99, this learner speaks " +
                                          std::to_string(transport::kProtocolVersion) + ":"));
}

TEST_CASE("draining ends streams that wait and streams that are being written") {
  PublisherServer server;
  Reader waiting(server.address());
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  REQUIRE(waiting.Next());
  REQUIRE(server.publisher().Publish(ParametersOf(1, 2, std::size_t{32} << 20)));
  Reader cancelled(server.address());
  cancelled.Cancel();
  REQUIRE(cancelled.Finish().error_code() == grpc::CANCELLED);
  std::thread drain([&server] { server.publisher().Drain(std::chrono::seconds(10)); });
  while (waiting.Next()) {
  }
  REQUIRE(waiting.Finish().error_code() == grpc::UNAVAILABLE);
  drain.join();
  REQUIRE(server.publisher().subscribers() == 0);
  Reader late(server.address());
  REQUIRE_FALSE(late.Next());
  REQUIRE(late.Finish().error_code() == grpc::UNAVAILABLE);
}

TEST_CASE("a version without its SHA-256 is newer or not at once, and comes with it soon") {
  PublisherServer server;
  Reader reader(server.address());
  REQUIRE(server.publisher().Publish(Unfinished(ParametersOf(1, 1, 3 << 20))));
  REQUIRE_FALSE(server.publisher().Publish(Unfinished(ParametersOf(1, 1))));
  REQUIRE_FALSE(server.publisher().Publish(ParametersOf(0, 9)));
  REQUIRE(server.publisher().current() == Version{1, 1});
  const auto next = reader.Next();
  REQUIRE(next->version == Version{1, 1});
  REQUIRE(*next->bytes == *ParametersOf(1, 1, 3 << 20).bytes);
}

TEST_CASE("subscribers end with the newest of many versions that come faster than their digests") {
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  constexpr std::uint64_t kLast = 30;
  std::vector<Parameters> versions;
  for (std::uint64_t step = 1; step <= kLast; ++step) {
    versions.push_back(Unfinished(ParametersOf(1, step, kBytes)));
  }
  PublisherServer server("127.0.0.1:0", {.recent_bytes = 0});
  Reader reader(server.address());
  for (const Parameters& version : versions) REQUIRE(server.publisher().Publish(version));
  Version last;
  while (last != Version{1, kLast}) {
    const auto next = reader.Next();
    REQUIRE(next);
    REQUIRE(next->version > last);
    last = next->version;
  }
}

TEST_CASE("a publisher of halves rounds what was not finished, and nothing else") {
  PublisherServer server("127.0.0.1:0", {.halves = true});
  Reader reader(server.address());
  REQUIRE(server.publisher().Publish(Unfinished(TrainedVersion(1))));
  const std::string rounded = RoundToHalf(*TrainedVersion(1).bytes).value();
  REQUIRE(*reader.Next()->bytes == rounded);
  REQUIRE(server.publisher().Publish(TrainedVersion(2)));
  REQUIRE(*reader.Next()->bytes == *TrainedVersion(2).bytes);
  // What cannot be rounded is not served, and the next version is.
  REQUIRE(server.publisher().Publish(Unfinished(VersionOf(3, "no safetensors file"))));
  REQUIRE(server.publisher().Publish(TrainedVersion(4)));
  REQUIRE(*reader.Next()->bytes == *TrainedVersion(4).bytes);
}

TEST_CASE("draining sends the last version to its end, though nobody had its SHA-256 yet") {
  constexpr std::size_t kBytes = std::size_t{3} << 20;
  const Parameters last = Unfinished(ParametersOf(1, 2, kBytes));
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  Reader reader(server.address());
  REQUIRE(reader.Next()->version == Version{1, 1});
  REQUIRE(server.publisher().Publish(last));
  bool drained = false;
  std::thread drain([&] { drained = server.publisher().Drain(kPatience); });
  const auto next = reader.Next();
  const bool more = reader.Next().has_value();
  drain.join();
  REQUIRE(next);
  REQUIRE(*next->bytes == *last.bytes);
  REQUIRE_FALSE(more);
  REQUIRE(reader.Finish().error_code() == grpc::UNAVAILABLE);
  REQUIRE(drained);
}

TEST_CASE("draining gives up a subscriber that does not read") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(VersionOf(1, std::string(std::size_t{64} << 20, 'x'))));
  Reader reader(server.address());
  REQUIRE(reader.NextPart().offset() == 0);
  REQUIRE_FALSE(server.publisher().Drain(std::chrono::milliseconds(50)));
}

proto::PartialParameters PartialOf(const Parameters& parameters, std::uint64_t bytes) {
  proto::PartialParameters partial;
  *partial.mutable_version() = ToProto(parameters.version);
  partial.set_sha256(parameters.sha256);
  partial.set_bytes(bytes);
  return partial;
}

TEST_CASE("who has the beginning of a file gets the rest of it, and then the newest version") {
  const Parameters first = ParametersOf(1, 1, std::size_t{5} << 19);
  const Parameters second = ParametersOf(1, 2);
  PublisherServer server;
  REQUIRE(server.publisher().Publish(first));
  REQUIRE(server.publisher().Publish(second));
  constexpr std::uint64_t kHeld = kPartBytes + 7;
  Reader reader(server.address(), PartialOf(first, kHeld));
  const auto begin = reader.NextPart();
  REQUIRE(FromProto(begin.version()) == first.version);
  REQUIRE(begin.offset() == kHeld);
  REQUIRE(begin.protocol_version() == transport::kProtocolVersion);
  REQUIRE(begin.sha256() == first.sha256);
  const auto end = reader.NextPart();
  REQUIRE(first.bytes->substr(0, kHeld) + begin.data() + end.data() == *first.bytes);
  REQUIRE(FromProto(reader.NextPart().version()) == second.version);
  REQUIRE(ResumedBytes(server) == kHeld);
}

TEST_CASE(
    "the newest version comes from its first byte to who states what cannot be gone on from") {
  const Parameters older_epoch = ParametersOf(1, 7, 3 << 20);
  const Parameters before = ParametersOf(2, 1, 3 << 20);
  const Parameters newest = ParametersOf(2, 2, 3 << 20);
  PublisherServer server("127.0.0.1:0", {.recent_bytes = std::size_t{1} << 30});
  for (const Parameters& one : {older_epoch, before, newest}) {
    REQUIRE(server.publisher().Publish(one));
  }
  const std::uint64_t size = before.bytes->size();
  proto::PartialParameters foreign = PartialOf(before, 1);
  foreign.set_sha256(std::string(32, 'x'));
  proto::PartialParameters silent = PartialOf(before, 1);
  silent.clear_sha256();
  const std::vector<proto::PartialParameters> stated = {foreign,
                                                        silent,
                                                        PartialOf(before, 0),
                                                        PartialOf(before, size),
                                                        PartialOf(before, size + 1),
                                                        PartialOf(before, ~std::uint64_t{0}),
                                                        PartialOf(older_epoch, 1),
                                                        PartialOf(ParametersOf(2, 9), 1),
                                                        {}};
  for (const proto::PartialParameters& partial : stated) {
    Reader reader(server.address(), partial);
    const auto part = reader.NextPart();
    REQUIRE(FromProto(part.version()) == newest.version);
    REQUIRE(part.offset() == 0);
  }
  Reader knows(server.address(), PartialOf(before, 1), before.version);
  REQUIRE(knows.NextPart().offset() == 0);
  REQUIRE(ResumedBytes(server) == 0);
}

// Reads the next version, which must be that of `step`, and says whether it came as a difference.
bool NextDiffers(Reader& reader, std::uint64_t step) {
  const auto next = reader.Next();
  REQUIRE(next);
  REQUIRE(next->version == TrainedVersion(step).version);
  REQUIRE(*next->bytes == *TrainedVersion(step).bytes);
  return reader.differed();
}

TEST_CASE("the first version comes whole and later ones as differences, to who takes them") {
  PublisherServer server("127.0.0.1:0", {.differences = true});
  REQUIRE(server.publisher().Publish(TrainedVersion(1)));
  Reader reader(server.address(), std::nullopt, "");
  Reader other(server.address());
  REQUIRE_FALSE(NextDiffers(reader, 1));
  REQUIRE_FALSE(NextDiffers(other, 1));
  for (std::uint64_t step = 2; step <= 4; ++step) {
    REQUIRE(server.publisher().Publish(TrainedVersion(step)));
    REQUIRE(NextDiffers(reader, step));
    REQUIRE_FALSE(NextDiffers(other, step));
  }
}

TEST_CASE("a publisher without differences sends files alone") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(TrainedVersion(1)));
  Reader reader(server.address(), std::nullopt, "");
  REQUIRE_FALSE(NextDiffers(reader, 1));
  REQUIRE(server.publisher().Publish(TrainedVersion(2)));
  REQUIRE_FALSE(NextDiffers(reader, 2));
}

TEST_CASE("who comes back gets the difference from what it holds, as long as that is in memory") {
  const std::size_t bytes = TrainedVersion(1).bytes->size();
  PublisherServer server("127.0.0.1:0",
                         {.recent_bytes = 2 * bytes + bytes / 2, .differences = true});
  for (std::uint64_t step = 1; step <= 6; ++step) {
    REQUIRE(server.publisher().Publish(TrainedVersion(step)));
  }
  Reader near(server.address(), TrainedVersion(4));
  REQUIRE(NextDiffers(near, 6));
  Reader far(server.address(), TrainedVersion(3));
  REQUIRE_FALSE(NextDiffers(far, 6));
  Reader foreign(server.address(), VersionOf(4, WeightsFile({.seed = 9})));
  REQUIRE_FALSE(NextDiffers(foreign, 6));
  Reader silent(server.address(), TrainedVersion(4), "");
  REQUIRE_FALSE(NextDiffers(silent, 6));
}

TEST_CASE("a version that the difference would not make smaller comes whole") {
  PublisherServer server("127.0.0.1:0", {.differences = true});
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  Reader reader(server.address(), std::nullopt, "");
  REQUIRE(reader.Next()->version == Version{1, 1});
  REQUIRE(server.publisher().Publish(ParametersOf(1, 2)));
  REQUIRE(reader.Next()->version == Version{1, 2});
  REQUIRE_FALSE(reader.differed());
}

TEST_CASE("many subscribers get each difference, which is made once") {
  PublisherServer server("127.0.0.1:0", {.differences = true});
  REQUIRE(server.publisher().Publish(TrainedVersion(1)));
  std::vector<std::unique_ptr<Reader>> readers;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(std::make_unique<Reader>(server.address(), TrainedVersion(1)));
  }
  for (std::uint64_t step = 2; step <= 4; ++step) {
    while (server.publisher().subscribers() < readers.size()) std::this_thread::yield();
    REQUIRE(server.publisher().Publish(TrainedVersion(step)));
    for (auto& reader : readers) REQUIRE(NextDiffers(*reader, step));
  }
  const auto made = server.metrics()
                        .Counter("shoal_parameters_differences_made_total", "Differences made")
                        .Value();
  REQUIRE(made == 3);
}

}  // namespace
}  // namespace shoal::parameters
