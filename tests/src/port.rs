//! Free ports of the loopback interface.
//!
//! A port that was free a moment ago may be taken the next; the kernel hands out others first, so
//! that in practice it is not. Ports once given are not given again by this process.

use std::collections::HashSet;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

/// A port nobody listens on.
pub fn free() -> u16 {
    static GIVEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
    let mut given = GIVEN.lock().expect("no test dies while it holds this");
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        if given.get_or_insert_default().insert(port) {
            return port;
        }
    }
}
