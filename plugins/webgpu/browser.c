// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "browser.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ARGUMENTS_MAX = 64,
    VARIABLES_MAX = 512,
    REMOVE_STEPS = 20, // Of 50 ms.
    MAKE_TRIES = 4,
};

static const char profile_prefix[] = "tapml-page-", profile_rest[] = "XXXXXX";

// -- Finding -----------------------------------------------------------------------------------

// The value of a variable of the host's environment, or NULL.
static const char *variable(const char *name)
{
    const size_t length = strlen(name);

    for (char **at = environ; *at != NULL; at++) {
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') {
            return *at + length + 1;
        }
    }
    return NULL;
}

static int is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

tapml_status browser_find(struct browser *browser,
                          const struct gpu_host *host,
                          tapml_call *call,
                          const char *name)
{
    const char *folder = variable("PATH");

    if (strchr(name, '/') != NULL) {
        (void)snprintf(browser->path, sizeof(browser->path), "%s", name); // Too long is not there.
        return is_program(browser->path)
                   ? TAPML_OK
                   : gpu_fail(host, call, TAPML_UNAVAILABLE, 0, "there is no program '%s'", name);
    }
    while (folder != NULL && *folder != '\0') {
        const int length = (int)strcspn(folder, ":");

        (void)snprintf(browser->path, sizeof(browser->path), "%.*s/%s", length, folder, name);
        if (length > 0 && is_program(browser->path)) {
            return TAPML_OK;
        }
        folder += length + (folder[length] == ':');
    }
    return gpu_fail(host, call, TAPML_UNAVAILABLE, 0,
                    "there is no program '%s' in PATH: install it (Debian: chromium), name another "
                    "as 'browser', or set browser = none and open the page yourself",
                    name);
}

// -- Profiles ----------------------------------------------------------------------------------

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)remove(path); // What is left is tried again.
    return 0;
}

static void remove_folder(const char *path)
{
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

// Locks a profile of ours, until the descriptor is closed or this process ends. -1 where somebody
// has it, or it is gone by now.
static int lock_folder(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat held, found;

    if (folder >= 0 && (flock(folder, LOCK_EX | LOCK_NB) != 0 || fstat(folder, &held) != 0 ||
                        lstat(path, &found) != 0 || held.st_dev != found.st_dev ||
                        held.st_ino != found.st_ino || held.st_uid != geteuid())) {
        (void)close(folder);
        return -1;
    }
    return folder;
}

// Removes the profiles that no host has locked: their hosts were killed.
static void remove_left(void)
{
    DIR *folder = opendir(P_tmpdir);
    const struct dirent *entry = folder != NULL ? readdir(folder) : NULL;
    char path[sizeof(P_tmpdir "/") + sizeof(entry->d_name)];

    for (; entry != NULL; entry = readdir(folder)) {
        if (strncmp(entry->d_name, profile_prefix, strlen(profile_prefix)) != 0 ||
            strlen(entry->d_name) != strlen(profile_prefix) + strlen(profile_rest)) {
            continue;
        }
        (void)snprintf(path, sizeof(path), P_tmpdir "/%s", entry->d_name); // Fits.
        const int lock = lock_folder(path);

        if (lock >= 0) {
            remove_folder(path);
            (void)close(lock);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

// Makes a profile and locks it. Another host that finds it in between takes it for one that was
// left: then there is another one.
static int make_profile(struct browser *browser)
{
    for (int i = 0; i < MAKE_TRIES; i++) {
        (void)snprintf(browser->profile, sizeof(browser->profile), P_tmpdir "/%s%s", profile_prefix,
                       profile_rest);
        if (mkdtemp(browser->profile) == NULL) {
            break;
        }
        browser->lock = lock_folder(browser->profile);
        if (browser->lock >= 0) {
            return 1;
        }
    }
    browser->profile[0] = '\0';
    return 0;
}

// -- Starting ----------------------------------------------------------------------------------

// The command line of the new process. All of it is made before the fork: after it, in a host that
// has threads, little may be called.
struct command {
    char profile[96];      // The option,
    char variables[3][96]; // and what it sees as its home and the like.
    char flags[512];       // The user's, cut up.
    char *arguments[ARGUMENTS_MAX];
    char *environment[VARIABLES_MAX];
};

static int is_replaced(const char *entry)
{
    static const char *const names[] = {"HOME=", "TMPDIR=", "XDG_"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strncmp(entry, names[i], strlen(names[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

// All that it writes goes into its profile, and nothing of the user's is read.
static void make_environment(struct command *command, const char *profile)
{
    static const char *const names[] = {"HOME", "TMPDIR", "XDG_RUNTIME_DIR"};
    size_t count = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        (void)snprintf(command->variables[i], sizeof(command->variables[i]), "%s=%s", names[i],
                       profile);
        command->environment[count++] = command->variables[i];
    }
    for (char **at = environ; *at != NULL && count < VARIABLES_MAX - 1; at++) {
        if (!is_replaced(*at)) {
            command->environment[count++] = *at;
        }
    }
    command->environment[count] = NULL;
}

// The arrays are of pointers to char because exec wants them so; it changes nothing.
static char *word(const char *text)
{
    union {
        const char *text;
        char *word;
    } same = {.text = text};

    return same.word;
}

static void make_arguments(struct command *command,
                           const struct browser *browser,
                           const char *address,
                           const char *flags)
{
    static const char *const fixed[] = {
        "--headless=new",
        "--enable-unsafe-webgpu", // Without it there is no adapter on Linux.
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-extensions",
        "--disable-dev-shm-usage", // /dev/shm is small in containers.
        "--disable-background-timer-throttling",
        "--disable-renderer-backgrounding",
    };
    size_t count = 0;

    command->arguments[count++] = word(browser->path);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
        command->arguments[count++] = word(fixed[i]);
    }
    if (geteuid() == 0) {
        command->arguments[count++] = word("--no-sandbox"); // It refuses to run as root otherwise.
    }
    (void)snprintf(command->profile, sizeof(command->profile), "--user-data-dir=%s",
                   browser->profile);
    command->arguments[count++] = command->profile;
    (void)snprintf(command->flags, sizeof(command->flags), "%s", flags != NULL ? flags : "");
    for (char *at = command->flags + strspn(command->flags, " ");
         *at != '\0' && count < ARGUMENTS_MAX - 2; at += strspn(at, " ")) {
        command->arguments[count++] = at;
        at += strcspn(at, " ");
        if (*at != '\0') {
            *at++ = '\0';
        }
    }
    command->arguments[count++] = word(address);
    command->arguments[count] = NULL;
}

// In the new process. What fails here is seen as a browser that does not come up.
_Noreturn static void become(const struct command *command, pid_t parent)
{
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t none;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); // It must not outlive a host that crashes.
    if (getppid() != parent) {
        _exit(127);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    (void)execve(command->arguments[0], command->arguments, command->environment);
    _exit(127);
}

tapml_status browser_start(struct browser *browser,
                           const struct gpu_host *host,
                           tapml_call *call,
                           const char *address,
                           const char *flags)
{
    struct command *command = gpu_alloc(host, sizeof(*command));
    const pid_t parent = getpid();

    if (command == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    if (flags != NULL && strlen(flags) >= sizeof(command->flags)) {
        gpu_free(host, command, sizeof(*command));
        return gpu_fail(host, call, TAPML_INVALID, 0, "option 'browser-flags' is too long");
    }
    remove_left();
    if (!make_profile(browser)) {
        gpu_free(host, command, sizeof(*command));
        return gpu_fail(host, call, TAPML_UNAVAILABLE, 0,
                        "the browser gets no profile: no folder can be made in " P_tmpdir);
    }
    make_environment(command, browser->profile);
    make_arguments(command, browser, address, flags);
    browser->process = fork();
    if (browser->process == 0) {
        become(command, parent);
    }
    gpu_free(host, command, sizeof(*command));
    if (browser->process < 0) {
        browser->process = 0;
        return gpu_fail(host, call, TAPML_UNAVAILABLE, 0, "the browser gets no process");
    }
    (void)setpgid(browser->process, browser->process); // Both sides: the first one counts.
    return TAPML_OK;
}

// -- Ending ------------------------------------------------------------------------------------

int browser_has_ended(struct browser *browser, char *text)
{
    enum { TEXT = 64 };
    int state = 0;

    if (browser->process == 0 || waitpid(browser->process, &state, WNOHANG) != browser->process) {
        return 0;
    }
    (void)kill(-browser->process, SIGKILL); // Its children, where some are left.
    browser->process = 0;
    if (WIFSIGNALED(state)) {
        (void)snprintf(text, TEXT, "was killed by signal %d", WTERMSIG(state));
    } else {
        (void)snprintf(text, TEXT, "ended with status %d", WEXITSTATUS(state));
    }
    return 1;
}

// The profile is thrown away, so that there is nothing to ask it to put in order.
void browser_stop(struct browser *browser)
{
    if (browser->process != 0) {
        (void)kill(-browser->process, SIGKILL); // Gone already is fine.
        (void)waitpid(browser->process, NULL, 0);
        browser->process = 0;
    }
    if (browser->profile[0] == '\0') {
        return;
    }
    remove_folder(browser->profile);
    // Its children may be at their last write.
    for (int i = 0; i < REMOVE_STEPS && access(browser->profile, F_OK) == 0; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); // Waking early is fine.
        remove_folder(browser->profile);
    }
    (void)close(browser->lock);
    browser->profile[0] = '\0';
}
