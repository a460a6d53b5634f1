#include <amp/amp.h>

const char *amp_status_string(amp_status status) {
    switch (status) {
#define STATUS_CASE(name, value, text)                                         \
    case name:                                                                 \
        return text;
        AMP_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    case AMP_STATUS_FORCE_INT:
        break;
    }
    return "unknown status";
}
