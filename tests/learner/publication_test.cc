// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/client_context.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "learner/learner.h"
#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/half_precision.h"
#include "rl/parameters/parameters_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/learner/small_learner.h"
#include "tests/replay/shard_server.h"
#include "tests/rl/model/small_policy.h"

namespace shoal::learner {
TEST_CASE("parameters that were trained after the last version are published as another one") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.checkpoint_every_updates = 100;
  setup.learner.publish_every_updates = 3;
  setup.learner.keep_parameters = 10;
  REQUIRE(RunAlone(setup, {}).ok());
  // Version 1.1 is of update 3, and update 4 is the last one.
  REQUIRE(Lines(setup).back()["step"] == 1);
  const parameters::ParametersFolder saved(setup.run.path() + "/parameters");
  REQUIRE(saved.Load({1, 2}).ok());
  REQUIRE(absl::IsNotFound(saved.Load({1, 3}).status()));
}

// The file of a version of a run that published in this form.
std::string PublishedIn(const std::string& encoding, const parameters::Version& version) {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.publication_encoding = encoding;
  setup.learner.keep_parameters = 10;
  REQUIRE(RunAlone(setup, {}).ok());
  const parameters::ParametersFolder saved(setup.run.path() + "/parameters");
  return *saved.Load(version)->bytes;
}

TEST_CASE("a learner that publishes halves trains as ever, and its versions are what it rounded") {
  for (const parameters::Version& version : {parameters::Version{1, 0}, {1, 4}}) {
    const std::string exact = PublishedIn("float32", version);
    const std::string rounded = PublishedIn("float16", version);
    REQUIRE(rounded == *parameters::RoundToHalf(exact));
    REQUIRE(rounded.size() < exact.size());
    REQUIRE(PublishedIn("delta", version) == exact);
    REQUIRE(PublishedIn("float16_delta", version) == rounded);
  }
}

TEST_CASE("inference by halves gives actions the learner's log-probabilities up to rounding") {
  const std::string exact = PublishedIn("float32", {1, 4});
  const auto learners = model::Policy::FromSafetensors(DiscreteSpec(), exact, nullptr);
  const auto inferences =
      model::Policy::FromSafetensors(DiscreteSpec(), *parameters::RoundToHalf(exact), nullptr);
  REQUIRE(learners.ok());
  REQUIRE(inferences.ok());
  model::PolicyInputs inputs = model::Inputs(DiscreteSpec(), 64);
  const model::PolicyOutputs acted = model::Act(**inferences, inputs);
  inputs.choice.assign(64, model::Choice::kForced);
  inputs.forced_action = acted.action;
  const model::PolicyOutputs judged = model::Act(**learners, inputs);
  bool differ = false;
  for (std::size_t row = 0; row < 64; ++row) {
    REQUIRE(judged.log_probability[row] == Approx(acted.log_probability[row]).margin(2e-3));
    REQUIRE(judged.value[row] == Approx(acted.value[row]).margin(2e-3));
    differ = differ || judged.log_probability[row] != acted.log_probability[row];
  }
  REQUIRE(differ);
}

TEST_CASE("a learner sends inference the difference from the version that it got before") {
  const doubles::TemporaryFolder folder;
  replay::ShardServer shard({.name = "unrolls"});
  Fill(shard.shard(), 1);
  LearnerSetup setup = Setup(folder, shard.address());
  setup.learner.publication_encoding = "delta";
  setup.learner.listen = "unix:" + folder.At("learner");
  const auto stub = proto::Parameters::NewStub(transport::CreateChannel(setup.learner.listen));
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<proto::ParametersPart>> stream;
  std::vector<bool> differences;
  const absl::Status end = RunAlone(setup, [&](int) {
    proto::SubscribeRequest request;
    request.set_protocol_version(transport::kProtocolVersion);
    request.set_takes_differences(true);
    if (!stream) stream = stub->Subscribe(&context, request);
    proto::ParametersPart part;
    REQUIRE(stream->Read(&part));
    differences.push_back(part.has_difference());
  });
  REQUIRE(end.ok());
  REQUIRE(differences == std::vector<bool>{false, true, true, true});
}

}  // namespace shoal::learner
