// SPDX-License-Identifier: Apache-2.0
#include "rl/model/convolution.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/model/blocked_convolution.h"
#include "rl/model/host_memory.h"
#include "rl/model/network.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/torch_device.h"
#include "tests/rl/model/devices.h"
#include "tests/rl/model/small_policy.h"

namespace shoal::model {
namespace {

PolicySpec OnFrames(const std::string& convolution, std::vector<std::int64_t> shape) {
  PolicySpec spec;
  spec.head = "discrete";
  spec.action_count = 3;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.hidden = {12};
  spec.value_hidden = {8};
  spec.core_size = 5;
  spec.query_init = 1;
  spec.convolution = convolution;
  spec.frame_shape = std::move(shape);
  spec.observation_size = 1;
  for (const std::int64_t side : spec.frame_shape) spec.observation_size *= side;
  return spec;
}

std::string WhyNot(const PolicySpec& spec) { return std::string(spec.Validate().message()); }

// Numbers [height, width, channels] of one frame, which are 0 outside of it.
struct Image {
  explicit Image(const FrameShape& of) : shape(of), values(static_cast<std::size_t>(of.size())) {}
  double& at(std::int64_t y, std::int64_t x, std::int64_t c) {
    return values[static_cast<std::size_t>((y * shape.width + x) * shape.channels + c)];
  }
  bool holds(std::int64_t y, std::int64_t x) const {
    return y >= 0 && x >= 0 && y < shape.height && x < shape.width;
  }

  FrameShape shape;
  std::vector<double> values;
};

Image Mapped(Image image, const std::function<double(double)>& function) {
  std::transform(image.values.begin(), image.values.end(), image.values.begin(), function);
  return image;
}

Image Rectified(const Image& image) {
  return Mapped(image, [](double x) { return std::max(x, 0.0); });
}

// Convolutions by their definition, one product after another in double precision.
class Reference {
 public:
  Reference(const ParameterLayout& layout, std::span<const float> flat)
      : layout_(layout), flat_(flat) {}

  Image Filtered(Image in, const std::string& name, std::int64_t count, std::int64_t side,
                 std::int64_t stride, std::int64_t padding) const {
    Image out({(in.shape.height + 2 * padding - side) / stride + 1,
               (in.shape.width + 2 * padding - side) / stride + 1, count});
    for (std::int64_t y = 0; y < out.shape.height; ++y) {
      for (std::int64_t x = 0; x < out.shape.width; ++x) {
        for (std::int64_t filter = 0; filter < count; ++filter) {
          double sum = Parameter(name + ".bias", filter);
          std::int64_t place = filter * in.shape.channels * side * side;
          for (std::int64_t c = 0; c < in.shape.channels; ++c) {
            for (std::int64_t dy = 0; dy < side; ++dy) {
              for (std::int64_t dx = 0; dx < side; ++dx, ++place) {
                const std::int64_t row = y * stride - padding + dy;
                const std::int64_t column = x * stride - padding + dx;
                if (!in.holds(row, column)) continue;
                sum += Parameter(name + ".weight", place) * in.at(row, column, c);
              }
            }
          }
          out.at(y, x, filter) = sum;
        }
      }
    }
    return out;
  }

  static Image Pooled(Image in) {
    Image out({(in.shape.height + 1) / 2, (in.shape.width + 1) / 2, in.shape.channels});
    for (std::int64_t y = 0; y < out.shape.height; ++y) {
      for (std::int64_t x = 0; x < out.shape.width; ++x) {
        for (std::int64_t c = 0; c < out.shape.channels; ++c) {
          double greatest = -1e30;
          for (std::int64_t row = 2 * y - 1; row <= 2 * y + 1; ++row) {
            for (std::int64_t column = 2 * x - 1; column <= 2 * x + 1; ++column) {
              if (in.holds(row, column)) greatest = std::max(greatest, in.at(row, column, c));
            }
          }
          out.at(y, x, c) = greatest;
        }
      }
    }
    return out;
  }

 private:
  double Parameter(const std::string& name, std::int64_t place) const {
    return flat_[static_cast<std::size_t>(layout_.Find(name)->offset + place)];
  }

  const ParameterLayout& layout_;
  const std::span<const float> flat_;
};

Image Expected(const Reference& reference, const std::string& convolution, Image image) {
  if (convolution != "impala") {
    const bool nature = convolution == "nature";
    image = Rectified(reference.Filtered(image, "convolution.0", nature ? 32 : 16, 8, 4, 0));
    image = Rectified(reference.Filtered(image, "convolution.1", nature ? 64 : 32, 4, 2, 0));
    return nature ? Rectified(reference.Filtered(image, "convolution.2", 64, 3, 1, 0)) : image;
  }
  for (const int section : {0, 1, 2}) {
    const std::string name = "convolution." + std::to_string(section) + ".";
    const std::int64_t channels = section == 0 ? 16 : 32;
    image = Reference::Pooled(reference.Filtered(image, name + "0", channels, 3, 1, 1));
    for (const int block : {1, 3}) {
      Image inner =
          reference.Filtered(Rectified(image), name + std::to_string(block), channels, 3, 1, 1);
      inner =
          reference.Filtered(Rectified(inner), name + std::to_string(block + 1), channels, 3, 1, 1);
      for (std::size_t i = 0; i < image.values.size(); ++i) image.values[i] += inner.values[i];
    }
  }
  return Rectified(image);
}

// Start values, and biases that are not 0.
std::vector<float> Drawn(const ParameterLayout& layout) {
  std::vector<float> flat(static_cast<std::size_t>(layout.total));
  layout.Initialise(5, flat);
  runtime::Random random(6);
  for (const ParameterInfo& info : layout.parameters) {
    for (std::int64_t i = 0; i < info.size; ++i) {
      flat[static_cast<std::size_t>(info.offset + i)] += static_cast<float>(0.05 * random.Normal());
    }
  }
  return flat;
}

}  // namespace

TEST_CASE("the features of a frame are those of convolutions by their definition") {
  const std::string convolution = GENERATE("nature", "small", "impala");
  const std::vector<std::int64_t> shape = convolution == "impala"
                                              ? std::vector<std::int64_t>{11, 8, 2}
                                              : std::vector<std::int64_t>{44, 37, 2};
  const PolicySpec spec = OnFrames(convolution, shape);
  REQUIRE(WhyNot(spec).empty());
  const ParameterLayout layout = ParameterLayout::Of(spec);
  const std::vector<float> flat = Drawn(layout);
  const Network network(spec, layout, OnDevice(flat, at::kCPU), {});
  constexpr std::int64_t kRows = 3;
  const PolicyInputs inputs = Inputs(spec, kRows);
  const at::Tensor frames = at::empty({kRows, spec.frame_size()}, at::kByte);
  std::copy(inputs.frames.begin(), inputs.frames.end(), frames.data_ptr<std::uint8_t>());
  NetworkInputs tensors;
  tensors.observation = frames;
  const at::Tensor features = network.Features(tensors);
  const FrameShape out = ConvolutionOf(spec).value().out;
  REQUIRE(features.size(1) == out.size());
  for (std::int64_t row = 0; row < kRows; ++row) {
    Image image({shape[0], shape[1], shape[2]});
    for (std::size_t i = 0; i < image.values.size(); ++i) {
      image.values[i] =
          inputs.frames[static_cast<std::size_t>(row * spec.frame_size()) + i] / 255.0;
    }
    Image expected = Expected(Reference(layout, flat), convolution, image);
    REQUIRE(expected.shape == out);
    std::int64_t place = 0;
    for (std::int64_t c = 0; c < out.channels; ++c) {
      for (std::int64_t y = 0; y < out.height; ++y) {
        for (std::int64_t x = 0; x < out.width; ++x, ++place) {
          REQUIRE(features[row][place].item<double>() ==
                  Approx(expected.at(y, x, c)).epsilon(1e-4).margin(1e-4));
        }
      }
    }
  }
}

TEST_CASE("the gradient of each filter and bias is that of differences") {
  const std::string convolution = GENERATE("nature", "small", "impala");
  const std::vector<std::int64_t> shape = convolution == "impala"
                                              ? std::vector<std::int64_t>{7, 6, 2}
                                              : std::vector<std::int64_t>{36, 37, 1};
  const PolicySpec spec = OnFrames(convolution, shape);
  const ParameterLayout layout = ParameterLayout::Of(spec);
  const at::Tensor flat = OnDevice(Drawn(layout), at::kCPU).to(at::kDouble);
  const at::Tensor gradient = at::zeros({layout.total}, at::kDouble);
  const PolicyInputs inputs = Inputs(spec, 2);
  NetworkInputs tensors;
  tensors.observation = at::empty({2, spec.frame_size()}, at::kByte);
  std::copy(inputs.frames.begin(), inputs.frames.end(),
            tensors.observation.data_ptr<std::uint8_t>());
  runtime::Random random(9);
  const auto normal = [&random](std::int64_t size) {
    at::Tensor drawn = at::empty({size}, at::kDouble);
    for (std::int64_t i = 0; i < size; ++i) drawn.data_ptr<double>()[i] = random.Normal();
    return drawn;
  };
  const at::Tensor factors = normal(ConvolutionOf(spec).value().out.size());
  const auto loss = [&](const at::Tensor& into) {
    return Network(spec, layout, flat, into).Features(tensors).mul(factors).sum();
  };
  loss(gradient).backward();
  for (const ParameterInfo& info : layout.parameters) {
    if (!info.name.starts_with("convolution.")) continue;
    const at::Tensor direction = normal(info.size);
    const at::Tensor values = flat.narrow(0, info.offset, info.size);
    constexpr double kStep = 1e-7;
    const auto at_step = [&](double step) {
      values.add_(direction, step);
      const double seen = loss({}).item<double>();
      values.sub_(direction, step);
      return seen;
    };
    const double measured = (at_step(kStep) - at_step(-kStep)) / (2 * kStep);
    const at::Tensor own = gradient.narrow(0, info.offset, info.size);
    const double expected = own.mul(direction).sum().item<double>();
    INFO(info.name);
    REQUIRE(std::abs(expected) > 1e-3);
    REQUIRE(measured == Approx(expected).epsilon(1e-4).margin(1e-5));
  }
}

TEST_CASE("of an Atari frame the networks make what their papers say") {
  const auto out = [](const std::string& convolution) {
    return ConvolutionOf(OnFrames(convolution, {84, 84, 4})).value().out;
  };
  REQUIRE(out("nature") == FrameShape{7, 7, 64});
  REQUIRE(out("small") == FrameShape{9, 9, 32});
  REQUIRE(out("impala") == FrameShape{11, 11, 32});
  const auto numbers = [](const std::string& convolution) {
    std::int64_t sum = 0;
    for (const ParameterInfo& info :
         ParameterLayout::Of(OnFrames(convolution, {84, 84, 4})).parameters) {
      if (info.name.starts_with("convolution.")) sum += info.size;
    }
    return sum;
  };
  REQUIRE(numbers("nature") == 8 * 8 * 4 * 32 + 32 + 4 * 4 * 32 * 64 + 64 + 3 * 3 * 64 * 64 + 64);
  REQUIRE(numbers("small") == 8 * 8 * 4 * 16 + 16 + 4 * 4 * 16 * 32 + 32);
  REQUIRE(numbers("impala") ==
          9 * (4 * 16 + 4 * 16 * 16 + 16 * 32 + 4 * 32 * 32 + 5 * 32 * 32) + 5 * 16 + 10 * 32);
}

TEST_CASE("filters start orthogonal, with the gain of the other layers") {
  const PolicySpec spec = OnFrames("nature", {36, 36, 1});
  const ParameterLayout layout = ParameterLayout::Of(spec);
  std::vector<float> flat(static_cast<std::size_t>(layout.total));
  layout.Initialise(3, flat);
  const ParameterInfo& info = *layout.Find("convolution.1.weight");
  REQUIRE(info.shape == runtime::Shape{64, 32 * 4 * 4});
  const auto dot = [&](std::int64_t a, std::int64_t b) {
    double sum = 0;
    for (std::int64_t i = 0; i < info.shape[1]; ++i) {
      sum += static_cast<double>(flat[static_cast<std::size_t>(info.offset + a * 512 + i)]) *
             flat[static_cast<std::size_t>(info.offset + b * 512 + i)];
    }
    return sum;
  };
  REQUIRE(dot(0, 0) == Approx(2));
  REQUIRE(dot(63, 63) == Approx(2));
  REQUIRE(dot(0, 63) == Approx(0).margin(1e-5));
}

TEST_CASE("a row of pixels gets the same answer alone and among others, on whole batches too") {
  PolicySpec spec = OnFrames(GENERATE("nature", "impala"), {44, 37, 2});
  spec.core = GENERATE("none", "gru");
  const std::string bytes = InitialParameters(spec, 5).value();
  const auto policy = Policy::FromSafetensors(spec, bytes, nullptr).value();
  constexpr std::size_t kRows = 40;
  const PolicyInputs many = Inputs(spec, kRows);
  const PolicyOutputs among = Act(*policy, many);
  const auto whole = Policy::FromSafetensors(spec, bytes, nullptr, {.whole_batches = true}).value();
  const PolicyOutputs batched = Act(*whole, many);
  for (std::size_t row = 0; row < kRows; row += 13) {
    PolicyInputs one = Inputs(spec, 1);
    const auto width = static_cast<std::ptrdiff_t>(spec.frame_size());
    const auto begin = many.frames.begin() + static_cast<std::ptrdiff_t>(row) * width;
    one.frames.assign(begin, begin + width);
    one.draw[0] = many.draw[row];
    const PolicyOutputs alone = Act(*policy, one);
    for (const PolicyOutputs& other : {among, batched}) {
      REQUIRE(other.action[row] == alone.action[0]);
      REQUIRE(other.log_probability[row] == Approx(alone.log_probability[0]).margin(1e-5));
      REQUIRE(other.value[row] == Approx(alone.value[0]).margin(1e-5));
    }
  }
  // The same batch gives the same bits.
  REQUIRE(Act(*policy, many).log_probability == among.log_probability);
  REQUIRE(Act(*policy, many).value == among.value);
}

PolicyInputs WithFramesIn(std::pmr::memory_resource* memory, const PolicyInputs& inputs) {
  PolicyInputs there(memory);
  there.frames = inputs.frames;
  there.rows = inputs.rows;
  there.goal_keys = inputs.goal_keys;
  there.first = inputs.first;
  there.choice = inputs.choice;
  there.draw = inputs.draw;
  return there;
}

// Returns the mean difference as a share of the mean size of the expected numbers.
double MeanDifference(const at::Tensor& seen, const at::Tensor& expected) {
  return seen.sub(expected).abs().mean().div(expected.abs().mean()).item<double>();
}

TEST_CASE("in bfloat16 a residual convolution makes the same but for its 8 significant bits") {
  // Sides and channels that are odd at each of the sections, or at none.
  const std::vector<std::int64_t> shape =
      GENERATE(std::vector<std::int64_t>{16, 24, 4}, std::vector<std::int64_t>{44, 37, 3},
               std::vector<std::int64_t>{5, 20, 1}, std::vector<std::int64_t>{84, 84, 4});
  const PolicySpec spec = OnFrames("impala", shape);
  const ParameterLayout layout = ParameterLayout::Of(spec);
  const PolicyInputs inputs = Inputs(spec, 5);
  for (const ComputeDevice& device : BatchDevices()) {
    const at::Device place = FindDevice(device.name).value();
    const Network network(spec, layout, OnDevice(Drawn(layout), place), {});
    FrameUpload frames(place, std::nullopt);
    frames.Send(inputs.frames, inputs.rows);
    const at::Tensor exact = network.Convolved(frames.Slice(0)).to(at::kCPU);
    const BlockedConvolution convolution(ConvolutionOf(spec).value(), network.parameters());
    const at::Tensor seen = convolution.Of(frames.Slice(0)).to(at::kCPU);
    INFO(shape[0] << " x " << shape[1] << " x " << shape[2] << " on " << device.name);
    REQUIRE(seen.scalar_type() == at::kFloat);
    REQUIRE(seen.sizes() == exact.sizes());
    const double difference = MeanDifference(seen, exact);
    REQUIRE(difference < 0.02);
    REQUIRE(difference > 1e-4);
  }
}

TEST_CASE("a policy in bfloat16 states nearly the same probabilities and values") {
  PolicySpec spec = OnFrames("impala", {28, 28, 4});
  spec.query_init = 0.1;
  const std::string bytes = InitialParameters(spec, 5).value();
  PolicyInputs inputs = Inputs(spec, 64);
  inputs.choice.assign(64, Choice::kForced);
  inputs.forced_action.assign(64, 1);
  const PolicyOutputs exact = Act(*Policy::FromSafetensors(spec, bytes, nullptr).value(), inputs);
  for (ComputeDevice device : BatchDevices()) {
    device.precision = Precision::kBfloat16;
    const PolicyOutputs seen =
        Act(*Policy::FromSafetensors(spec, bytes, nullptr, device).value(), inputs);
    REQUIRE(seen.value != exact.value);
    for (std::size_t row = 0; row < 64; ++row) {
      REQUIRE(seen.log_probability[row] == Approx(exact.log_probability[row]).margin(0.01));
      REQUIRE(seen.value[row] == Approx(exact.value[row]).margin(0.1));
    }
  }
}

TEST_CASE("frames that go to a device in several slices are seen in their rows") {
  PolicySpec spec = OnFrames("impala", {5, 4, 1});
  const std::string bytes = InitialParameters(spec, 5).value();
  constexpr std::int64_t kRows = 2 * FrameUpload::kSliceRows + 7;
  const PolicyInputs inputs = Inputs(spec, kRows);
  const PolicyOutputs rows = Act(*Policy::FromSafetensors(spec, bytes, nullptr).value(), inputs);
  for (const ComputeDevice& device : BatchDevices()) {
    const PolicyInputs there = WithFramesIn(HostMemoryFor(device), inputs);
    const auto policy = Policy::FromSafetensors(spec, bytes, nullptr, device).value();
    const CopyCounts before = Copies();
    const PolicyOutputs batch = Act(*policy, there);
    REQUIRE(Copies().up - before.up == 3 + 1);
    REQUIRE(Copies().down - before.down == 1);
    REQUIRE(batch.action == rows.action);
    for (std::size_t row = 0; row < rows.value.size(); ++row) {
      REQUIRE(batch.value[row] == Approx(rows.value[row]).margin(1e-4));
    }
  }
}

TEST_CASE("bfloat16 is refused where it cannot be had") {
  const PolicySpec frames = OnFrames("impala", {28, 28, 4});
  PolicySpec numbers = frames;
  numbers.convolution = "none";
  const auto why = [](const std::string& precision, const PolicySpec& spec) {
    return std::string(WithPrecision({}, precision, spec).status().message());
  };
  REQUIRE(why("float32", numbers).empty());
  REQUIRE(why("float32", frames).empty());
  REQUIRE(why("half", frames) == "'half' is none of float32, bfloat16");
  REQUIRE(why("bfloat16", numbers).find("impala, not for none") != std::string::npos);
  REQUIRE(why("bfloat16", OnFrames("nature", {84, 84, 4})).find("not for nature") !=
          std::string::npos);
  REQUIRE(why("bfloat16", frames).find("needs a GPU") != std::string::npos);
  const auto gpu = FindComputeDevice("cuda");
  if (gpu.ok()) {
    REQUIRE(WithPrecision(*gpu, "bfloat16", frames)->precision == Precision::kBfloat16);
    REQUIRE(WithPrecision(*gpu, "float32", frames)->precision == Precision::kFloat32);
  }
}

TEST_CASE("frames of another size are refused by their name") {
  const PolicySpec spec = OnFrames("nature", {36, 36, 1});
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 2);
  inputs.frames.pop_back();
  SimilarityCache cache;
  const auto refused = policy->Act(inputs, cache);
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE(std::string(refused.status().message()).find("frames has 2591") != std::string::npos);
}

TEST_CASE("a convolution that does not fit its frame is refused by the name of its knob") {
  const PolicySpec good = OnFrames("nature", {84, 84, 4});
  REQUIRE(WhyNot(good).empty());
  struct Bad {
    std::string what;
    std::function<void(PolicySpec&)> change;
  };
  const std::vector<Bad> bad = {
      {"policy.convolution: unknown value vast", [](PolicySpec& s) { s.convolution = "vast"; }},
      {"policy.frame_shape: a convolution needs [height, width, channels]",
       [](PolicySpec& s) {
         s.frame_shape = {84, 84};
       }},
      {"policy.frame_shape: a convolution needs [height, width, channels]",
       [](PolicySpec& s) {
         s.frame_shape = {84, 0, 4};
       }},
      {"policy.frame_shape: a convolution needs [height, width, channels]",
       [](PolicySpec& s) {
         s.frame_shape = {84, 84, std::int64_t{1} << 60};
       }},
      {"policy.frame_shape: needs a policy.convolution",
       [](PolicySpec& s) { s.convolution = "none"; }},
      {"policy.frame_shape: convolution.0 sees 7 x 84 places, which is smaller than its filter of "
       "8 x 8",
       [](PolicySpec& s) {
         s = OnFrames("nature", {7, 84, 4});
       }},
      {"policy.frame_shape: convolution.2 sees 2 x 9 places, which is smaller than its filter of "
       "3 x 3",
       [](PolicySpec& s) {
         s = OnFrames("nature", {35, 84, 4});
       }},
      {"policy.observation_size: 4, but frame_shape has 28224 numbers",
       [](PolicySpec& s) { s.observation_size = 4; }},
      {"policy.normalise_observations: not with a convolution",
       [](PolicySpec& s) { s.normalise_observations = true; }},
      {"policy.convolution: not with twin_critics", [](PolicySpec& s) { s.twin_critics = true; }}};
  for (const Bad& each : bad) {
    PolicySpec spec = good;
    each.change(spec);
    INFO(each.what);
    REQUIRE(absl::IsInvalidArgument(spec.Validate()));
    REQUIRE(WhyNot(spec).starts_with(each.what));
  }
  REQUIRE(WhyNot(OnFrames("impala", {1, 1, 1})).empty());
}

TEST_CASE("a convolution changes the digest of a policy, and a policy without one keeps its own") {
  const PolicySpec spec = OnFrames("nature", {36, 36, 1});
  PolicySpec other = spec;
  other.frame_shape = {36, 18, 2};
  REQUIRE(spec.Digest() != other.Digest());
  other = spec;
  other.convolution = "small";
  REQUIRE(spec.Digest() != other.Digest());
  REQUIRE(PolicySpec::Parse(spec.Print(), "a test")->Digest() == spec.Digest());
}

}  // namespace shoal::model
