// SPDX-License-Identifier: Apache-2.0
#include "platform/http/tls_engine.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "platform/http/tls_context.h"
#include "platform/runtime/random.h"
#include "tests/platform/http/development_files.h"

namespace shoal::http {
namespace {

constexpr std::size_t kRoom = 64 * 1024;

// OpenSSL's own client between two memory BIOs.
class Client {
 public:
  Client() {
    SSL_set_bio(ssl_.get(), input_, output_);
    SSL_set_connect_state(ssl_.get());
  }

  bool Handshake() { return SSL_do_handshake(ssl_.get()) == 1; }
  void Write(const std::string& text) {
    REQUIRE(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0);
  }
  void Close() { SSL_shutdown(ssl_.get()); }
  void Feed(const std::string& bytes) {
    if (!bytes.empty()) BIO_write(input_, bytes.data(), static_cast<int>(bytes.size()));
  }
  std::string Read() {
    std::string text(kRoom, '\0');
    std::size_t size = 0;
    std::size_t bytes = 0;
    while (SSL_read_ex(ssl_.get(), text.data() + size, text.size() - size, &bytes) == 1) {
      size += bytes;
    }
    REQUIRE(SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_READ);
    text.resize(size);
    return text;
  }
  std::string Sent() {
    std::string bytes(BIO_ctrl_pending(output_), '\0');
    if (!bytes.empty()) BIO_read(output_, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }

 private:
  template <auto Function>
  struct Free {
    template <typename Object>
    void operator()(Object* object) const {
      Function(object);
    }
  };
  const std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>> context_{SSL_CTX_new(TLS_client_method())};
  const std::unique_ptr<SSL, Free<SSL_free>> ssl_{SSL_new(context_.get())};
  // `ssl_` owns these.
  BIO* const input_ = BIO_new(BIO_s_mem());
  BIO* const output_ = BIO_new(BIO_s_mem());
};

std::string Output(TlsEngine& engine) {
  std::string bytes;
  engine.TakeOutput(bytes);
  return bytes;
}

// Runs the handshake of both ends, with one byte at a time from the client.
void Connect(Client& client, TlsEngine& engine) {
  TlsEngine::Step step = TlsEngine::Step::kMore;
  while (!client.Handshake() || step == TlsEngine::Step::kMore) {
    const std::string sent = client.Sent();
    for (const char byte : sent) {
      REQUIRE(step == TlsEngine::Step::kMore);
      engine.Feed({&byte, 1});
      step = engine.Handshake();
    }
    const std::string answer = Output(engine);
    REQUIRE(sent.size() + answer.size() > 0);
    client.Feed(answer);
  }
  REQUIRE(step == TlsEngine::Step::kDone);
}

struct Connection {
  Connection() { Connect(client, engine); }

  const DevelopmentFiles files;
  const std::unique_ptr<boost::asio::ssl::context> context =
      ServerTls(files.certificate, files.key).value();
  TlsEngine engine{context->native_handle()};
  Client client;
};

std::string Text(runtime::Random& random) {
  std::string text(1 + random.Below(3 * 16 * 1024), '\0');
  std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random.Below(256)); });
  return text;
}

}  // namespace

TEST_CASE("What a sink leaves of an answer over TLS is sent after what it took") {
  Connection ends;
  runtime::Random random(1);
  for (int i = 0; i < 50; ++i) {
    const std::string text = Text(random);
    std::string wire;
    int offers = 0;
    bool leaves = false;
    REQUIRE(ends.engine.Write(text, [&](std::string_view bytes) {
      const std::size_t taken = random.Below(3) == 0 ? bytes.size() : random.Below(bytes.size());
      ++offers;
      leaves = taken < bytes.size();
      wire.append(bytes.substr(0, taken));
      return taken;
    }));
    REQUIRE(offers == 1);
    REQUIRE((ends.engine.waiting_output() > 0 || !leaves));
    ends.client.Feed(wire + Output(ends.engine));
    REQUIRE(ends.client.Read() == text);
  }
}

TEST_CASE("An answer over TLS without a sink, and one after it, wait in order") {
  Connection ends;
  int offers = 0;
  REQUIRE(ends.engine.Write("first, "));
  REQUIRE(ends.engine.Write("second", [&offers](std::string_view bytes) {
    ++offers;
    return bytes.size();
  }));
  REQUIRE(offers == 0);
  ends.client.Feed(Output(ends.engine));
  REQUIRE(ends.client.Read() == "first, second");
  REQUIRE(ends.engine.waiting_output() == 0);
}

TEST_CASE("Requests over TLS are read whole however they are cut") {
  Connection ends;
  runtime::Random random(2);
  for (int i = 0; i < 50; ++i) {
    const std::string text = Text(random);
    ends.client.Write(text);
    std::string sent = ends.client.Sent();
    std::string read;
    std::string room(1 + random.Below(kRoom), '\0');
    for (std::string_view rest = sent; !rest.empty();) {
      const std::size_t piece = 1 + random.Below(rest.size());
      ends.engine.Feed(rest.substr(0, piece));
      rest.remove_prefix(piece);
      std::size_t bytes = 0;
      TlsEngine::Step step = TlsEngine::Step::kDone;
      for (; step == TlsEngine::Step::kDone; read.append(room, 0, bytes)) {
        step = ends.engine.Read(room.data(), room.size(), bytes);
      }
      REQUIRE(step == TlsEngine::Step::kMore);
    }
    REQUIRE(read == text);
  }
}

TEST_CASE("A peer that closes TLS, and one that speaks none, are told apart") {
  Connection ends;
  char room = 0;
  std::size_t bytes = 0;
  REQUIRE(ends.engine.Read(&room, 1, bytes) == TlsEngine::Step::kMore);
  const std::string noise(100, 'x');
  SECTION("no TLS") {
    ends.engine.Feed(noise);
    REQUIRE(ends.engine.Read(&room, 1, bytes) == TlsEngine::Step::kFailed);
  }
  SECTION("closed") {
    ends.client.Close();
    const std::string sent = ends.client.Sent();
    ends.engine.Feed(sent);
    REQUIRE(ends.engine.Read(&room, 1, bytes) == TlsEngine::Step::kClosed);
  }
}

}  // namespace shoal::http
