#include "options_internal.h"

static void check_conflicts(const parser *p) {
    static const struct {
        option_id a, b;
        const char *why;
    } conflicts[] = {
        {OPT_OUT, OPT_OUT_DIR, "each says where the result goes"},
        {OPT_OUT, OPT_IN_PLACE, "each says where the result goes"},
        {OPT_OUT_DIR, OPT_IN_PLACE, "each says where the result goes"},
        {OPT_CHECK, OPT_OUT, "a check writes nothing"},
        {OPT_CHECK, OPT_OUT_DIR, "a check writes nothing"},
        {OPT_CHECK, OPT_IN_PLACE, "a check writes nothing"},
        {OPT_AUDIT, OPT_OUT, "an audit rewrites nothing"},
        {OPT_AUDIT, OPT_OUT_DIR, "an audit rewrites nothing"},
        {OPT_AUDIT, OPT_IN_PLACE, "an audit rewrites nothing"},
        {OPT_AUDIT, OPT_CHECK, "an audit rewrites nothing"},
        {OPT_PRINT_RULES, OPT_OUT, "printing rules rewrites nothing"},
        {OPT_PRINT_RULES, OPT_OUT_DIR, "printing rules rewrites nothing"},
        {OPT_PRINT_RULES, OPT_IN_PLACE, "printing rules rewrites nothing"},
        {OPT_PRINT_RULES, OPT_CHECK, "printing rules rewrites nothing"},
        {OPT_PRINT_RULES, OPT_AUDIT, "each prints something else"},
        {OPT_QUIET, OPT_VERBOSE, "they ask for opposite things"},
    };
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++) {
        const char *a = p->given[conflicts[i].a], *b = p->given[conflicts[i].b];
        if (a && b)
            ar_complain(p, "'%s' and '%s' cannot be given together: %s", a, b,
                        conflicts[i].why);
    }
}

/* Storage levels. Where the parameters are FP32 masters, those of the norm
 * layers are among them. */
static void check_kept(const parser *p) {
    const ar_options *o = p->options;
    bool masters = o->masters == AR_YES ||
                   (o->masters == AR_AS_LEVEL && p->level == OPT_O2);
    if (masters && o->keep_norm == AR_NO)
        ar_complain(p,
                    "'%s=no' needs '--master-weights=no': %s the parameters "
                    "of norm layers are FP32 masters like all others",
                    p->given[OPT_KEEP_BATCHNORM],
                    o->masters == AR_YES ? "with '--master-weights'"
                                         : "at '-O2'");
    if (o->strict && p->level != OPT_O3)
        ar_complain(p, "'%s' needs '-O3': '-O2' keeps optimizer state in FP32",
                    p->given[OPT_STRICT_O3]);
}

/* The combinations that Apex refuses or, worse, lets pass. */
static void check_level(const parser *p) {
    if (p->level == OPT_O2 || p->level == OPT_O3) {
        check_kept(p);
        return;
    }
    const char *batchnorm = p->given[OPT_KEEP_BATCHNORM];
    const char *masters = p->given[OPT_MASTER_WEIGHTS];
    const char *strict = p->given[OPT_STRICT_O3];
    const char *level = p->level == OPT_O0 ? "-O0" : "-O1";
    if (batchnorm)
        ar_complain(
            p,
            "'%s' makes no sense with '%s': it keeps all storage in FP32, "
            "norm layers included; the precision of a norm op is set by "
            "a rule",
            batchnorm, level);
    if (masters)
        ar_complain(p,
                    "'%s' makes no sense with '%s': the weights stay FP32, so "
                    "there is nothing to keep a master copy of",
                    masters, level);
    if (strict)
        ar_complain(p, "'%s' needs '-O3': '%s' keeps optimizer state in FP32",
                    strict, level);
}

static bool is_scale_of_one(const ar_options *o) {
    return o->loss_scale == AR_LOSS_SCALE_NONE ||
           (o->loss_scale == AR_LOSS_SCALE_STATIC && o->loss_scale_value == 1);
}

static const char *why_not_dynamic(const parser *p) {
    const ar_options *o = p->options;
    switch (o->loss_scale) {
    case AR_LOSS_SCALE_DYNAMIC:
        return NULL;
    case AR_LOSS_SCALE_STATIC:
        return "the loss scale is a fixed number";
    case AR_LOSS_SCALE_NONE:
        return "there is no loss scale";
    case AR_LOSS_SCALE_DEFAULT:
        if (p->level == OPT_O3)
            return "the loss scale of '-O3' is 1 unless "
                   "'--loss-scale=dynamic' is given";
        return o->half == AR_HALF_BF16 ? "the loss scale of bf16 is 1 unless "
                                         "'--loss-scale=dynamic' is given"
                                       : NULL;
    }
    AR_BUG("loss scale mode %d", (int)o->loss_scale);
}

static void check_scaler(const parser *p) {
    static const option_id dynamic_only[] = {
        OPT_INIT_SCALE,     OPT_GROWTH_INTERVAL, OPT_GROWTH_FACTOR,
        OPT_BACKOFF_FACTOR, OPT_MIN_LOSS_SCALE,  OPT_MAX_LOSS_SCALE,
        OPT_HYSTERESIS};
    const ar_options *o = p->options;
    const char *why =
        p->level == OPT_O0 ? "'-O0' changes nothing" : why_not_dynamic(p);
    size_t count = sizeof dynamic_only / sizeof *dynamic_only;
    for (size_t i = 0; i < count && why; i++)
        if (p->given[dynamic_only[i]])
            ar_complain(p, "'%s' needs a dynamic loss scale, but %s",
                        p->given[dynamic_only[i]], why);
    if (p->level == OPT_O0 && p->given[OPT_LOSS_SCALE] && !is_scale_of_one(o))
        ar_complain(p, "'%s' has nothing to act on: '-O0' changes nothing",
                    p->given[OPT_LOSS_SCALE]);

    const ar_scaler_settings *s = &o->scaler;
    unsigned both = AR_SCALER_MIN_SCALE | AR_SCALER_MAX_SCALE;
    if ((s->given & both) == both && s->min_scale > s->max_scale)
        ar_complain(p, "'%s' (%g) is above '%s' (%g)",
                    p->given[OPT_MIN_LOSS_SCALE], s->min_scale,
                    p->given[OPT_MAX_LOSS_SCALE], s->max_scale);
}

static void check_files(const parser *p) {
    const ar_options *o = p->options;
    if (p->print_rules)
        return;
    if (o->files.count == 0 && !o->database)
        ar_complain(p, "no input file; see '--help'");
    else if (p->given[OPT_OUT] && o->files.count != 1)
        ar_complain(p,
                    "'%s' takes one input file, not %u; use '--out-dir' for "
                    "several",
                    p->given[OPT_OUT], o->files.count);
}

void ar_check_options(const parser *p) {
    check_conflicts(p);
    check_level(p);
    check_scaler(p);
    check_files(p);
}
