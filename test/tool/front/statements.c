// Statements keep their parts in place, absent ones are empty, and ranges hold
// the semicolon.
// RUN: %amp-rewrite --dump-after=collect %s | %FileCheck %s
int g(int);
void f(int n) {
    int i = 0;
    for (;;)
        break;
    // CHECK: FOR [[@LINE-2]]:5-[[@LINE-1]]:15
    // CHECK-NEXT: {{^ *}}-
    // CHECK-NEXT: {{^ *}}-
    // CHECK-NEXT: {{^ *}}-
    // CHECK-NEXT: BREAK [[@LINE-5]]:9-15
    for (; i < n;)
        i++;
    // CHECK: FOR
    // CHECK-NEXT: {{^ *}}-
    // CHECK-NEXT: BINARY '<'
    // CHECK: {{^ *}}-
    // CHECK-NEXT: EXPR_STMT [[@LINE-5]]:9-13
    for (i = 0;; i++)
        continue;
    // CHECK: FOR
    // CHECK-NEXT: ASSIGN
    // CHECK: {{^ *}}-
    // CHECK-NEXT: UNARY '++' post
    // CHECK: CONTINUE
    for (;; g(i))
        ;
    // CHECK: FOR
    // CHECK-NEXT: {{^ *}}-
    // CHECK-NEXT: {{^ *}}-
    // CHECK-NEXT: CALL
    // CHECK: NULL_STMT
    do
        i--;
    while (i > 0);
    // CHECK: DO [[@LINE-3]]:5-[[@LINE-1]]:19
    // CHECK-NEXT: EXPR_STMT
    while (n)
        if (i)
            goto out;
        else
            n--;
    // CHECK: WHILE [[@LINE-5]]:5-[[@LINE-1]]:17
    // CHECK: IF
    // CHECK: GOTO "out"
    switch (n) {
    case 1:
    case 2 ... 4:
        i = n > 2 ? 1 : 2, n++;
        break;
    default:
        return;
    }
    // CHECK: SWITCH
    // CHECK: CASE
    // CHECK-NEXT: INT_LIT 1
    // CHECK-NEXT: CASE
    // CHECK-NEXT: INT_LIT 2
    // CHECK-NEXT: EXPR_STMT
    // CHECK-NEXT: COMMA <int>
    // CHECK: CONDITIONAL
    // CHECK: INT_LIT 4
    // CHECK-NEXT: BREAK
    // CHECK-NEXT: DEFAULT
    // CHECK-NEXT: RETURN [[@LINE-13]]:9-16
out:
    __asm__ volatile("" : : "r"(i));
    // CHECK: LABEL "out"
    // CHECK-NEXT: ASM
}
