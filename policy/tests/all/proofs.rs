//! A yes cannot be copied, made up or read from a socket. Checked when this file is compiled.

use bursar_policy::*;

/// Compiles only while `$kind` does not have the trait: with it, `which` would be ambiguous.
macro_rules! lacks {
    ($kind:ty: $($having:tt)+) => {
        const _: fn() = || {
            trait Which<Answer> {
                fn which() {}
            }
            struct Has;
            impl<T> Which<()> for T {}
            impl<T: $($having)+> Which<Has> for T {}
            <$kind as Which<_>>::which();
        };
    };
}

lacks!(Vetted<Terms>: Clone);
lacks!(Vetted<Terms>: Default);
lacks!(Vetted<Terms>: serde::de::DeserializeOwned);
lacks!(Vetted<Terms>: From<Terms>);
lacks!(Vetted<Site>: Clone);
lacks!(Admitted: Clone);
lacks!(Admitted: Default);
lacks!(Admitted: serde::de::DeserializeOwned);
lacks!(Rules: Default);
lacks!(Rules: serde::de::DeserializeOwned);

#[test]
fn what_lies_inside_a_proof_has_what_the_proof_lacks() {
    // The control for the lines above: the same traits, on the value inside.
    fn has<T: Clone + serde::de::DeserializeOwned>() {}
    has::<Terms>();
    has::<Site>();
    has::<Draft>();
}
