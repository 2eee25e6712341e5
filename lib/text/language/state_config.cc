// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_config.h"

#include <array>
#include <nlohmann/json.hpp>

#include "platform/content/json_node.h"

namespace shoal::language {
namespace {

constexpr const char* kStateModelType = "shoal-state";

struct StateSize {
  const char* key;
  std::int64_t StateConfig::*field;
  std::int64_t maximum;
};
// Within these limits no product of sizes overflows.
constexpr std::array<StateSize, 5> kStateSizes = {{
    {"width", &StateConfig::width, 1 << 13},
    {"channels", &StateConfig::channels, 1 << 12},
    {"kernel", &StateConfig::kernel, 63},
    {"layers", &StateConfig::layers, 6},
    {"latent", &StateConfig::latent, 1 << 12},
}};

absl::StatusOr<StateConfig> StateConfigOf(const content::JsonNode& document) {
  if (!document.value->is_object()) return runtime::InvalidArgument("is no JSON object");
  const content::JsonNode type = document.At("model_type");
  if (*type.value != kStateModelType) {
    return type.Wrong(std::string("is not \"") + kStateModelType + "\"");
  }
  StateConfig config;
  SHOAL_ASSIGN_OR_RETURN(config.base, document.At("base").String());
  SHOAL_ASSIGN_OR_RETURN(config.base_version, document.At("base_version").String());
  SHOAL_ASSIGN_OR_RETURN(config.layer, document.At("layer").Count());
  for (const StateSize& size : kStateSizes) {
    SHOAL_ASSIGN_OR_RETURN(config.*size.field, document.At(size.key).Count());
  }
  SHOAL_RETURN_IF_ERROR(config.Validate());
  return config;
}

}  // namespace

absl::StatusOr<StateConfig> StateConfig::Parse(std::string_view json, const std::string& file) {
  const auto parse = [&]() -> absl::StatusOr<StateConfig> {
    SHOAL_ASSIGN_OR_RETURN(const nlohmann::json document, content::ParseJsonDocument(json));
    return StateConfigOf({&document, ""});
  };
  auto config = parse();
  if (!config.ok()) return runtime::Annotate(config.status(), file);
  return config;
}

std::string StateConfig::ToJson() const {
  nlohmann::ordered_json values = {{"model_type", kStateModelType},
                                   {"base", base},
                                   {"base_version", base_version},
                                   {"layer", layer}};
  for (const StateSize& size : kStateSizes) values[size.key] = this->*size.field;
  return values.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

absl::Status StateConfig::Validate() const {
  for (const StateSize& size : kStateSizes) {
    const std::int64_t value = this->*size.field;
    if (value < 1 || value > size.maximum) {
      return runtime::InvalidArgument("/" + std::string(size.key) + " is " + std::to_string(value) +
                                      ", not within 1 and " + std::to_string(size.maximum));
    }
  }
  if (layer < 0 || layer > 1024) {
    return runtime::InvalidArgument("/layer is " + std::to_string(layer) +
                                    ", not within 0 and 1024");
  }
  if (kernel % 2 == 0) {
    return runtime::InvalidArgument("/kernel is " + std::to_string(kernel) + ", which is not odd");
  }
  return absl::OkStatus();
}

}  // namespace shoal::language
