// SPDX-License-Identifier: Apache-2.0
#include "platform/http/client_tls.h"

#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>

#include "platform/runtime/atomic_file.h"

namespace shoal::http {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::size_t kMaxAuthoritiesBytes = std::size_t{16} << 20;
constexpr unsigned char kClientProtocols[] = "\x08http/1.1";

absl::Status TrustFile(ssl::context& context, const std::string& file) {
  SHOAL_ASSIGN_OR_RETURN(const std::string authorities,
                         runtime::ReadFile(file, kMaxAuthoritiesBytes));
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
      SSL_CTX_set_alpn_protos(native, kClientProtocols, sizeof(kClientProtocols) - 1) != 0) {
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
