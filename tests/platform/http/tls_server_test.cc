// SPDX-License-Identifier: Apache-2.0
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "platform/http/address.h"
#include "platform/http/development_certificate.h"
#include "platform/http/responder.h"
#include "platform/http/server.h"
#include "platform/http/stream_channel.h"
#include "platform/runtime/bounded_queue.h"
#include "tests/doubles/eventually.h"
#include "tests/platform/http/development_files.h"
#include "tests/platform/http/raw_peer.h"

namespace shoal::http {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace ssl = asio::ssl;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ServerResponse AnswerPath(const ServerRequest& request) {
  const std::string target(request.target());
  if (target == "/large") return {.body = std::make_shared<const std::string>(5'000'000, 'x')};
  if (target == "/stream") {
    return {.stream = [](StreamWriter writer) {
      writer.Write("one");
      writer.Write("two");
    }};
  }
  auto body = std::make_shared<const std::string>(target + " " + std::string(request.body()));
  if (target != "/later") return {.body = body};
  return {.later = [body](Responder responder) { responder.Send({.body = body}); }};
}

// A client that trusts `certificate` and checks that the server is `host`.
class TlsPeer {
 public:
  struct Options {
    std::string host = "localhost";
    int max_version = 0;
    std::string protocols = "\x08http/1.1";
    const char* ciphers = nullptr;
  };

  TlsPeer(const std::string& text, const std::string& certificate, const Options& options) {
    context_.load_verify_file(certificate);
    SSL_CTX_set_max_proto_version(context_.native_handle(), options.max_version);
    if (options.max_version != 0) SSL_CTX_set_min_proto_version(context_.native_handle(), 0);
    if (options.ciphers != nullptr) {
      SSL_CTX_set_cipher_list(context_.native_handle(), options.ciphers);
    }
    stream_.emplace(io_, context_);
    X509_VERIFY_PARAM_set_flags(SSL_get0_param(stream_->native_handle()), X509_V_FLAG_X509_STRICT);
    SSL_set_alpn_protos(stream_->native_handle(),
                        reinterpret_cast<const unsigned char*>(options.protocols.data()),
                        static_cast<unsigned>(options.protocols.size()));
    stream_->set_verify_mode(ssl::verify_peer);
    stream_->set_verify_callback(ssl::host_name_verification(options.host));
    const Address address = ParseAddress(text).value();
    stream_->next_layer().connect({asio::ip::make_address(address.host), address.port});
    stream_->handshake(ssl::stream_base::client, error);
  }
  TlsPeer(const std::string& text, const std::string& certificate)
      : TlsPeer(text, certificate, Options{}) {}

  void Write(const std::string& bytes) { asio::write(*stream_, asio::buffer(bytes), error); }
  std::string ReadUntil(const std::string& end) {
    std::string bytes;
    asio::read_until(*stream_, asio::dynamic_buffer(bytes), end, error);
    return bytes;
  }
  // Reads until the server ends the TLS stream. `error` says whether it did so properly.
  std::string ReadAll() {
    std::string bytes;
    asio::read(*stream_, asio::dynamic_buffer(bytes), error);
    if (error == asio::error::eof) error = {};
    boost::system::error_code ignored;
    stream_->shutdown(ignored);
    return bytes;
  }
  SSL* native() { return stream_->native_handle(); }

  boost::system::error_code error;

 private:
  asio::io_context io_;
  ssl::context context_{ssl::context::tls_client};
  std::optional<ssl::stream<asio::ip::tcp::socket>> stream_;
};

constexpr char kClosingGet[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

}  // namespace

TEST_CASE("Requests over TLS are answered, kept alive, and closed by TLS") {
  const DevelopmentFiles files;
  const auto server = Server::Create(files.Options(), AnswerPath).value();
  TlsPeer peer(server->address(), files.certificate);
  REQUIRE(!peer.error);
  REQUIRE(std::string(SSL_get_version(peer.native())) == "TLSv1.3");
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(peer.native(), &protocol, &size);
  REQUIRE(std::string(reinterpret_cast<const char*>(protocol), size) == "http/1.1");
  for (int i = 0; i < 3; ++i) {
    peer.Write("PUT /put HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    REQUIRE(peer.ReadUntil("hello").ends_with("/put hello"));
  }
  peer.Write(kClosingGet);
  REQUIRE(peer.ReadAll().starts_with("HTTP/1.1 200 OK\r\n"));
  REQUIRE(!peer.error);
  REQUIRE(server->counts().accepted_total == 1);
}

TEST_CASE("Large, deferred and streamed answers come whole over TLS") {
  const DevelopmentFiles files;
  const auto server = Server::Create(files.Options(), AnswerPath).value();
  TlsPeer peer(server->address(), files.certificate);
  peer.Write("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(peer.ReadUntil("/later ").starts_with("HTTP/1.1 200 OK\r\n"));
  peer.Write("GET /large HTTP/1.1\r\nHost: x\r\n\r\nGET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string all = peer.ReadAll();
  REQUIRE(!peer.error);
  REQUIRE(CountOf(all, "HTTP/1.1 200 OK") == 2);
  REQUIRE(all.find(std::string(5'000'000, 'x') + "HTTP/1.1 200 OK") != std::string::npos);
  REQUIRE(all.ends_with("6\r\nonetwo\r\n0\r\n\r\n"));
}

TEST_CASE("Answers over TLS come whole and in order to a peer that asks for more than it reads") {
  constexpr int kRequests = 1000;
  const DevelopmentFiles files;
  const std::string filling(15'000, 'x');
  const auto server = Server::Create(files.Options(), [&filling](const ServerRequest& request) {
                        return ServerResponse{.body = std::make_shared<const std::string>(
                                                  filling + std::string(request.target()))};
                      }).value();
  TlsPeer peer(server->address(), files.certificate);
  std::string requests;
  for (int i = 1; i < kRequests; ++i) {
    requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  peer.Write(requests + kClosingGet);
  const std::string answers = peer.ReadAll();
  REQUIRE(!peer.error);
  REQUIRE(CountOf(answers, "HTTP/1.1 200 OK") == kRequests);
  std::size_t at = 0;
  for (int i = 1; i < kRequests; ++i) {
    INFO(i);
    at = answers.find("\r\n\r\n" + filling + "/" + std::to_string(i) + "HTTP", at);
    REQUIRE(at != std::string::npos);
  }
  REQUIRE(answers.ends_with("\r\n\r\n" + filling + "/"));
}

TEST_CASE("A TLS peer that goes while its answer is deferred holds no connection") {
  const DevelopmentFiles files;
  runtime::BoundedQueue<Responder> waiting(1);
  const auto server = Server::Create(files.Options(), [&](const ServerRequest&) {
                        return ServerResponse{.later = [&](Responder responder) {
                          waiting.Push(std::move(responder));
                        }};
                      }).value();
  auto peer = std::make_unique<TlsPeer>(server->address(), files.certificate);
  peer->Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const Responder held = *waiting.Pop();
  REQUIRE(server->counts().connections == 1);
  peer.reset();
  REQUIRE(doubles::Eventually([&] { return server->counts().connections == 0; }));
}

TEST_CASE("A rejection over TLS is read before the connection closes") {
  const DevelopmentFiles files;
  ServerOptions options = files.Options();
  options.max_body_bytes = 1000;
  const auto server = Server::Create(options, AnswerPath).value();
  TlsPeer peer(server->address(), files.certificate);
  peer.Write("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" +
             std::string(100'000, 'x'));
  REQUIRE(peer.ReadAll().starts_with("HTTP/1.1 413 "));
}

TEST_CASE("The development certificate is for localhost and both loopback addresses alone") {
  const DevelopmentFiles files;
  const auto server = Server::Create(files.Options(), AnswerPath).value();
  for (const std::string host : {"localhost", "127.0.0.1", "::1"}) {
    INFO(host);
    TlsPeer peer(server->address(), files.certificate, {.host = host});
    REQUIRE(!peer.error);
  }
  REQUIRE(TlsPeer(server->address(), files.certificate, {.host = "example.org"}).error);
  struct stat info {};
  REQUIRE(::stat(files.key.c_str(), &info) == 0);
  REQUIRE((info.st_mode & 0777) == 0600);
}

TEST_CASE("The development certificate holds from yesterday for a year") {
  const DevelopmentFiles files;
  const std::string text = Read(files.certificate);
  BIO* const memory = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  X509* const certificate = PEM_read_bio_X509(memory, nullptr, nullptr, nullptr);
  REQUIRE(certificate != nullptr);
  int days = 0;
  int seconds = 0;
  REQUIRE(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate), nullptr) == 1);
  REQUIRE(days == 1);
  REQUIRE(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate),
                         X509_get0_notAfter(certificate)) == 1);
  REQUIRE(days == 365);
  X509_free(certificate);
  BIO_free(memory);
}

TEST_CASE("A development certificate that is there stays, half of one is an error") {
  const DevelopmentFiles files;
  const std::string before = Read(files.certificate) + Read(files.key);
  REQUIRE(MakeDevelopmentCertificate(files.certificate, files.key).ok());
  REQUIRE(Read(files.certificate) + Read(files.key) == before);
  fs::remove(files.certificate);
  const absl::Status half = MakeDevelopmentCertificate(files.certificate, files.key);
  REQUIRE(half.code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(runtime::Message(half).find(files.key + " is there") != std::string::npos);
  REQUIRE(MakeDevelopmentCertificate("/proc/a", "/proc/b").code() == absl::StatusCode::kNotFound);
}

TEST_CASE("TLS 1.1, weak ciphers and other protocols do not connect") {
  const DevelopmentFiles files;
  const auto server = Server::Create(files.Options(), AnswerPath).value();
  const auto connects = [&](const TlsPeer::Options& options) {
    return !TlsPeer(server->address(), files.certificate, options).error;
  };
  REQUIRE(connects({.max_version = TLS1_2_VERSION}));
  REQUIRE(!connects({.max_version = TLS1_1_VERSION, .ciphers = "ALL:@SECLEVEL=0"}));
  REQUIRE(!connects({.max_version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES128-SHA"}));
  REQUIRE(!connects({.protocols = "\x02h2"}));
  REQUIRE(connects({.protocols = "\x02h2\x08http/1.1"}));
  REQUIRE(doubles::Eventually([&] { return server->counts().rejected_total == 3; }));
}

TEST_CASE("A certificate or key that cannot be used is an error that names its file") {
  const DevelopmentFiles files;
  const auto status = [](const std::string& certificate, const std::string& key) {
    return Server::Create({.certificate_file = certificate, .key_file = key}, AnswerPath).status();
  };
  const auto fails = [&](const absl::Status& found, absl::StatusCode code,
                         const std::string& file) {
    INFO(runtime::Message(found));
    return found.code() == code && runtime::Message(found).find(file) != std::string::npos;
  };
  const std::string garbage = files.Path("garbage");
  std::ofstream(garbage) << "-----BEGIN CERTIFICATE-----\nxxxx\n-----END CERTIFICATE-----\n";
  const std::string other_certificate = files.Path("other.pem");
  const std::string other_key = files.Path("other.key");
  REQUIRE(MakeDevelopmentCertificate(other_certificate, other_key).ok());
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kNotFound = absl::StatusCode::kNotFound;
  REQUIRE(fails(status(files.Path("none"), files.key), kNotFound, "/none"));
  REQUIRE(fails(status(files.certificate, files.Path("none")), kNotFound, "/none"));
  REQUIRE(fails(status(garbage, files.key), kInvalid, garbage));
  REQUIRE(fails(status(files.certificate, garbage), kInvalid, garbage));
  REQUIRE(fails(status(files.key, files.key), kInvalid, files.key));
  REQUIRE(fails(status(files.certificate, other_key), kInvalid, other_key));
  REQUIRE(fails(status(files.certificate, ""), kInvalid, files.certificate));
  REQUIRE(fails(status("", files.key), kInvalid, files.key));
}

TEST_CASE("A request in plain text on a TLS port is redirected, and nothing of it is looked at") {
  const DevelopmentFiles files;
  bool handled = false;
  const auto server = Server::Create(files.Options(), [&handled](const ServerRequest& request) {
                        handled = true;
                        return AnswerPath(request);
                      }).value();
  const auto answer = [&server](const std::string& request) {
    RawPeer plain(server->address());
    plain.Write(request);
    return plain.ReadAll();
  };
  const std::string redirected =
      answer("POST /login?a=b HTTP/1.1\r\nHost: bmc:8443\r\nContent-Length: 2\r\n\r\n{}");
  REQUIRE(redirected.starts_with("HTTP/1.1 308 Permanent Redirect\r\n"));
  REQUIRE(redirected.find("\r\nLocation: https://bmc:8443/login?a=b\r\n") != std::string::npos);
  REQUIRE(redirected.find("\r\nContent-Length: 0\r\n") != std::string::npos);
  REQUIRE(redirected.find("\r\nConnection: close\r\n") != std::string::npos);
  REQUIRE(answer("GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 400 "));
  REQUIRE(answer("GET / HTTP/1.1\r\nHost:\r\n\r\n").starts_with("HTTP/1.1 400 "));
  REQUIRE(answer("noise\r\n\r\n").starts_with("HTTP/1.1 400 "));
  REQUIRE_FALSE(handled);
}

TEST_CASE("Half a handshake harms nobody") {
  const DevelopmentFiles files;
  ServerOptions options = files.Options();
  // A busy machine takes a while for the last handshake.
  options.request_deadline = std::chrono::seconds(1);
  const auto server = Server::Create(options, AnswerPath).value();
  RawPeer half(server->address());
  // This is the record header of a ClientHello that never comes.
  half.Write(std::string("\x16\x03\x01\x02\x00\x01", 6));
  RawPeer silent(server->address());
  RawPeer gone(server->address());
  gone.Close();
  REQUIRE(half.ReadAll().empty());
  REQUIRE(silent.ReadAll().empty());
  TlsPeer peer(server->address(), files.certificate);
  peer.Write(kClosingGet);
  REQUIRE(peer.ReadAll().starts_with("HTTP/1.1 200 OK\r\n"));
  REQUIRE(doubles::Eventually([&] { return server->counts().rejected_total == 3; }));
}

TEST_CASE("Handshakes in progress do not hold Drain up") {
  const DevelopmentFiles files;
  const auto server = Server::Create(files.Options(), AnswerPath).value();
  RawPeer half(server->address());
  half.Write("\x16\x03\x01");
  server->Drain(std::chrono::hours(1));
  REQUIRE(half.ReadAll().empty());
  REQUIRE(server->counts().connections == 0);
}

TEST_CASE("TLS connections past the limit are closed") {
  const DevelopmentFiles files;
  ServerOptions options = files.Options();
  options.max_connections = 1;
  const auto server = Server::Create(options, AnswerPath).value();
  TlsPeer first(server->address(), files.certificate);
  REQUIRE(TlsPeer(server->address(), files.certificate).error);
  REQUIRE(server->counts().refused_total == 1);
  first.Write(kClosingGet);
  REQUIRE(first.ReadAll().starts_with("HTTP/1.1 200 OK\r\n"));
}

}  // namespace shoal::http
