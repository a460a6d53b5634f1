static float plain[4];
static _Float16 packed[4];

void pack(void) {
    for (int i = 0; i < 4; i++)
        packed[i] = (_Float16)plain[i];
}
