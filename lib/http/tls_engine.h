// SPDX-License-Identifier: Apache-2.0
// The server's end of one TLS connection without the connection: what the peer sent goes in, what
// is to be sent to it comes out.
//
// Not thread-safe. Holds what was fed and not yet read, and what was written and not yet taken.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace shoal::http {

class TlsEngine {
 public:
  enum class Step {
    kDone,
    // More is needed from the peer.
    kMore,
    // The peer has said that nothing follows.
    kClosed,
    // What the peer sent is no TLS, or none that is taken; what is to be sent says so.
    kFailed,
  };

  // Borrows `context`.
  explicit TlsEngine(SSL_CTX* context);
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  // Bytes from the peer.
  void Feed(std::string_view bytes);
  Step Handshake();
  // Plain text into `room`, which is not empty: `bytes` of it when kDone.
  Step Read(char* room, std::size_t size, std::size_t& bytes);
  // Whether Read has something to work on without another Feed.
  bool has_input() const;

  // False when the connection cannot be written to.
  bool Write(std::string_view plain);
  // Says that nothing more will be written.
  void Close();
  // Bytes that TakeOutput would give: what a peer provokes while it is read from must stay small.
  std::size_t waiting_output() const { return output_.size(); }
  // What is to be sent now, in place of what `bytes` holds. Keep giving the same string: its room
  // is used again while it is small.
  void TakeOutput(std::string& bytes);

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  Step Outcome(int result) const;

  // What ssl_ writes; outlives it.
  std::string output_;
  std::unique_ptr<SSL, Free> ssl_;
  // Of ssl_.
  BIO* const input_;
};

}  // namespace shoal::http
