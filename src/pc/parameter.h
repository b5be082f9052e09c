/*
   The parameters of a PC's type, or of deflation: what a user can set, by a function or by an option, and get. One declaration
   each, behind the man page of the function that sets it:

     PETSCRRB_PARAMETER(MIC, Shift, PetscReal, &PC_MIC::shift, "-pc_mic_shift", "Pivots below ...", valid, "Shift %g must ...");

   gives PCMICSetShift(), PCMICGetShift() and what PetscRRBParameters<..., Shift> needs for options and methods. docs/manpages.py
   writes the man page of the function that gets it, and completes the other one.
*/
#pragma once

#include "pc/findgrid.h"
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

/* Who has a type's data: a PC. */
template <class Data> struct PetscRRBOwner {
  using Object = PC;

  /* What the public functions do: they call their method, if pc is of this type. */
  template <class... Values>
  static PetscErrorCode CallSetter(PC pc, const PetscRRBParameterNames &names, PetscErrorCode (*)(PC, Values...),
                                   Values... values) {
    PetscFunctionBegin;
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
    PetscTryMethod(pc, names.set, (PC, Values...), (pc, values...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class... Values>
  static PetscErrorCode CallGetter(PC pc, const PetscRRBParameterNames &names, PetscErrorCode (*)(PC, Values *...),
                                   Values *...values) {
    PetscFunctionBegin;
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
    PetscUseMethod(pc, names.get, (PC, Values * ...), (pc, values...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* assign(data) says whether a value is another one than before */
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

/* The sizes of a grid or a block. */
template <class Data, int count = 3> struct PetscRRBSizes {
  using Owner = Data;

  PetscRRBParameterNames names;
  PetscInt (Data::*member)[count];
  const char *option, *text, *error;                     /* where one is not positive, with all of them in it */
  PetscBool (*used)(const Data &, PetscInt n[]);         /* gives those in use, where there are some */
  PetscErrorCode (*set)(PC, const PetscInt[]) = nullptr; /* NULL: they are checked, and the same on all ranks */
};

/* for PetscRRBSizes: a rank's own grid */
template <class Data> static PetscErrorCode PetscRRBSetGridOfRank(PC pc, const PetscInt n[3]) {
  return PetscRRBSetGridOfRank(pc, n, false, ((Data *)pc->data)->grid);
}

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

/* One of them: what its public functions do, its methods and its option. */
template <const auto &p> struct PetscRRBMethods {
  using Parameter = std::decay_t<decltype(p)>;
  using Data = typename Parameter::Owner;
  using T = typename Parameter::Value;
  using Owner = PetscRRBOwner<Data>;
  using Object = typename Owner::Object;

  static PetscErrorCode CallSetter(Object object, T value) { return Owner::CallSetter(object, p.names, Set, value); }
  static PetscErrorCode CallGetter(Object object, T *value) {
    PetscFunctionBegin;
    PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null Pointer: Parameter # 2");
    PetscCall(Owner::CallGetter(object, p.names, Get, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Set(Object object, T value) {
    PetscFunctionBegin;
    PetscCall(PetscRRBCheckCollective(object, value));
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

/* The same of sizes. */
template <const auto &p, class Data, int count, std::size_t... d> struct PetscRRBSizesMethods {
  using Owner = PetscRRBOwner<Data>;
  using Object = typename Owner::Object;
  template <std::size_t> using Size = PetscInt;

  static PetscErrorCode CallSetter(Object object, Size<d>... n) {
    return Owner::CallSetter(object, p.names, Set, n...);
  }
  static PetscErrorCode CallGetter(Object object, Size<d> *...n) {
    return Owner::CallGetter(object, p.names, Get, n...);
  }

  static PetscErrorCode Set(Object object, Size<d>... sizes) {
    const PetscInt n[] = {sizes...};

    PetscFunctionBegin;
    if constexpr (p.set != nullptr)
      PetscCall(p.set(object, n));
    else {
      for (int i = 0; i < count; ++i) PetscValidLogicalCollectiveInt(object, n[i], i + 2);
      if (((sizes < 1) || ...)) return p.names.OutOfRange(object, p.error, sizes...);
      PetscCall(Owner::Set(object, [&](Data &data) {
        const bool changed = !std::equal(n, n + count, data.*p.member);
        std::copy(n, n + count, data.*p.member);
        return changed;
      }));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Get(Object object, Size<d> *...sizes) {
    PetscInt *const to[] = {sizes...};
    PetscInt n[3];

    PetscFunctionBegin;
    PetscCall(Owner::Get(object, [&](const Data &data) {
      if (!p.used(data, n)) std::copy(data.*p.member, data.*p.member + count, n);
    }));
    for (int i = 0; i < count; ++i)
      if (to[i]) *to[i] = n[i];
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Two, or three, the third of which may be left out and is then 1. */
  static PetscErrorCode Option(Object object, PetscRRBOptionItems PetscOptionsObject) {
    PetscInt n[count + 1] = {0}, given = count + 1;
    PetscBool set;

    PetscFunctionBegin;
    PetscCall(Owner::Get(object, [&](const Data &data) { std::copy(data.*p.member, data.*p.member + count, n); }));
    PetscCall(PetscOptionsIntArray(p.option, p.text, p.names.setter, n, &given, &set));
    if (!set) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(given == 2 || given == count, PetscObjectComm((PetscObject)object), PETSC_ERR_ARG_WRONG,
               "%s needs two %ssizes, nx,ny%s; got %" PetscInt_FMT, p.option, count == 3 ? "or three " : "",
               count == 3 ? "[,nz]" : "", given);
    if (given < count) n[given] = 1;
    PetscCall(Set(object, n[d]...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <const auto &p, class Data, class T> PetscRRBMethods<p> PetscRRBMethodsFor(const PetscRRBParameter<Data, T> &);
template <const auto &p, class Data>
PetscRRBSizesMethods<p, Data, 2, 0, 1> PetscRRBMethodsFor(const PetscRRBSizes<Data, 2> &);
template <const auto &p, class Data>
PetscRRBSizesMethods<p, Data, 3, 0, 1, 2> PetscRRBMethodsFor(const PetscRRBSizes<Data, 3> &);
template <const auto &p> using PetscRRBMethodsOf = decltype(PetscRRBMethodsFor<p>(p));

/* Those of a type, in the order of -help. */
template <const auto &...p> struct PetscRRBParameters {
  template <class Object> static PetscErrorCode SetFromOptions(Object object, PetscRRBOptionItems items) {
    PetscFunctionBegin;
    for (const auto option : {PetscRRBMethodsOf<p>::Option...}) PetscCall(option(object, items));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* title: in -help */
  static PetscErrorCode SetFromOptions(PC pc, PetscRRBOptionItems PetscOptionsObject, const char title[]) {
    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, title);
    PetscCall(SetFromOptions(pc, PetscOptionsObject));
    PetscOptionsHeadEnd();
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

#define PETSCRRB_FUNCTIONS_(Setter, Getter, Name, Given, Got, Values)                                                  \
  PetscErrorCode Setter Given {                                                                                        \
    PetscFunctionBegin;                                                                                                \
    PetscCall(PetscRRBMethodsOf<Name>::CallSetter Values);                                                             \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                \
  }                                                                                                                    \
  PetscErrorCode Getter Got {                                                                                          \
    PetscFunctionBegin;                                                                                                \
    PetscCall(PetscRRBMethodsOf<Name>::CallGetter Values);                                                             \
    PetscFunctionReturn(PETSC_SUCCESS);                                                                                \
  }                                                                                                                    \
  static_assert(true, "")

/* PrefixSetName() and PrefixGetName() of an Object that has Data; what follows T are the other arguments of PetscRRBParameter.
   Names of types are macros, too: hence ## and # before anything else. */
#define PETSCRRB_PARAMETER_OF(Prefix, Object, Data, Name, T, ...)                                                      \
  static constexpr PetscRRBParameter<Data, T> Name(                                                                    \
      {#Prefix "Set" #Name, #Prefix "Set" #Name "_C", #Prefix "Get" #Name "_C"}, __VA_ARGS__);                         \
  PETSCRRB_FUNCTIONS_(Prefix##Set##Name, Prefix##Get##Name, Name, (Object object, T value),                            \
                      (Object object, T * value), (object, value))
#define PETSCRRB_SIZES_OF(Prefix, Object, Data, Name, ...)                                                             \
  static constexpr PetscRRBSizes<Data> Name = {                                                                        \
      {#Prefix "Set" #Name, #Prefix "Set" #Name "_C", #Prefix "Get" #Name "_C"}, __VA_ARGS__};                         \
  PETSCRRB_FUNCTIONS_(Prefix##Set##Name, Prefix##Get##Name, Name,                                                      \
                      (Object object, PetscInt nx, PetscInt ny, PetscInt nz),                                          \
                      (Object object, PetscInt * nx, PetscInt * ny, PetscInt * nz), (object, nx, ny, nz))

#define PETSCRRB_PARAMETER(Type, ...) PETSCRRB_PARAMETER_OF(PC##Type, PC, PC_##Type, __VA_ARGS__)
#define PETSCRRB_SIZES(Type, ...)     PETSCRRB_SIZES_OF(PC##Type, PC, PC_##Type, __VA_ARGS__)
#define PETSCRRB_TWO_SIZES(Type, Name, ...)                                                                            \
  static constexpr PetscRRBSizes<PC_##Type, 2> Name = {                                                                \
      {"PC" #Type "Set" #Name, "PC" #Type "Set" #Name "_C", "PC" #Type "Get" #Name "_C"}, __VA_ARGS__};                \
  PETSCRRB_FUNCTIONS_(PC##Type##Set##Name, PC##Type##Get##Name, Name, (PC pc, PetscInt nx, PetscInt ny),               \
                      (PC pc, PetscInt * nx, PetscInt * ny), (pc, nx, ny))
