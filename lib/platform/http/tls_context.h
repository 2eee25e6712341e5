// SPDX-License-Identifier: Apache-2.0
// How a server speaks TLS: 1.2 and later, forward secrecy and authenticated ciphers only (RFC
// 9325), the cheapest of them first, no renegotiation, ALPN "http/1.1" (RFC 7301).
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::http {

// From PEM files: the certificate with its chain, and its key, not encrypted. NOT_FOUND or
// INVALID_ARGUMENT naming the file. A client that offers other protocols alone fails to connect.
absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> ServerTls(
    const std::string& certificate_file, const std::string& key_file);

}  // namespace shoal::http
