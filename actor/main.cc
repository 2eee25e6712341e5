// SPDX-License-Identifier: Apache-2.0
#include "actor/actor.h"
#include "actor/demonstrations/demonstration_recorder.h"
#include "actor/gymnasium_actor.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"

int main(int argc, char** argv) {
  shoal::actor::ActorOptions options;
  shoal::actor::EnvironmentOptions environment;
  shoal::runtime::Program program("actor", "Plays environments with actions from inference.");
  program.AddSection("actor", options);
  program.AddSection("environment", environment);
  if (const auto code = program.Parse(argc, argv)) return *code;

  if (options.mode == "record") {
    const absl::Status recorded = shoal::actor::RecordToFile(
        environment, program.run(),
        {.of_pair = static_cast<std::uint64_t>(options.record_episodes),
         .of_goal = static_cast<std::uint64_t>(options.record_goal_episodes)},
        options.record_output);
    return recorded.ok() ? 0 : program.Fail(recorded);
  }
  const shoal::actor::ActorConfig config{.actor = options,
                                         .environment = environment,
                                         .cluster = program.cluster(),
                                         .run = program.run(),
                                         .index = static_cast<std::uint64_t>(program.index())};
  if (environment.kind == "gymnasium") {
    return program.Fail(shoal::actor::BecomeGymnasiumActor(config));
  }
  auto actor = shoal::actor::Actor::Create(config);
  if (!actor.ok()) return program.Fail(actor.status());
  (*actor)->Start([&program](const absl::Status& end) {
    program.RequestStop(end.ok() ? 0 : program.Fail(end));
  });
  const int code = program.WaitForStop();
  (*actor)->Stop();
  spdlog::info("event=stopped code={}", code);
  return code;
}
