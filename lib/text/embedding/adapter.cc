// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/adapter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/tensor.h"
#include "rl/model/safetensors_file.h"

namespace shoal::embedding {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 16;
constexpr std::string_view kBases[] = {"lexical", "sentence", "both:sentence"};
constexpr const char* kMetadata[] = {"base", "base_version", "base_share", "captures"};

// The names of a map's tensors.
struct TensorNames {
  const char* weights;
  const char* bias;
};
constexpr TensorNames kSentenceNames = {"sentences.weight", "sentences.bias"};
constexpr TensorNames kRequestNames = {"requests.weight", "requests.bias"};

bool AreFinite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

absl::Status CheckMap(const AffineMap& map, const AdapterParameters& parameters, const char* name) {
  const auto size = static_cast<std::size_t>(parameters.size);
  if (map.weights.size() != static_cast<std::size_t>(parameters.base_size) * size ||
      map.bias.size() != size) {
    return runtime::InvalidArgument(std::string(name) + " is not of the sizes that are stated");
  }
  if (!AreFinite(map.weights) || !AreFinite(map.bias)) {
    return runtime::InvalidArgument(std::string(name) + " holds what is no finite number");
  }
  return absl::OkStatus();
}

runtime::Tensor HalfTensor(std::span<const float> values, runtime::Shape shape) {
  runtime::Tensor tensor(runtime::DType::kFloat16, std::move(shape));
  auto* out = reinterpret_cast<std::uint16_t*>(tensor.mutable_bytes().data());
  for (const float x : values) *out++ = runtime::ToHalf(x);
  return tensor;
}

absl::StatusOr<std::vector<std::string>> Texts(const std::string& list) {
  const nlohmann::json parsed = nlohmann::json::parse(list, nullptr, false);
  std::vector<std::string> texts;
  bool valid = parsed.is_array();
  for (const nlohmann::json& text : valid ? parsed : nlohmann::json::array()) {
    valid = valid && text.is_string();
    if (valid) texts.push_back(text.get<std::string>());
  }
  if (!valid) return runtime::InvalidArgument("metadata 'captures' is no list of texts");
  return texts;
}

absl::Status ReadMap(const model::SafetensorsView& view, const TensorNames& names,
                     const AdapterParameters& parameters, AffineMap& map) {
  const runtime::Shape matrix = {parameters.base_size, parameters.size};
  const runtime::Shape row = {parameters.size};
  // The shapes come first, so that memory is taken only for tensors that are there.
  for (const auto& [name, shape] :
       {std::pair{names.weights, &matrix}, std::pair{names.bias, &row}}) {
    const auto* entry = view.Find(name);
    if (entry == nullptr || entry->shape != *shape) {
      return runtime::InvalidArgument("tensor '" + std::string(name) + "' is missing or not " +
                                      runtime::ToString(*shape));
    }
  }
  map.weights.resize(static_cast<std::size_t>(parameters.base_size * parameters.size));
  map.bias.resize(static_cast<std::size_t>(parameters.size));
  SHOAL_RETURN_IF_ERROR(view.ReadFloats(names.weights, matrix, map.weights));
  return view.ReadFloats(names.bias, row, map.bias);
}

absl::StatusOr<AdapterParameters> FromView(const model::SafetensorsView& view) {
  const model::Metadata& metadata = view.metadata();
  for (const char* key : kMetadata) {
    if (!metadata.contains(key)) {
      return runtime::InvalidArgument("metadata '" + std::string(key) + "' is missing");
    }
  }
  AdapterParameters parameters;
  parameters.base = metadata.at("base");
  parameters.base_version = metadata.at("base_version");
  const std::string& share = metadata.at("base_share");
  const auto [end, error] =
      std::from_chars(share.data(), share.data() + share.size(), parameters.base_share);
  if (error != std::errc() || end != share.data() + share.size()) {
    return runtime::InvalidArgument("metadata 'base_share' is no number");
  }
  SHOAL_ASSIGN_OR_RETURN(parameters.captures, Texts(metadata.at("captures")));
  const auto* weights = view.Find(kSentenceNames.weights);
  if (weights == nullptr || weights->shape.size() != 2) {
    return runtime::InvalidArgument("tensor '" + std::string(kSentenceNames.weights) +
                                    "' is missing or no matrix");
  }
  parameters.base_size = weights->shape[0];
  parameters.size = weights->shape[1];
  SHOAL_RETURN_IF_ERROR(ReadMap(view, kSentenceNames, parameters, parameters.sentences));
  SHOAL_RETURN_IF_ERROR(ReadMap(view, kRequestNames, parameters, parameters.requests));
  SHOAL_RETURN_IF_ERROR(Validate(parameters));
  return parameters;
}

}  // namespace

absl::Status Validate(const AdapterParameters& parameters) {
  if (std::ranges::find(kBases, parameters.base) == std::end(kBases)) {
    return runtime::InvalidArgument(
        "an adapter's base is lexical, sentence or both:sentence, not '" + parameters.base + "'");
  }
  for (const std::int64_t size : {parameters.base_size, parameters.size}) {
    if (size < 1 || size > kMaxSize) {
      return runtime::InvalidArgument("an adapter's size " + std::to_string(size) +
                                      " is not within 1 and " + std::to_string(kMaxSize));
    }
  }
  if (!(parameters.base_share >= 0 && parameters.base_share <= 1)) {
    return runtime::InvalidArgument("an adapter's base share is not within 0 and 1");
  }
  SHOAL_RETURN_IF_ERROR(CheckMap(parameters.sentences, parameters, "the map of sentences"));
  return CheckMap(parameters.requests, parameters, "the map of requests");
}

absl::Status WriteAdapter(const std::string& folder, const AdapterParameters& parameters) {
  SHOAL_RETURN_IF_ERROR(Validate(parameters));
  const runtime::Shape matrix = {parameters.base_size, parameters.size};
  const runtime::Shape row = {parameters.size};
  const std::pair<const char*, runtime::Tensor> tensors[] = {
      {kSentenceNames.weights, HalfTensor(parameters.sentences.weights, matrix)},
      {kSentenceNames.bias, HalfTensor(parameters.sentences.bias, row)},
      {kRequestNames.weights, HalfTensor(parameters.requests.weights, matrix)},
      {kRequestNames.bias, HalfTensor(parameters.requests.bias, row)}};
  std::vector<model::SafetensorsItem> items;
  for (const auto& named : tensors) {
    runtime::TensorView view;
    view.dtype = named.second.dtype();
    view.shape = named.second.shape();
    view.bytes = named.second.bytes();
    items.push_back({named.first, view});
  }
  char share[32];
  std::snprintf(share, sizeof(share), "%.6g", parameters.base_share);
  return model::WriteSafetensorsFile(folder + "/" + kAdapterFile, items,
                                     {{"base", parameters.base},
                                      {"base_version", parameters.base_version},
                                      {"base_share", share},
                                      {"captures", nlohmann::json(parameters.captures).dump()}});
}

absl::StatusOr<AdapterParameters> ReadAdapter(const std::string& folder) {
  const std::string path = folder + "/" + kAdapterFile;
  SHOAL_ASSIGN_OR_RETURN(const auto file, model::SafetensorsFile::Open(path));
  auto parameters = FromView(file.view());
  if (!parameters.ok()) return runtime::Annotate(parameters.status(), path);
  return parameters;
}

void Apply(const AffineMap& map, std::span<const float> row, std::span<float> out) {
  const std::size_t size = out.size();
  SHOAL_CHECK(map.bias.size() == size && map.weights.size() == row.size() * size);
  if (std::ranges::all_of(row, [](float x) { return x == 0; })) {
    std::ranges::fill(out, 0.0F);
    return;
  }
  std::ranges::copy(map.bias, out.begin());
  const float* weights = map.weights.data();
  for (const float x : row) {
    for (std::size_t k = 0; k < size; ++k) out[k] += x * weights[k];
    weights += size;
  }
  double sum = 0;
  for (const float y : out) sum += static_cast<double>(y) * static_cast<double>(y);
  const auto scale = static_cast<float>(sum == 0 ? 0 : 1 / std::sqrt(sum));
  for (float& y : out) y *= scale;
}

}  // namespace shoal::embedding
