/* tokens: a file's bytes as C tokens, for the places libclang does not give
 * (operators, type keywords, pragmas). An own scanner, because tokenising
 * cursor extents through libclang is wrong whenever a macro is involved. */
#ifndef AR_TOKENS_H
#define AR_TOKENS_H

#include "base/source.h"

typedef enum ar_token_kind {
    AR_TOKEN_WORD, /* identifier or keyword */
    AR_TOKEN_NUMBER,
    AR_TOKEN_STRING, /* string or character literal */
    AR_TOKEN_PUNCT
} ar_token_kind;

typedef struct ar_token {
    uint32_t begin, end;
    ar_token_kind kind;
    bool in_directive; /* on a line that starts with # */
    bool is_hash;      /* the # that starts a directive */
} ar_token;

typedef struct ar_tokens {
    const char *bytes;
    AR_VEC(ar_token) list;
    /* For every 64 bytes of the file: the first token from there on. */
    uint32_t *blocks;
    uint32_t block_count;
} ar_tokens;

/* Comments and blanks are skipped; code switched off by #if is included. */
void ar_tokenise(ar_arena *arena, const char *bytes, uint32_t size,
                 ar_tokens *tokens);
/* Index of the first token that begins at or after offset. */
uint32_t ar_token_at(const ar_tokens *tokens, uint32_t offset);
bool ar_token_is(const ar_tokens *tokens, uint32_t index, const char *text);

#endif
