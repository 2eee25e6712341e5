// SPDX-License-Identifier: Apache-2.0
#include "actor/gymnasium_actor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "platform/runtime/program.h"

namespace shoal::actor {
namespace {

// Runs the package's program, or says what is missing. Python puts the working directory before all
// other places, where any file could stand in for a module.
std::string Start() {
  return "import sys\n"
         "sys.path = [place for place in sys.path if place]\n"
         "sys.argv[0] = 'shoal-gym-actor'\n"
         "try:\n"
         "    from shoal_gym.command import main\n"
         "except ImportError as error:\n"
         "    print(f'error: {sys.executable} cannot play Gymnasium: {error}; type: '\n"
         "          f'{sys.executable} -m pip install ./python/shoal_gym, or set '\n"
         "          'environment.gymnasium.python', file=sys.stderr)\n"
         "    sys.exit(" +
         std::to_string(runtime::kExitPermanent) +
         ")\n"
         "main()\n";
}

absl::Status Check(const ActorConfig& config) {
  const auto refuse = [](const std::string& what) {
    return runtime::InvalidArgument(what + ", which environments of Gymnasium do not have");
  };
  if (config.environment.gymnasium.name.empty()) {
    return runtime::InvalidArgument(
        "environment.gymnasium.name is empty: it names the environment, as in CartPole-v1");
  }
  if (config.actor.policy_id != 0) {
    return runtime::InvalidArgument(
        "actor.policy_id is not 0: actors of Gymnasium name no policy among several");
  }
  if (config.actor.curriculum.stages > 0) {
    return refuse("actor.curriculum.stages is above 0: faults");
  }
  if (config.actor.group_size > 1) return refuse("actor.group_size is above 1: episodes in groups");
  if (config.actor.hindsight.enabled()) {
    return refuse("actor.hindsight.strategy is " + config.actor.hindsight.strategy + ": goals");
  }
  if (config.environment.exploration.members > 0) {
    return refuse("environment.exploration.members is above 0: rewards for what is new");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> GymnasiumCommand(const ActorConfig& config) {
  SHOAL_RETURN_IF_ERROR(Actor::Check(config));
  SHOAL_RETURN_IF_ERROR(Check(config));
  const ActorOptions& options = config.actor;
  const auto environments = static_cast<std::uint64_t>(options.environments);
  std::vector<std::string> command = {config.environment.gymnasium.python,
                                      "-c",
                                      Start(),
                                      "--environment",
                                      config.environment.gymnasium.name,
                                      "--environments",
                                      std::to_string(environments),
                                      "--first-environment",
                                      std::to_string(config.index * environments),
                                      "--seed",
                                      std::to_string(config.episode_seed())};
  const auto add = [&command](const std::string& flag, const std::string& value) {
    command.insert(command.end(), {flag, value});
  };
  const std::string& file = config.cluster.inference_file;
  const std::vector<std::string>& servers = config.cluster.inference;
  if (file.empty()) {
    add("--inference", servers[config.index % servers.size()]);
  } else {
    add("--inference-file", file);
  }
  if (!options.metrics_listen.empty()) add("--metrics", options.metrics_listen);
  if (!options.health_listen.empty()) add("--health", options.health_listen);
  if (!options.evaluates()) return command;
  const std::int64_t counted = options.evaluate_counted;
  add("--evaluate", std::to_string(counted > 0 ? std::min(counted, options.evaluate_episodes)
                                               : options.evaluate_episodes));
  add("--evaluate-seconds", std::to_string(options.evaluate_seconds));
  add("--output", options.evaluate_output);
  if (options.evaluate_policies.empty()) {
    return runtime::InvalidArgument("actor.evaluate_policies names no policy");
  }
  command.push_back("--policies");
  for (const std::string& name : options.evaluate_policies) {
    SHOAL_ASSIGN_OR_RETURN(const EvaluationPlan::Policy policy, ParsePolicy(name));
    if (policy.selector.similarity()) {
      return runtime::InvalidArgument(
          "actor.evaluate_policies: similarity is for candidates, which environments of Gymnasium "
          "do not have");
    }
    command.push_back(policy.selector.current() ? "current" : policy.name);
  }
  return command;
}

absl::Status BecomeGymnasiumActor(const ActorConfig& config) {
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> command, GymnasiumCommand(config));
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execvp(arguments.front(), arguments.data());
  return runtime::NotFound("environment.gymnasium.python: cannot start \"" + command.front() +
                           "\": " + std::strerror(errno));
}

}  // namespace shoal::actor
