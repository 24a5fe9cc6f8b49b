/* SPDX-License-Identifier: MIT
 * A file with a kernel: what stands in it at file level, and what of it the kernel names. */
#ifndef FLYNN_CORE_KERNEL_FILE_H
#define FLYNN_CORE_KERNEL_FILE_H

#include "../language/token.h"

typedef enum core_item_kind {
    CORE_ITEM_MACRO,     /* #define */
    CORE_ITEM_TYPE,      /* typedef, using NAME =, struct, class, union, enum */
    CORE_ITEM_FUNCTION,  /* with its body */
    CORE_ITEM_PROTOTYPE, /* without */
    CORE_ITEM_VARIABLE,
    CORE_ITEM_OTHER /* using namespace, static_assert ... */
} core_item_kind;

/* A definition or declaration at file level, or in a namespace. */
typedef struct core_item {
    core_item_kind kind;
    core_reader start;      /* before its first token */
    const char *at, *end;   /* its first token; after its last one */
    core_token first, name; /* name.length 0: it has none, or several */
    core_reader parameters; /* after the "(" of a function */
    core_token template_at; /* "template", and the ">" that ends its list; length 0: no template */
    core_token template_end;
    int scope;                              /* index in core_file.scopes; -1: file level */
    bool is_kernel, is_device, is_constant; /* __global__; __device__ and the like; const, constexpr */
    bool is_host;                           /* a function that no kernel means: core_kernel_leave_host */
    bool is_kept;
} core_item;

typedef struct core_scope {
    core_token name; /* length 0: a namespace without a name */
    int outer;       /* the namespace that it is in; -1: file level */
    int after;       /* where its "}" leads: that of `namespace A::B {` out of both */
} core_scope;

/* A name that an item defines. */
typedef struct core_defined {
    const char *at;
    size_t length;
    int item;
} core_defined;

typedef struct core_file {
    core_item *items;
    int count, room;
    core_scope *scopes;
    int scope_count, scope_room;
    core_defined *names; /* sorted by name, then by item */
    int name_count, name_room;
} core_file;

/* Reads a text that core_definitions_read has checked; `hides` is core_reader's. FL_E_MEMORY, FL_E_SOURCE. After any
 * result: core_file_free. */
fl_status core_file_read(core_file *file, const char *text, bool hides, core_text_error *error);
void core_file_free(core_file *file);

/* The first of the names that equal the token, up to `file->names + file->name_count`; NULL: none does. */
const core_defined *core_file_find(const core_file *file, const core_token *name);
bool core_defined_is(const core_defined *defined, const core_token *name);

/* Marks (is_kept) what words outside the file name, such as the arguments of a template. */
void core_file_keep_words(core_file *file, const char *words);
/* Marks (is_kept) what the kept items name, and what that names in turn. FL_E_MEMORY. */
fl_status core_file_keep(core_file *file);

#endif
