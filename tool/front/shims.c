#include "front/shims.h"

#include <string.h>

/* OpenMP 5: directives are read from the tokens without -fopenmp, and then no
 * compiler's own omp.h can be relied on (clang's needs -fopenmp). */
static const char omp_h[] =
    "#ifndef AMP_SHIM_OMP_H\n"
    "#define AMP_SHIM_OMP_H\n"
    "#include <stddef.h>\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "typedef struct { void *_lock; } omp_lock_t;\n"
    "typedef struct { void *_lock; } omp_nest_lock_t;\n"
    "typedef enum omp_sched_t { omp_sched_static = 1, omp_sched_dynamic,\n"
    "  omp_sched_guided, omp_sched_auto,\n"
    "  omp_sched_monotonic = (int)0x80000000u } omp_sched_t;\n"
    "typedef enum omp_proc_bind_t { omp_proc_bind_false, omp_proc_bind_true,\n"
    "  omp_proc_bind_master, omp_proc_bind_close, omp_proc_bind_spread\n"
    "} omp_proc_bind_t;\n"
    "typedef enum omp_sync_hint_t { omp_sync_hint_none = 0,\n"
    "  omp_sync_hint_uncontended = 1, omp_sync_hint_contended = 2,\n"
    "  omp_sync_hint_nonspeculative = 4, omp_sync_hint_speculative = 8\n"
    "} omp_sync_hint_t;\n"
    "void omp_set_num_threads(int);\n"
    "int omp_get_num_threads(void);\n"
    "int omp_get_max_threads(void);\n"
    "int omp_get_thread_num(void);\n"
    "int omp_get_num_procs(void);\n"
    "int omp_in_parallel(void);\n"
    "void omp_set_dynamic(int);\n"
    "int omp_get_dynamic(void);\n"
    "int omp_get_cancellation(void);\n"
    "void omp_set_nested(int);\n"
    "int omp_get_nested(void);\n"
    "void omp_set_schedule(omp_sched_t, int);\n"
    "void omp_get_schedule(omp_sched_t *, int *);\n"
    "int omp_get_thread_limit(void);\n"
    "int omp_get_supported_active_levels(void);\n"
    "void omp_set_max_active_levels(int);\n"
    "int omp_get_max_active_levels(void);\n"
    "int omp_get_level(void);\n"
    "int omp_get_ancestor_thread_num(int);\n"
    "int omp_get_team_size(int);\n"
    "int omp_get_active_level(void);\n"
    "int omp_in_final(void);\n"
    "omp_proc_bind_t omp_get_proc_bind(void);\n"
    "int omp_get_num_places(void);\n"
    "int omp_get_place_num_procs(int);\n"
    "int omp_get_place_num(void);\n"
    "void omp_set_default_device(int);\n"
    "int omp_get_default_device(void);\n"
    "int omp_get_num_devices(void);\n"
    "int omp_get_device_num(void);\n"
    "int omp_get_num_teams(void);\n"
    "int omp_get_team_num(void);\n"
    "int omp_is_initial_device(void);\n"
    "int omp_get_initial_device(void);\n"
    "int omp_get_max_task_priority(void);\n"
    "void omp_init_lock(omp_lock_t *);\n"
    "void omp_init_lock_with_hint(omp_lock_t *, omp_sync_hint_t);\n"
    "void omp_destroy_lock(omp_lock_t *);\n"
    "void omp_set_lock(omp_lock_t *);\n"
    "void omp_unset_lock(omp_lock_t *);\n"
    "int omp_test_lock(omp_lock_t *);\n"
    "void omp_init_nest_lock(omp_nest_lock_t *);\n"
    "void omp_destroy_nest_lock(omp_nest_lock_t *);\n"
    "void omp_set_nest_lock(omp_nest_lock_t *);\n"
    "void omp_unset_nest_lock(omp_nest_lock_t *);\n"
    "int omp_test_nest_lock(omp_nest_lock_t *);\n"
    "double omp_get_wtime(void);\n"
    "double omp_get_wtick(void);\n"
    "void *omp_target_alloc(size_t, int);\n"
    "void omp_target_free(void *, int);\n"
    "#ifdef __cplusplus\n"
    "}\n"
    "#endif\n"
    "#endif\n";

/* What nvcc knows and clang's CUDA headers do not: cache-hinted loads and
 * stores (a template alone would not say that they are of floats), min and max
 * of mixed types (their result is that of the usual conversions, as with nvcc),
 * classification macros on the host. */
static const char cuda_h[] =
    "#pragma once\n"
    "#include <cmath>\n"
    "#include <ctime>\n"
    "#define AMP_LOAD(name) \\\n"
    "  template <typename T> __device__ T name(const T *); \\\n"
    "  __device__ float name(const float *); \\\n"
    "  __device__ float2 name(const float2 *); \\\n"
    "  __device__ float4 name(const float4 *);\n"
    "#define AMP_STORE(name) \\\n"
    "  template <typename T> __device__ void name(T *, T); \\\n"
    "  __device__ void name(float *, float); \\\n"
    "  __device__ void name(float2 *, float2); \\\n"
    "  __device__ void name(float4 *, float4);\n"
    "AMP_LOAD(__ldg) AMP_LOAD(__ldcg) AMP_LOAD(__ldca) AMP_LOAD(__ldcs)\n"
    "AMP_LOAD(__ldlu) AMP_LOAD(__ldcv)\n"
    "AMP_STORE(__stwb) AMP_STORE(__stcg) AMP_STORE(__stcs) "
    "AMP_STORE(__stwt)\n"
    "#undef AMP_LOAD\n"
    "#undef AMP_STORE\n"
    "template <typename A, typename B> __host__ __device__\n"
    "auto min(A a, B b) -> decltype(true ? a : b);\n"
    "template <typename A, typename B> __host__ __device__\n"
    "auto max(A a, B b) -> decltype(true ? a : b);\n"
    "#if __clang_major__ < 19 && (__CUDA_ARCH__ + 0 >= 800)\n"
    "#define AMP_REDUCE(name, type) \\\n"
    "  __device__ type __reduce_##name##_sync(unsigned, type);\n"
    "AMP_REDUCE(add, unsigned) AMP_REDUCE(min, unsigned)\n"
    "AMP_REDUCE(max, unsigned) AMP_REDUCE(min, int) AMP_REDUCE(max, int)\n"
    "AMP_REDUCE(or, unsigned) AMP_REDUCE(and, unsigned)\n"
    "AMP_REDUCE(xor, unsigned)\n"
    "#undef AMP_REDUCE\n"
    "#endif\n"
    "using std::isfinite;\n"
    "using std::isinf;\n"
    "using std::isnan;\n"
    "using std::signbit;\n";

/* clang's CUDA wrapper asks for "cuda.h" first of all; a project's own header
 * of that name must not answer, but must be found afterwards. */
static const char *sdk_header(ar_arena *arena, const char *cuda_path) {
    return ar_sprintf(arena,
                      "#pragma GCC system_header\n"
                      "#ifndef AMP_SHIM_CUDA_H\n"
                      "#define AMP_SHIM_CUDA_H\n"
                      "#include \"%s/include/cuda.h\"\n"
                      "#else\n"
                      "#include_next \"cuda.h\"\n"
                      "#endif\n",
                      cuda_path);
}

static struct CXUnsavedFile shim(const char *name, const char *text) {
    return (struct CXUnsavedFile){name, text, strlen(text)};
}

void ar_shims(ar_arena *arena, const char *cuda_path,
              struct CXUnsavedFile files[AR_SHIM_COUNT]) {
    files[0] = shim(AR_SHIM_DIR "/omp.h", omp_h);
    files[1] = shim(AR_SHIM_DIR "/" AR_SHIM_CUDA, cuda_h);
    /* gone from CUDA 13, wanted by clang before 22 */
    files[2] = shim(AR_SHIM_DIR "/texture_fetch_functions.h", "");
    files[3] = shim(AR_SHIM_DIR "/cuda/cuda.h",
                    cuda_path ? sdk_header(arena, cuda_path) : "");
}
