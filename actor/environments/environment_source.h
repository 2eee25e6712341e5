// SPDX-License-Identifier: Apache-2.0
// Makes environments. A process makes one source from its configuration.
//
// A source is immutable and thread-safe, and outlives the environments that it made.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/environments/environment_options.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

class EnvironmentSource {
 public:
  virtual ~EnvironmentSource() = default;
  virtual const EnvironmentSpec& spec() const = 0;
  virtual const std::vector<Pair>& pairs() const = 0;
  // Makes `count` environments with ascending ids for one loop. They run on `executor` and share
  // what environments of one thread can share.
  virtual std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor executor,
                                                           std::uint64_t first_environment,
                                                           std::size_t count) const = 0;
};

// A source of environments that share nothing and differ in nothing.
class UniformSource final : public EnvironmentSource {
 public:
  using Make = std::function<std::unique_ptr<Environment>()>;

  // `make` may be called from several threads at once.
  UniformSource(EnvironmentSpec spec, std::vector<Pair> pairs, Make make)
      : spec_(std::move(spec)), pairs_(std::move(pairs)), make_(std::move(make)) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return pairs_; }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor executor,
                                                   std::uint64_t first_environment,
                                                   std::size_t count) const override;

 private:
  const EnvironmentSpec spec_;
  const std::vector<Pair> pairs_;
  const Make make_;
};

struct SourceConfig {
  const EnvironmentOptions& environment;
  const runtime::ClusterOptions& cluster;
  std::uint64_t seed = 1;
  // The captures to play, named as in environment.captures.
  std::vector<std::string> captures = {};
  // Whether steps tell the goals that they achieve, and episodes are kept so that they can be told
  // again under them.
  bool hindsight = false;
};

// Loads what the environments need. Returns NOT_FOUND, DATA_LOSS or INVALID_ARGUMENT naming the
// file or knob.
absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeSource(const SourceConfig& config);

}  // namespace shoal::actor
