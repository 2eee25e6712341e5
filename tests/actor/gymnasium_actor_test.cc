// SPDX-License-Identifier: Apache-2.0
#include "actor/gymnasium_actor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "actor/environments/environment_source.h"

namespace shoal::actor {
namespace {

struct Setting {
  Setting() {
    environment.kind = "gymnasium";
    environment.gymnasium = {.name = "CartPole-v1", .python = "python"};
    cluster.inference = {"127.0.0.1:1", "127.0.0.1:2"};
    options.environments = 8;
  }
  ActorConfig config(std::uint64_t index) const {
    return {.actor = options,
            .environment = environment,
            .cluster = cluster,
            .run = run,
            .index = index};
  }
  // The value after a flag, or nothing where the command lacks it.
  static std::string ValueOf(const std::vector<std::string>& command, const std::string& flag) {
    const auto at = std::find(command.begin(), command.end(), flag);
    return at == command.end() ? "nothing" : *(at + 1);
  }

  ActorOptions options;
  EnvironmentOptions environment;
  runtime::ClusterOptions cluster;
  runtime::RunOptions run;
};

TEST_CASE("Actors of Gymnasium share environments and servers out, and train by their own seed") {
  Setting setting;
  setting.options.metrics_listen = "127.0.0.1:7";
  setting.options.health_listen = "127.0.0.1:8";
  const auto first = GymnasiumCommand(setting.config(0)).value();
  const auto fourth = GymnasiumCommand(setting.config(3)).value();
  REQUIRE(first.front() == "python");
  REQUIRE(Setting::ValueOf(first, "--environment") == "CartPole-v1");
  REQUIRE(Setting::ValueOf(first, "--environments") == "8");
  REQUIRE(Setting::ValueOf(first, "--first-environment") == "0");
  REQUIRE(Setting::ValueOf(fourth, "--first-environment") == "24");
  REQUIRE(Setting::ValueOf(first, "--inference") == "127.0.0.1:1");
  REQUIRE(Setting::ValueOf(fourth, "--inference") == "127.0.0.1:2");
  REQUIRE(Setting::ValueOf(first, "--inference-file") == "nothing");
  REQUIRE(Setting::ValueOf(first, "--metrics") == "127.0.0.1:7");
  REQUIRE(Setting::ValueOf(first, "--health") == "127.0.0.1:8");
  REQUIRE(Setting::ValueOf(first, "--evaluate") == "nothing");
  const std::string seed = Setting::ValueOf(first, "--seed");
  setting.run.seed = 2;
  REQUIRE(Setting::ValueOf(GymnasiumCommand(setting.config(0)).value(), "--seed") != seed);
}

TEST_CASE("Actors of Gymnasium read the file of servers, in place of those named beside it") {
  Setting setting;
  setting.cluster.inference_file = "run/servers";
  const auto command = GymnasiumCommand(setting.config(1)).value();
  REQUIRE(Setting::ValueOf(command, "--inference-file") == "run/servers");
  REQUIRE(Setting::ValueOf(command, "--inference") == "nothing");
}

TEST_CASE("An evaluation of Gymnasium plays what counts under each policy, into the file") {
  Setting setting;
  setting.options.mode = "evaluate";
  setting.options.evaluate_episodes = 30;
  setting.options.evaluate_counted = 20;
  setting.options.evaluate_output = "run/final.jsonl";
  setting.options.evaluate_policies = {"learned", "initial", "1.27"};
  const auto command = GymnasiumCommand(setting.config(0)).value();
  REQUIRE(Setting::ValueOf(command, "--evaluate") == "20");
  REQUIRE(Setting::ValueOf(command, "--output") == "run/final.jsonl");
  const auto policies = std::find(command.begin(), command.end(), "--policies");
  REQUIRE(std::vector<std::string>(policies + 1, command.end()) ==
          std::vector<std::string>{"current", "initial", "1.27"});
  setting.options.evaluate_policies = {"similarity"};
  REQUIRE(absl::IsInvalidArgument(GymnasiumCommand(setting.config(0)).status()));
}

TEST_CASE("What an environment of Gymnasium cannot do is refused by the knob's name") {
  const auto refusal = [](auto change) {
    Setting setting;
    change(setting);
    const auto command = GymnasiumCommand(setting.config(0));
    REQUIRE(absl::IsInvalidArgument(command.status()));
    return runtime::Message(command.status());
  };
  REQUIRE(refusal([](Setting& s) {
            s.environment.gymnasium.name = "";
          }).starts_with("environment.gymnasium.name"));
  REQUIRE(refusal([](Setting& s) { s.options.policy_id = 1; }).starts_with("actor.policy_id"));
  REQUIRE(refusal([](Setting& s) {
            s.environment.faults.rate = 0.1;
            s.options.curriculum.stages = 2;
          }).starts_with("actor.curriculum.stages"));
  REQUIRE(refusal([](Setting& s) { s.options.group_size = 4; }).starts_with("actor.group_size"));
  REQUIRE(refusal([](Setting& s) {
            s.options.hindsight.strategy = "final";
          }).starts_with("actor.hindsight.strategy"));
  REQUIRE(refusal([](Setting& s) {
            s.environment.exploration.members = 2;
          }).starts_with("environment.exploration.members"));
}

TEST_CASE("What no actor accepts, an actor of Gymnasium refuses in the same words") {
  const auto refuses_alike = [](auto change) {
    Setting setting;
    change(setting);
    const absl::Status status = GymnasiumCommand(setting.config(0)).status();
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(status == Actor::Create(setting.config(0)).status());
  };
  refuses_alike([](Setting& s) { s.run.deterministic = true; });
  refuses_alike([](Setting& s) { s.cluster.inference = {}; });
}

TEST_CASE("Without the interpreter an actor of Gymnasium says which knob names it") {
  Setting setting;
  setting.environment.gymnasium.python = "/nowhere/python3";
  const absl::Status status = BecomeGymnasiumActor(setting.config(0));
  REQUIRE(absl::IsNotFound(status));
  REQUIRE(runtime::Message(status).starts_with("environment.gymnasium.python: "));
}

TEST_CASE("A process with other parts plays no environment of Gymnasium, and says so") {
  const Setting setting;
  const auto source = MakeSource(
      {.environment = setting.environment, .cluster = setting.cluster, .seed = 1, .captures = {}});
  REQUIRE(absl::IsInvalidArgument(source.status()));
  REQUIRE(runtime::Message(source.status()).find("--in-process") != std::string::npos);
}

}  // namespace
}  // namespace shoal::actor
