// SPDX-License-Identifier: Apache-2.0
#include "profiler/layer.h"

#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm_cell.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>

#include "platform/runtime/median.h"

namespace shoal::profiler {
namespace {

constexpr double kFloat = sizeof(float);

at::Tensor Random(at::IntArrayRef shape) { return at::randn(shape).requires_grad_(true); }

double Bytes(const at::Tensor& tensor) { return kFloat * static_cast<double>(tensor.numel()); }

std::string Text(std::int64_t number) { return std::to_string(number); }

// The kinds whose backward operation computes two products.
Layer Computing(Layer layer) {
  layer.backward_times = 2;
  layer.saves_inputs = true;
  return layer;
}

Layer Conv(std::int64_t batch, std::int64_t depth, std::int64_t channels, std::int64_t kernel,
           std::int64_t size, std::int64_t stride = 1) {
  const at::Tensor x = Random({batch, depth, size, size});
  const at::Tensor weights = Random({channels, depth, kernel, kernel});
  const std::int64_t out = (size + stride - 1) / stride;
  const double outputs = static_cast<double>(batch * channels * out * out);
  return Computing(
      {.kind = "conv",
       .size = Text(depth) + " to " + Text(channels) + " channels, " + Text(kernel) + "x" +
               Text(kernel) + ", image of " + Text(size),
       .forward =
           [=] {
             return at::conv2d(x, weights, {}, {stride, stride}, {kernel / 2, kernel / 2});
           },
       .wanted = {x, weights},
       .step = {},
       .flops = 2 * outputs * static_cast<double>(depth * kernel * kernel),
       .parameter_bytes = Bytes(weights),
       .input_bytes = Bytes(x),
       .output_bytes = kFloat * outputs});
}

Layer Product(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  const at::Tensor x = Random({rows, inputs});
  const at::Tensor weights = Random({outputs, inputs});
  const at::Tensor bias = Random({outputs});
  return Computing({.kind = "matmul",
                    .size = Text(rows) + " rows, " + Text(inputs) + " to " + Text(outputs),
                    .forward = [=] { return at::linear(x, weights, bias); },
                    .wanted = {x, weights, bias},
                    .step = {},
                    .flops = 2 * static_cast<double>(rows * inputs * outputs),
                    .parameter_bytes = Bytes(weights) + Bytes(bias),
                    .input_bytes = Bytes(x),
                    .output_bytes = kFloat * static_cast<double>(rows * outputs)});
}

Layer Cell(std::int64_t rows, std::int64_t width) {
  const at::Tensor x = Random({rows, width});
  const at::Tensor hidden = Random({rows, width});
  const at::Tensor cell = Random({rows, width});
  const at::Tensor input_weights = Random({4 * width, width});
  const at::Tensor weights = Random({4 * width, width});
  const at::Tensor bias = Random({4 * width});
  return Computing({.kind = "lstm",
                    .size = Text(rows) + " rows of " + Text(width),
                    .forward =
                        [=] {
                          return std::get<0>(
                              at::lstm_cell(x, {hidden, cell}, input_weights, weights, bias, bias));
                        },
                    .wanted = {x, hidden, input_weights, weights, bias},
                    .step = {},
                    .flops = static_cast<double>(rows * width * (16 * width + 30)),
                    .parameter_bytes = Bytes(input_weights) + Bytes(weights) + Bytes(bias),
                    .input_bytes = 2 * Bytes(x),
                    .output_bytes = Bytes(x)});
}

Layer Words(std::int64_t rows, std::int64_t words, std::int64_t width) {
  const at::Tensor table = Random({words, width});
  const at::Tensor ids = at::randint(words, {rows}, at::kLong);
  const double outputs = static_cast<double>(rows * width);
  return {.kind = "lookup",
          .size = Text(rows) + " of " + Text(words) + " words, " + Text(width) + " numbers each",
          .forward = [=] { return at::embedding(table, ids); },
          .wanted = {table},
          .step = {},
          .flops = outputs,
          .parameter_bytes = Bytes(table),
          .input_bytes = 0,
          .output_bytes = kFloat * outputs};
}

// A layer that gives each number of `x` another, with `flops` for each.
Layer Each(std::string kind, std::string what, const at::Tensor& x, double flops,
           std::function<at::Tensor()> forward, std::vector<at::Tensor> parameters = {}) {
  Layer layer{.kind = std::move(kind),
              .size = what + " of " + Text(x.numel()) + " numbers",
              .forward = std::move(forward),
              .wanted = {x},
              .step = {},
              .flops = flops * static_cast<double>(x.numel()),
              .input_bytes = Bytes(x),
              .output_bytes = Bytes(x)};
  for (const at::Tensor& parameter : parameters) {
    layer.parameter_bytes += Bytes(parameter);
    layer.wanted.push_back(parameter);
  }
  layer.saves_inputs = layer.kind == "norm";
  return layer;
}

Layer Norm(const at::Tensor& x) {
  const at::Tensor scale = Random({x.size(1)});
  const at::Tensor bias = Random({x.size(1)});
  const at::Tensor mean = at::zeros_like(bias.detach());
  const at::Tensor variance = at::ones_like(mean);
  return Each(
      "norm", "batch norm", x, 8,
      [=] { return at::batch_norm(x, scale, bias, mean, variance, true, 0.1, 1e-5, false); },
      {scale, bias});
}

Layer RowNorm(const at::Tensor& x) {
  const at::Tensor scale = Random({x.size(1)});
  const at::Tensor bias = Random({x.size(1)});
  return Each("norm", "layer norm", x, 8,
              [=] { return at::layer_norm(x, {x.size(1)}, scale, bias); }, {scale, bias});
}

Layer Sum(const at::Tensor& x) {
  const at::Tensor y = at::randn(x.sizes()).requires_grad_(true);
  Layer layer = Each("elementwise", "sum", x, 1, [=] { return at::add(x, y); });
  layer.wanted.push_back(y);
  layer.input_bytes *= 2;
  return layer;
}

Layer Pool(const at::Tensor& x) {
  constexpr double kWindow = 9;
  Layer layer = Each("pool", "pooling", x, kWindow, [=] {
    return at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
  });
  layer.flops /= 4;
  layer.output_bytes /= 4;
  return layer;
}

Layer Update(std::int64_t parameters) {
  const at::Tensor weights = at::randn({parameters});
  const at::Tensor gradient = at::randn({parameters});
  const at::Tensor velocity = at::zeros_like(weights);
  return {.kind = "update",
          .size = Text(parameters) + " parameters",
          .forward = {},
          .wanted = {},
          .step =
              [=] {
                velocity.mul_(0.9).add_(gradient);
                weights.add_(velocity, -1e-6);
              },
          .flops = 4 * static_cast<double>(parameters),
          .parameter_bytes = Bytes(weights),
          .input_bytes = Bytes(gradient),
          .output_bytes = 0};
}

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::vector<Layer> MakeLayers(std::int64_t batch) {
  std::vector<Layer> layers = {Conv(batch, 3, 64, 7, 224, 2),
                               Conv(batch, 64, 64, 3, 56),
                               Conv(batch, 64, 256, 1, 56),
                               Conv(batch, 256, 64, 1, 56),
                               Conv(batch, 128, 128, 3, 28),
                               Conv(batch, 512, 128, 1, 28),
                               Conv(batch, 256, 256, 3, 14),
                               Conv(batch, 256, 1024, 1, 14),
                               Conv(batch, 512, 512, 3, 7),
                               Conv(batch, 2048, 512, 1, 7),
                               Conv(batch, 256, 512, 1, 56, 2),
                               Product(batch, 2048, 1000),
                               Product(64, 1024, 1024),
                               Product(512, 768, 3072),
                               Product(256, 1024, 10'000),
                               Cell(16, 512),
                               Cell(64, 1024),
                               Words(64, 10'000, 1024),
                               Words(512, 30'000, 256),
                               Update(100'000),
                               Update(2'400'000),
                               Update(20'000'000)};
  for (const auto& [channels, size] : {std::pair<std::int64_t, std::int64_t>{64, 112},
                                       {256, 56},
                                       {512, 28},
                                       {256, 14},
                                       {512, 7}}) {
    const at::Tensor x = Random({batch, channels, size, size});
    layers.push_back(Norm(x));
    layers.push_back(Each("elementwise", "rectifier", x, 1, [=] { return at::relu(x); }));
    layers.push_back(Sum(x));
  }
  layers.push_back(Pool(Random({batch, 64, 112, 112})));
  layers.push_back(Pool(Random({batch, 192, 56, 56})));
  for (const std::int64_t rows : {64, 1024}) {
    const at::Tensor x = Random({rows, 768});
    layers.push_back(RowNorm(x));
    layers.push_back(Each("elementwise", "GELU", x, 10, [=] { return at::gelu(x); }));
  }
  for (const std::int64_t rows : {64, 1024}) {
    const at::Tensor x = Random({rows, 1000});
    layers.push_back(Each("softmax", "softmax", x, 5, [=] { return at::softmax(x, 1); }));
  }
  return layers;
}

std::vector<placement::TimedOperation> TimeLayer(const Layer& layer, runtime::Duration span) {
  constexpr std::size_t kLeast = 3;
  using Clock = std::chrono::steady_clock;
  std::vector<double> forward;
  std::vector<double> backward;
  at::Tensor gradient;
  if (layer.forward) gradient = at::ones_like(layer.forward().detach());
  Clock::time_point begin;
  for (std::size_t i = 0; i <= kLeast || Clock::now() - begin < span; ++i) {
    const Clock::time_point first = Clock::now();
    if (i == 1) begin = first;
    if (layer.step) {
      layer.step();
      if (i > 0) forward.push_back(Seconds(Clock::now() - first));
      continue;
    }
    const at::Tensor out = layer.forward();
    const Clock::time_point second = Clock::now();
    const auto found = torch::autograd::grad({out}, layer.wanted, {gradient});
    const Clock::time_point third = Clock::now();
    if (i == 0) continue;
    forward.push_back(Seconds(second - first));
    backward.push_back(Seconds(third - second));
  }
  const double bytes = layer.parameter_bytes + layer.input_bytes + layer.output_bytes;
  std::vector<placement::TimedOperation> timed = {{.kind = layer.kind,
                                                   .flops = layer.flops,
                                                   .bytes = bytes,
                                                   .seconds = runtime::Median(forward)}};
  if (!backward.empty()) {
    const double saved = layer.saves_inputs ? layer.input_bytes : layer.output_bytes;
    timed.push_back({.kind = layer.kind,
                     .flops = layer.backward_times * layer.flops,
                     .bytes = bytes + saved,
                     .seconds = runtime::Median(backward)});
  }
  return timed;
}

}  // namespace shoal::profiler
