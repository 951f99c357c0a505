#include "runtime/security/security_config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/fd.h"

namespace isthmus {

const std::string_view kWaysOutOfNoSecret =
    "make one with `isthmus secret new` and give it to every rank (ISTHMUS_SECRET_FILE or ISTHMUS_SECRET), or set "
    "ISTHMUS_SECURITY=off on every rank to send everything in plain";

namespace {

constexpr std::size_t kMaxFileBytes = 4096;

Result<CipherKind> chosen_cipher(const std::string& name) {
  if (name == "auto") return preferred_cipher();
  if (name == "aes-256-gcm") return CipherKind::kAes256Gcm;
  if (name == "chacha20-poly1305") return CipherKind::kChaCha20Poly1305;
  return invalid_argument("there is no cipher \"{}\"", name);
}

Result<std::optional<JobSecret>> find_secret(const Options& options) {
  if (!options.secret.empty() && !options.secret_file.empty()) {
    return invalid_argument("both secret and secret_file ({}) are set: which of them is meant?", options.secret_file);
  }
  if (options.secret.empty() && options.secret_file.empty()) return std::optional<JobSecret>();
  Result<JobSecret> secret =
      options.secret.empty() ? read_secret_file(options.secret_file) : JobSecret::parse(options.secret);
  if (!secret.ok()) return secret.status();
  return std::optional<JobSecret>(*secret);
}

}  // namespace

std::string_view security_level_name(SecurityLevel level) {
  switch (level) {
    case SecurityLevel::kNone: return "no job secret";
    case SecurityLevel::kOff: return "security off";
    case SecurityLevel::kSecured: return "a job secret";
    case SecurityLevel::kFull: return "a job secret and security on";
  }
  return "an unknown security level";
}

Result<JobSecret> read_secret_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe must not block
  if (!file.valid()) return invalid_argument("secret file {}: {}", path, errno_message(errno));
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return invalid_argument("secret file {}: {}", path, errno_message(errno));
  if (!S_ISREG(about.st_mode)) return invalid_argument("secret file {} is no regular file", path);
  if ((about.st_mode & 077) != 0) {
    return invalid_argument("secret file {} has mode {:04o}, so that others can use it: chmod 600 {}", path,
                            about.st_mode & 07777, path);
  }
  std::string text(kMaxFileBytes, '\0');
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  if (count < 0) return invalid_argument("secret file {}: {}", path, errno_message(errno));
  text.resize(static_cast<std::size_t>(count));
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  Result<JobSecret> secret = JobSecret::parse(std::string_view(text).substr(0, end == std::string::npos ? 0 : end + 1));
  erase_secret({reinterpret_cast<std::byte*>(text.data()), text.size()});
  if (!secret.ok()) return secret.status().with_context(fmt::format("secret file {}", path));
  return secret;
}

Result<SecurityConfig> load_security(const Options& options) {
  SecurityConfig config;
  ISTHMUS_ASSIGN_OR_RETURN(config.cipher, chosen_cipher(options.cipher));
  if (options.security == "off") {
    config.level = SecurityLevel::kOff;
    return config;
  }
  ISTHMUS_ASSIGN_OR_RETURN(config.secret, find_secret(options));
  if (config.secret) config.level = options.security == "on" ? SecurityLevel::kFull : SecurityLevel::kSecured;
  if (!config.secret && options.security == "on") {
    return invalid_argument("security is on, but there is no job secret: {}", kWaysOutOfNoSecret);
  }
  return config;
}

}  // namespace isthmus
