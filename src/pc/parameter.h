/*
   The parameters of a PC's type, or of deflation: what a user can set, by a function or by an option, and get. One declaration
   each, behind the man page of the function that sets it:

     PETSCRRB_PARAMETER(MIC, Shift, PetscReal, &PC_MIC::shift, "-pc_mic_shift", "Pivots below ...", valid, "Shift %g must ...");

   gives PCMICSetShift(), PCMICGetShift() and what PetscRRBParameters<..., Shift> needs for options and methods. docs/manpages.py
   writes the man page of the function that gets it.
*/
#pragma once

#include "pc/pc.h"

#include <algorithm>
#include <type_traits>
#include <utility>

struct PetscRRBParameterNames {
  const char *setter, *set, *get; /* the function, and the methods behind both functions */

  /* In the setter's name: it is the one that a user knows. */
  template <class Object, class... Values>
  PetscErrorCode OutOfRange(Object object, const char error[], Values... values) const {
    return PetscError(PetscObjectComm((PetscObject)object), __LINE__, setter, __FILE__, PETSC_ERR_ARG_OUTOFRANGE,
                      PETSC_ERROR_INITIAL, error, values...);
  }
};

/* Who has a type's data: a PC. assign(data) says whether a value is another one than before. */
template <class Data> struct PetscRRBOwner {
  using Object = PC;

  template <class Assign> static PetscErrorCode Set(PC pc, const Assign &assign) {
    PetscFunctionBegin;
    if (assign(*(Data *)pc->data)) PetscCall(PetscRRBRebuild(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class Read> static PetscErrorCode Get(PC pc, const Read &read) {
    read(*(const Data *)pc->data);
    return PETSC_SUCCESS;
  }
};

/* T: PetscInt, PetscReal, PetscBool or an enumeration. A value is new if it is another one than before, or the first one. */
template <class Data, class T> struct PetscRRBParameter {
  using Used = T (*)(const Data &);
  using Value = T;
  using Owner = Data;

  PetscRRBParameterNames names;
  T Data::*member;
  const char *option, *text;          /* of -help */
  const char *const *words = nullptr; /* of an enumeration, as for PetscOptionsEnum() */
  bool (*valid)(T) = nullptr;         /* of a number, and what the error says where it is not, with the number in it */
  const char *error = nullptr;
  Used used = nullptr;               /* what it gives, where that is not what was set */
  PetscBool Data::*is_set = nullptr; /* whether it was set, where that matters */

  constexpr PetscRRBParameter(PetscRRBParameterNames names, T Data::*member, const char *option, const char *text)
      : names(names), member(member), option(option), text(text) {}
  constexpr PetscRRBParameter(PetscRRBParameterNames names, T Data::*member, const char *option, const char *text,
                              const char *const *words, Used used = nullptr, PetscBool Data::*is_set = nullptr)
      : names(names), member(member), option(option), text(text), words(words), used(used), is_set(is_set) {}
  constexpr PetscRRBParameter(PetscRRBParameterNames names, T Data::*member, const char *option, const char *text,
                              bool (*valid)(T), const char *error, Used used = nullptr)
      : names(names), member(member), option(option), text(text), valid(valid), error(error), used(used) {}

  template <class Object> PetscErrorCode Check(Object object, T value) const {
    int count = 0;

    PetscFunctionBegin;
    if (words) {
      while (words[count]) ++count;
      count -= 2; /* the last ones are the enumeration's name and what its constants begin with */
      if ((int)value < 0 || (int)value >= count)
        return names.OutOfRange(object, "Unknown %s %d", words[count], (int)value);
    } else if (valid && !valid(value))
      return names.OutOfRange(object, error, value);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* Three sizes, of a grid or a block. */
template <class Data> struct PetscRRBSizes {
  using Owner = Data;

  PetscRRBParameterNames names;
  PetscInt (Data::*member)[3];
  const char *option, *text, *error;                        /* where one is not positive, with all three in it */
  PetscBool (*used)(const Data &, PetscInt n[3]);           /* gives those in use, where there are some */
  PetscErrorCode (*set)(PC, const PetscInt n[3]) = nullptr; /* NULL: they are checked, and the same on all ranks */
};

template <class Object, class T> PetscErrorCode PetscRRBCheckCollective(Object object, T value) {
  PetscFunctionBegin;
  if constexpr (std::is_same_v<T, PetscInt>)
    PetscValidLogicalCollectiveInt(object, value, 2);
  else if constexpr (std::is_same_v<T, PetscReal>)
    PetscValidLogicalCollectiveReal(object, value, 2);
  else if constexpr (std::is_same_v<T, PetscBool>)
    PetscValidLogicalCollectiveBool(object, value, 2);
  else
    PetscValidLogicalCollectiveEnum(object, value, 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the public functions do: they call their method, if pc is of this type. */
template <class T> PetscErrorCode PetscRRBCallSetter(PC pc, const char method[], T value) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscRRBCheckCollective(pc, value));
  PetscTryMethod(pc, method, (PC, T), (pc, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class T> PetscErrorCode PetscRRBCallGetter(PC pc, const char method[], T *value) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
  PetscUseMethod(pc, method, (PC, T *), (pc, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of them: its methods and its option. */
template <const auto &p> struct PetscRRBMethods {
  using Parameter = std::decay_t<decltype(p)>;
  using Data = typename Parameter::Owner;
  using T = typename Parameter::Value;
  using Owner = PetscRRBOwner<Data>;
  using Object = typename Owner::Object;

  static PetscErrorCode Set(Object object, T value) {
    PetscFunctionBegin;
    PetscCall(p.Check(object, value));
    PetscCall(Owner::Set(object, [&](Data &data) {
      bool changed = std::exchange(data.*p.member, value) != value;
      if constexpr (p.is_set != nullptr) changed |= !std::exchange(data.*p.is_set, PETSC_TRUE);
      return changed;
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Get(Object object, T *value) {
    return Owner::Get(object, [&](const Data &data) { *value = InUse(data); });
  }

  /* The default that -help names is what is in use where it depends on more than this. */
  static PetscErrorCode Option(Object object, PetscRRBOptionItems PetscOptionsObject) {
    PetscBool set;
    T value;

    PetscFunctionBegin;
    PetscCall(Owner::Get(object, [&](const Data &data) {
      value = data.*p.member;
      if constexpr (p.is_set != nullptr) value = data.*p.is_set ? value : InUse(data);
    }));
    if constexpr (std::is_same_v<T, PetscInt>)
      PetscCall(PetscOptionsInt(p.option, p.text, p.names.setter, value, &value, &set));
    else if constexpr (std::is_same_v<T, PetscReal>)
      PetscCall(PetscOptionsReal(p.option, p.text, p.names.setter, value, &value, &set));
    else if constexpr (std::is_same_v<T, PetscBool>)
      PetscCall(PetscOptionsBool(p.option, p.text, p.names.setter, value, &value, &set));
    else
      PetscCall(
          PetscOptionsEnum(p.option, p.text, p.names.setter, p.words, (PetscEnum)value, (PetscEnum *)&value, &set));
    if (set) PetscCall(Set(object, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static T InUse(const Data &data) {
    if constexpr (p.used != nullptr)
      return p.used(data);
    else
      return data.*p.member;
  }
};

/* The same of three sizes. */
template <const auto &p> struct PetscRRBSizesMethods {
  using Data = typename std::decay_t<decltype(p)>::Owner;
  using Owner = PetscRRBOwner<Data>;
  using Object = typename Owner::Object;

  static PetscErrorCode Set(Object object, PetscInt nx, PetscInt ny, PetscInt nz) {
    const PetscInt n[] = {nx, ny, nz};

    PetscFunctionBegin;
    if constexpr (p.set != nullptr)
      PetscCall(p.set(object, n));
    else {
      PetscValidLogicalCollectiveInt(object, nx, 2);
      PetscValidLogicalCollectiveInt(object, ny, 3);
      PetscValidLogicalCollectiveInt(object, nz, 4);
      if (nx < 1 || ny < 1 || nz < 1) return p.names.OutOfRange(object, p.error, nx, ny, nz);
      PetscCall(Owner::Set(object, [&](Data &data) {
        const bool changed = !std::equal(n, n + 3, data.*p.member);
        std::copy(n, n + 3, data.*p.member);
        return changed;
      }));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Get(Object object, PetscInt *nx, PetscInt *ny, PetscInt *nz) {
    PetscInt *const to[] = {nx, ny, nz};
    PetscInt n[3];

    PetscFunctionBegin;
    PetscCall(Owner::Get(object, [&](const Data &data) {
      if (!p.used(data, n)) std::copy(data.*p.member, data.*p.member + 3, n);
    }));
    for (int d = 0; d < 3; ++d)
      if (to[d]) *to[d] = n[d];
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Two or three sizes, the third of which is then 1. */
  static PetscErrorCode Option(Object object, PetscRRBOptionItems PetscOptionsObject) {
    PetscInt n[4] = {0}, count = 4;
    PetscBool set;

    PetscFunctionBegin;
    PetscCall(Owner::Get(object, [&](const Data &data) { std::copy(data.*p.member, data.*p.member + 3, n); }));
    PetscCall(PetscOptionsIntArray(p.option, p.text, p.names.setter, n, &count, &set));
    if (!set) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(count == 2 || count == 3, PetscObjectComm((PetscObject)object), PETSC_ERR_ARG_WRONG,
               "%s needs two or three sizes, nx,ny[,nz]; got %" PetscInt_FMT, p.option, count);
    PetscCall(Set(object, n[0], n[1], count == 3 ? n[2] : 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <const auto &p>
using PetscRRBMethodsOf = std::conditional_t<
    std::is_same_v<std::decay_t<decltype(p)>, PetscRRBSizes<typename std::decay_t<decltype(p)>::Owner>>,
    PetscRRBSizesMethods<p>, PetscRRBMethods<p>>;

/* Those of a type, in the order of -help. */
template <const auto &...p> struct PetscRRBParameters {
  template <class Object> static PetscErrorCode SetFromOptions(Object object, PetscRRBOptionItems items) {
    PetscFunctionBegin;
    for (const auto option : {PetscRRBMethodsOf<p>::Option...}) PetscCall(option(object, items));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* on: let the public functions find their methods; off: before the type goes away */
  static PetscErrorCode Compose(PC pc, PetscBool on) {
    PetscFunctionBegin;
    for (const auto compose : {ComposeOne<p>...}) PetscCall(compose((PetscObject)pc, on));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  template <const auto &one> static PetscErrorCode ComposeOne(PetscObject pc, PetscBool on) {
    PetscFunctionBegin;
    PetscCall(PetscRRBCompose(pc, on, one.names.set, PetscRRBMethodsOf<one>::Set));
    PetscCall(PetscRRBCompose(pc, on, one.names.get, PetscRRBMethodsOf<one>::Get));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

#define PETSCRRB_NAMES_(Type, Name)                                                                                    \
  { "PC" #Type "Set" #Name, "PC" #Type "Set" #Name "_C", "PC" #Type "Get" #Name "_C" }

/* What follows T are the other arguments of PetscRRBParameter. */
#define PETSCRRB_PARAMETER(Type, Name, T, ...)                                                                         \
  PetscErrorCode PC##Type##Set##Name(PC pc, T value) {                                                                 \
    PetscFunctionBegin;                                                                                                \
    PetscCall(PetscRRBCallSetter(pc, "PC" #Type "Set" #Name "_C", value));                                             \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                \
  }                                                                                                                    \
  PetscErrorCode PC##Type##Get##Name(PC pc, T *value) {                                                                \
    PetscFunctionBegin;                                                                                                \
    PetscCall(PetscRRBCallGetter(pc, "PC" #Type "Get" #Name "_C", value));                                             \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                \
  }                                                                                                                    \
  static constexpr PetscRRBParameter<PC_##Type, T> Name(PETSCRRB_NAMES_(Type, Name), __VA_ARGS__)

#define PETSCRRB_SIZES(Type, Name, ...)                                                                                \
  PetscErrorCode PC##Type##Set##Name(PC pc, PetscInt nx, PetscInt ny, PetscInt nz) {                                   \
    PetscFunctionBegin;                                                                                                \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);                                                                       \
    PetscTryMethod(pc, "PC" #Type "Set" #Name "_C", (PC, PetscInt, PetscInt, PetscInt), (pc, nx, ny, nz));             \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                \
  }                                                                                                                    \
  PetscErrorCode PC##Type##Get##Name(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz) {                                \
    PetscFunctionBegin;                                                                                                \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);                                                                       \
    PetscUseMethod(pc, "PC" #Type "Get" #Name "_C", (PC, PetscInt *, PetscInt *, PetscInt *), (pc, nx, ny, nz));       \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                \
  }                                                                                                                    \
  static constexpr PetscRRBSizes<PC_##Type> Name = {PETSCRRB_NAMES_(Type, Name), __VA_ARGS__}
