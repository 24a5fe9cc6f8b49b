/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *library_load(const char *names, char *why, size_t size)
{
    const char *name = names;
    char one[128];

    if (size > 0)
        *why = '\0';
    while (*name) {
        int length = (int)strcspn(name, " ");
        void *library = NULL;
        if (length < (int)sizeof one) {
            snprintf(one, sizeof one, "%.*s", length, name);
            library = dlopen(one, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        }
        if (library)
            return library;
        if (name == names) {
            const char *words = dlerror();
            snprintf(why, size, "%s", words ? words : one);
        }
        name += length + strspn(name + length, " ");
    }
    return NULL;
}

/* A function's address has the size of a pointer wherever there is dlsym (POSIX). */
bool library_function(void *library, const char *name, void *pointer, size_t size)
{
    void *address = dlsym(library, name);

    memcpy(pointer, &address, size);
    return address != NULL;
}
