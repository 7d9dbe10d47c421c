#include "observe/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "observe/signals.h"

namespace fullbore::observe {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Reads the errno of a failed exec; 0 when the pipe was closed by an exec that worked.
int exec_error(int pipe_fd) {
  int error_number = 0;
  ssize_t n = 0;
  do {
    n = ::read(pipe_fd, &error_number, sizeof error_number);
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(sizeof error_number) ? error_number : 0;
}

}  // namespace

InheritedSignals take_over_signals() {
  InheritedSignals inherited = {};
  sigset_t set = relayed_signals();
  ::sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, &inherited.mask);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &inherited.child_action);
  return inherited;
}

void give_back_signals(const InheritedSignals& inherited) {
  ::sigaction(SIGCHLD, &inherited.child_action, nullptr);
  ::sigprocmask(SIG_SETMASK, &inherited.mask, nullptr);
}

base::Expected<pid_t> spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                            const InheritedSignals& inherited) {
  const std::vector<char*> argv = pointers(command);
  const std::vector<char*> envp = pointers(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(base::Error::system(errno, "cannot make a pipe"));
  const base::UniqueFd reading(ends[0]);
  base::UniqueFd writing(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return std::unexpected(base::Error::system(errno, "cannot start " + command[0]));
  if (pid == 0) {
    give_back_signals(inherited);
    ::execvpe(argv[0], argv.data(), envp.data());
    const int error_number = errno;
    (void)!::write(writing.get(), &error_number, sizeof error_number);
    ::_exit(127);
  }
  writing.reset();
  const int error_number = exec_error(reading.get());
  if (error_number == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  return std::unexpected(base::Error::system(error_number, "cannot run " + command[0]));
}

}  // namespace fullbore::observe
