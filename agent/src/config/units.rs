//! Durations, sizes, addresses and topic filters as people write them.
//!
//! Each parser is total and answers with the reason in words; the caller knows the place. A number
//! without a unit is refused, so that no one has to guess.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Units of durations and their nanoseconds.
const DURATION_UNITS: [(&str, i64); 7] = [
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("w", 604_800_000_000_000),
    ("y", 31_536_000_000_000_000),
];

/// Units of sizes and their bytes.
const SIZE_UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Host and port of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerAddress {
    /// A name or an address; an IPv6 address has its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Splits `20y` into its number and its unit.
fn split_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}

/// Nanoseconds of a duration such as `100ms`, `10m` or `20y` (a year is 365 days).
pub fn parse_duration_ns(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is no duration; write a whole number and one of ms, s, m, h, d, w, y");
    let (number, unit) = split_unit(text).ok_or_else(wrong)?;
    let (_, factor) = DURATION_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    i64::try_from(number)
        .ok()
        .and_then(|number| number.checked_mul(*factor))
        .ok_or_else(|| format!("`{text}` is longer than the 292 years that can be counted"))
}

/// Bytes of a size such as `1MiB` or `64 MiB`.
pub fn parse_size_bytes(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!("`{text}` is no size; write a whole number and one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB")
    };
    let (number, unit) = split_unit(text).ok_or_else(wrong)?;
    let (_, factor) = SIZE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    number.checked_mul(*factor).ok_or_else(|| format!("`{text}` is more bytes than can be counted"))
}

/// Host and port of `mqtt://host[:port]`.
pub fn parse_broker_url(text: &str) -> Result<BrokerAddress, String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(format!("`{text}` is no broker address; write mqtt://host:port"));
    };
    match scheme {
        "mqtt" | "tcp" => {}
        "mqtts" | "ssl" | "ws" | "wss" => {
            return Err(format!("`{scheme}://` is not supported by this version; use mqtt://"));
        }
        _ => return Err(format!("`{scheme}` is no scheme of a broker; use mqtt://")),
    }
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains('@') {
        return Err("the address must not hold a password; use the keys `username` and `password`".to_owned());
    }
    let (host, port) = match rest.rfind(':') {
        Some(colon) if !rest.ends_with(']') => {
            let (host, port) = (rest.get(..colon).unwrap_or(""), rest.get(colon + 1..).unwrap_or(""));
            (host, port.parse().map_err(|_| format!("`{port}` is no port"))?)
        }
        _ => (rest, 1883),
    };
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || host.contains(['/', '?', '#', ' ']) || (host.contains(':') && !bracketed) {
        return Err(format!("`{text}` has no host that can be read; write mqtt://host:port"));
    }
    Ok(BrokerAddress { host: host.to_owned(), port })
}

/// A loopback address and port; any other address is refused.
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let address = match text.strip_prefix("localhost:") {
        Some(port) => port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        None => text.parse().ok(),
    };
    let address = address.ok_or_else(|| format!("`{text}` is no address; write 127.0.0.1:8642"))?;
    if !address.ip().is_loopback() {
        return Err(format!(
            "`{text}` is no loopback address: it would be reachable from other machines, which this version refuses"
        ));
    }
    Ok(address)
}

/// Checks an MQTT topic filter, and names the position of the fault.
pub fn parse_filter(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("a topic filter can't be empty".to_owned());
    }
    if text.len() > usize::from(u16::MAX) {
        return Err("a topic filter has at most 65,535 bytes".to_owned());
    }
    let mut position = 0;
    let levels = text.split('/').count();
    for (index, level) in text.split('/').enumerate() {
        let wildcard = level.find(['#', '+']);
        if let Some(at) = wildcard
            && level.len() > 1
        {
            return Err(format!(
                "`{text}` is no topic filter: the wildcard at character {} must be a level of its own",
                position + at + 1
            ));
        }
        if level == "#" && index + 1 != levels {
            return Err(format!(
                "`{text}` is no topic filter: `#` at character {} must come last",
                position + 1
            ));
        }
        if level.contains('\0') {
            return Err(format!("`{}` is no topic filter: it holds a zero character", text.escape_default()));
        }
        position += level.len() + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{parse_broker_url, parse_duration_ns, parse_filter, parse_listen, parse_size_bytes};

    #[test]
    fn durations_and_sizes_need_units() {
        assert_eq!(parse_duration_ns("100ms"), Ok(100_000_000));
        assert_eq!(parse_duration_ns("20y"), Ok(20 * 365 * 86_400 * 1_000_000_000));
        assert_eq!(parse_duration_ns(" 10 m "), Ok(600_000_000_000));
        for wrong in ["10", "m", "", "-1s", "1.5h", "10 minutes", "300y", "99999999999999999999s"] {
            assert!(parse_duration_ns(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_size_bytes("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_size_bytes("1kB"), Ok(1000));
        for wrong in ["64", "1 mib", "1PB", "99999999999GiB"] {
            assert!(parse_size_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn brokers_are_host_and_port() {
        let address = parse_broker_url("mqtt://broker.example").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("broker.example", 1883));
        let address = parse_broker_url("mqtt://[::1]:18830/").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("[::1]", 18830));
        assert_eq!(parse_broker_url("mqtt://[::1]").unwrap().port, 1883);
        for wrong in [
            "broker",
            "http://broker",
            "mqtts://broker",
            "mqtt://",
            "mqtt://a:b",
            "mqtt://u:p@h",
            "mqtt://::1:5",
        ] {
            assert!(parse_broker_url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_loopback_may_listen() {
        assert!(parse_listen("127.0.0.1:8642").is_ok());
        assert!(parse_listen("[::1]:0").is_ok());
        assert!(parse_listen("localhost:80").is_ok());
        for wrong in ["0.0.0.0:8642", "192.168.1.4:8642", "[::]:8642", "8642", "localhost"] {
            assert!(parse_listen(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn filters_name_the_character() {
        for right in ["#", "a/#", "+/b/+", "/", "a//b", "$SYS/#"] {
            assert_eq!(parse_filter(right), Ok(()), "{right}");
        }
        assert!(parse_filter("foo/#/bar").unwrap_err().contains("`#` at character 5 must come last"));
        assert!(parse_filter("a+").unwrap_err().contains("the wildcard at character 2"));
        assert!(parse_filter("").is_err());
    }
}
