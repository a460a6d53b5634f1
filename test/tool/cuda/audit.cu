// Device buffers have the role that the kernels give them, by the name that
// cudaMalloc stores them in.
// REQUIRES: nvcc
// RUN: %amp-rewrite --audit --half=bf16 %S/fused.cu 2>&1 | %FileCheck %s
// CHECK-DAG: fp32 {{.*}}fused.cu:13:5: reduction loop in learn: -O1 leaves loops alone
// CHECK-DAG: half {{.*}}fused.cu:32:9: gemm cublasSgemm_v2 in main
// CHECK-DAG: variable main:w (float *), param: {{.*}}fused.cu:18:5]
// CHECK-DAG: variable main:y (float *), activation: {{.*}}fused.cu:32:9]
// CHECK-DAG: variable main:x (float *), data:
// CHECK-DAG: training loop: {{.*}}fused.cu:31:5
