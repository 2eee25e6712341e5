// SPDX-License-Identifier: Apache-2.0
// The bridge between absl::Status and our C++20 code: constructors of errors from std strings, and
// the two macros that pass errors on.
//
// Debian's abseil has its own string_view, so absl's constructors do not take std::string_view;
// these do.
//
// Meaning of the codes: UNAVAILABLE: retry elsewhere or later; RESOURCE_EXHAUSTED: slow down;
// DEADLINE_EXCEEDED: too late; CANCELLED: we are stopping; FAILED_PRECONDITION: fix the deployment;
// INVALID_ARGUMENT: the input is wrong; OUT_OF_RANGE: training diverged. A message names the object
// and the limit.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>

namespace shoal::runtime {

inline absl::Status InvalidArgument(std::string message) {
  return absl::InvalidArgumentError(std::move(message));
}
inline absl::Status NotFound(std::string message) {
  return absl::NotFoundError(std::move(message));
}
inline absl::Status FailedPrecondition(std::string message) {
  return absl::FailedPreconditionError(std::move(message));
}
inline absl::Status ResourceExhausted(std::string message) {
  return absl::ResourceExhaustedError(std::move(message));
}
inline absl::Status Unavailable(std::string message) {
  return absl::UnavailableError(std::move(message));
}
inline absl::Status Cancelled(std::string message) {
  return absl::CancelledError(std::move(message));
}
inline absl::Status DataLoss(std::string message) {
  return absl::DataLossError(std::move(message));
}
inline absl::Status OutOfRange(std::string message) {
  return absl::OutOfRangeError(std::move(message));
}
inline absl::Status Internal(std::string message) {
  return absl::InternalError(std::move(message));
}

// Returns the message of `status` as a std::string.
inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Returns the same code and payloads with "`context`: " before the message; OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view context);

}  // namespace shoal::runtime

#define SHOAL_STATUS_CONCAT_INNER(a, b) a##b
#define SHOAL_STATUS_CONCAT(a, b) SHOAL_STATUS_CONCAT_INNER(a, b)

// Returns from the calling function when `expression` is not OK.
#define SHOAL_RETURN_IF_ERROR(expression)        \
  do {                                           \
    absl::Status shoal_status = (expression);    \
    if (!shoal_status.ok()) return shoal_status; \
  } while (false)

// Declares or assigns `target` from a StatusOr, or returns its error.
#define SHOAL_ASSIGN_OR_RETURN(target, expression) \
  SHOAL_ASSIGN_OR_RETURN_INNER(SHOAL_STATUS_CONCAT(shoal_status_or_, __LINE__), target, expression)
#define SHOAL_ASSIGN_OR_RETURN_INNER(holder, target, expression) \
  auto holder = (expression);                                    \
  if (!holder.ok()) return holder.status();                      \
  target = std::move(holder).value()
