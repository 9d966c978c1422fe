//! Listening, and ending in good order.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;

/// A socket that listens on loopback.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

/// Why nobody can listen there.
#[derive(Debug)]
pub struct BindError {
    address: SocketAddr,
    source: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't listen on {} (http.listen): {}", self.address, self.source)
    }
}

impl std::error::Error for BindError {}

/// Listens on `address`, which must be a loopback one.
///
/// # Errors
///
/// The system's, most often that the port is taken.
pub async fn bind(address: SocketAddr) -> Result<Bound, BindError> {
    let fail = |source| BindError { address, source };
    if !address.ip().is_loopback() {
        return Err(fail(io::Error::other("only loopback addresses are allowed")));
    }
    let listener = TcpListener::bind(address).await.map_err(fail)?;
    let address = listener.local_addr().map_err(fail)?;
    Ok(Bound { listener, address })
}

impl Bound {
    /// Where it listens; with port 0 the one that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `end`, then lets requests under way finish.
    ///
    /// # Errors
    ///
    /// The system's.
    pub async fn serve(
        self,
        router: Router,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        axum::serve(self.listener, router).with_graceful_shutdown(end).await
    }
}
