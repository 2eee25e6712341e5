// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/value_transform.h"

#include <catch2/catch.hpp>

#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

TEST_CASE("the signed hyperbolic transform and its inverse have the known values") {
  const auto exactly = [](double value) { return Approx(value).epsilon(1e-11); };
  REQUIRE(SignedHyperbolic(1) == exactly(.415213562373));
  REQUIRE(SignedHyperbolic(10) == exactly(2.326624790355));
  REQUIRE(SignedHyperbolic(1000) == exactly(31.638584039113));
  REQUIRE(SignedHyperbolic(-100) == exactly(-9.149875621121));
  REQUIRE(InverseSignedHyperbolic(1) == exactly(2.988056701676));
  REQUIRE(InverseSignedHyperbolic(10) == exactly(117.430322779558));
  REQUIRE(InverseSignedHyperbolic(-5) == exactly(-34.586162255552));
  REQUIRE(SignedHyperbolic(0) == 0);
  REQUIRE(InverseSignedHyperbolic(0) == Approx(0).margin(1e-12));
}

TEST_CASE("a transform, its inverse after it, gives numbers of any size back") {
  for (const double size : {1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9}) {
    for (const double value : {size, -size}) {
      for (const double epsilon : {1e-3, 1e-2, 1.0}) {
        const double there_and_back =
            InverseSignedHyperbolic(SignedHyperbolic(value, epsilon), epsilon);
        REQUIRE(there_and_back == Approx(value).epsilon(1e-8).margin(1e-11));
      }
    }
  }
}

TEST_CASE("the identity changes nothing, and sequences are transformed number by number") {
  const Floats values = {-3, 0, 2};
  REQUIRE(Apply(ValueTransform::kIdentity, values) == values);
  REQUIRE(Invert(ValueTransform::kIdentity, values) == values);
  RequireClose(Apply(ValueTransform::kSignedHyperbolic, values),
               {SignedHyperbolic(-3), 0, SignedHyperbolic(2)}, 1e-6);
  RequireClose(Invert(ValueTransform::kSignedHyperbolic, values),
               {InverseSignedHyperbolic(-3), 0, InverseSignedHyperbolic(2)}, 1e-6);
}

}  // namespace
}  // namespace shoal::estimators
