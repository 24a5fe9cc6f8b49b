/* SPDX-License-Identifier: MIT
 * The functions of the C library that end the program or the thread that calls them, or that make a second one of it.
 * A function or kernel of the user's may only return: the linker (`--wrap`) gives it functions of the preludes in their
 * place. F(name) for each. */
#define FLYNN_ENDINGS(F) \
    F(exit) F(_exit) F(_Exit) F(quick_exit) F(abort) F(pthread_exit) F(thrd_exit) F(pthread_cancel) F(raise) F(kill) \
    F(killpg) F(pthread_kill) F(tgkill) F(sigqueue) F(pthread_sigqueue) F(fork) F(_Fork) F(vfork) F(clone) F(daemon) \
    F(execve) F(execv) F(execvp) F(execvpe) F(execl) F(execle) F(execlp) F(execveat) F(fexecve) F(syscall) F(error) \
    F(error_at_line) F(err) F(errx) F(verr) F(verrx)
