#pragma once
float in_header(float x);
