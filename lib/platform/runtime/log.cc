// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace shoal::runtime {

absl::Status SetUpLog(std::string_view role, std::int64_t index, std::string_view level) {
  const std::string name(level);
  const spdlog::level::level_enum parsed = spdlog::level::from_str(name);
  if (parsed == spdlog::level::off) {
    return InvalidArgument("unknown log level \"" + name + "\"");
  }
  auto logger = std::make_shared<spdlog::logger>(std::string(role),
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_level(parsed);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l role=" + std::string(role) +
                          " index=" + std::to_string(index) + " %v",
                      spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return absl::OkStatus();
}

std::string Quoted(std::string_view value) {
  bool plain = !value.empty();
  for (const char c : value) plain = plain && c > ' ' && c != '"' && c != '\\' && c != '=';
  if (plain) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ') {
      quoted += '?';
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string Unquoted(std::string_view value) {
  if (value.empty() || value.front() != '"') return std::string(value.substr(0, value.find(' ')));
  std::string text;
  for (std::size_t i = 1; i < value.size() && value[i] != '"'; ++i) {
    const bool escaped = value[i] == '\\' && i + 1 < value.size();
    if (escaped) ++i;
    text += escaped && value[i] == 'n' ? '\n' : value[i];
  }
  return text;
}

}  // namespace shoal::runtime
