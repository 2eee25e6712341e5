// SPDX-License-Identifier: Apache-2.0
#include "encoder/state_views.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "encoder/capture_bodies.h"
#include "platform/runtime/random.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;

// Collects views and gives equal segments one number.
class ViewCollector {
 public:
  explicit ViewCollector(const embedding::Splitting& splitting) : splitting_(splitting) {}

  void Add(const json& view, std::int64_t partner) {
    for (embedding::WeightedText& part : splitting_.split(BodyText(view))) {
      const auto [place, added] =
          numbers_.emplace(part.text, static_cast<std::int64_t>(views_.segments.size()));
      if (added) views_.segments.push_back(std::move(part.text));
      views_.uses.push_back({place->second, part.weight});
    }
    views_.ends.push_back(views_.uses.size());
    views_.partners.push_back(partner);
  }

  // Adds two views of a state.
  void AddPair(const json& first, const json& second) {
    const auto next = static_cast<std::int64_t>(views_.ends.size());
    Add(first, next + 1);
    Add(second, next);
  }

  StateViews Take() { return std::move(views_); }

 private:
  const embedding::Splitting& splitting_;
  std::unordered_map<std::string, std::int64_t> numbers_;
  StateViews views_;
};

}  // namespace

StateViewSource::StateViewSource(std::span<const json* const> bodies,
                                 const StateViewOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed), values_(bodies), splitting_(embedding::SegmentSplitting()) {
  std::map<std::string, std::vector<const json*>> types;
  for (const json* body : bodies) types[BodyType(*body)].push_back(body);
  for (auto& [unused, of] : types) types_.push_back(std::move(of));
}

StateViews StateViewSource::Draw(std::string_view purpose, std::uint64_t number) const {
  runtime::Random random(runtime::DeriveSeed(seed_, purpose), number);
  ViewCollector views(splitting_);
  const std::size_t alike = std::max<std::size_t>(1, options_.of_one_type);
  std::size_t type = 0;
  for (std::size_t i = 0; i < options_.bodies; ++i) {
    if (i % alike == 0) type = random.Below(types_.size());
    const std::vector<const json*>& of = types_[type];
    const json body = Shortened(*of[random.Below(of.size())], options_.body_bytes, random);
    json changed = body;
    const auto place = values_.ChangeOne(changed, random);
    const json::json_pointer kept = place ? place->pointer : json::json_pointer();
    const std::uint64_t masks[] = {random(), random()};
    const auto view = [&](const json& state, std::uint64_t mask) {
      runtime::Random of_mask(mask);
      return WithoutSome(state, kept, options_.left_out, of_mask);
    };
    views.AddPair(view(body, masks[0]), view(body, masks[1]));
    if (place) views.AddPair(view(changed, masks[0]), view(changed, masks[1]));
  }
  return views.Take();
}

std::vector<std::string> StateViewSource::SomeSegments(std::size_t count) const {
  runtime::Random random(runtime::DeriveSeed(seed_, "segments"));
  std::vector<std::string> segments;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<const json*>& of = types_[random.Below(types_.size())];
    const json body = Shortened(*of[random.Below(of.size())], options_.body_bytes, random);
    for (embedding::WeightedText& part : splitting_.split(BodyText(body))) {
      segments.push_back(std::move(part.text));
    }
  }
  return segments;
}

}  // namespace shoal::encoder
