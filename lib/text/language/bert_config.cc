// SPDX-License-Identifier: Apache-2.0
#include "text/language/bert_config.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "platform/content/json_node.h"

namespace shoal::language {
namespace {

using content::JsonNode;

struct BertSize {
  const char* key;
  std::int64_t BertConfig::*field;
  std::int64_t maximum;
};
// Within these limits no product of sizes overflows.
constexpr std::array<BertSize, 7> kBertSizes = {{
    {"vocab_size", &BertConfig::vocabulary_size, 1 << 20},
    {"max_position_embeddings", &BertConfig::positions, 1 << 16},
    {"type_vocab_size", &BertConfig::types, 64},
    {"hidden_size", &BertConfig::width, 1 << 13},
    {"intermediate_size", &BertConfig::inner, 1 << 15},
    {"num_hidden_layers", &BertConfig::layers, 256},
    {"num_attention_heads", &BertConfig::heads, 256},
}};

// Keys that may be absent; another value would describe another model.
const std::vector<std::pair<std::string, nlohmann::json>>& FixedOfBert() {
  static const std::vector<std::pair<std::string, nlohmann::json>> fixed = {
      {"model_type", "bert"},
      {"hidden_act", "gelu"},
      {"position_embedding_type", "absolute"},
      {"is_decoder", false},
      {"add_cross_attention", false},
      {"pruned_heads", nlohmann::json::object()},
  };
  return fixed;
}

std::string Short(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 60);
}

absl::StatusOr<BertConfig> FromDocument(const JsonNode& document) {
  if (!document.value->is_object()) return runtime::InvalidArgument("is no JSON object");
  BertConfig config;
  for (const BertSize& size : kBertSizes) {
    SHOAL_ASSIGN_OR_RETURN(config.*size.field, document.At(size.key).Count());
  }
  for (const auto& [key, only] : FixedOfBert()) {
    const JsonNode node = document.At(key);
    if (document.value->contains(key) && *node.value != only) {
      return node.Wrong("is " + Short(*node.value) + "; only " + only.dump() + " is supported");
    }
  }
  const JsonNode epsilon = document.At("layer_norm_eps");
  if (epsilon.value->is_number()) {
    config.norm_epsilon = epsilon.value->get<double>();
  } else if (!epsilon.value->is_null()) {
    return epsilon.Wrong("is no number");
  }
  SHOAL_RETURN_IF_ERROR(config.Validate());
  return config;
}

}  // namespace

absl::StatusOr<BertConfig> BertConfig::Parse(std::string_view text, const std::string& file) {
  const auto parse = [&]() -> absl::StatusOr<BertConfig> {
    SHOAL_ASSIGN_OR_RETURN(const nlohmann::json document, content::ParseJsonDocument(text));
    return FromDocument({&document, ""});
  };
  auto config = parse();
  if (!config.ok()) return runtime::Annotate(config.status(), file);
  return config;
}

std::string BertConfig::ToJson() const {
  nlohmann::ordered_json values = {{"model_type", "bert"}};
  for (const BertSize& size : kBertSizes) values[size.key] = this->*size.field;
  values["layer_norm_eps"] = norm_epsilon;
  return values.dump();
}

absl::Status BertConfig::Validate() const {
  for (const BertSize& size : kBertSizes) {
    const std::int64_t value = this->*size.field;
    if (value < 1 || value > size.maximum) {
      return runtime::InvalidArgument("/" + std::string(size.key) + " is " + std::to_string(value) +
                                      ", not within 1 and " + std::to_string(size.maximum));
    }
  }
  if (width % heads != 0) {
    return runtime::InvalidArgument("/hidden_size is no multiple of num_attention_heads");
  }
  if (!std::isfinite(norm_epsilon) || norm_epsilon <= 0 || norm_epsilon > 1) {
    return runtime::InvalidArgument("/layer_norm_eps is not within 0 and 1");
  }
  return absl::OkStatus();
}

}  // namespace shoal::language
