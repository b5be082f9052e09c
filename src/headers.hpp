// What nearly every source includes by way of others; compiled once, since it takes longer to read than most sources.
#include <petscdmda.h>
#include <petscksp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>
