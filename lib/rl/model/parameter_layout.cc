// SPDX-License-Identifier: Apache-2.0
#include "rl/model/parameter_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "platform/runtime/random.h"
#include "rl/model/convolution.h"

namespace shoal::model {
namespace {

constexpr std::int64_t kAlignment = 16;
constexpr std::string_view kDigestName = "spec_digest";

using Start = ParameterInfo::Start;

std::int64_t SizeOf(const Axis& axis) {
  std::int64_t size = 0;
  for (const AxisSegment& segment : axis) size += segment.size;
  return size;
}

Axis Joined(const Axis& front, const Axis& back) {
  Axis joined = front;
  joined.insert(joined.end(), back.begin(), back.end());
  return joined;
}

class Builder {
 public:
  void Add(const std::string& name, std::vector<Axis> axes, Start start, double scale,
           const std::string& purpose) {
    runtime::Shape shape;
    for (const Axis& axis : axes) shape.push_back(SizeOf(axis));
    layout.Add(name, std::move(shape), start, scale);
    layout.parameters.back().purpose = purpose;
    layout.parameters.back().axes = std::move(axes);
  }
  void Projection(const std::string& name, const PolicySpec& spec, std::int64_t size, double scale,
                  const std::string& purpose) {
    Add(name, {{{"projection", spec.projection_size}}, {{"embedding", size}}}, Start::kNormal,
        scale / std::sqrt(static_cast<double>(spec.projection_size)), purpose);
  }
  void Linear(const std::string& name, const Axis& in, const Axis& out, double gain) {
    Add(name + ".weight", {out, in}, Start::kOrthogonal, gain, name);
    Add(name + ".bias", {out}, Start::kZero, 0, name + ".bias");
  }

  ParameterLayout layout;
};

Axis AddStack(Builder& builder, const std::string& name, Axis in,
              const std::vector<std::int64_t>& widths) {
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string layer = name + "." + std::to_string(i);
    Axis out = {{layer, widths[i]}};
    builder.Linear(layer, in, out, std::numbers::sqrt2);
    in = std::move(out);
  }
  return in;
}

// Adds a convolution and returns its output. Layers of one name have filters of one size, but the
// places of an output of another size mean something else, so they are another segment.
Axis AddConvolution(Builder& builder, const Convolution& convolution) {
  std::string seen = "frame";
  for (const ConvolutionLayer& layer : convolution.layers) {
    builder.Linear(layer.name, {{seen, layer.in.channels * layer.filter * layer.filter}},
                   {{layer.name, layer.out.channels}}, std::numbers::sqrt2);
    seen = layer.name;
  }
  const FrameShape& out = convolution.out;
  return {
      {seen + " " + std::to_string(out.height) + " x " + std::to_string(out.width), out.size()}};
}

// Adds a core and returns its output.
Axis AddCore(Builder& builder, const PolicySpec& spec, const Axis& in) {
  const auto names = spec.has_lstm() ? std::vector<std::string>{"input", "forget", "cell", "output"}
                                     : std::vector<std::string>{"reset", "update", "candidate"};
  Axis gates;
  for (const std::string& name : names) gates.push_back({name, spec.core_size});
  Axis out = {{spec.core, spec.core_size}};
  builder.Linear("core.input", in, gates, 1.0);
  if (spec.has_lstm()) builder.layout.parameters.back().start = Start::kForgetGate;
  builder.Linear("core.state", out, gates, 1.0);
  return out;
}

Axis HeadOf(const PolicySpec& spec) {
  if (spec.has_candidates()) return {{kQuerySegment, spec.projection_size}};
  if (spec.has_gaussian()) return {{"mean", spec.action_count}};
  if (spec.has_box()) return {{"mean", spec.action_count}, {"deviation", spec.action_count}};
  return {{"action", spec.action_count}};
}

// Makes the rows (or the columns, if there are fewer) orthonormal by modified Gram-Schmidt.
void FillOrthogonal(runtime::Random& random, std::int64_t rows, std::int64_t columns, double gain,
                    std::span<float> out) {
  const bool wide = columns >= rows;
  const std::int64_t vectors = wide ? rows : columns;
  const std::int64_t length = wide ? columns : rows;
  std::vector<std::vector<double>> basis;
  while (static_cast<std::int64_t>(basis.size()) < vectors) {
    std::vector<double> v(static_cast<std::size_t>(length));
    for (double& x : v) x = random.Normal();
    for (const auto& b : basis) {
      double dot = 0;
      for (std::size_t i = 0; i < v.size(); ++i) dot += v[i] * b[i];
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= dot * b[i];
    }
    double norm = 0;
    for (const double x : v) norm += x * x;
    if (norm < 1e-12) continue;
    for (double& x : v) x /= std::sqrt(norm);
    basis.push_back(std::move(v));
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto vector = static_cast<std::size_t>(wide ? r : c);
      const auto element = static_cast<std::size_t>(wide ? c : r);
      out[static_cast<std::size_t>(r * columns + c)] =
          static_cast<float>(gain * basis[vector][element]);
    }
  }
}

}  // namespace

void ParameterLayout::Add(std::string name, runtime::Shape shape, Start start, double scale) {
  ParameterInfo info{name, std::move(shape), total, 1, start, scale, name, {}};
  for (const std::int64_t dimension : info.shape) info.size *= dimension;
  total += (info.size + kAlignment - 1) / kAlignment * kAlignment;
  parameters.push_back(std::move(info));
}

ParameterLayout ParameterLayout::Of(const PolicySpec& spec) {
  Builder builder;
  Axis features = {{"observation", spec.seen_number_count()}};
  if (spec.has_convolution()) features = AddConvolution(builder, ConvolutionOf(spec).value());
  for (const std::string& field : spec.content_fields) {
    const bool shared =
        field == spec.goal_field || field == spec.request_field || field == spec.similarity_field;
    builder.Projection("content." + field, spec, spec.content_size(field),
                       shared ? 1.0 : spec.context_init, shared ? "embedding" : "content." + field);
    features.push_back({"content." + field, spec.projection_size});
  }
  if (spec.past_requests) {
    builder.Projection("past_requests", spec, spec.embedding_size, 1.0, "embedding");
    features.push_back({"past_requests", spec.projection_size});
  }
  features.push_back({"marks", spec.candidate_marks});
  Axis hidden = AddStack(builder, "torso", features, spec.hidden);
  Axis critic = features;
  if (spec.has_core()) {
    hidden = AddCore(builder, spec, hidden);
    critic = Joined(features, hidden);
  }
  if (spec.has_quantiles()) {
    builder.Linear("quantiles", {{"cosine", spec.quantile_cosines}}, hidden, std::numbers::sqrt2);
  }
  builder.Linear("head", hidden, HeadOf(spec), spec.query_init);
  if (spec.has_gaussian()) {
    builder.Add(kLogDeviation, {Axis{{"deviation", spec.action_count}}}, Start::kZero, 0,
                kLogDeviation);
  }
  if (spec.candidate_marks > 0) {
    // Before training, marks change no logit.
    const Axis marks = {{"marks", spec.candidate_marks}};
    builder.Add("marks.weight", {marks, hidden}, Start::kZero, 0, "marks.weight");
    builder.Add("marks.bias", {marks}, Start::kZero, 0, "marks.bias");
  }
  if (spec.twin_critics) {
    const Axis actions = {{"action", spec.action_count}};
    for (const std::string name : {"critic.0", "critic.1"}) {
      const Axis last = AddStack(builder, name, spec.has_box() ? Joined(critic, actions) : critic,
                                 spec.value_hidden);
      builder.Linear(name + ".out", last, spec.has_box() ? Axis{{"value", 1}} : actions, 1.0);
    }
    builder.Add("log_temperature", {Axis{{"value", 1}}}, Start::kZero, 0, "log_temperature");
  } else {
    builder.Linear("value.out", AddStack(builder, "value", critic, spec.value_hidden),
                   {{"value", 1}}, 1.0);
  }
  if (spec.has_split_values()) {
    builder.Linear("intrinsic.head", AddStack(builder, "intrinsic.torso", features, spec.hidden),
                   HeadOf(spec), spec.query_init);
    if (spec.dueling) {
      builder.Linear("intrinsic.value.out",
                     AddStack(builder, "intrinsic.value", features, spec.value_hidden),
                     {{"value", 1}}, 1.0);
    }
  }
  const auto add_key = [&] {
    builder.Projection("key", spec, spec.embedding_size, 1.0, "embedding");
  };
  if (spec.has_candidates() && spec.train_keys) add_key();
  builder.layout.trainable = builder.layout.total;
  if (spec.has_candidates() && !spec.train_keys) add_key();
  if (spec.normalise_observations) {
    const Axis observation = {{"observation", spec.observation_size}};
    builder.Add(kObservationMean, {observation}, Start::kZero, 0, kObservationMean);
    builder.Add(kObservationScale, {observation}, Start::kOne, 0, kObservationScale);
  }
  return std::move(builder.layout);
}

const ParameterInfo* ParameterLayout::Find(std::string_view name) const {
  for (const ParameterInfo& info : parameters) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

void ParameterLayout::Initialise(std::uint64_t seed, std::span<float> flat) const {
  SHOAL_CHECK(flat.size() == static_cast<std::size_t>(total));
  std::fill(flat.begin(), flat.end(), 0.0F);
  for (const ParameterInfo& info : parameters) {
    const auto out =
        flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
    runtime::Random random(runtime::DeriveSeed(seed, "parameter " + info.purpose));
    if (info.start == Start::kOrthogonal) {
      FillOrthogonal(random, info.shape[0], info.shape[1], info.scale, out);
    } else if (info.start == Start::kNormal) {
      for (float& x : out) x = static_cast<float>(info.scale * random.Normal());
    } else if (info.start == Start::kOne) {
      std::fill(out.begin(), out.end(), 1.0F);
    } else if (info.start == Start::kForgetGate) {
      const auto quarter = out.subspan(out.size() / 4, out.size() / 4);
      std::fill(quarter.begin(), quarter.end(), 1.0F);
    }
  }
}

std::string ParameterLayout::Write(std::span<const float> flat, const PolicySpec& spec,
                                   Metadata metadata) const {
  return WriteSafetensors(Items(flat), MetadataOf(spec, std::move(metadata)));
}

Metadata ParameterLayout::MetadataOf(const PolicySpec& spec, Metadata metadata) {
  metadata[std::string(kDigestName)] = spec.Digest();
  return metadata;
}

std::vector<SafetensorsItem> ParameterLayout::Items(std::span<const float> flat) const {
  std::vector<SafetensorsItem> items;
  for (const ParameterInfo& info : parameters) {
    const auto values =
        flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
    items.push_back({info.name, {runtime::DType::kFloat32, info.shape, std::as_bytes(values)}});
  }
  return items;
}

absl::Status ParameterLayout::Read(std::string_view file, const PolicySpec& spec,
                                   std::span<float> flat) const {
  SHOAL_ASSIGN_OR_RETURN(const SafetensorsView view, SafetensorsView::Parse(file));
  const auto digest = view.metadata().find(std::string(kDigestName));
  if (digest == view.metadata().end() || digest->second != spec.Digest()) {
    return runtime::FailedPrecondition("parameters are of another [policy] than this process's");
  }
  if (view.entries().size() != parameters.size()) {
    return runtime::InvalidArgument("parameters: " + std::to_string(view.entries().size()) +
                                    " tensors instead of " + std::to_string(parameters.size()));
  }
  SHOAL_CHECK(flat.size() == static_cast<std::size_t>(total));
  // The floats between two parameters.
  const auto clear = [&](std::int64_t begin, std::int64_t end) {
    std::fill(flat.begin() + begin, flat.begin() + end, 0.0F);
  };
  std::int64_t place = 0;
  for (const ParameterInfo& info : parameters) {
    clear(place, info.offset);
    place = info.offset + info.size;
    const auto values =
        flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
    SHOAL_RETURN_IF_ERROR(view.ReadFloats(info.name, info.shape, values));
    if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
      return runtime::InvalidArgument("parameters: '" + info.name + "' holds no finite numbers");
    }
  }
  clear(place, total);
  return absl::OkStatus();
}

}  // namespace shoal::model
