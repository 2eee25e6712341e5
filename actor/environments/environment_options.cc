// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/environment_options.h"

#include <string_view>
#include <utility>

#include "redfish/capture/capture_roles.h"

namespace shoal::actor {

void RewardOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob(
      "preset", preset,
      {.help = "default reads the knobs below; igc is fixed", .choices = {"default", "igc"}});
  visitor.Knob("goal", goal,
               {.help = "goal reached without side effects", .min = -100, .max = 100});
  visitor.Knob("goal_with_collateral", goal_with_collateral,
               {.help = "goal reached with side effects", .min = -100, .max = 100});
  visitor.Knob("step", step, {.help = "each request", .min = -100, .max = 100});
  visitor.Knob("choice", choice,
               {.help = "each choice that puts a request together", .min = -100, .max = 100});
  visitor.Knob("client_error", client_error,
               {.help = "each answer with 4xx", .min = -100, .max = 100});
  visitor.Knob(
      "repeated_read", repeated_read,
      {.help = "each GET of what was read and cannot have changed since", .min = -100, .max = 100});
  visitor.Knob("milestones", milestones,
               {.help = "all milestones together, each once", .min = -100, .max = 100});
  visitor.Knob("collateral", collateral,
               {.help = "each side effect while it lasts", .min = -100, .max = 100});
  visitor.Knob("over_budget", over_budget,
               {.help = "a fleet draws more than its power budget", .min = -100, .max = 100});
}

void EnvironmentOptions::Visit(runtime::Visitor& visitor) {
  std::vector<std::string_view> kinds = {"redfish", "placement", "gymnasium"};
  kinds.insert(kinds.end(), SimulationKinds().begin(), SimulationKinds().end());
  visitor.Knob("kind", kind,
               {.help = "what is acted in: goals on services, networks to be placed on devices, an "
                        "environment of "
                        "Gymnasium, or a small task",
                .choices = std::move(kinds)});
  visitor.Knob(
      "captures", captures,
      {.help = "captures by name in data/captures or path; NAME~SEED is a variant of one"});
  visitor.Knob(
      "goals", goals,
      {.help = "goals and request sequences by number; none: all goals", .min = 1, .max = 1000});
  visitor.Knob("hold_out", hold_out,
               {.help = "the capture that training leaves out, with its variants"});
  visitor.Knob(
      "access", access,
      {.help = "over HTTP to the mock server, the service inside the actor, or a real host",
       .choices = {"http", "inprocess", "host"}});
  visitor.Knob("episode_limit", episode_limit,
               {.help = "requests in an episode", .unit = "steps", .min = 1, .max = 10000});
  visitor.Knob("limit_per_expert_request", limit_per_expert_request,
               {.help = "limits each goal and capture to this many times what its expert needs, at "
                        "most to episode_limit; 0: all to episode_limit, else at least 1",
                .min = 0,
                .max = 100});
  visitor.Knob("fleet_size", fleet_size,
               {.help = "services of one environment; more than 1 share a power budget",
                .min = 1,
                .max = 64});
  visitor.Knob(
      "power_budget_watts", power_budget_watts,
      {.help = "of a fleet; 0 draws one each episode", .unit = "W", .min = 0, .max = 100'000'000});
  visitor.Knob("data", data, {.help = "folder with captures, goals and schema"});
  visitor.Knob("word_dropout", word_dropout,
               {.help = "share of the goal's words that training leaves out", .min = 0, .max = 1});
  visitor.Knob("typos", typos,
               {.help = "share of the goal's words that training mistypes", .min = 0, .max = 1});
  visitor.Knob(
      "wait_seconds", wait_seconds,
      {.help = "by which `wait` moves the service's clock", .unit = "s", .min = 1, .max = 86400});
  visitor.Knob("read_values", read_values,
               {.help = "values of bodies that were read which a slot of a request is offered; 0: "
                        "only what stands in the goal's sentence",
                .min = 0,
                .max = 64});
  visitor.Knob("connections", connections,
               {.help = "HTTP connections of one thread", .min = 1, .max = 1024});
  visitor.Knob("response_cache_bytes", response_cache_bytes,
               {.help = "memory of one thread for texts of bodies and candidates of resources",
                .unit = "bytes",
                .min = 1 << 20});
  visitor.Knob("reset_attempts", reset_attempts,
               {.help = "tries to begin an episode that a service refuses, before its goal is "
                        "given up on this capture",
                .min = 1,
                .max = 100});
  visitor.Knob("phrasings", phrasings,
               {.help = "TOML file with sentences by goal that evaluations use in place of the "
                        "goals' own; none: their own"});
  visitor.Knob("ablate", ablate,
               {.help = "what the agent does not see: bodies of answers, memory of the episode, or "
                        "words of the goal; none: it sees all",
                .choices = {"", "bodies", "memory", "words"}});
  visitor.Knob("exchange", exchange,
               {.help = "whether episodes begin with the decisive value in another member, where "
                        "their goal's file says how"});
  visitor.Group("rewards", rewards);
  visitor.Group("faults", faults);
  visitor.Group("simulation", simulation);
  visitor.Group("placement", placement);
  visitor.Group("gymnasium", gymnasium);
  visitor.Group("exploration", exploration);
  visitor.Group("host", host);
}

EnvironmentOptions EnvironmentOptions::undisturbed() const {
  EnvironmentOptions options = *this;
  options.faults = {};
  options.ablate.clear();
  options.word_dropout = 0;
  options.typos = 0;
  return options;
}

std::vector<std::string> EnvironmentOptions::training_captures() const {
  return redfish::TrainingCaptures(captures, hold_out);
}

}  // namespace shoal::actor
