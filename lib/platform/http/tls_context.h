// SPDX-License-Identifier: Apache-2.0
// How servers and clients speak TLS: 1.2 and later, ALPN "http/1.1" (RFC 7301). Stateless.
#pragma once

#include <openssl/ssl.h>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::http {

// A server takes forward secrecy and authenticated ciphers only (RFC 9325), the cheapest of them
// first, and no renegotiation. From PEM files: the certificate with its chain, and its key, not
// encrypted. NOT_FOUND or INVALID_ARGUMENT naming the file. A client that offers other protocols
// alone fails to connect.
absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> ServerTls(
    const std::string& certificate_file, const std::string& key_file);

struct ClientTlsOptions {
  // PEM; empty: the authorities that the system trusts.
  std::string authority_file = {};
  // False: whoever answers is believed to be the host.
  bool verify = true;
};

// A client verifies the peer's certificate against the system's authorities or a file's, and
// against the host that was asked for (RFC 9110, "https certificate verification"). NOT_FOUND or
// INVALID_ARGUMENT naming the file.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> ClientTls(
    const ClientTlsOptions& options);

// The name, or address, that the certificate must be for; a name is also sent (SNI, RFC 6066).
// False when it cannot be looked for. The zone of an address (RFC 6874) is not part of it.
bool ExpectHost(SSL* connection, const std::string& host);
// Why the certificate of a handshake that failed was refused; empty when that was not the reason.
std::string CertificateRefusal(const SSL* connection);

}  // namespace shoal::http
