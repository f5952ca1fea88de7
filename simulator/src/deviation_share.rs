//! Deviations by name, each with the share of affected requests: written `gzip` or
//! `moderation=0.1`.

use std::str::FromStr;

/// Deviations that have names on the command line.
pub trait Named: Copy + 'static {
    /// Every deviation, in the order of lists.
    const ALL: &'static [Self];
    /// The noun of messages, as in "quirk".
    const NOUN: &'static str;
    /// The flag that takes them.
    const FLAG: &'static str;

    /// The name on the command line and in the statistics.
    fn name(self) -> &'static str;

    /// One-line description.
    fn description(self) -> &'static str;
}

/// An enum of deviations with their names and descriptions.
macro_rules! named {
    (
        $(#[$doc:meta])* $kind:ident, $noun:literal, $flag:literal;
        $($variant:ident = $name:literal: $description:literal;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kind {
            $(#[doc = $description] $variant,)*
        }

        impl $crate::deviation_share::Named for $kind {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];
            const NOUN: &'static str = $noun;
            const FLAG: &'static str = $flag;

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $description,)*
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str($crate::deviation_share::Named::name(*self))
            }
        }
    };
}
pub(crate) use named;

/// Deviation and the share of eligible requests that it affects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share<Kind> {
    /// Kind of the deviation.
    pub of: Kind,
    /// 0 to 1.
    pub share: f64,
}

/// The error of an invalid deviation or share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum InvalidShare {
    /// An unknown name.
    #[error("unknown {noun} {name:?}; `juror simulate {flag} list` prints them all")]
    Name {
        /// The noun of the deviations.
        noun: &'static str,
        /// The flag that takes them.
        flag: &'static str,
        name: String,
    },
    /// An invalid share.
    #[error("{0:?} is not a share: use a number from 0 to 1, as in NAME=0.1")]
    Number(String),
}

impl<Kind> From<Kind> for Share<Kind> {
    fn from(of: Kind) -> Self {
        Self { of, share: 1.0 }
    }
}

impl<Kind: Named> FromStr for Share<Kind> {
    type Err = InvalidShare;

    fn from_str(text: &str) -> Result<Self, InvalidShare> {
        let (name, share) = match text.split_once('=') {
            Some((name, share)) => (name, Some(share)),
            None => (text, None),
        };
        let known = Kind::ALL.iter().find(|kind| kind.name() == name);
        let unknown = || {
            let name = name.to_owned();
            InvalidShare::Name { noun: Kind::NOUN, flag: Kind::FLAG, name }
        };
        let of = *known.ok_or_else(unknown)?;
        let Some(share) = share else { return Ok(of.into()) };
        let parsed = share.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        let share = parsed.ok_or_else(|| InvalidShare::Number(share.to_owned()))?;
        Ok(Self { of, share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{batch::BatchFault, fault::Fault, quirk::Quirk};

    fn names_read_back<Kind: Named + PartialEq + std::fmt::Debug>() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(Share::from(*kind)));
            assert!(!kind.description().contains('\n') && kind.description().len() < 110);
        }
    }

    #[test]
    fn names_round_trip_and_have_one_line_each() {
        names_read_back::<Quirk>();
        names_read_back::<BatchFault>();
        names_read_back::<Fault>();
    }

    #[test]
    fn share_is_a_number_from_0_to_1() {
        let quarter = Share { of: BatchFault::Expired, share: 0.25 };
        assert_eq!("expired=0.25".parse(), Ok(quarter));
        for bad in ["expired=", "expired=2", "expired=NaN", "expire"] {
            assert!(bad.parse::<Share<BatchFault>>().is_err(), "{bad}");
        }
        let error = "gzipped".parse::<Share<Quirk>>().unwrap_err().to_string();
        assert!(error.contains("unknown quirk") && error.contains("--quirk list"), "{error}");
    }
}
