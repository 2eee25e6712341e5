// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace shoal::language {
namespace {

using nlohmann::json;

// 16 GiB of parameters, more than twice an xl.
constexpr std::int64_t kMaxParameters = std::int64_t{1} << 32;

constexpr std::array<std::pair<std::string_view, Gpt2Config>, 5> kPresets = {{
    {"tiny",
     {.vocabulary_size = 8000,
      .positions = 1024,
      .width = 128,
      .layers = 4,
      .heads = 4,
      .begin_token = 0,
      .end_token = 0}},
    {"small", {}},
    {"medium", {.width = 1024, .layers = 24, .heads = 16}},
    {"large", {.width = 1280, .layers = 36, .heads = 20}},
    {"xl", {.width = 1600, .layers = 48, .heads = 25}},
}};

// The sizes of a model under Hugging Face's keys.
struct Size {
  const char* key;
  std::int64_t Gpt2Config::*field;
  std::int64_t maximum;
};
constexpr std::array<Size, 5> kSizes = {{
    {"vocab_size", &Gpt2Config::vocabulary_size, 1 << 20},
    {"n_positions", &Gpt2Config::positions, 1 << 16},
    {"n_embd", &Gpt2Config::width, 1 << 14},
    {"n_layer", &Gpt2Config::layers, 256},
    {"n_head", &Gpt2Config::heads, 256},
}};
constexpr std::array<std::pair<const char*, std::int64_t Gpt2Config::*>, 2> kTokens = {{
    {"bos_token_id", &Gpt2Config::begin_token},
    {"eos_token_id", &Gpt2Config::end_token},
}};

// Keys that may be absent; another value would describe another model.
const std::vector<std::pair<std::string, json>>& Fixed() {
  static const std::vector<std::pair<std::string, json>> fixed = {
      {"model_type", "gpt2"},
      {"activation_function", "gelu_new"},
      {"scale_attn_weights", true},
      {"scale_attn_by_inverse_layer_idx", false},
      {"reorder_and_upcast_attn", false},
      {"add_cross_attention", false},
      {"tie_word_embeddings", true},
      {"is_encoder_decoder", false},
      {"pruned_heads", json::object()},
  };
  return fixed;
}

absl::Status BadKey(const std::string& key, const std::string& what) {
  return runtime::InvalidArgument("'" + key + "' " + what);
}

std::string Text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60);
}

absl::Status ReadSizes(const json& values, Gpt2Config& config) {
  for (const Size& size : kSizes) {
    const auto found = values.find(size.key);
    if (found == values.end()) return BadKey(size.key, "is missing");
    if (!found->is_number_unsigned()) return BadKey(size.key, "is no size: " + Text(*found));
    const auto value = found->get<std::uint64_t>();
    if (value < 1 || value > static_cast<std::uint64_t>(size.maximum)) {
      return BadKey(size.key,
                    "is " + Text(*found) + ", not within 1 and " + std::to_string(size.maximum));
    }
    config.*size.field = static_cast<std::int64_t>(value);
  }
  return absl::OkStatus();
}

absl::Status ReadTokens(const json& values, Gpt2Config& config) {
  for (const auto& [key, field] : kTokens) {
    const auto found = values.find(key);
    config.*field = -1;
    if (found == values.end() || found->is_null()) continue;
    if (!found->is_number_unsigned() ||
        found->get<std::uint64_t>() >= static_cast<std::uint64_t>(config.vocabulary_size)) {
      return BadKey(key, "is no id of the vocabulary: " + Text(*found));
    }
    config.*field = found->get<std::int64_t>();
  }
  return absl::OkStatus();
}

absl::Status ReadFixed(const json& values, const Gpt2Config& config) {
  for (const auto& [key, only] : Fixed()) {
    const auto found = values.find(key);
    if (found != values.end() && *found != only) {
      return BadKey(key, "is " + Text(*found) + "; only " + only.dump() + " is supported");
    }
  }
  if (values.contains("n_ctx") && values["n_ctx"] != config.positions) {
    return BadKey("n_ctx", "is " + Text(values["n_ctx"]) + ", not n_positions");
  }
  const auto inner = values.find("n_inner");
  if (inner != values.end() && !inner->is_null() && *inner != 4 * config.width) {
    return BadKey("n_inner", "is " + Text(*inner) + "; only 4 n_embd is supported");
  }
  return absl::OkStatus();
}

absl::StatusOr<Gpt2Config> FromJson(const json& values) {
  if (!values.is_object()) return runtime::InvalidArgument("is no JSON object");
  Gpt2Config config;
  SHOAL_RETURN_IF_ERROR(ReadSizes(values, config));
  SHOAL_RETURN_IF_ERROR(ReadTokens(values, config));
  SHOAL_RETURN_IF_ERROR(ReadFixed(values, config));
  const auto epsilon = values.find("layer_norm_epsilon");
  if (epsilon != values.end()) {
    if (!epsilon->is_number()) return BadKey("layer_norm_epsilon", "is no number");
    config.norm_epsilon = epsilon->get<double>();
  }
  SHOAL_RETURN_IF_ERROR(config.Validate());
  return config;
}

}  // namespace

std::vector<std::string_view> Gpt2Config::PresetNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, config] : kPresets) names.push_back(name);
  return names;
}

absl::StatusOr<Gpt2Config> Gpt2Config::Preset(std::string_view name) {
  std::string names;
  for (const auto& [known, config] : kPresets) {
    if (known == name) return config;
    names += " " + std::string(known);
  }
  return runtime::NotFound("no GPT-2 preset '" + std::string(name) + "'; there are:" + names);
}

absl::StatusOr<Gpt2Config> Gpt2Config::Parse(std::string_view text, const std::string& file) {
  json values;
  // Values nested deeper belong to no known key; the parser drops them.
  const auto shallow = [](int depth, json::parse_event_t, json&) { return depth <= 2; };
  try {
    values = json::parse(text.begin(), text.end(), shallow);
  } catch (const json::parse_error& error) {
    const std::size_t offset = std::max<std::size_t>(error.byte, 1) - 1;
    return runtime::InvalidArgument(file + " is no JSON at byte " + std::to_string(offset));
  } catch (const json::exception& error) {
    return runtime::InvalidArgument(file + " is no JSON: " + error.what());
  }
  auto config = FromJson(values);
  if (!config.ok()) return runtime::Annotate(config.status(), file);
  return config;
}

std::string Gpt2Config::ToJson() const {
  nlohmann::ordered_json values = {{"architectures", {"GPT2LMHeadModel"}}};
  for (const auto& [key, only] : Fixed()) {
    if (key != "pruned_heads" && key != "is_encoder_decoder") values[key] = only;
  }
  for (const Size& size : kSizes) values[size.key] = this->*size.field;
  values["n_ctx"] = positions;
  values["n_inner"] = nullptr;
  values["layer_norm_epsilon"] = norm_epsilon;
  for (const auto& [key, field] : kTokens) {
    if (this->*field >= 0) {
      values[key] = this->*field;
    } else {
      values[key] = nullptr;
    }
  }
  values["initializer_range"] = 0.02;
  for (const char* key : {"attn_pdrop", "embd_pdrop", "resid_pdrop"}) values[key] = 0.0;
  return values.dump(2) + "\n";
}

absl::Status Gpt2Config::Validate() const {
  for (const Size& size : kSizes) {
    const std::int64_t value = this->*size.field;
    if (value < 1 || value > size.maximum) {
      return BadKey(size.key, "is " + std::to_string(value) + ", not within 1 and " +
                                  std::to_string(size.maximum));
    }
  }
  if (parameter_count() > kMaxParameters) {
    return BadKey("n_embd", "and the other sizes make " + std::to_string(parameter_count()) +
                                " parameters; at most " + std::to_string(kMaxParameters) +
                                " are supported");
  }
  if (width % heads != 0) return BadKey("n_embd", "is no multiple of n_head");
  if (!std::isfinite(norm_epsilon) || norm_epsilon <= 0 || norm_epsilon > 1) {
    return BadKey("layer_norm_epsilon", "is not within 0 and 1");
  }
  for (const auto& [key, field] : kTokens) {
    if (this->*field < -1 || this->*field >= vocabulary_size) {
      return BadKey(key, "is no id of the vocabulary");
    }
  }
  return absl::OkStatus();
}

std::int64_t Gpt2Config::parameter_count() const {
  const std::int64_t block = 12 * width * width + 13 * width;
  return (vocabulary_size + positions) * width + layers * block + 2 * width;
}

}  // namespace shoal::language
