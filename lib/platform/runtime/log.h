// SPDX-License-Identifier: Apache-2.0
// Logging: spdlog writes to standard error, one event on each line, as key=value.
//
//   spdlog::info("event=listening address={}", address);
//
// Hot paths count (metrics.h) instead of logging. A secret must never be logged.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

// libfmt contains this function. Without the declaration, each source that logs generates it again,
// which takes two seconds. The declaration is for g++ alone, with which Debian compiled the
// library: clang gives the function another name in the object file.
#ifndef __clang__
FMT_BEGIN_NAMESPACE
namespace detail {
extern template void vformat_to<char>(buffer<char>&, string_view,
                                      basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
#endif

namespace shoal::runtime {

// Sets up the process's log, whose lines read "2026-01-31T12:00:00.000Z level role=<role>
// index=<index> <message>". INVALID_ARGUMENT for a level that is none of trace, debug, info, warn,
// error.
absl::Status SetUpLog(std::string_view role, std::int64_t index, std::string_view level);

// Returns `value`, with quotes and escapes when it holds a space, a quote or a control character.
std::string Quoted(std::string_view value);
// Returns the value at the beginning of `value` as Quoted wrote it; what follows it is left out.
std::string Unquoted(std::string_view value);

}  // namespace shoal::runtime
