# Builds, tests and installs petscrrb. `make help` lists what there is to make.

BUILD ?= build
CONFIG ?= $(BUILD)/config.mk
VENV ?= $(BUILD)/venv
PYTHON ?= python3
# PREREQUISITES=no leaves out the look at what is installed; see config/prerequisites.sh
PREREQUISITES ?= yes

petsc_wanted := $(PETSC_DIR)
no_config_needed := help clean dist format docs prerequisites check check-asan check-long demo bench cuda-compile check-cuda-built
ifneq ($(filter-out $(no_config_needed),$(or $(MAKECMDGOALS),all)),)
  include $(CONFIG)
  petsc_configured := $(patsubst --petsc-dir=%,%,$(filter --petsc-dir=%,$(CONFIGURE_ARGUMENTS)))
  ifneq ($(and $(petsc_wanted),$(petsc_configured)),)
    ifneq ($(realpath $(petsc_wanted)),$(realpath $(petsc_configured)))
      $(warning $(BUILD) is configured for PETSc at $(petsc_configured), not at $(petsc_wanted): \
        type ./configure.py --build-dir=$(BUILD), or choose another BUILD)
    endif
  endif
endif

header_macro = $(shell sed -n 's/^.define PETSCRRB_VERSION_$(1) *//p' include/petscrrb.h)
SERIES := $(call header_macro,MAJOR).$(call header_macro,MINOR)
VERSION := $(SERIES).$(call header_macro,SUBMINOR)

# --- sources and what is made of them ---

find_sources = $(sort $(foreach folder,$(wildcard $(1)),$(shell find $(folder) -name '$(2)')))
object = $(patsubst %,$(BUILD)/obj/%.o,$(1))
program = $(patsubst $(1)/%,$(BUILD)/$(2)/%,$(basename $(wildcard $(addprefix $(1)/,*.c *.cxx *.cu))))

cuda_sources := $(call find_sources,src,*.cu)
cxx_sources := $(call find_sources,src,*.cxx)
# SAME_AS=folder of a build without CUDA, for a PETSc without: of the .cxx, only those that ask differ from what was compiled there
differing := $(if $(SAME_AS),$(shell grep -lE 'PETSCRRB_HAVE_(CUDA|NCCL)' $(cxx_sources)),$(cxx_sources))
library_objects := $(call object,$(differing) $(if $(NVCC),$(cuda_sources))) \
  $(patsubst %,$(SAME_AS)/obj/%.o,$(filter-out $(differing),$(cxx_sources)))
unit_sources := $(call find_sources,tests/unit,*.cxx)
petsc_sources := $(call find_sources,tests/petsc,*.cxx)
cuda_test_sources := $(if $(NVCC),$(call find_sources,tests/cuda,*.cxx) $(call find_sources,tests/cuda,*.cu) \
  tests/petsc/cuda_calls.cxx)
sanitizer_sources := $(if $(SANITIZE),tests/sanitizer/keep_loaded.cxx) \
  $(if $(filter thread,$(SANITIZE)),tests/sanitizer/threads.cxx)
unit_objects := $(call object,$(unit_sources) $(sanitizer_sources))
cuda_objects := $(call object,$(cuda_test_sources))
petsc_objects := $(call object,$(petsc_sources) $(sanitizer_sources))
examples := $(call program,docs/examples,examples)
benchmarks := $(call program,benchmarks,benchmarks) $(if $(NVCC),$(call program,benchmarks/cuda,benchmarks/cuda))

# each file of tests/long is a program, and has all of tests/long/common
long_objects := $(call object,$(call find_sources,tests/long/common,*.cxx) $(sanitizer_sources))
# failures has an allocator of its own, and so have the sanitizers
long_programs := $(filter-out $(if $(SANITIZE),%/failures),$(call program,tests/long,tests/long))
# compute-sanitizer must have seen all kernels
kernels_noted := $(if $(NVCC),$(BUILD)/tests/libkernels.so)

library := $(BUILD)/lib/libpetscrrb.so
core := $(BUILD)/lib/libpetscrrb_core.a
test_programs := $(if $(unit_sources),$(BUILD)/tests/unit) $(if $(petsc_sources),$(BUILD)/tests/petsc) \
  $(if $(cuda_test_sources),$(BUILD)/tests/cuda)

# --- flags ---

# contraction is fixed here, so that a result does not depend on the compiler's default
arithmetic := -ffp-contract=fast -fno-math-errno
sanitizers := $(if $(SANITIZE),-g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=$(SANITIZE))
common_flags = -Wall -Wextra -fPIC $(CXXOPTFLAGS) $(more_flags) $(arithmetic) $(OPENMP_FLAGS) \
  -Iinclude $(PETSC_COMPILE_FLAGS) -MMD -MP $(if $(NVCC),-DPETSCRRB_HAVE_CUDA=1) $(NCCL_COMPILE_FLAGS) $(sanitizers)
# PETSc looks for complex numbers otherwise, and what it includes for them takes CUDA's compiler longer than most files of ours
real_numbers := -DPETSC_SKIP_COMPLEX
cxx_flags = -std=c++17 $(real_numbers) $(VISIBILITY_FLAGS) $(common_flags) -Isrc -Itests $(CXXFLAGS)
c_flags = -std=c11 $(common_flags)
comma := ,
empty :=
space := $(empty) $(empty)
host_flags = -fPIC $(VISIBILITY_FLAGS) -Wall -Wextra $(arithmetic) $(OPENMP_FLAGS)
nvcc_flags = -std=c++17 $(real_numbers) $(CUDAOPTFLAGS) -fmad=true --extended-lambda --expt-relaxed-constexpr $(CUDA_COMPILE_FLAGS) \
  -Xcompiler $(subst $(space),$(comma),$(strip $(host_flags))) -Iinclude -Isrc -Itests $(PETSC_COMPILE_FLAGS) \
  -DPETSCRRB_HAVE_CUDA=1 $(NCCL_COMPILE_FLAGS) -MMD -MP
# PETSc may close the library while its objects live, hence nodelete
# tests/sanitizer/threads.cxx stands in for OpenMP's runtime
link_flags = $(if $(filter thread,$(SANITIZE)),,$(OPENMP_FLAGS)) $(sanitizers) -Wl,--as-needed
library_link_flags = -shared $(link_flags) -Wl,-z,nodelete -Wl,-Bsymbolic-functions -Wl,-soname,libpetscrrb.so.$(SERIES) \
  -Wl,--version-script=config/exports.map $(if $(SANITIZE),,-Wl,--no-undefined)
use_library = -L$(BUILD)/lib -Wl,-rpath,$(abspath $(BUILD)/lib) -lpetscrrb

# no contraction at all: a point must be computed alike in loops that are vectorized and in those that are not
$(BUILD)/obj/src/pc/mic/% $(BUILD)/obj/tests/unit/mic_% $(BUILD)/obj/tests/cuda/mic_%: private arithmetic := -ffp-contract=off -fno-math-errno
# compiles faster, and GCC 12 at -O3 warns of a null pointer in std::vector that is none
$(BUILD)/obj/tests/%: more_flags = -O2

# headers.hpp of src and of tests, compiled once; private, or else they would be compiled with themselves
precompiles := $(findstring Free Software,$(shell $(CXX) --version 2> /dev/null))
with_headers = $(if $(precompiles),-I$(BUILD)/obj/$(1) -include headers.hpp)
define use_headers
$(2): private more_flags = $(3) $(call with_headers,$(1))
$(2): $(if $(precompiles),$(BUILD)/obj/$(1)/headers.hpp.gch)
endef
# those of MIC have another arithmetic
$(eval $(call use_headers,src,$(filter-out $(BUILD)/obj/src/pc/mic/%,$(call object,$(cxx_sources)))))
$(eval $(call use_headers,tests,$(call object,$(unit_sources)),-O2))
# what takes time in those of tests/petsc is the library and PETSc
$(eval $(call use_headers,tests,$(call object,$(petsc_sources)),-O1))
# a device's kernel on the host
$(BUILD)/obj/tests/unit/black_product_test.cxx.o: private more_flags += -iquote tests/emulated

# V=1 shows the commands
quiet = $(if $(V),,@echo "  $(1) $(if $(filter %.so %.a $(BUILD)/tests/% $(BUILD)/examples/% $(BUILD)/benchmarks/%,$@),$@,$<)";)

# --- the library ---

.PHONY: all tests long examples benchmarks
all: $(library)    ## the library: BUILD/lib/libpetscrrb.so (the default)
tests: $(test_programs)
long: $(long_programs) $(kernels_noted)
examples: $(examples)
benchmarks: $(benchmarks)

# the first time, and again with the same arguments when configure.py has changed
$(BUILD)/config.mk: configure.py $(wildcard config/*.py)
	@$(PYTHON) configure.py --build-dir=$(BUILD) $(CONFIGURE_ARGUMENTS) $(CONFIGURE_FLAGS)

$(library): $(library_objects) config/exports.map $(BUILD)/obj/library.list
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CXX) $(library_link_flags) -o $@.$(VERSION) $(library_objects) $(PETSC_LINK_FLAGS) $(CUDA_LINK_FLAGS)
	@ln -sf libpetscrrb.so.$(VERSION) $@.$(SERIES)
	@ln -sf libpetscrrb.so.$(VERSION) $@

# What is linked from objects is linked again when a source comes or goes.
.PHONY: always
$(BUILD)/obj/%.list: always
	@mkdir -p $(@D)
	@echo '$($*_objects)' | cmp -s - $@ || echo '$($*_objects)' > $@

# The unit tests reach what the library hides.
$(core): $(library_objects) $(BUILD)/obj/library.list
	@mkdir -p $(@D)
	@rm -f $@
	$(call quiet,AR  )ar qcs $@ $(library_objects)

$(BUILD)/obj/%.cxx.o: %.cxx $(CONFIG)
	@mkdir -p $(@D)
	$(call quiet,CXX )$(CXX) $(cxx_flags) -c $< -o $@

$(BUILD)/obj/%.hpp.gch: %.hpp $(CONFIG)
	@mkdir -p $(@D)
	$(call quiet,CXX )$(CXX) $(cxx_flags) -x c++-header -c $< -o $@

$(BUILD)/obj/%.c.o: %.c $(CONFIG)
	@mkdir -p $(@D)
	$(call quiet,CC  )$(CC) $(c_flags) -c $< -o $@

$(BUILD)/obj/%.cu.o: %.cu $(CONFIG)
	@mkdir -p $(@D)
	$(call quiet,NVCC)$(NVCC) $(nvcc_flags) -c $< -o $@

$(BUILD)/tests/unit: $(unit_objects) $(core) $(BUILD)/obj/unit.list
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CXX) $(link_flags) -o $@ $(unit_objects) $(core) -lgtest -lgtest_main $(PETSC_LINK_FLAGS) $(CUDA_LINK_FLAGS) -pthread

$(BUILD)/tests/petsc: $(petsc_objects) $(library) $(BUILD)/obj/petsc.list
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CXX) $(link_flags) -o $@ $(petsc_objects) $(use_library) -lgtest -lgtest_main $(PETSC_LINK_FLAGS) -pthread

# skips everything where there is no device
$(BUILD)/tests/cuda: $(cuda_objects) $(core) $(BUILD)/obj/cuda.list
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CXX) $(link_flags) -o $@ $(cuda_objects) $(core) -lgtest -lgtest_main $(PETSC_LINK_FLAGS) $(CUDA_LINK_FLAGS) -pthread

$(BUILD)/tests/libkernels.so: $(BUILD)/obj/tests/sanitizer/kernels.cxx.o
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CXX) -shared -o $@ $< -ldl

# what is in a folder of a program's name is that program's alone
$(foreach program,$(long_programs),$(eval $(program): $(call object,$(call find_sources,tests/long/$(notdir $(program)),*.cxx))))
$(BUILD)/tests/long/%: $(BUILD)/obj/tests/long/%.cxx.o $(long_objects) $(library) $(BUILD)/obj/long.list
	@mkdir -p $(@D)
	$(call quiet,LINK)$(CXX) $(link_flags) -rdynamic -o $@ $(sort $(filter %.o,$^)) $(use_library) $(PETSC_LINK_FLAGS) $(CUDA_LINK_FLAGS) -pthread

link_program = $(if $(filter %.cxx.o,$<),$(CXX),$(CC)) $(link_flags) -o $@ $< $(use_library) $(PETSC_LINK_FLAGS)
$(BUILD)/examples/%: $(BUILD)/obj/docs/examples/%.c.o $(library)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(link_program)
# PETSc's own words for hypre, which a benchmark calls: empty where PETSc has none
hypre_link_flags = $(shell sed -n 's/^HYPRE_LIB = *//p' $(PETSC_DIR)/$(PETSC_ARCH)/lib/petsc/conf/petscvariables)
$(BUILD)/benchmarks/%: $(BUILD)/obj/benchmarks/%.c.o $(library)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(link_program) $(hypre_link_flags) $(CUDA_LINK_FLAGS)
$(BUILD)/benchmarks/%: $(BUILD)/obj/benchmarks/%.cxx.o $(library)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(link_program)

# those reach what the library hides
link_to_core = $(CXX) $(link_flags) -o $@ $< $(core) $(PETSC_LINK_FLAGS) $(CUDA_LINK_FLAGS)
$(BUILD)/benchmarks/cuda/%: $(BUILD)/obj/benchmarks/cuda/%.cxx.o $(core)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(link_to_core)
$(BUILD)/benchmarks/cuda/%: $(BUILD)/obj/benchmarks/cuda/%.cu.o $(core)
	@mkdir -p $(@D)
	$(call quiet,LINK)$(link_to_core)

.SECONDARY:
ifneq ($(wildcard $(BUILD)/obj),)
  -include $(shell find $(BUILD)/obj -name '*.d')
endif

# --- tests ---

submake = $(MAKE) --no-print-directory
# for MPI programs in containers, where everyone is root
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export PETSCRRB_BUILD := $(abspath $(BUILD))

.PHONY: prerequisites check check-built check-asan check-asan-built check-long check-seeded cuda-compile check-cuda check-cuda-built tutorials
# a PETSC_DIR, or a PETSc named to configure.py, that is not Debian's makes Debian's unnecessary
other_petsc = $(filter-out /usr/lib/petsc%,$(petsc_wanted) $(shell sed -n 's/^PETSC_DIR = //p' $(wildcard $(CONFIG)) /dev/null))\
  $(filter --petsc-dir% --download-petsc%,$(CONFIGURE_FLAGS))
prerequisites:
	@OTHER_PETSC='$(strip $(other_petsc))' config/prerequisites.sh $(PREREQUISITES)

check: prerequisites    ## all tests; installs missing packages (PREREQUISITES=no: does not); ARGS= goes to pytest
	+@$(submake) check-built
check-built: all tests long examples benchmarks $(VENV)/tests.installed
	@$(VENV)/bin/python tests/run.py $(test_programs) -- $(ARGS)

check-asan: prerequisites    ## the C++ tests with the address and undefined-behaviour sanitizers
	+@$(submake) --quiet $(BUILD)/config.mk
	+@$(submake) BUILD=$(BUILD)-asan CONFIG=$(BUILD)/config.mk SANITIZE=address,undefined check-asan-built
check-asan-built: tests
	@export ASAN_OPTIONS=detect_leaks=1:protect_shadow_gap=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  LSAN_OPTIONS=suppressions=tests/sanitizer/asan.supp:print_suppressions=0; \
	set -e; for program in $(test_programs); do echo $$program; $$program --gtest_brief=1; done

# ONLY=part,part SECONDS=(in total) SEED=(to repeat) BACKEND=(host or cuda) ASAN=no, TSAN=no (not built with the sanitizers)
check-long: prerequisites    ## look for new faults: random use, ranks, soak, failures, threads; half an hour
	+@$(submake) --quiet $(BUILD)/config.mk
	+@$(submake) all tests long
	+@$(if $(filter no,$(ASAN)),,$(submake) BUILD=$(BUILD)-asan CONFIG=$(BUILD)/config.mk SANITIZE=address$(comma)undefined long)
	-+@$(if $(filter no,$(TSAN)),,$(submake) BUILD=$(BUILD)-tsan CONFIG=$(BUILD)/config.mk SANITIZE=thread NVCC= CUDA_LINK_FLAGS= \
	  NCCL_COMPILE_FLAGS= long)
	@$(PYTHON) tests/long/run.py --build=$(BUILD) $(ONLY:%=--only=%) $(SECONDS:%=--seconds=%) $(SEED:%=--seed=%) \
	  $(BACKEND:%=--backend=%)

check-seeded: all tests    ## test the tests, which must catch faults put into the code; takes hours
	@$(PYTHON) tests/seeded_faults.py --build=$(BUILD) $(ARGS)

# STEPS='petsc memcheck' runs some of it; check-cuda-built compiles nothing, for a BUILD that was carried to the GPU.
check-cuda: all tests long    ## all tests that need a GPU, with the CUDA toolkit's sanitizers
	+@$(submake) check-cuda-built
check-cuda-built:
	@tests/cuda_device.sh $(BUILD) $(STEPS)

# PETSc's programs that the clients' tests run on a GPU; TUTORIALS is the src/ of PETSc's sources
TUTORIALS ?= $(PETSC_DIR)/src
tutorials: $(addprefix $(BUILD)/tutorials/,ksp_ksp_ex2 ksp_ksp_ex46 snes_ex5)
$(BUILD)/tutorials/ksp_ksp_%: $(TUTORIALS)/ksp/ksp/tutorials/%.c
	@mkdir -p $(@D)
	$(call quiet,CC  )$(CC) -w $< -o $@ $(PETSC_COMPILE_FLAGS) $(PETSC_LINK_FLAGS)
$(BUILD)/tutorials/snes_%: $(TUTORIALS)/snes/tutorials/%.c
	@mkdir -p $(@D)
	$(call quiet,CC  )$(CC) -w $< -o $@ $(PETSC_COMPILE_FLAGS) $(PETSC_LINK_FLAGS)

# Compiles and links the CUDA part against a PETSc that has none; needs nvcc, but no GPU.
cuda-compile:    ## compile and link with CUDA although PETSc has none
	+@$(submake) all
	+@$(submake) BUILD=$(BUILD)-cuda-compile SAME_AS=$(BUILD) CONFIGURE_FLAGS='--with-cuda=1 $(CONFIGURE_FLAGS)' all

# --- what Python does ---

$(VENV)/bin/python:
	@config/venv.sh $(VENV)

# The system's numpy stays: petsc4py was compiled against it.
pip_install = $(VENV)/bin/pip install --quiet --constraint $(VENV)/constraints.txt
$(VENV)/%.installed: %/requirements.txt | $(VENV)/bin/python
	@$(pip_install) --requirement $<
	@touch $@

.PHONY: demo demo-built bench bench-built docs format
demo: prerequisites    ## compare -ksp_type rrb with other solvers in 2D and 3D: tables, pictures and BUILD/demo.html
	+@$(submake) demo-built
demo-built: all benchmarks examples $(VENV)/benchmarks.installed
	@$(VENV)/bin/python benchmarks/demo.py $(ARGS)

bench: prerequisites    ## run or resume the benchmarks (FRESH=yes: start over); writes BUILD/bench/report.html
	+@$(submake) bench-built
bench-built: all benchmarks examples $(VENV)/benchmarks.installed
	@$(VENV)/bin/python benchmarks/run.py $(ARGS)

docs: $(VENV)/docs.installed    ## build the documentation: BUILD/docs/index.html
	@$(VENV)/bin/python -m sphinx -q -b html -d $(BUILD)/obj/docs-doctrees docs $(BUILD)/docs

CLANG_FORMAT_VERSION := 14.0.6
$(VENV)/clang-format-$(CLANG_FORMAT_VERSION).installed: | $(VENV)/bin/python
	@$(pip_install) clang-format==$(CLANG_FORMAT_VERSION)
	@touch $@

format: $(VENV)/clang-format-$(CLANG_FORMAT_VERSION).installed    ## run clang-format on all C, C++ and CUDA files
	@find include src tests benchmarks docs \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cxx' \
	  -o -name '*.cu' -o -name '*.cuh' \) -exec $(VENV)/bin/clang-format -i {} +

# --- install, clean, help ---

include_dirs = $(patsubst -I%,%,$(filter /% -I%,$(PETSC_COMPILE_FLAGS)))
semicolons = $(subst $(space),;,$(strip $(1)))
fill = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' -e 's|@SERIES@|$(SERIES)|g' \
  -e 's|@PETSC_VERSION@|$(PETSC_VERSION)|g' -e 's|@PETSC_COMPILE_FLAGS@|$(PETSC_COMPILE_FLAGS)|g' \
  -e 's|@PETSC_LINK_FLAGS@|$(PETSC_LINK_FLAGS)|g' \
  -e 's|@PETSC_INCLUDE_DIRS@|$(call semicolons,$(include_dirs))|g' \
  -e 's|@PETSC_CMAKE_LIBRARIES@|$(call semicolons,$(PETSC_LINK_FLAGS))|g'

# what `make docs` made; installed where it is there
DOCS ?= $(BUILD)/docs

.PHONY: install clean help
install: all    ## install library, header, man pages, pkg-config and CMake files in PREFIX (and DESTDIR)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,include lib/pkgconfig lib/cmake/petscrrb share/doc/petscrrb)
	install -m 644 include/petscrrb.h $(DESTDIR)$(PREFIX)/include
	install -m 755 $(library).$(VERSION) $(DESTDIR)$(PREFIX)/lib
	ln -sf libpetscrrb.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libpetscrrb.so.$(SERIES)
	ln -sf libpetscrrb.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libpetscrrb.so
	install -m 644 LICENSE CHANGELOG.md $(wildcard README.md) $(DESTDIR)$(PREFIX)/share/doc/petscrrb
	@$(PYTHON) -B docs/troff.py $(DESTDIR)$(PREFIX)/share/man
	@$(fill) config/petscrrb.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/petscrrb.pc
	@$(fill) config/petscrrbConfig.cmake.in > $(DESTDIR)$(PREFIX)/lib/cmake/petscrrb/petscrrbConfig.cmake
	@$(fill) config/petscrrbConfigVersion.cmake.in > $(DESTDIR)$(PREFIX)/lib/cmake/petscrrb/petscrrbConfigVersion.cmake
	$(if $(wildcard $(DOCS)),install -d $(DESTDIR)$(PREFIX)/share/doc/petscrrb/html && cp -R $(DOCS)/. $(DESTDIR)$(PREFIX)/share/doc/petscrrb/html)

# REVISION=: another commit than the last one
.PHONY: dist
REVISION ?= HEAD
dist:    ## pack the sources of the last commit: BUILD/petscrrb-VERSION.tar.gz
	@mkdir -p $(BUILD)
	git archive --prefix=petscrrb-$(VERSION)/ --output=$(BUILD)/petscrrb-$(VERSION).tar.gz $(REVISION)

clean:    ## remove what was built, except the configuration, the virtual environment and a downloaded PETSc
	rm -rf $(addprefix $(BUILD)/,obj lib tests examples benchmarks docs) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-cuda-compile build-python

help:    ## this list
	@echo 'make [BUILD=build] [CONFIGURE_FLAGS=...] TARGET'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' makefile | expand -t 18
