// SPDX-License-Identifier: Apache-2.0
// TLS contexts for servers and clients: 1.2 and later, ALPN "http/1.1" (RFC 7301). Stateless.
#pragma once

#include <openssl/ssl.h>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::http {

// Makes a server's context from PEM files: the certificate with its chain, and its unencrypted key.
// The server accepts only forward secrecy and authenticated ciphers (RFC 9325), the cheapest of
// them first, and no renegotiation. A client that offers only other ALPN protocols fails to
// connect. NOT_FOUND or INVALID_ARGUMENT naming the file.
absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> ServerTls(
    const std::string& certificate_file, const std::string& key_file);

struct ClientTlsOptions {
  // A PEM file of authorities; empty means those that the system trusts.
  std::string authority_file = {};
  // False accepts any certificate, whoever answers.
  bool verify = true;
};

// Makes a client's context, which verifies the peer's certificate against the system's authorities
// or a file's, and against the requested host (RFC 9110, "https certificate verification").
// NOT_FOUND or INVALID_ARGUMENT naming the file.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> ClientTls(
    const ClientTlsOptions& options);

// Sets the name or address that the certificate must be for; a name is also sent (SNI, RFC 6066).
// Returns false when `host` cannot be verified. The zone of an address (RFC 6874) is not part of
// it.
bool ExpectHost(SSL* connection, const std::string& host);
// Returns why the certificate of a failed handshake was refused, or an empty text when that was not
// the reason.
std::string CertificateRefusal(const SSL* connection);

}  // namespace shoal::http
