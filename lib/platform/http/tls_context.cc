// SPDX-License-Identifier: Apache-2.0
#include "platform/http/tls_context.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>

#include "platform/runtime/atomic_file.h"

namespace shoal::http {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxAuthorityBytes = std::size_t{16} << 20;
// AES-128 comes first: every implementation has it (RFC 8446, section 9.1), and it is the cheapest.
constexpr const char* kCipherSuites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr unsigned char kProtocols[] = "\x08http/1.1";

int SelectProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                   const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, chosen_size, kProtocols, sizeof(kProtocols) - 1,
                                           offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

absl::Status Wrong(const std::string& file, std::string_view what,
                   const boost::system::error_code& error) {
  return runtime::InvalidArgument(file + " holds no " + std::string(what) + ": " + error.message());
}

absl::Status Load(ssl::context& context, const std::string& certificate_file,
                  const std::string& key_file) {
  SHOAL_ASSIGN_OR_RETURN(const std::string certificate,
                         runtime::ReadFile(certificate_file, kMaxFileBytes));
  SHOAL_ASSIGN_OR_RETURN(const std::string key, runtime::ReadFile(key_file, kMaxFileBytes));
  boost::system::error_code error;
  context.use_certificate_chain(boost::asio::buffer(certificate), error);
  if (error) return Wrong(certificate_file, "certificate", error);
  // Without the callback, OpenSSL would prompt on the terminal.
  context.set_password_callback([](std::size_t, auto) { return std::string(); }, error);
  context.use_private_key(boost::asio::buffer(key), ssl::context::pem, error);
  if (error) return Wrong(key_file, "key of " + certificate_file, error);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ssl::context>> ServerTls(const std::string& certificate_file,
                                                        const std::string& key_file) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  const bool set =
      SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) == 1 &&
      SSL_CTX_set_cipher_list(native, "ECDHE+AES128+AESGCM:ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
      SSL_CTX_set_ciphersuites(native, kCipherSuites) == 1;
  if (!set) return runtime::Internal("OpenSSL has no TLS 1.2 with modern ciphers");
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                  SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_alpn_select_cb(native, &SelectProtocol, nullptr);
  SHOAL_RETURN_IF_ERROR(Load(*context, certificate_file, key_file));
  return context;
}

namespace {

absl::Status TrustFile(ssl::context& context, const std::string& file) {
  SHOAL_ASSIGN_OR_RETURN(const std::string authorities,
                         runtime::ReadFile(file, kMaxAuthorityBytes));
  boost::system::error_code error;
  context.add_certificate_authority(boost::asio::buffer(authorities), error);
  if (!error) return absl::OkStatus();
  return runtime::InvalidArgument(file + " holds no certificate: " + error.message());
}

}  // namespace

absl::StatusOr<std::shared_ptr<ssl::context>> ClientTls(const ClientTlsOptions& options) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX* const native = context->native_handle();
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_alpn_protos(native, kProtocols, sizeof(kProtocols) - 1) != 0) {
    return runtime::Internal("OpenSSL has no TLS 1.2");
  }
  boost::system::error_code error;
  context->set_verify_mode(options.verify ? ssl::verify_peer : ssl::verify_none, error);
  if (!options.authority_file.empty()) {
    SHOAL_RETURN_IF_ERROR(TrustFile(*context, options.authority_file));
  } else if (options.verify) {
    context->set_default_verify_paths(error);
  }
  if (error) return runtime::Internal("OpenSSL has no authorities: " + error.message());
  return context;
}

bool ExpectHost(SSL* connection, const std::string& host) {
  const std::string bare = host.substr(0, host.find('%'));
  boost::system::error_code error;
  boost::asio::ip::make_address(bare, error);
  if (!error) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), bare.c_str()) == 1;
  return SSL_set_tlsext_host_name(connection, host.c_str()) == 1 &&
         SSL_set1_host(connection, host.c_str()) == 1;
}

std::string CertificateRefusal(const SSL* connection) {
  if (SSL_get_verify_mode(connection) == SSL_VERIFY_NONE) return {};
  const long result = SSL_get_verify_result(connection);
  return result == X509_V_OK ? std::string() : X509_verify_cert_error_string(result);
}

}  // namespace shoal::http
