static float plain[4];
static double wide[4];

void widen(void) {
    for (int i = 0; i < 4; i++)
        wide[i] = plain[i];
}
