// SPDX-License-Identifier: Apache-2.0
// An actor whose environments misbehave while the run's folder has a file `fault`, which names how:
//   flipped   Every reward has the other sign.
//   huge      The rewards of environment 0 are the largest float.
//   nan       The rewards of environment 0 are not numbers.
//   lost      Every tenth step of every environment fails.
// Evaluations are left alone.
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actor/actor.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/program.h"
#include "platform/runtime/random.h"

namespace shoal::tests {
namespace {

using actor::Environment;
using actor::Transition;

class FaultyEnvironment final : public Environment {
 public:
  FaultyEnvironment(std::unique_ptr<Environment> inner, std::string fault_file, bool is_first)
      : inner_(std::move(inner)), fault_file_(std::move(fault_file)), is_first_(is_first) {}

  void Reset(const actor::EpisodeStart& start, Done done) override {
    inner_->Reset(start, std::move(done));
  }
  void Step(std::int64_t action, Done done) override {
    const std::string fault = runtime::ReadFile(fault_file_).value_or("");
    ++steps_;
    if (fault == "lost" && steps_ % 10 == 0) return done(runtime::Unavailable("the step is lost"));
    inner_->Step(action, [this, fault, done = std::move(done)](auto transition) {
      if (transition.ok()) transition->reward = Spoilt(transition->reward, fault);
      done(std::move(transition));
    });
  }
  actor::EpisodeFacts facts() const override { return inner_->facts(); }

 private:
  float Spoilt(float reward, const std::string& fault) const {
    if (fault == "flipped") return -reward;
    if (fault == "huge" && is_first_) return std::numeric_limits<float>::max();
    if (fault == "nan" && is_first_) return std::numeric_limits<float>::quiet_NaN();
    return reward;
  }

  const std::unique_ptr<Environment> inner_;
  const std::string fault_file_;
  const bool is_first_;
  std::uint64_t steps_ = 0;
};

class FaultySource final : public actor::EnvironmentSource {
 public:
  FaultySource(std::unique_ptr<actor::EnvironmentSource> inner, std::string fault_file)
      : inner_(std::move(inner)), fault_file_(std::move(fault_file)) {}

  const actor::EnvironmentSpec& spec() const override { return inner_->spec(); }
  const std::vector<actor::Pair>& pairs() const override { return inner_->pairs(); }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor executor,
                                                   std::uint64_t first_environment,
                                                   std::size_t count) const override {
    std::vector<std::unique_ptr<Environment>> environments =
        inner_->Create(std::move(executor), first_environment, count);
    for (std::size_t i = 0; i < environments.size(); ++i) {
      environments[i] = std::make_unique<FaultyEnvironment>(std::move(environments[i]), fault_file_,
                                                            first_environment + i == 0);
    }
    return environments;
  }

 private:
  const std::unique_ptr<actor::EnvironmentSource> inner_;
  const std::string fault_file_;
};

absl::StatusOr<std::unique_ptr<actor::Actor>> MakeActor(const actor::ActorConfig& config) {
  if (config.actor.evaluates()) return actor::Actor::Create(config);
  SHOAL_ASSIGN_OR_RETURN(
      auto source, actor::MakeSource({.environment = config.environment,
                                      .cluster = config.cluster,
                                      .seed = runtime::DeriveSeed(
                                          static_cast<std::uint64_t>(config.run.seed), "train")}));
  return actor::Actor::Create(
      config, std::make_unique<FaultySource>(std::move(source), config.run.path() + "/fault"));
}

}  // namespace
}  // namespace shoal::tests

int main(int argc, char** argv) {
  shoal::actor::ActorOptions options;
  shoal::actor::EnvironmentOptions environment;
  shoal::runtime::Program program("actor", "Plays environments that fail on demand.");
  program.AddSection("actor", options);
  program.AddSection("environment", environment);
  if (const auto code = program.Parse(argc, argv)) return *code;
  auto actor = shoal::tests::MakeActor({.actor = options,
                                        .environment = environment,
                                        .cluster = program.cluster(),
                                        .run = program.run(),
                                        .index = static_cast<std::uint64_t>(program.index())});
  if (!actor.ok()) return program.Fail(actor.status());
  (*actor)->Start([&program](const absl::Status& end) {
    program.RequestStop(end.ok() ? 0 : program.Fail(end));
  });
  const int code = program.WaitForStop();
  (*actor)->Stop();
  return code;
}
