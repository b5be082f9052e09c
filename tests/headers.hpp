// What nearly every test includes; compiled once, since it takes longer to read than most tests.
#include <petscdmda.h>
#include <petscksp.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
