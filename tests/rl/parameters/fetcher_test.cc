// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/fetcher.h"

#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <future>
#include <utility>
#include <vector>

#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/version_wire.h"
#include "tests/rl/parameters/values.h"

namespace shoal::parameters {
namespace {

using std::chrono::milliseconds;

// Fetches one version with a fetcher of its own.
absl::StatusOr<Parameters> Fetch(const std::string& address, const WantedVersion& wanted,
                                 FetcherOptions options = {}) {
  std::promise<absl::StatusOr<Parameters>> promise;
  options.address = address;
  const auto fetcher =
      Fetcher::Create(options, [&](const WantedVersion&, absl::StatusOr<Parameters> fetched) {
        promise.set_value(std::move(fetched));
      });
  REQUIRE(fetcher.ok());
  (*fetcher)->Fetch(wanted);
  auto future = promise.get_future();
  REQUIRE(future.wait_for(kPatience) == std::future_status::ready);
  return future.get();
}

TEST_CASE("versions that were skipped and the first one of the run can be fetched") {
  const doubles::TemporaryFolder folder;
  const ParametersFolder files(folder.path());
  for (const std::uint64_t step : {0U, 5U}) REQUIRE(files.Save(ParametersOf(1, step)).ok());
  PublisherServer server("127.0.0.1:0", {.folder = folder.path()});
  // Parameters of this size are sent in three parts.
  constexpr std::size_t kBytes = std::size_t{5} << 19;
  for (const std::uint64_t step : {6U, 7U}) {
    REQUIRE(server.publisher().Publish(ParametersOf(1, step, kBytes)));
  }
  REQUIRE(Fetch(server.address(), std::nullopt)->version == Version{1, 0});
  REQUIRE(Fetch(server.address(), Version{1, 5})->version == Version{1, 5});
  const auto skipped = Fetch(server.address(), Version{1, 6});
  REQUIRE(skipped.ok());
  REQUIRE(*skipped->bytes == *ParametersOf(1, 6, kBytes).bytes);
}

TEST_CASE("versions that were superseded before their SHA-256 was known can be fetched") {
  constexpr std::size_t kBytes = std::size_t{5} << 19;
  PublisherServer server;
  std::vector<Parameters> versions;
  for (std::uint64_t step = 1; step <= 8; ++step) {
    versions.push_back(Unfinished(ParametersOf(1, step, kBytes)));
  }
  for (const Parameters& version : versions) REQUIRE(server.publisher().Publish(version));
  for (std::uint64_t step = 8; step >= 1; --step) {
    const auto fetched = Fetch(server.address(), Version{1, step});
    REQUIRE(fetched.ok());
    REQUIRE(*fetched->bytes == *ParametersOf(1, step, kBytes).bytes);
  }
}

TEST_CASE("a version that others keep is served after the learner has removed its own file") {
  const doubles::TemporaryFolder folder;
  const doubles::TemporaryFolder kept;
  REQUIRE(ParametersFolder(kept.path()).Save(ParametersOf(1, 2)).ok());
  PublisherServer server("127.0.0.1:0",
                         {.folder = folder.path(), .kept_folder = kept.path(), .recent_bytes = 0});
  for (const std::uint64_t step : {1U, 2U, 3U}) {
    REQUIRE(server.publisher().Publish(ParametersOf(1, step)));
  }
  REQUIRE(Fetch(server.address(), Version{1, 2})->version == Version{1, 2});
  REQUIRE(absl::IsNotFound(Fetch(server.address(), Version{1, 1}).status()));
}

TEST_CASE("a version that the learner no longer has is not found, and the message names it") {
  const doubles::TemporaryFolder folder;
  PublisherServer server("127.0.0.1:0", {.folder = folder.path(), .recent_bytes = 150});
  for (const std::uint64_t step : {1U, 2U, 3U}) {
    REQUIRE(server.publisher().Publish(ParametersOf(1, step)));
  }
  REQUIRE(Fetch(server.address(), Version{1, 2}).ok());
  const auto gone = Fetch(server.address(), Version{1, 1});
  REQUIRE(absl::IsNotFound(gone.status()));
  REQUIRE(runtime::Message(gone.status()).find("1.1") != std::string::npos);
  REQUIRE(absl::IsNotFound(Fetch(server.address(), std::nullopt).status()));
}

TEST_CASE("a version of another spec is refused") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  REQUIRE(absl::IsFailedPrecondition(
      Fetch(server.address(), Version{1, 1}, {.spec_digest = "another"}).status()));
}

TEST_CASE("a learner that stays away is an error when the patience is over") {
  std::string nobody;
  {
    const PublisherServer gone;
    nobody = gone.address();
  }
  const auto fetched = Fetch(nobody, std::nullopt, {.patience = milliseconds(300)});
  REQUIRE((absl::IsUnavailable(fetched.status()) ||
           fetched.status().code() == absl::StatusCode::kDeadlineExceeded));
}

TEST_CASE("a fetch that makes no sense is refused and the publisher goes on") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  const auto stub = proto::Parameters::NewStub(transport::CreateChannel(server.address()));
  const auto code = [&](const proto::FetchRequest& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    proto::ParametersPart part;
    return stub->Fetch(&context, request, &part).error_code();
  };
  proto::FetchRequest request;
  REQUIRE(code(request) == grpc::StatusCode::FAILED_PRECONDITION);
  request.set_protocol_version(transport::kProtocolVersion);
  REQUIRE(code(request) == grpc::StatusCode::INVALID_ARGUMENT);
  *request.mutable_version() = ToProto({1, 1});
  request.set_offset(1 << 20);
  REQUIRE(code(request) == grpc::StatusCode::OUT_OF_RANGE);
  request.set_offset(0);
  REQUIRE(code(request) == grpc::StatusCode::OK);
  server.publisher().Drain(kPatience);
  REQUIRE(code(request) == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("a fetcher that is destroyed drops what waits") {
  std::string nobody;
  {
    const PublisherServer gone;
    nobody = gone.address();
  }
  int calls = 0;
  {
    const auto fetcher =
        Fetcher::Create({.address = nobody, .max_waiting = 4},
                        [&](const WantedVersion&, absl::StatusOr<Parameters>) { ++calls; });
    REQUIRE(fetcher.ok());
    (*fetcher)->Fetch(std::nullopt);
    (*fetcher)->Fetch(Version{1, 1});
  }
  REQUIRE(calls == 0);
}

TEST_CASE("a fetcher needs an address and somebody who takes the parameters") {
  REQUIRE(absl::IsInvalidArgument(
      Fetcher::Create({}, [](const WantedVersion&, absl::StatusOr<Parameters>) {}).status()));
  REQUIRE(absl::IsInvalidArgument(Fetcher::Create({.address = "127.0.0.1:1"}, nullptr).status()));
}

}  // namespace
}  // namespace shoal::parameters
