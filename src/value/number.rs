//! Exact numbers: an integer is itself, a decimal is itself, a float is its shortest decimal text.
//!
//! Two floats compare as floats and two integers as integers; only mixed pairs go through decimal
//! digits, and digits are compared, never expanded, so `1e-200000` costs what its text costs.

use std::cmp::Ordering;

/// A number as it stands in a record or an operand.
#[derive(Clone, Debug)]
pub enum Number {
    /// A whole number of at most 64 bits.
    Int(i64),
    /// A double; infinities and NaN are numbers that have no order here.
    Float(f64),
    /// Everything else: wider integers, decimals.
    Exact(Decimal),
}

/// A finite decimal number: `0.DIGITS × 10^exponent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// ASCII digits without leading or trailing zeros; empty means zero.
    digits: Box<[u8]>,
    exponent: i64,
}

/// Up to here every whole number is a double of its own.
const EXACT_INTEGERS: u64 = 1 << 53;
/// Plain digits are written up to this many places; ECMAScript switches to exponents there.
const PLAIN_PLACES: i64 = 21;
/// Whole numbers are written plainly with at most this many zeros that their text did not spell.
const WHOLE_ZEROS: i64 = 100_000;

impl Number {
    /// Reads a JSON number token: with a fraction or exponent it is a double, else an integer.
    pub fn from_json(token: &str) -> Option<Self> {
        if token.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return token.parse().ok().map(Self::Float);
        }
        match token.parse() {
            Ok(int) => Some(Self::Int(int)),
            Err(_) => Decimal::parse(token).map(Self::Exact),
        }
    }

    /// Whether it is neither infinite nor NaN.
    pub fn is_finite(&self) -> bool {
        !matches!(self, Self::Float(float) if !float.is_finite())
    }

    /// Whether it has no fraction: `3`, `3.0` and `3.00` are integers.
    pub fn is_integer(&self) -> bool {
        match self {
            Self::Int(_) => true,
            // Bits but for the sign: a fraction of either zero is none.
            Self::Float(float) => float.is_finite() && float.fract().to_bits() << 1 == 0,
            Self::Exact(decimal) => decimal.is_integer(),
        }
    }

    /// Exact order; `None` when either is NaN.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(right)),
            (Self::Float(left), Self::Float(right)) => left.partial_cmp(right),
            (Self::Int(left), Self::Float(right)) => int_with_float(*left, *right),
            (Self::Float(left), Self::Int(right)) => {
                int_with_float(*right, *left).map(Ordering::reverse)
            }
            (Self::Float(float), right) if !float.is_finite() => infinite_order(*float, right),
            (left, Self::Float(float)) if !float.is_finite() => {
                infinite_order(*float, left).map(Ordering::reverse)
            }
            (left, right) => Some(left.to_decimal()?.compare(&right.to_decimal()?)),
        }
    }

    /// A double that stands to other such doubles exactly as the numbers stand to each other;
    /// `None` where digits would have to decide.
    pub fn as_double(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "exact: the magnitude is at most 2^53")]
            Self::Int(int) if int.unsigned_abs() <= EXACT_INTEGERS => Some(*int as f64),
            Self::Float(float) if float.is_finite() => Some(*float),
            _ => None,
        }
    }

    /// Exact equality; NaN equals nothing.
    pub fn equals(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    /// The decimal number it stands for; `None` for infinities and NaN.
    pub fn to_decimal(&self) -> Option<Decimal> {
        match self {
            Self::Int(int) => Decimal::parse(&int.to_string()),
            Self::Float(float) if float.is_finite() => Decimal::parse(&shortest(*float)),
            Self::Float(_) => None,
            Self::Exact(decimal) => Some(decimal.clone()),
        }
    }

    /// The largest whole number that is not above it, when it fits.
    pub fn floor(&self) -> Option<i64> {
        match self {
            Self::Int(int) => Some(*int),
            _ => self.to_decimal()?.floor(),
        }
    }

    /// ECMAScript number text; whole numbers beyond ±2^53 keep all their digits.
    pub fn text(&self) -> String {
        match self {
            Self::Int(int) => int.to_string(),
            Self::Float(float) if float.is_nan() => "NaN".to_owned(),
            Self::Float(float) if float.is_infinite() => {
                if *float > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
            }
            Self::Float(float) => shortest(*float),
            Self::Exact(decimal) => decimal.text(),
        }
    }
}

/// The shortest text that reads back as the double, ties to even, as ECMAScript writes it.
fn shortest(float: f64) -> String {
    ryu_js::Buffer::new().format_finite(float).to_owned()
}

/// A whole number against a double. Within ±2^53 rounding is monotone and exact, so the doubles'
/// own order is the order of the decimal texts; beyond, the digits decide.
fn int_with_float(int: i64, float: f64) -> Option<Ordering> {
    if !float.is_finite() {
        return infinite_order(float, &Number::Int(int)).map(Ordering::reverse);
    }
    if int.unsigned_abs() <= EXACT_INTEGERS {
        #[expect(clippy::cast_precision_loss, reason = "exact: the magnitude is at most 2^53")]
        return (int as f64).partial_cmp(&float);
    }
    let left = Number::Int(int).to_decimal()?;
    Some(left.compare(&Number::Float(float).to_decimal()?))
}

/// An infinity against any finite number; `None` for NaN.
fn infinite_order(float: f64, _finite: &Number) -> Option<Ordering> {
    float.partial_cmp(&0.0)
}

impl Decimal {
    /// Reads `[+-]digits[.digits][e[+-]digits]`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, shift) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction)
        {
            return None;
        }
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        let significant = digits.get(leading..).unwrap_or_default();
        let trailing = significant.iter().rev().take_while(|digit| **digit == b'0').count();
        let kept = significant.get(..significant.len().saturating_sub(trailing))?;
        if kept.is_empty() {
            return Some(Self { negative: false, digits: Box::default(), exponent: 0 });
        }
        let places = i64::try_from(whole.len()).ok()?.checked_sub(i64::try_from(leading).ok()?)?;
        Some(Self { negative, digits: kept.into(), exponent: places.checked_add(shift)? })
    }

    /// Digits before the point of a number of at least one.
    pub fn places(&self) -> usize {
        usize::try_from(self.exponent).unwrap_or(0)
    }

    fn is_integer(&self) -> bool {
        i64::try_from(self.digits.len()).is_ok_and(|count| self.exponent >= count)
            || self.digits.is_empty()
    }

    fn floor(&self) -> Option<i64> {
        let places = usize::try_from(self.exponent.max(0)).ok()?;
        if places > 19 {
            return None;
        }
        let (whole, part) = self.digits.split_at(places.min(self.digits.len()));
        let digits = String::from_utf8_lossy(whole);
        let sign = if self.negative { "-" } else { "" };
        let whole: i64 = format!("{sign}0{digits:0<places$}").parse().ok()?;
        whole.checked_sub(i64::from(self.negative && !part.is_empty()))
    }

    /// Exact order.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self.sign(), other.sign()) {
            (left, right) if left != right => left.cmp(&right),
            (sign, _) => {
                let magnitude = (self.exponent, &self.digits).cmp(&(other.exponent, &other.digits));
                if sign < 0 { magnitude.reverse() } else { magnitude }
            }
        }
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Text of the number: one form for every spelling of it.
    ///
    /// ECMAScript number text (ECMA-262, `Number::toString`), except that a whole number that is
    /// not the text of a double keeps all its digits (up to 100,000 zeros at its end).
    pub fn text(&self) -> String {
        let digits = String::from_utf8_lossy(&self.digits);
        let sign = if self.negative { "-" } else { "" };
        let count = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        let places = self.exponent;
        if digits.is_empty() {
            return "0".to_owned();
        }
        let plain_whole = places >= count
            && (places <= PLAIN_PLACES
                || (places.saturating_sub(count) <= WHOLE_ZEROS && !self.is_double_text()));
        if plain_whole {
            let zeros = usize::try_from(places.saturating_sub(count)).unwrap_or(0);
            return format!("{sign}{digits}{}", "0".repeat(zeros));
        }
        if (1..=PLAIN_PLACES).contains(&places) || (places > PLAIN_PLACES && places < count) {
            let (whole, fraction) = digits.split_at(usize::try_from(places).unwrap_or(0));
            return format!("{sign}{whole}.{fraction}");
        }
        if (-5..=0).contains(&places) {
            let zeros = usize::try_from(places.unsigned_abs()).unwrap_or(0);
            return format!("{sign}0.{}{digits}", "0".repeat(zeros));
        }
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{sign}{first}{point}{rest}e{:+}", places.saturating_sub(1))
    }

    /// Whether these digits are the shortest text of a double.
    fn is_double_text(&self) -> bool {
        let digits = String::from_utf8_lossy(&self.digits);
        let double = format!("0.{digits}e{}", self.exponent).parse::<f64>();
        self.digits.len() <= 17
            && double.is_ok_and(|double| {
                Number::Float(double.abs()).to_decimal().is_some_and(|back| {
                    back.exponent == self.exponent && back.digits == self.digits
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Number {
        Number::Exact(Decimal::parse(text).unwrap())
    }

    #[test]
    fn mixed_pairs_compare_as_decimals() {
        assert!(Number::Float(0.1).equals(&exact("0.1")));
        assert!(!Number::Float(0.1).equals(&exact("0.1000000000000000055511151231257827")));
        assert!(
            !Number::Int(9_007_199_254_740_993).equals(&Number::Float(9_007_199_254_740_992.0))
        );
        assert_eq!(Number::Int(5).compare(&Number::Float(f64::INFINITY)), Some(Ordering::Less));
        assert_eq!(
            Number::Int(5).compare(&Number::Float(f64::NEG_INFINITY)),
            Some(Ordering::Greater)
        );
        assert_eq!(exact("1e400").compare(&Number::Float(f64::INFINITY)), Some(Ordering::Less));
        assert_eq!(Number::Int(5).compare(&Number::Float(f64::NAN)), None);
        assert_eq!(exact("-2.5").compare(&Number::Int(-2)), Some(Ordering::Less));
        assert!(exact("-0").equals(&Number::Float(-0.0)));
    }

    #[test]
    fn texts_follow_rfc_8785_and_keep_whole_numbers_whole() {
        for (number, text) in [
            (Number::Float(5.0), "5"),
            (Number::Float(1e21), "1e+21"),
            (Number::Float(999_999_999_999_999_900_000.0), "999999999999999900000"),
            (Number::Float(9.999_999_999_999_997e22), "9.999999999999997e+22"),
            (Number::Float(0.000_001), "0.000001"),
            (Number::Float(1e-7), "1e-7"),
            (Number::Float(-0.0), "0"),
            (Number::Float(333_333_333.333_333_3), "333333333.3333333"),
            (Number::Float(5e-324), "5e-324"),
            (Number::Float(f64::MAX), "1.7976931348623157e+308"),
            (exact("1.50"), "1.5"),
            (exact("1000000000000000000000"), "1e+21"),
            (exact("1208925819614629174706176"), "1208925819614629174706176"),
            (exact("1e999999999"), "1e+999999999"),
            (exact("1234567890123456789012.5"), "1234567890123456789012.5"),
        ] {
            assert_eq!(number.text(), text);
        }
    }
}
