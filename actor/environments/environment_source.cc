// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/environment_source.h"

#include "actor/environments/cartpole.h"
#include "actor/environments/fleet_source.h"
#include "actor/environments/redfish_source.h"
#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

class CartPoleSource final : public EnvironmentSource {
 public:
  explicit CartPoleSource(std::uint64_t seed) : seed_(seed) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return pairs_; }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor, std::uint64_t,
                                                   std::size_t count) const override {
    std::vector<std::unique_ptr<Environment>> environments;
    for (std::size_t i = 0; i < count; ++i) {
      environments.push_back(std::make_unique<CartPole>(seed_));
    }
    return environments;
  }

 private:
  const std::uint64_t seed_;
  const EnvironmentSpec spec_ = CartPole::Spec();
  const std::vector<Pair> pairs_ = {CartPole::OnlyPair()};
};

}  // namespace

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeSource(const SourceConfig& config) {
  if (config.environment.kind == "cartpole") {
    return std::make_unique<CartPoleSource>(runtime::DeriveSeed(config.seed, "cartpole"));
  }
  if (config.environment.fleet_size > 1) return MakeFleetSource(config);
  return MakeRedfishSource(config);
}

}  // namespace shoal::actor
