// SPDX-License-Identifier: Apache-2.0
#include "inference/service/round_folder.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>

#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "proto/round_state.pb.h"
#include "rl/parameters/parameters_file.h"
#include "rl/parameters/version_wire.h"

namespace shoal::inference {
namespace {

constexpr char kPrefix[] = "round-";

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  static_assert(sizeof(T) == 1);
  return {reinterpret_cast<const char*>(values.data()), values.size()};
}

template <typename T>
std::vector<T> FromBytes(const std::string& bytes) {
  static_assert(sizeof(T) == 1);
  std::vector<T> values(bytes.size());
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename Field, typename T>
void Fill(Field* field, const std::vector<T>& values) {
  field->Add(values.begin(), values.end());
}

template <typename T, typename Field>
std::vector<T> FromField(const Field& field) {
  return {field.begin(), field.end()};
}

void ToWire(const OpenUnroll& unroll, proto::OpenUnroll& wire) {
  wire.set_shared_rows(unroll.shared_rows);
  wire.set_shared_with(unroll.shared_with);
  Fill(wire.mutable_core_states(), unroll.core_states);
  Fill(wire.mutable_sequences(), unroll.sequences);
  wire.set_observations(Bytes(unroll.observations));
  wire.set_legal(Bytes(unroll.legal));
  Fill(wire.mutable_actions(), unroll.actions);
  Fill(wire.mutable_box_actions(), unroll.box_actions);
  Fill(wire.mutable_log_probabilities(), unroll.log_probabilities);
  Fill(wire.mutable_values(), unroll.values);
  Fill(wire.mutable_action_values(), unroll.action_values);
  Fill(wire.mutable_rewards(), unroll.rewards);
  wire.set_flags(Bytes(unroll.flags));
  wire.set_forced(Bytes(unroll.forced));
  wire.set_relabelled(Bytes(unroll.relabelled));
  for (const parameters::Version& version : unroll.versions) {
    wire.add_policy_epochs(version.epoch);
    wire.add_policy_steps(version.step);
  }
  Fill(wire.mutable_episode_ids(), unroll.episodes);
  wire.set_extras(Bytes(unroll.extras));
}

OpenUnroll FromWire(const proto::OpenUnroll& wire) {
  OpenUnroll unroll{.shared_rows = wire.shared_rows(),
                    .shared_with = wire.shared_with(),
                    .core_states = FromField<float>(wire.core_states()),
                    .sequences = FromField<std::uint64_t>(wire.sequences()),
                    .observations = FromBytes<std::byte>(wire.observations()),
                    .legal = FromBytes<std::uint8_t>(wire.legal()),
                    .actions = FromField<std::int64_t>(wire.actions()),
                    .box_actions = FromField<float>(wire.box_actions()),
                    .log_probabilities = FromField<float>(wire.log_probabilities()),
                    .values = FromField<float>(wire.values()),
                    .action_values = FromField<float>(wire.action_values()),
                    .rewards = FromField<float>(wire.rewards()),
                    .flags = FromBytes<std::uint8_t>(wire.flags()),
                    .forced = FromBytes<std::uint8_t>(wire.forced()),
                    .relabelled = FromBytes<std::uint8_t>(wire.relabelled()),
                    .versions = {},
                    .episodes = FromField<std::int64_t>(wire.episode_ids()),
                    .extras = FromBytes<std::byte>(wire.extras())};
  const int versions = std::min(wire.policy_epochs_size(), wire.policy_steps_size());
  for (int i = 0; i < versions; ++i) {
    unroll.versions.push_back({wire.policy_epochs(i), wire.policy_steps(i)});
  }
  return unroll;
}

std::string ToBytes(const RoundState& state) {
  proto::RoundState wire;
  wire.set_update(state.update);
  *wire.mutable_acted() = parameters::ToProto(state.acted);
  for (const EnvironmentState& environment : state.environments) {
    proto::EnvironmentState& each = *wire.add_environments();
    each.set_environment_id(environment.environment);
    each.set_incarnation(environment.incarnation);
    each.set_episode_id(environment.episode);
    each.set_next_sequence(environment.next_sequence);
    Fill(each.mutable_actions(), environment.actions.discrete);
    Fill(each.mutable_box_actions(), environment.actions.box);
    Fill(each.mutable_core_state(), environment.core_state);
    ToWire(environment.unroll, *each.mutable_unroll());
  }
  proto::RoundFile file;
  file.set_round(wire.SerializeAsString());
  file.set_sha256(parameters::Sha256(file.round()));
  return file.SerializeAsString();
}

RoundState FromWire(const proto::RoundState& wire) {
  RoundState state{
      .update = wire.update(), .acted = parameters::FromProto(wire.acted()), .environments = {}};
  for (const proto::EnvironmentState& each : wire.environments()) {
    state.environments.push_back({.environment = each.environment_id(),
                                  .incarnation = each.incarnation(),
                                  .episode = each.episode_id(),
                                  .actions = {.discrete = FromField<std::int64_t>(each.actions()),
                                              .box = FromField<float>(each.box_actions())},
                                  .next_sequence = each.next_sequence(),
                                  .core_state = FromField<float>(each.core_state()),
                                  .unroll = FromWire(each.unroll())});
  }
  return state;
}

}  // namespace

RoundFolder::RoundFolder(std::string path) : path_(std::move(path)), held_(Updates()) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    const bool unfinished = name.starts_with(kPrefix) && name.find(".tmp-") != std::string::npos;
    if (unfinished) std::filesystem::remove(entry.path(), ignored);
  }
  while (held_.size() > kHeld) held_.erase(held_.begin());
}

std::string RoundFolder::PathOf(std::uint64_t update) const {
  return path_ + "/" + kPrefix + absl::StrFormat("%012d", update);
}

std::set<std::uint64_t> RoundFolder::Updates() const {
  std::set<std::uint64_t> updates;
  std::error_code error;
  std::filesystem::directory_iterator entry(path_, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::uint64_t update = 0;
    if (!name.starts_with(kPrefix)) continue;
    if (!absl::SimpleAtoi(name.substr(sizeof kPrefix - 1), &update)) continue;
    if (PathOf(update) == path_ + "/" + name) updates.insert(update);
  }
  return updates;
}

void RoundFolder::Keep(const RoundState& state) {
  const absl::Status written = runtime::WriteFileAtomically(PathOf(state.update), ToBytes(state));
  if (!written.ok()) {
    spdlog::warn("event=round_not_kept update={} reason={}", state.update,
                 runtime::Quoted(runtime::Message(written)));
  }
  for (const std::uint64_t update : Updates()) {
    const bool last_two = update == state.update || update + 1 == state.update;
    const bool later = update > state.update;
    if (last_two || (!later && held_.contains(update))) continue;
    held_.erase(update);
    std::error_code ignored;
    std::filesystem::remove(PathOf(update), ignored);
  }
}

void RoundFolder::Hold(std::uint64_t update) {
  held_.insert(update);
  while (held_.size() > kHeld) held_.erase(held_.begin());
}

absl::StatusOr<RoundState> RoundFolder::Read(const std::string& path) const {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path));
  proto::RoundFile file;
  proto::RoundState round;
  if (!file.ParseFromString(bytes) || parameters::Sha256(file.round()) != file.sha256() ||
      !round.ParseFromString(file.round()) || PathOf(round.update()) != path) {
    return runtime::DataLoss(path + ": not what was written");
  }
  return FromWire(round);
}

std::optional<RoundState> RoundFolder::Find(std::uint64_t update) {
  absl::StatusOr<RoundState> state = Read(PathOf(update));
  if (state.ok()) return *std::move(state);
  // A run that begins has none, whatever its first version is.
  if (Updates().empty()) return std::nullopt;
  spdlog::warn("event=environments_not_resumed update={} reason={}", update,
               runtime::Quoted(runtime::Message(state.status())));
  return std::nullopt;
}

}  // namespace shoal::inference
