//! How much anybody may take: bodies, heads, time, connections, requests; and who may connect at all.

use std::io::{Read as _, Write as _};
use std::net::TcpStream as Blocking;
use std::time::Duration;

use bursar::console::Bounds;
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::house::House;
use crate::raw::read;

const SOON: Duration = Duration::from_millis(200);

#[tokio::test]
async fn what_is_too_large_is_not_read() {
    let house = House::empty(Bounds::usual());
    let code = house.codes.issue().unwrap();
    let long = format!(r#"{{"code":"{}{}"}}"#, code.spelled().as_str(), " ".repeat(9000));
    house.send(&house.post("login", &long)).await.is(413, "too_large");
    let chunked = house.post("login", &format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len()));
    let chunked = chunked.without("content-length").with("transfer-encoding", "chunked");
    house.send(&chunked).await.is(413, "too_large");
    assert_eq!(house.send(&house.get("").with("x-long", &"x".repeat(20_000))).await.status, 431);
    let many = (0..60).fold(house.get(""), |ask, number| ask.with(&format!("x-{number}"), "x"));
    assert_eq!(house.send(&many).await.status, 431);
    assert_eq!(house.types(&code.spelled()).await.status, 200, "none of it used the code up");
}

#[tokio::test]
async fn whoever_sends_slowly_is_hung_up_on() {
    let house = House::empty(Bounds { head: SOON, body: SOON, ..Bounds::usual() });
    let mut stream = TcpStream::connect(&house.host).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: ").await.unwrap();
    let answer = read(stream).await;
    assert!([0, 408].contains(&answer.status), "{answer:?}");
    // Whoever says nothing at all, too.
    assert_eq!(read(TcpStream::connect(&house.host).await.unwrap()).await.status, 0);
    let mut stream = TcpStream::connect(&house.host).await.unwrap();
    stream.write_all(house.post("login", r#"{"code":"x"}"#).head().as_bytes()).await.unwrap();
    stream.write_all(b"{").await.unwrap();
    read(stream).await.is(408, "too_late");
}

#[tokio::test]
async fn there_is_room_for_so_many_connections_and_the_next_is_closed() {
    let house = House::empty(Bounds { connections: 2, connection: Duration::from_secs(3600), ..Bounds::usual() });
    let alive = house.get("").but("connection", "keep-alive");
    let mut seated = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(&house.host).await.unwrap();
        stream.write_all(alive.head().as_bytes()).await.unwrap();
        stream.readable().await.unwrap();
        seated.push(stream);
    }
    assert_eq!(house.send(&house.get("")).await.status, 0, "a third one found a seat");
    drop(seated);
    while house.send(&house.get("")).await.status != 200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_connection_ends_when_its_time_is_over() {
    let bounds = Bounds { connection: SOON, head: Duration::from_secs(3600), ..Bounds::usual() };
    let house = House::empty(bounds);
    let mut stream = TcpStream::connect(&house.host).await.unwrap();
    stream.write_all(house.get("").but("connection", "keep-alive").head().as_bytes()).await.unwrap();
    assert_eq!(read(stream).await.status, 200);
}

#[tokio::test]
async fn a_flood_of_strangers_leaves_the_operators_requests_alone() {
    let house = House::with_vault_and(Bounds { burst: 6, per_second: 1, ..Bounds::usual() }).await;
    let keys = house.enter().await;
    // What another page can send takes nothing from a person who logs in.
    let foreign = [house.get("").but("host", "evil.example"), house.get("state").but("sec-fetch-site", "cross-site")];
    for ask in foreign.iter().cycle().take(12) {
        house.send(ask).await;
    }
    for ask in &foreign {
        house.send(ask).await.is(429, "too_many_requests");
    }
    house.enter().await;
    let mut answers = Vec::new();
    for _ in 0..12 {
        answers.push(house.send(&house.get("main.js")).await.status);
    }
    assert!(answers.contains(&429), "{answers:?}");
    assert_eq!(house.send(&keys.on(house.post("freeze", "{}"))).await.status, 200);
    assert!(house.status().frozen.is_some());
}

#[tokio::test]
async fn a_freeze_waits_for_no_look_however_long_a_look_takes() {
    let (house, vault) = House::with_a_vault_that_tells_nothing();
    let keys = house.enter().await;
    let mut looks = Vec::new();
    for _ in 0..8 {
        let mut stream = TcpStream::connect(&house.host).await.unwrap();
        stream.write_all(keys.on(house.get("state")).head().as_bytes()).await.unwrap();
        looks.push(stream);
    }
    vault.was_asked(1).await;
    // Whatever came before this was let in before this.
    for _ in 0..8 {
        assert_eq!(house.send(&house.get("main.js")).await.status, 200);
    }
    assert_eq!(house.send(&keys.on(house.post("freeze", "{}"))).await.status, 200);
    drop(looks);
    vault.goes_on();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_of_another_user_is_sent_away_before_it_is_read() {
    assert!(
        rustix::process::geteuid().is_root(),
        "this test speaks as another user, which only root can do: run it as root (`sudo -E cargo test`)"
    );
    let house = House::empty(Bounds::usual());
    let (head, host) = (house.get("").head(), house.host.clone());
    let asked = move || {
        let mut stream = Blocking::connect(&host).unwrap();
        stream.set_read_timeout(Some(crate::raw::PATIENCE)).unwrap();
        stream.write_all(head.as_bytes()).unwrap_or_default();
        let mut told = Vec::new();
        stream.read_to_end(&mut told).unwrap_or_default();
        String::from_utf8(told).unwrap()
    };
    let ours = asked.clone();
    assert!(tokio::task::spawn_blocking(ours).await.unwrap().starts_with("HTTP/1.1 200 "));
    let theirs = std::thread::spawn(move || {
        let (uid, gid) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
        set_thread_groups(&[]).unwrap();
        set_thread_res_gid(gid, gid, gid).unwrap();
        set_thread_res_uid(uid, uid, uid).unwrap();
        asked()
    });
    assert_eq!(tokio::task::spawn_blocking(move || theirs.join().unwrap()).await.unwrap(), "");
}
