// SPDX-License-Identifier: Apache-2.0
// Tests a real server with a real network on loopback, over the wire.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "inference/service/inference_server.h"
#include "platform/content/content_key.h"
#include "platform/transport/channel.h"
#include "platform/transport/client_stream.h"
#include "platform/transport/health_client.h"
#include "platform/transport/wire_tensor.h"
#include "proto/act.grpc.pb.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/inference/service/loopback.h"
#include "tests/rl/parameters/values.h"
#include "tests/text/embedding/small_encoder.h"

namespace shoal::inference {
namespace {

using std::chrono::seconds;
using testing::VersionOf;

class Caller final : public transport::ClientStream<proto::ActRequest, proto::ActReply> {
 public:
  // Returns the next reply, or nothing at the stream's end.
  std::optional<proto::ActReply> Next() {
    const runtime::MutexLock lock(mutex_);
    while (replies_.empty() && !ended_) changed_.Wait(mutex_);
    if (replies_.empty()) return std::nullopt;
    proto::ActReply reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }

 private:
  void OnMessage(proto::ActReply&& reply) override {
    const runtime::MutexLock lock(mutex_);
    replies_.push_back(std::move(reply));
    changed_.NotifyAll();
  }
  void OnEnd(const absl::Status&) override {
    const runtime::MutexLock lock(mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }

  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::deque<proto::ActReply> replies_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

enum class Sees : std::uint8_t { kNumbers, kTexts, kTextsByLanguageModel };

struct ActServiceFixture {
  // `learner` is the publisher's address. If it is empty, parameters lie in a folder.
  explicit ActServiceFixture(Sees sees = Sees::kNumbers, const std::string& learner = "",
                             const std::string& device = "cpu") {
    config.options.device = device;
    config.policy.hidden = {8};
    config.policy.value_hidden = {8};
    config.policy.past_requests = false;
    config.policy.observation_size = 2;
    if (sees == Sees::kNumbers) {
      config.policy.head = "discrete";
      config.policy.action_count = 2;
      config.policy.content_fields = {};
    } else {
      config.policy.content_fields = {"goal"};
      config.policy.projection_size = 8;
    }
    if (sees == Sees::kTextsByLanguageModel) {
      embedding::WriteSmallModel(folder.path() + "/model");
      config.options.encoder.encoder = "gpt2:" + folder.path() + "/model";
      config.options.embedding_cache.encoder_cache = folder.path() + "/embeddings.sqlite";
      config.policy.embedding_size = embedding::kSmallWidth;
    }
    config.options.listen = "127.0.0.1:0";
    config.options.max_message_bytes = 1 << 20;
    config.options.parameters_folder = folder.path();
    config.cluster.learner = learner;
    if (learner.empty()) {
      REQUIRE(testing::SaveInitialParameters(config.policy, folder.path()).ok());
    }
    Start();
  }

  void Start() {
    auto created = InferenceServer::Create(config, metrics);
    INFO(created.status().ToString());
    REQUIRE(created.ok());
    server = std::move(*created);
    stub = proto::Inference::NewStub(transport::CreateChannel(server->address()));
  }

  // A stream that is still open holds the channel, which must not be destroyed in its last
  // reaction.
  ~ActServiceFixture() {
    for (const auto& caller : callers) {
      caller->Cancel();
      (void)caller->AwaitEnd();
    }
  }

  proto::ActRequest Hello() const { return testing::HelloFor(config.policy); }

  std::shared_ptr<Caller> Open() { return OpenWith(Hello()); }
  std::shared_ptr<Caller> OpenWith(proto::ActRequest hello) {
    auto caller = std::make_shared<Caller>();
    caller->Start([this](auto* context, auto* reactor) { stub->async()->Act(context, reactor); });
    caller->Send(std::move(hello));
    callers.push_back(caller);
    return caller;
  }
  std::shared_ptr<Caller> OpenWelcomed() {
    auto caller = Open();
    const auto welcome = caller->Next();
    REQUIRE(welcome);
    REQUIRE(welcome->welcome().server_epoch() == server->server_epoch());
    return caller;
  }

  const doubles::TemporaryFolder folder;
  runtime::Metrics metrics;
  InferenceConfig config;
  std::unique_ptr<InferenceServer> server;
  std::unique_ptr<proto::Inference::Stub> stub;
  std::vector<std::shared_ptr<Caller>> callers;
};

// Makes FIRST rows of environments 0, 1, ... with sequence 0.
proto::ActRequest FirstRows(int count) {
  proto::ActRequest request;
  proto::Rows& rows = *request.mutable_rows();
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    rows.add_environment_ids(static_cast<std::uint64_t>(i));
    rows.add_incarnations(1);
    rows.add_sequences(0);
    rows.add_episode_ids(0);
    rows.add_modes(proto::ROW_MODE_TRAIN);
    rows.add_rewards(0);
    rows.add_flags(proto::ROW_FLAG_FIRST);
    values.insert(values.end(), {0.1F, 0.2F});
  }
  proto::NamedTensor& tensor = *rows.add_observations();
  tensor.set_name("state");
  transport::ToWire(runtime::Tensor::Of<float>({count, 2}, values), *tensor.mutable_tensor());
  return request;
}

// Collects the statuses by environment until `count` rows are answered.
std::map<std::uint64_t, proto::RowStatus> Statuses(Caller& caller, std::size_t count) {
  std::map<std::uint64_t, proto::RowStatus> statuses;
  while (statuses.size() < count) {
    const auto reply = caller.Next();
    REQUIRE(reply);
    for (int i = 0; i < reply->replies().environment_ids_size(); ++i) {
      statuses[reply->replies().environment_ids(i)] = reply->replies().statuses(i);
    }
  }
  return statuses;
}

TEST_CASE("A bad row is refused, the others are answered, and the stream lives on") {
  ActServiceFixture fixture;
  const auto caller = fixture.OpenWelcomed();
  proto::ActRequest request = FirstRows(3);
  request.mutable_rows()->set_flags(1, proto::ROW_FLAG_FINAL);
  REQUIRE(caller->Send(std::move(request)));
  const auto statuses = Statuses(*caller, 3);
  REQUIRE(statuses.at(0) == proto::ROW_OK);
  REQUIRE(statuses.at(1) == proto::ROW_INVALID);
  REQUIRE(statuses.at(2) == proto::ROW_OK);
  REQUIRE(caller->Send(FirstRows(1)));
  REQUIRE(Statuses(*caller, 1).at(0) == proto::ROW_OK);
  caller->Close();
  REQUIRE(caller->AwaitEnd().ok());
}

TEST_CASE("A tensor of wrong byte count is every row's error, not the stream's") {
  ActServiceFixture fixture;
  const auto caller = fixture.OpenWelcomed();
  proto::ActRequest request = FirstRows(2);
  request.mutable_rows()->mutable_observations(0)->mutable_tensor()->mutable_data()->pop_back();
  REQUIRE(caller->Send(std::move(request)));
  const auto reply = caller->Next();
  REQUIRE(reply);
  REQUIRE(reply->replies().errors_size() == 2);
  REQUIRE(reply->replies().errors(0) == "observation state: float32 [2, 2] needs 16 bytes, got 15");
  REQUIRE(caller->Send(FirstRows(2)));
  REQUIRE(Statuses(*caller, 2).at(1) == proto::ROW_OK);
}

TEST_CASE("A peer of another protocol version is sent away, naming both ends and both versions") {
  ActServiceFixture fixture;
  proto::ActRequest hello = fixture.Hello();
  hello.mutable_hello()->set_client("actor-3");
  hello.mutable_hello()->set_protocol_version(99);
  const absl::Status end = fixture.OpenWith(std::move(hello))->AwaitEnd();
  REQUIRE(absl::IsFailedPrecondition(end));
  REQUIRE(runtime::Message(end).starts_with(
      "actor-3 speaks protocol 99, this inference server speaks " +
      std::to_string(transport::kProtocolVersion) + ":"));
}

TEST_CASE("An environment that does not fit the policy is sent away, saying what differs") {
  ActServiceFixture fixture;
  proto::ActRequest hello = fixture.Hello();
  hello.mutable_hello()->mutable_spec()->mutable_action()->mutable_discrete()->set_count(3);
  const absl::Status end = fixture.OpenWith(std::move(hello))->AwaitEnd();
  REQUIRE(absl::IsFailedPrecondition(end));
  REQUIRE(runtime::Message(end) == "the policy has 2 actions, the environment 3");
}

TEST_CASE("Rows before the hello end the stream") {
  ActServiceFixture fixture;
  REQUIRE(absl::IsInvalidArgument(fixture.OpenWith(FirstRows(1))->AwaitEnd()));
}

TEST_CASE("An oversized message ends its stream and no other") {
  ActServiceFixture fixture;
  const auto other = fixture.OpenWelcomed();
  const auto caller = fixture.OpenWelcomed();
  proto::ActRequest request;
  request.add_contents()->set_text(std::string(2 << 20, 'x'));
  REQUIRE(caller->Send(std::move(request)));
  REQUIRE(absl::IsResourceExhausted(caller->AwaitEnd()));
  REQUIRE(other->Send(FirstRows(1)));
  REQUIRE(Statuses(*other, 1).at(0) == proto::ROW_OK);
}

TEST_CASE("Contents and catalogs: asked for, verified, then acted on") {
  ActServiceFixture fixture(Sees::kTexts);
  const auto caller = fixture.OpenWelcomed();
  const auto goal = content::KeyOf("Turn the system on");
  const std::vector<std::string> texts = {"PATCH AssetTag", "POST Reset On"};
  std::string keys;
  for (const std::string& text : texts) keys += content::KeyOf(text).AsBytes();
  const auto catalog = content::KeyOf(keys);
  const auto rows = [&] {
    proto::ActRequest request = FirstRows(1);
    request.mutable_rows()->add_content_keys(std::string(goal.AsBytes()));
    request.mutable_rows()->add_catalog_keys(std::string(catalog.AsBytes()));
    request.mutable_rows()->add_catalogs(0);
    return request;
  };
  const auto add = [](proto::ActRequest& request, const content::ContentKey& key,
                      const std::string& text) {
    proto::Content& content = *request.add_contents();
    content.set_key(std::string(key.AsBytes()));
    content.set_text(text);
  };

  REQUIRE(caller->Send(rows()));
  const auto unknown = caller->Next();
  REQUIRE(unknown->replies().statuses(0) == proto::ROW_NEED_CONTENT);
  REQUIRE(unknown->replies().missing_keys(0) == std::string(goal.AsBytes()));

  proto::ActRequest forged = rows();
  add(forged, goal, "Turn the system off");
  REQUIRE(caller->Send(std::move(forged)));
  const auto refused = caller->Next();
  REQUIRE(refused->replies().statuses(0) == proto::ROW_INVALID);
  REQUIRE(refused->replies().errors(0).find(goal.ToHex()) != std::string::npos);

  proto::ActRequest with_goal = rows();
  add(with_goal, goal, "Turn the system on");
  REQUIRE(caller->Send(std::move(with_goal)));
  const auto no_catalog = caller->Next();
  REQUIRE(no_catalog->replies().statuses(0) == proto::ROW_NEED_CATALOG);
  REQUIRE(no_catalog->replies().missing_catalogs(0) == std::string(catalog.AsBytes()));

  proto::ActRequest with_catalog = rows();
  for (const std::string& text : texts) add(with_catalog, content::KeyOf(text), text);
  proto::Catalog& list = *with_catalog.add_catalogs();
  list.set_key(std::string(catalog.AsBytes()));
  list.set_candidate_keys(keys);
  REQUIRE(caller->Send(std::move(with_catalog)));
  const auto acted = caller->Next();
  REQUIRE(acted->replies().statuses(0) == proto::ROW_OK);
  const auto action = transport::Copy(acted->replies().actions(), "actions");
  REQUIRE(action->values<std::int64_t>()[0] >= 0);
  REQUIRE(action->values<std::int64_t>()[0] < 2);
  caller->Close();
  REQUIRE(caller->AwaitEnd().ok());
}

// Makes a first row with a goal and two candidates, and sends all its contents in the same message.
proto::ActRequest RowWithTexts() {
  proto::ActRequest request = FirstRows(1);
  std::string candidates;
  for (const char* text : {"Turn the system on", "PATCH AssetTag", "POST Reset On"}) {
    const content::ContentKey key = content::KeyOf(text);
    proto::Content& content = *request.add_contents();
    content.set_key(std::string(key.AsBytes()));
    content.set_text(text);
    if (request.contents_size() == 1) {
      request.mutable_rows()->add_content_keys(content.key());
    } else {
      candidates += content.key();
    }
  }
  proto::Catalog& catalog = *request.add_catalogs();
  catalog.set_key(std::string(content::KeyOf(candidates).AsBytes()));
  catalog.set_candidate_keys(candidates);
  request.mutable_rows()->add_catalog_keys(catalog.key());
  request.mutable_rows()->add_catalogs(0);
  return request;
}

TEST_CASE("What a language model made of texts survives a restart of the server") {
  ActServiceFixture fixture(Sees::kTextsByLanguageModel);
  const auto act = [&] {
    const auto caller = fixture.OpenWelcomed();
    REQUIRE(caller->Send(RowWithTexts()));
    const auto acted = caller->Next();
    REQUIRE(acted->replies().statuses(0) == proto::ROW_OK);
    caller->Close();
    REQUIRE(caller->AwaitEnd().ok());
    return fixture.callers.clear();
  };
  const auto count = [&](const std::string& name) {
    return fixture.metrics.Counter("shoal_embedding_file_" + name, "").Value();
  };
  act();
  REQUIRE(count("inserted_total") == 3);
  REQUIRE(count("found_total") == 0);
  fixture.stub.reset();
  fixture.server.reset();
  fixture.Start();
  act();
  REQUIRE(count("found_total") == 3);
  REQUIRE(count("inserted_total") == 3);
}

TEST_CASE("Health follows parameters, and draining ends streams and health") {
  ActServiceFixture fixture;
  const auto channel = transport::CreateChannel(fixture.server->address());
  REQUIRE(transport::CheckHealth(channel, seconds(5)).ok());
  const auto caller = fixture.OpenWelcomed();
  REQUIRE(caller->Send(FirstRows(2)));
  REQUIRE(Statuses(*caller, 2).size() == 2);
  REQUIRE(fixture.server->Drain(seconds(5)).ok());
  const absl::Status end = caller->AwaitEnd();
  REQUIRE(absl::IsUnavailable(end));
  REQUIRE(runtime::Message(end) == "draining");
}

// Sends a row of a new environment that names its policy until the answer is final, and returns the
// answer.
proto::RowReplies Evaluate(Caller& caller, const proto::PolicySelector& selector) {
  static std::uint64_t environments = 1000;
  ++environments;
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  for (;;) {
    proto::ActRequest request = FirstRows(1);
    request.mutable_rows()->set_environment_ids(0, environments);
    request.mutable_rows()->set_modes(0, proto::ROW_MODE_EVALUATE);
    request.mutable_rows()->add_policy_indices(0);
    *request.mutable_rows()->add_policies() = selector;
    REQUIRE(caller.Send(std::move(request)));
    const auto reply = caller.Next();
    REQUIRE(reply);
    REQUIRE(reply->replies().statuses_size() == 1);
    if (reply->replies().statuses(0) != proto::ROW_OVERLOADED) return reply->replies();
    REQUIRE(std::chrono::steady_clock::now() < deadline);
  }
}

TEST_CASE("Two servers answer by the same versions though one of them came late") {
  const doubles::TemporaryFolder learner;
  parameters::PublisherServer publisher("127.0.0.1:0", {.folder = learner.path()});
  ActServiceFixture early(Sees::kNumbers, publisher.address());
  const model::PolicySpec& policy = early.config.policy;
  REQUIRE(parameters::ParametersFolder(learner.path()).Save(VersionOf(policy, 0)).ok());
  for (std::uint64_t step = 0; step < 4; ++step) {
    REQUIRE(publisher.publisher().Publish(VersionOf(policy, step)));
  }
  ActServiceFixture late(Sees::kNumbers, publisher.address());

  proto::PolicySelector initial;
  initial.set_initial(true);
  proto::PolicySelector pinned;
  pinned.mutable_pinned()->set_epoch(1);
  pinned.mutable_pinned()->set_step(2);
  proto::PolicySelector gone = pinned;
  gone.mutable_pinned()->set_step(99);
  for (ActServiceFixture* fixture : {&early, &late}) {
    const auto caller = fixture->OpenWelcomed();
    const proto::RowReplies first = Evaluate(*caller, initial);
    REQUIRE(first.statuses(0) == proto::ROW_OK);
    REQUIRE(first.policy_steps(0) == 0);
    const proto::RowReplies skipped = Evaluate(*caller, pinned);
    REQUIRE(skipped.statuses(0) == proto::ROW_OK);
    REQUIRE(skipped.policy_steps(0) == 2);
    const proto::RowReplies refused = Evaluate(*caller, gone);
    REQUIRE(refused.statuses(0) == proto::ROW_INVALID);
    REQUIRE(refused.errors(0).find("1.99 cannot be had") != std::string::npos);
  }
  // The run's first version is there at the next start without asking the learner.
  REQUIRE(parameters::ParametersFolder(late.folder.path() + "/initial").List().size() == 1);
}

TEST_CASE("The run's first version is there though the learner went before a row asked for it") {
  const doubles::TemporaryFolder learner;
  auto publisher = std::make_unique<parameters::PublisherServer>(
      "127.0.0.1:0", parameters::PublisherOptions{.folder = learner.path()});
  ActServiceFixture fixture(Sees::kNumbers, publisher->address());
  const model::PolicySpec& policy = fixture.config.policy;
  REQUIRE(parameters::ParametersFolder(learner.path()).Save(VersionOf(policy, 0)).ok());
  REQUIRE(publisher->publisher().Publish(VersionOf(policy, 3)));
  const parameters::ParametersFolder kept(fixture.folder.path() + "/initial");
  REQUIRE(doubles::Eventually([&] { return kept.List().size() == 1; }));
  publisher.reset();
  proto::PolicySelector initial;
  initial.set_initial(true);
  const auto caller = fixture.OpenWelcomed();
  const proto::RowReplies replies = Evaluate(*caller, initial);
  REQUIRE(replies.statuses(0) == proto::ROW_OK);
  REQUIRE(replies.policy_steps(0) == 0);
}

TEST_CASE("Several devices share the environments, act by each version, and drain together") {
  const doubles::TemporaryFolder learner;
  parameters::PublisherServer publisher("127.0.0.1:0",
                                        parameters::PublisherOptions{.folder = learner.path()});
  ActServiceFixture fixture(Sees::kNumbers, publisher.address(), "cpu, cpu,cpu");
  const auto caller = fixture.OpenWelcomed();
  constexpr int kEnvironments = 6;
  std::uint64_t incarnation = 0;
  // Returns the versions that answer a new incarnation of every environment.
  const auto versions = [&] {
    proto::ActRequest request = FirstRows(kEnvironments);
    ++incarnation;
    for (int i = 0; i < kEnvironments; ++i) {
      request.mutable_rows()->set_incarnations(i, incarnation);
    }
    REQUIRE(caller->Send(std::move(request)));
    std::map<std::uint64_t, std::uint64_t> steps;
    while (steps.size() < kEnvironments) {
      const auto reply = caller->Next();
      REQUIRE(reply);
      for (int i = 0; i < reply->replies().environment_ids_size(); ++i) {
        REQUIRE(reply->replies().statuses(i) == proto::ROW_OK);
        steps[reply->replies().environment_ids(i)] = reply->replies().policy_steps(i);
      }
    }
    return steps;
  };
  std::map<std::uint64_t, std::uint64_t> last;
  for (const std::uint64_t step : {3, 4, 5}) {
    REQUIRE(publisher.publisher().Publish(VersionOf(fixture.config.policy, step)));
    REQUIRE(doubles::Eventually([&] {
      std::size_t newest = 0;
      for (const auto& [environment, version] : versions()) {
        REQUIRE(version >= last[environment]);
        last[environment] = version;
        if (version == step) ++newest;
      }
      return newest == kEnvironments;
    }));
  }
  REQUIRE(fixture.server->Drain(seconds(5)).ok());
  REQUIRE(runtime::Message(caller->AwaitEnd()) == "draining");
  for (const char* const replica : {"0", "1", "2"}) {
    INFO(replica);
    // Two of the six environments, in each message.
    REQUIRE(
        fixture.metrics.Counter("shoal_inference_replica_rows_total", "", {{"replica", replica}})
            .Value() == 2 * static_cast<double>(incarnation));
  }
}

TEST_CASE("A language model without its device is an error that names the knob") {
  ActServiceFixture fixture(Sees::kTextsByLanguageModel);
  runtime::Metrics metrics;
  InferenceConfig config = fixture.config;
  config.options.encoder.encoder_device = "abacus";
  REQUIRE(runtime::Message(InferenceServer::Create(config, metrics).status())
              .find("inference.encoder_device: device 'abacus'") != std::string::npos);
}

TEST_CASE("Wrong configuration is an error that names the knob") {
  ActServiceFixture fixture;
  runtime::Metrics metrics;
  InferenceConfig config = fixture.config;
  config.options.listen = fixture.server->address();
  const auto taken = InferenceServer::Create(config, metrics);
  REQUIRE(absl::IsFailedPrecondition(taken.status()));
  REQUIRE(runtime::Message(taken.status()).find(config.options.listen) != std::string::npos);
  config.options.precision = "bfloat16";
  REQUIRE(runtime::Message(InferenceServer::Create(config, metrics).status()) ==
          "inference.precision: bfloat16 is for policy.convolution impala, not for none");
  config.options.precision = "float32";
  config.options.listen = "";
  REQUIRE(runtime::Message(InferenceServer::Create(config, metrics).status())
              .find("inference.listen") != std::string::npos);
  config.run.deterministic = true;
  REQUIRE(runtime::Message(InferenceServer::Create(config, metrics).status())
              .find("lockstep_environments") != std::string::npos);
  config.options.lockstep_environments = 4;
  config.options.device = "cpu,cpu";
  REQUIRE(runtime::Message(InferenceServer::Create(config, metrics).status()) ==
          "run.deterministic: not with several devices, inference.device = \"cpu,cpu\": lock step "
          "evaluates all environments in one batch");
  config.options.device = "cpu,auto";
  REQUIRE(runtime::Message(InferenceServer::Create(config, metrics).status()) ==
          "inference.device: in the list 'cpu,auto', 'auto' is none of cpu, cuda:<n>");
}

}  // namespace
}  // namespace shoal::inference
