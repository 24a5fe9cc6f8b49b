/* SPDX-License-Identifier: MIT
 * F(name) for each function of the C library that ends the program or the calling thread, or starts a second program.
 * A user's function or kernel may only return, so the linker (`--wrap`) replaces them by functions of the preludes. */
#define FLYNN_ENDINGS(F) \
    F(exit) F(_exit) F(_Exit) F(quick_exit) F(abort) F(pthread_exit) F(thrd_exit) F(pthread_cancel) F(raise) F(kill) \
    F(killpg) F(pthread_kill) F(tgkill) F(sigqueue) F(pthread_sigqueue) F(fork) F(_Fork) F(vfork) F(clone) F(daemon) \
    F(execve) F(execv) F(execvp) F(execvpe) F(execl) F(execle) F(execlp) F(execveat) F(fexecve) F(syscall) F(error) \
    F(error_at_line) F(err) F(errx) F(verr) F(verrx)
