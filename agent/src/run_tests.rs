//! Starting and ending: a tested path like any other.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::run_until;
use crate::config::{BrokerAddress, Config};
use crate::engine::Engine;
use crate::test_dir::TestDir;

/// An agent whose broker is not there.
fn config(dir: &TestDir) -> Config {
    let mut config = Config::default();
    config.data.dir = dir.path().join("store");
    // Nobody listens on the discard port of loopback.
    config.mqtt.broker = BrokerAddress { host: "127.0.0.1".to_owned(), port: 9 };
    config.http.listen = ([127, 0, 0, 1], 0).into();
    config
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_in_good_order_and_lets_go_of_the_store() {
    let dir = TestDir::new("run");
    for _ in 0..2 {
        let running = run_until(config(&dir), sleep(Duration::from_millis(200)));
        timeout(Duration::from_secs(30), running).await.expect("it ends").unwrap();
    }
    assert!(Engine::open(&config(&dir).data).is_ok(), "nothing holds the store any more");
    assert!(dir.path().join("store/state/mqtt.json").is_file(), "the client id is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_or_a_port_in_use_is_one_sentence() {
    let dir = TestDir::new("run-taken");
    let (_engine, _) = Engine::open(&config(&dir).data).unwrap();
    let refused = run_until(config(&dir), std::future::pending()).await.unwrap_err();
    assert!(refused.contains("is in use by another process") && refused.contains("run-taken"), "{refused}");
    let other = TestDir::new("run-port");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = config(&other);
    config.http.listen = taken.local_addr().unwrap();
    let refused = run_until(config.clone(), std::future::pending()).await.unwrap_err();
    assert!(refused.contains(&config.http.listen.to_string()), "{refused}");
}
