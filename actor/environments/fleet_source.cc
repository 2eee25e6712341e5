// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/fleet_source.h"

#include <utility>

#include "actor/environments/fleet_environment.h"
#include "actor/environments/fleet_tasks.h"
#include "actor/environments/redfish_source.h"
#include "actor/environments/response_cache.h"
#include "platform/runtime/log.h"

namespace shoal::actor {
namespace {

// Bits of a service's id from here on hold the member's number. No environment id uses them.
constexpr int kMemberBits = 56;

class FleetSource final : public EnvironmentSource {
 public:
  FleetSource(RedfishData data, std::shared_ptr<const FleetTasks> fleet, RedfishAddresses addresses)
      : data_(std::move(data)), fleet_(std::move(fleet)), addresses_(std::move(addresses)) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return fleet_->pairs; }

  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor executor,
                                                   std::uint64_t first_environment,
                                                   std::size_t count) const override {
    const auto size = static_cast<std::size_t>(data_.tasks->options.fleet_size);
    const auto response_cache = std::make_shared<ResponseCache>(
        static_cast<std::size_t>(data_.tasks->options.response_cache_bytes));
    const auto make = MakeServices(data_, addresses_, executor, count * size);
    std::vector<std::unique_ptr<Environment>> environments;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::unique_ptr<RedfishService>> services;
      for (std::uint64_t member = 0; member < size; ++member) {
        services.push_back(make((first_environment + i) | member << kMemberBits));
      }
      environments.push_back(
          std::make_unique<FleetEnvironment>(fleet_, std::move(services), response_cache));
    }
    return environments;
  }

 private:
  const RedfishData data_;
  const std::shared_ptr<const FleetTasks> fleet_;
  const RedfishAddresses addresses_;
  const EnvironmentSpec spec_ = FleetEnvironment::Spec();
};

}  // namespace

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeFleetSource(const SourceConfig& config) {
  SHOAL_ASSIGN_OR_RETURN(RedfishAddresses addresses, FindAddresses(config));
  SHOAL_ASSIGN_OR_RETURN(RedfishData data, LoadRedfishData(config));
  SHOAL_ASSIGN_OR_RETURN(auto fleet, MakeFleetTasks(data));
  data.captures.clear();
  for (const auto& [capture, catalog] : fleet->catalogs) {
    spdlog::info("event=fleet capture={} members={} candidates={} watts={}", capture,
                 data.tasks->options.fleet_size, catalog.candidates->candidates().size(),
                 catalog.watts);
  }
  return std::make_unique<FleetSource>(std::move(data), std::move(fleet), std::move(addresses));
}

}  // namespace shoal::actor
